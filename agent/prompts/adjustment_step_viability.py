"""Is a remaining step still valid after these failures? One yes/no a step."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = (
    "You check whether a step of a plan should stay in the plan. You are given the failures that an earlier step left, and "
    "one step that is still to be done.\n"
    "The step stays when it can go ahead in spite of the failures, even if it has to be adapted. It goes when the failures "
    "make it impossible, or when they show that it is not needed or plainly wrong.\n"
    'Answer with one word: "yes" if the step stays, "no" if it goes.'
)


def context(task: str, failures: Sequence[str]) -> str:
    """What all steps share."""
    listed = "\n".join(f"- {failure}" for failure in failures)
    return f"Task: {task.strip()}\n\nFailures observed:\n{listed}\n\n"


def item(step: str) -> str:
    """One step."""
    return f"Step to evaluate:\n{step}\n\nIs this step still valid given the failures above? Answer yes or no."
