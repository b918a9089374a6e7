"""Did a step cause a failure? One yes/no a pair."""

from __future__ import annotations

DIFF_CAP = 2000
"""Characters of the diff that are shown, its end."""

SYSTEM = (
    "You find out where a failure comes from. You are given the changes made so far, one failure and one step of the plan.\n"
    "A step causes a failure when the code it writes contains the mistake that the failure shows: the failure then usually "
    "names the step's functions or files, or shows what these functions should have done.\n"
    'Answer with one word: "yes" or "no".'
)


def context(task: str, diff: str) -> str:
    """What all pairs share: the task and the end of the diff."""
    shown = diff[-DIFF_CAP:]
    changes = f"<prior_changes>\n{shown}\n</prior_changes>" if shown.strip() else "<prior_changes>none</prior_changes>"
    return f"Task: {task.strip()}\n\nPrior changes:\n{changes}\n\n"


def item(failure: str, step: str) -> str:
    """One pair."""
    return (
        f"Failure:\n{failure}\n\nStep:\n{step}\n\n"
        "Did this step's implementation cause or contribute to this failure? Answer yes or no."
    )
