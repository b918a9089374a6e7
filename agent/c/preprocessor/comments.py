"""Comments and literals of C blanked, so that what is left can be read as code.

Works on text of any encoding: decode bytes as Latin-1, and an offset is a byte offset. Text that is not valid C never fails:
a literal that is not closed ends with its line, a comment that is not closed ends with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_COMMENTS_AND_LITERALS = (
    r"//(?:[^\n\\]|\\\r?\n|\\)*"
    r"|/\*.*?(?:\*/|\Z)"
    r'|"(?:[^"\\\n]|\\\r?\n|\\[^\n])*(?:"|(?=\n)|\\?\Z)'
    r"|'(?:[^'\\\n]|\\\r?\n|\\[^\n])*(?:'|(?=\n)|\\?\Z)"
)
_NOISE = re.compile(_COMMENTS_AND_LITERALS, re.DOTALL)
_NOISE_AND_NUMBERS = re.compile(rf"{_COMMENTS_AND_LITERALS}|\b\d[\w.]*'[\w'.]*", re.DOTALL)
_SEPARATOR = re.compile(r"'(?<=[0-9a-fA-F]')[0-9a-fA-F]")
"""1'000'000: the quotes of a number open no literal (C23, 6.4.4.1). Only a text that may hold one is searched for numbers,
which takes three times as long."""
_SPACE = re.compile(r"\s+")
_BLANKED = re.compile(r"[^\n\r\\]|\\(?!\r?\n)")


class Noise(NamedTuple):
    """A comment or a literal: offsets ``start`` and ``end`` (exclusive), and which of the two it is."""

    start: int
    end: int
    comment: bool


def _pattern(text: str) -> re.Pattern[str]:
    return _NOISE_AND_NUMBERS if _SEPARATOR.search(text) else _NOISE


def parted(text: str) -> tuple[str, list[tuple[int, int]]]:
    """``text`` with comments and whole literals blanked, as :func:`blanked` has it, and where its comments are."""
    pieces: list[str] = []
    comments: list[tuple[int, int]] = []
    at = 0
    for match in _pattern(text).finditer(text):
        piece = match[0]
        first = piece[0]
        if first.isdigit():
            continue
        start, end = match.span()
        if first == "/":
            comments.append((start, end))
        pieces += (text[at:start], _blank(piece))
        at = end
    return "".join([*pieces, text[at:]]), comments


def noise(text: str) -> Iterator[Noise]:
    """The comments and literals of ``text`` in order."""
    for match in _pattern(text).finditer(text):
        if not match[0][0].isdigit():
            yield Noise(match.start(), match.end(), match[0][0] == "/")


def without_comments(text: str) -> str:
    """``text`` with comments blanked; same length, same line breaks, a continued line stays continued."""
    return _pattern(text).sub(lambda match: _blank(match[0]) if match[0][0] == "/" else match[0], text)


def on_one_line(text: str) -> str:
    """``text`` without comments and with every run of white space as one space, literals as they are but for strings that
    follow one another, which are one (C11, 5.1.1.2)."""
    parts: list[str] = []  # code and literals in turn
    gap, at = "", 0
    for one in noise(text):
        gap += text[at : one.start] + (" " if one.comment else "")
        at = one.end
        if one.comment:
            continue
        literal = text[one.start : one.end]
        if parts and literal[0] == parts[-1][-1] == '"' and not gap.strip():
            parts[-1] = parts[-1][:-1] + literal[1:]
        else:
            parts += [_SPACE.sub(" ", gap), literal]
        gap = ""
    return "".join([*parts, _SPACE.sub(" ", gap + text[at:])]).strip()


def mask(text: str) -> str:
    """``text`` with comments and the insides of literals blanked; same length, same line breaks."""
    return _pattern(text).sub(_masked, text)


def blanked(text: str) -> str:
    """``text`` with comments and whole literals blanked; same length, same line breaks."""
    return parted(text)[0]


def _masked(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] == "/":
        return _blank(found)
    if found[0].isdigit():
        return found
    closed = len(found) > 1 and found[-1] == found[0]
    return found[0] + (_blank(found[1:-1]) + found[-1] if closed else _blank(found[1:]))


def _blank(piece: str) -> str:
    if "\n" not in piece:
        return " " * len(piece)
    if "\\" in piece or "\r" in piece:
        return _BLANKED.sub(" ", piece)
    return "\n".join([" " * len(line) for line in piece.split("\n")])
