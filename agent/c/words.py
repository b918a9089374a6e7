"""Words in text that holds names which differ each time: a pattern made for one name costs more to compile than all else."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_LOOSE = re.compile(r"(?<![\w.>])\w+")
_CALLED = re.compile(r"\b(\w+)\s*\(")
_MEMBER = re.compile(r"(?:\.|->)\s*(\w+)")


def holds_word(text: str, word: str) -> bool:
    """Whether ``word`` stands in ``text`` as a whole word."""
    return word in text and word in _WORD.findall(text)


def is_called(text: str, name: str) -> bool:
    """Whether ``name`` stands before an opening parenthesis."""
    return name in text and name in _CALLED.findall(text)


def is_member(text: str, name: str) -> bool:
    """Whether ``name`` stands behind ``.`` or ``->``."""
    return name in text and name in _MEMBER.findall(text)


def around(text: str, name: str) -> tuple[str, str] | None:
    """What stands before and behind the first ``name`` that is not a member of something; None when there is none."""
    for match in _LOOSE.finditer(text):
        if match[0] == name:
            return text[: match.start()].rstrip(), text[match.end() :].lstrip()
    return None
