"""Whether a rule that a task states for a whole module asks for one helper that its functions share."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = """You judge the design of a C file. You see a rule and the functions of the file, which all follow it.
Do two or more of the functions have to compute the same value, the one that the rule describes?
Answer with one word, yes or no."""


def context(heads: Sequence[str]) -> str:
    """What all rules of one file share: the functions."""
    return "Functions:\n" + "\n".join(f"- {head}" for head in heads) + "\n\n"


def item(rule: str) -> str:
    """One rule."""
    return f"Rule: {rule.strip()}"


def question(rule: str, path: str, trouble: str = "") -> str:
    """The helper that is wanted; asked under the system prompt and task context of the functions."""
    parts = [
        f"Several functions of {path} follow this rule:\n{rule.strip()}",
        "Write only one small static helper function for them, which computes the value that the rule describes.",
    ]
    return "\n\n".join(filter(None, [*parts, trouble.strip()]))
