"""Routing: which optional stages are worth their calls for this task? One answer for the whole set."""

from __future__ import annotations

from collections.abc import Mapping

SYSTEM = """You choose which optional stages of a code search are worth running for a task.
Choose a stage only if the task needs it; an empty list is a good answer.
Reply with JSON only: {"stages": ["name", ...]}"""

MAX_TOKENS = 128

STAGES: dict[str, str] = {
    "similarity": "asks of pairs of files whether they belong together; helps when a change spans several files",
}


def prompt(kind: str, files: int, seeds: int, stages: Mapping[str, str]) -> str:
    """The set to choose from."""
    listed = "\n".join(f"- {name}: {what}" for name, what in stages.items())
    known = f"Kind: {kind}. Files in scope: {files}, of which named by the task or plan: {seeds}."
    return f"{known}\n\nOptional stages:\n{listed}"
