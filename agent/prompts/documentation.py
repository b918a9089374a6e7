"""The words in which a model is asked for the comment of one symbol."""

from __future__ import annotations

SYSTEM = """You write documentation. You see one function, type or class.
Reply with the text of its comment only: one short sentence that says what it does, then, if they are not plain, one line
each for what it returns and when it fails.
No code, no comment markers, no heading, no praise."""


def task_context(task: str) -> str:
    """What all symbols of a run share."""
    return f"The change that was made: {task.strip()}\n\n" if task.strip() else ""


def question(name: str, path: str, source: str, language: str) -> str:
    """One symbol as it stands."""
    return f"{name} in {path}:\n```{language}\n{source.strip()}\n```\n\nWrite the text of the comment of {name}."
