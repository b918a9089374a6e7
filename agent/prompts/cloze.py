"""A blanked line, asked for in words where the server cannot fill in the middle."""

from __future__ import annotations

GAP = "<<<the missing line>>>"

SYSTEM = (
    "One line of a program is missing. Its place is marked with " + GAP + ".\n"
    "Reply with the missing line only: no explanation, no code around it."
)


def question(path: str, before: str, after: str) -> str:
    """The code with the gap."""
    return f"File {path}:\n```\n{before}{GAP}{after}\n```\nThe missing line:"
