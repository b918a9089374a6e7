"""Must one part be done before another? One yes/no an ordered pair."""

from __future__ import annotations

SYSTEM = (
    "You decide the order of work. You are given a coding task and two of its parts. A part has to wait for another when it "
    "uses something that the other part creates or changes. Parts that can be written in either order do not wait.\n"
    'Answer with one word: "yes" or "no".'
)


def context(task: str) -> str:
    """What all pairs share."""
    return f"Task: {task.strip()}\n\n"


def item(waiting: str, needed: str) -> str:
    """One ordered pair."""
    return f"Part A: {waiting}\nPart B: {needed}\n\nDoes part A have to wait until part B is done? Answer yes or no."
