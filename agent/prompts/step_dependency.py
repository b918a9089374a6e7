"""Must one step be done before another? One yes/no an ordered pair of steps of the same part."""

from __future__ import annotations

SYSTEM = (
    "You decide the order of work. You are given a coding task and two steps of a plan. A step has to wait for another when "
    "the code it writes calls, reads or extends what the other step writes. Steps that can be written in either order do "
    "not wait.\n"
    'Answer with one word: "yes" or "no".'
)


def context(task: str, part: str) -> str:
    """What all pairs of a part share."""
    return f"Task: {task.strip()}\nPart: {part}\n\n"


def item(waiting: str, needed: str) -> str:
    """One ordered pair."""
    return f"Step A: {waiting}\nStep B: {needed}\n\nDoes step A have to wait until step B is done? Answer yes or no."
