"""The thinking that some models write before their answer: put before a text, and taken out of a reply."""

from __future__ import annotations

import re

_THINK_TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
_THINK_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_THINK_START = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)


def with_thinking(text: str, thinking: str) -> str:
    """A raw text with its thinking in front, as models write it themselves, so that the log keeps all of it."""
    return f"<think>\n{thinking}\n</think>\n{text}" if thinking else text


def strip_thinking(text: str) -> str:
    """``text`` without its thinking: ``<think>…</think>`` blocks, everything before a closing tag whose opening tag is
    missing (some chat templates eat it), and an unclosed block, which is thinking that never came to an answer."""
    return drop_thinking(text).strip()


def drop_thinking(text: str) -> str:
    """As :func:`strip_thinking`, white space at both ends kept: code may begin with it."""
    text = _without_blocks(text)
    for end in list(_THINK_END.finditer(text))[-1:]:
        text = text[end.end() :]
    start = _THINK_START.search(text)
    return text[: start.start()] if start else text


def _without_blocks(text: str) -> str:
    """Without what stands between an opening tag and the first closing tag of its name, in one pass over the text."""
    kept, start, name = [], 0, ""
    for tag in _THINK_TAG.finditer(text):
        closing, word = bool(tag[1]), tag[2].lower()
        if not name and not closing:
            kept.append(text[start : tag.start()])
            start, name = tag.start(), word
        elif closing and word == name:
            start, name = tag.end(), ""
    return "".join([*kept, text[start:]])
