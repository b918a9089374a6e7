"""The words of the call that lists what has to change. It shares its beginning with ``meta_plan``."""

from __future__ import annotations

from agent.prompts.meta_plan import SYSTEM, task_context

__all__ = ["SYSTEM", "prompt", "task_context"]


def prompt(menu: str, open_ended: bool) -> str:
    """The question. ``menu`` has one target a line."""
    new = " A file that does not exist yet may be named by its path." if open_ended else ""
    return (
        f"What may be changed:\n{menu}\n{new}\n"
        "List every place that has to change for the task, and no other.\n"
        'Write them as {"points": [{"target": "...", "change": "modify", "why": "..."}]}\n'
        "- target: an entry of the list above, spelled as there\n"
        "- change: modify, add (something new in that file) or delete\n"
        "- why: what has to change there, in one sentence, with the names and values that matter"
    )
