"""Which symbols of a file does a change touch? It shares its beginning with ``meta_plan``."""

from __future__ import annotations

from agent.prompts.meta_plan import SYSTEM, task_context

__all__ = ["SYSTEM", "prompt", "task_context"]


def prompt(path: str, change: str, symbols: str) -> str:
    """The question about one file. ``symbols`` has one symbol a line."""
    return (
        f"A change in {path}: {change}\n"
        f"Symbols of this file:\n{symbols}\n\n"
        "Which of them have to be rewritten for this change? None, when it only adds something new.\n"
        'Write them as {"symbols": ["..."]}, spelled as above.'
    )
