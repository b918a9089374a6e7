"""Does an edit that passes the checks do what the task and the contract say? One yes/no an edit."""

from __future__ import annotations

from collections.abc import Sequence

CONTRACT_CAP = 1500

SYSTEM = (
    "You review bug fixes. Every fix you see makes the failing checks pass, but some only happen to do so.\n"
    "A fix is right when the code after it does what the task and the contract say for every input.\n"
    'Answer with one word: "yes" or "no".'
)


def context(task: str, contract: str, failure: str) -> str:
    """What all edits share: the task, what the code is to do, what failed."""
    about = f"What the code is to do:\n{contract.strip()[:CONTRACT_CAP]}\n\n" if contract.strip() else ""
    return f"Task: {task.strip()}\n\n{about}Failing check before the fix:\n{failure.strip()}\n\n"


def item(diff: str, code: str, examples: Sequence[str] = ()) -> str:
    """One edit: the diff, the function after it, and what it does with a few inputs on which edits differ."""
    does = "With this fix:\n" + "\n".join(f"- {one}" for one in examples) + "\n" if examples else ""
    return (
        f"Fix:\n```diff\n{diff.strip()}\n```\nThe code after it:\n```\n{code.strip()}\n```\n{does}Is this the right fix?"
    )
