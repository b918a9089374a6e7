"""How is one part carried out? It shares its beginning with ``meta_plan``."""

from __future__ import annotations

from collections.abc import Sequence

from agent.prompts.meta_plan import SYSTEM, task_context

__all__ = ["SYSTEM", "prompt", "task_context"]


def prompt(part: str, changes: Sequence[str], menu: str) -> str:
    """The question about one part: its changes and what it may target, one a line."""
    listed = "\n".join(f"- {change}" for change in changes)
    return (
        f"Part of the plan: {part}\nIts changes:\n{listed}\n"
        f"What the part may change:\n{menu}\n\n"
        "Cut it into steps, each small enough to be written at one go. Every change is in exactly one step.\n"
        'Write them as {"steps": [{"do": "...", "targets": ["..."], "after": []}]}\n'
        "- do: what to change there, in one or two sentences\n"
        "- targets: entries of the list above that this step changes, spelled as there\n"
        "- after: leave it empty; the order is settled later"
    )
