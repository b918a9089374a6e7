"""The code in a model's reply: out of its fences, its thinking and the prose around."""

from __future__ import annotations

import re

import msgspec

from agent.thinking import drop_thinking

_FENCE_LINE = re.compile(r"^[ \t]*(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")


class CodeBlock(msgspec.Struct, frozen=True):
    """One piece of code. ``language`` is the fence's first word in lower case; ``closed`` is False for a fence that the
    reply never closes, which is how a reply cut by its limit looks."""

    text: str
    language: str = ""
    closed: bool = True


def code_blocks(reply: str) -> list[CodeBlock]:
    """The fenced blocks of ``reply`` in order; without any fence the whole reply is one block.

    A closing fence without an opening one (a reply that was begun for the model) ends a block that starts the reply.
    """
    text = drop_thinking(reply).replace("\r\n", "\n")
    lines = text.split("\n")
    blocks: list[CodeBlock] = []
    current: list[str] | None = None
    marks, language = "", ""
    for number, line in enumerate(lines):
        fence = _FENCE_LINE.match(line)
        if fence and current is None:
            if not blocks and not fence["info"].strip() and _is_tail(lines, number):
                return [CodeBlock("\n".join(lines[:number]))]
            current, marks = [], fence["marks"]
            language = fence["info"].strip().lower().split(" ")[0]
        elif fence and not fence["info"].strip() and fence["marks"].startswith(marks) and current is not None:
            blocks.append(CodeBlock("\n".join(current), language))
            current = None
        elif current is not None:
            current.append(line)
    if current is not None:
        blocks.append(CodeBlock("\n".join(current), language, closed=False))
    if blocks:
        return [block for block in blocks if block.text.strip()]
    return [CodeBlock(text.strip("\n"))] if text.strip() else []


def _is_tail(lines: list[str], number: int) -> bool:
    """Whether the bare fence at ``number`` closes code that began with the reply: code above it, no other fence below."""
    above = "\n".join(lines[:number])
    return bool(re.search(r"[;{}]\s*$", above)) and not any(_FENCE_LINE.match(line) for line in lines[number + 1 :])
