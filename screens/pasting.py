"""Clean pasted text for a box: no terminal codes, no control bytes, and not too long."""

from __future__ import annotations

from screens.text import clean

MOST = 100_000
"""Characters. More is not a task: the engine takes a few thousand, and says so; a box stays quick up to here."""
MOST_IN_LINE = 10_000


def pasted(text: str, one_line: bool) -> tuple[str, str]:
    """What goes into the box, and a sentence about what did not ("" when all did). A line's box takes the first line that
    holds something."""
    text = clean(text)
    said = ""
    if one_line:
        rows = [row for row in text.split("\n") if row.strip()]
        if len(rows) > 1:
            said = f"Only the first of {len(rows)} lines was pasted: this box has one line."
        text = rows[0].strip() if len(rows) > 1 else text.strip("\n")
    most = MOST_IN_LINE if one_line else MOST
    if len(text) > most:
        said = f"Only the first {most:,} of {len(text):,} characters were pasted. Put a long text into a file."
        text = text[:most]
    return text, said
