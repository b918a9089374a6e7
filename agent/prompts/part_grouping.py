"""Do two changes belong together? One yes/no a pair; or, undecomposed, all of them in one call."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = (
    "You decide how a coding task is cut into parts. You are given the task and two changes it needs. Two changes belong to "
    "the same part when one makes no sense, or does not work, without the other. Changes that merely stand in the same file "
    "or serve the same task can be made apart.\n"
    'Answer with one word: "yes" or "no".'
)

SYSTEM_ALL = (
    "You cut a coding task into parts. Changes belong to the same part when one makes no sense, or does not work, without "
    "the other. Use as few parts as needed, and put every change into exactly one.\n"
    "Reply with JSON only."
)


def context(task: str) -> str:
    """What all pairs share."""
    return f"Task: {task.strip()}\n\n"


def item(first: str, second: str) -> str:
    """One pair."""
    return (
        f"First change: {first}\nSecond change: {second}\n\nDo these two changes belong to the same part? Answer yes or no."
    )


def prompt_all(changes: Sequence[str]) -> str:
    """The question about all changes at once."""
    listed = "\n".join(f"{number}. {change}" for number, change in enumerate(changes, 1))
    return f'Changes:\n{listed}\n\nWrite the parts as lists of numbers: {{"parts": [[1, 2], [3]]}}'
