"""Text of others, made safe to print: a model, a compiler or a file may hold what drives a terminal."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system commands, such as a window title
    r"|\[[0-?]*[ -/]*[@-~]"  # control sequences, such as colours
    r"|[PX^_][^\x1b]*(?:\x1b\\)?"  # device strings
    r"|[@-Z\\-_])?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}
_BIDI = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F))
_STRIP = {**_CONTROLS, **_BIDI}


def clean(text: str, tab: int | None = 4) -> str:
    """``text`` without terminal escapes, control codes, NULs and direction marks; tabs become spaces up to every ``tab``-th
    column, or stay where that is None."""
    if not text:
        return ""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    text = text.translate(_STRIP)
    text = text if tab is None else text.expandtabs(tab)
    return text.encode("utf-8", "replace").decode()
