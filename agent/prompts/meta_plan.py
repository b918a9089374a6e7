"""The words of the planning calls: what all of them share, and the question of the first."""

from __future__ import annotations

SYSTEM = (
    "You plan small changes to a code repository. Your plan is carried out exactly as written, one part after the other, "
    "by a programmer who sees only the part in hand.\n"
    "Use as few parts as the task needs: a bug fix is usually one part. Every part changes code. Reading, testing and "
    "reviewing are done by others and are not parts.\n"
    "Reply with JSON only."
)


def task_context(task: str, package: str) -> str:
    """What every planning call of a run begins with, byte for byte the same."""
    code = f"Code that matters for the task:\n{package.strip()}\n\n" if package.strip() else ""
    return f"{code}Task: {task.strip()}\n\n"


def prompt(menu: str, open_ended: bool) -> str:
    """The question. ``menu`` has one target a line."""
    new = " A file that does not exist yet may be named by its path." if open_ended else ""
    return (
        f"What may be changed:\n{menu}\n{new}\n"
        'Write the plan as {"parts": [{"do": "...", "targets": ["..."], "after": []}]}\n'
        "- do: what to change there, in one or two sentences, with the names and values that matter\n"
        "- targets: entries of the list above that this part changes, spelled as there\n"
        "- after: numbers of earlier parts that must be done before it (the first part is 1)"
    )
