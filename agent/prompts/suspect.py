"""Could a failure come from this function? One yes/no a function."""

from __future__ import annotations

CODE_CAP = 3000
"""Characters of a function that are shown, its beginning."""

SYSTEM = (
    "You look for the function that holds a bug. You see a failing check and one function that runs while it fails.\n"
    "The failure can come from the function when a mistake in its own code would make the check fail as it does.\n"
    'Answer with one word: "yes" or "no".'
)


def context(task: str, failure: str) -> str:
    """What all functions share: the task and what the failing checks say."""
    return f"Task: {task.strip()}\n\nFailing check:\n{failure.strip()}\n\n"


def item(path: str, code: str, contract: str = "") -> str:
    """One function with its contract."""
    above = f"{contract.strip()}\n" if contract.strip() else ""
    return f"Function in {path}:\n```\n{above}{code[:CODE_CAP].strip()}\n```\nCould this failure come from this function?"
