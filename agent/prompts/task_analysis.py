"""Task analysis: the one sentence that says what a task is after."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = """You restate a programming task as one short sentence: what kind of change it is, and in which part of the code.
Write at most fifteen words, on one line, without quotes."""

MAX_TOKENS = 48


def prompt(task: str, kind: str, keywords: Sequence[str], files: Sequence[str], symbols: Sequence[str]) -> str:
    """The task and what is known of it without a model."""
    lines = [f"Task: {task.strip()}", f"Kind: {kind}"]
    for label, values in (("Keywords", keywords), ("Files", files), ("Symbols", symbols)):
        if values:
            lines.append(f"{label}: {', '.join(values)}")
    return "\n".join(lines) + "\n\nIntent:"
