"""Does a failure that no step caused need a step of its own? One yes/no a failure."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = (
    "You look for gaps in a plan. You are given the steps that are still to be done, and one failure that no step of the "
    "plan was found to have caused.\n"
    "A new step is needed only when the failure shows that something is missing which no step covers. It is not needed when "
    "a step already there will settle it, or when the failure would go away by itself.\n"
    'Answer with one word: "yes" or "no".'
)


def context(task: str, steps: Sequence[str]) -> str:
    """What all failures share."""
    listed = "\n".join(f"- {step}" for step in steps) or "- none"
    return f"Task: {task.strip()}\n\nRemaining plan steps:\n{listed}\n\n"


def item(failure: str) -> str:
    """One failure."""
    return (
        f"Unattributed failure:\n{failure}\n\nNo existing step was identified as causing this failure.\n"
        "Does this failure require adding a new implementation step? Answer yes or no."
    )
