"""Text of others, made safe to print: a model, a compiler or a file may hold what drives a terminal.

:func:`clean` is for what is said, :func:`revealed` for what is reviewed: in a diff nothing may be out of sight.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b(?:\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # operating system commands, such as a window title
    r"|\[[0-?]*[ -/]*[@-~]"  # control sequences, such as colours
    r"|[PX^_][^\x1b\n]*\x1b\\"  # device strings
    r"|[@-Z\\-_])?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""Characters that change the order in which others are shown (Unicode Standard Annex 9)."""
_STRIP = {code: None for code in (*_CONTROLS, *_DIRECTIONS) if code not in (0x09, 0x0A)}
_INVISIBLE = [0x00AD, 0x200B, *range(0x2060, 0x2065), 0xFEFF, *range(0xE0000, 0xE0080)]
"""Characters that take no room, but for the joiners that scripts and emoji need: a name can hold them and nobody sees it."""
_REVEALED = {code: ascii(chr(code))[1:-1] for code in (*_STRIP, *_INVISIBLE)}
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *_DIRECTIONS)}


def clean(text: str, tab: int | None = 4) -> str:
    """``text`` without terminal escapes, control codes, NULs and direction marks; tabs become spaces up to every ``tab``-th
    column, or stay where that is None.

    What looks like an escape and has no end takes nothing else with it, and none reaches beyond its line.
    """
    if not text:
        return ""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    text = text.translate(_STRIP)
    text = text if tab is None else text.expandtabs(tab)
    return text.encode("utf-8", "replace").decode()


def revealed(text: str) -> str:
    """``text`` with all that drives a terminal, turns the direction of writing or cannot be seen written as escapes, such as
    ``\\x1b`` and ``\\u202e``. Lines stay the same lines, and tabs stay."""
    return text.replace("\r\n", "\n").translate(_REVEALED).encode("utf-8", "backslashreplace").decode()


def escaped(document: str) -> str:
    """A JSON or TOML document that says the same and can be printed on a terminal.

    Characters that would drive it are written as escapes (RFC 8259, section 7; TOML 1.0, "String"), and so are halves of
    surrogate pairs. They can only stand in strings, where those below U+0020 are escapes already.
    """
    if document.isascii() and "\x7f" not in document:
        return document
    return document.translate(_ESCAPED).encode("utf-8", "backslashreplace").decode()
