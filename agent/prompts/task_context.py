"""The part of a prompt that all items of a judgment share: what the task is. Byte-identical for every item."""

from __future__ import annotations


def task_context(task: str, intent: str = "") -> str:
    """The head of every retrieval prompt; the item follows it."""
    lines = [f"Task: {task.strip()}"]
    if intent:
        lines.append(f"Intent: {intent}")
    return "\n".join(lines) + "\n\n"
