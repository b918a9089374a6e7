"""The words of the call that cuts one part into steps. It shares its beginning with ``meta_plan``."""

from __future__ import annotations

from agent.prompts.meta_plan import SYSTEM, task_context

__all__ = ["SYSTEM", "prompt", "task_context"]


def prompt(number: int, description: str, menu: str) -> str:
    """The question for one part. ``menu`` has the part's own targets, one a line."""
    return (
        f"Part {number} of the plan: {description}\n"
        f"What this part may change:\n{menu}\n\n"
        "Cut it into steps, each small enough to be written at one go. One step is right when the changes belong together.\n"
        'Write them as {"steps": [{"do": "...", "targets": ["..."], "after": []}]}\n'
        "- do: what to change there, in one or two sentences\n"
        "- targets: entries of the list above that this step changes, spelled as there\n"
        "- after: numbers of earlier steps that must be done before it (the first step is 1)"
    )
