"""A suspect function rewritten, with its present text out of sight or shown as wrong."""

from __future__ import annotations

FILE_CAP = 4000
CONTRACT_CAP = 1200
FAILURE_CAP = 900

SYSTEM = "You write one function of a program. Reply with the whole function in one code block and nothing else."


def question(
    path: str, language: str, name: str, *, around: str, contract: str, failure: str, present: str = ""
) -> str:
    """``around`` is the file without the function's body; ``present`` the function as it is, "" to leave it out of sight."""
    about = f"What the code is to do:\n{contract.strip()[:CONTRACT_CAP]}\n\n" if contract.strip() else ""
    wrong = f"The present version is wrong:\n```{language}\n{present.strip()}\n```\n\n" if present else ""
    return (
        f"{about}{path}:\n```{language}\n{around.strip()[:FILE_CAP]}\n```\n\n{wrong}"
        f"Checks that fail with the present version of {name}:\n{failure.strip()[:FAILURE_CAP]}\n\n"
        f"Write the whole function {name}, so that these checks pass."
    )
