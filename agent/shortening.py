"""Text cut to a length that a prompt, a table or a sentence can hold."""

from __future__ import annotations


def shortened(text: str, limit: int) -> str:
    """``text``, at most ``limit`` characters long; a cut is shown by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def short_line(text: str, limit: int) -> str:
    """``text`` on one line, white space folded, at most ``limit`` characters long."""
    return shortened(" ".join(text.split()), limit)
