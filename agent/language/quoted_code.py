"""Sentences on code that quote a line of it, for a person, and the same ones for a model without the line: a small model
that is shown a wrong line writes it again (22 of 33 replies in Python, 164 of 220 in C)."""

from __future__ import annotations

_OPENING = ": `"


def quoting(said: str, line: str) -> str:
    """``said`` with the line that it is about, where there is one."""
    return f"{said}{_OPENING}{line.strip()}`" if line.strip() else said


def without_quoted(text: str) -> str:
    """``text`` without the lines of code that :func:`quoting` put behind its sentences."""
    return "\n".join(line.partition(_OPENING)[0] for line in text.splitlines())
