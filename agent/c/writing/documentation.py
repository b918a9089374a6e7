"""Comments of C functions: which public ones have none, and a comment put above one."""

from __future__ import annotations

import textwrap

from agent.c.declarations.functions import functions
from agent.language.base import WIDTH, Uncommented
from agent.textfile import read_text


def public_names(source: bytes) -> set[str]:
    """The functions that a header or a source offers to others."""
    return {one.name for one in functions(source) if not (one.static and not one.inline)}


def uncommented(source: bytes) -> list[Uncommented]:
    """The public functions and prototypes of a file that have no comment above them; ``place`` is a byte offset."""
    return [
        Uncommented(one.name, source[one.start : one.end].decode("utf-8", "replace"), one.start)
        for one in functions(source)
        if not one.doc and not one.static and one.name != "main"
    ]


def with_comment(source: bytes, symbol: Uncommented, text: str) -> bytes:
    """``source`` with ``text`` as the comment above ``symbol``."""
    file = read_text(source)
    body = [part for line in text.split("\n") for part in textwrap.wrap(line, WIDTH)]
    comment = f"/** {body[0]} */" if len(body) == 1 else "/**\n" + "".join(f" * {line}\n" for line in body) + " */"
    block = file.with_newlines(comment + "\n").encode(file.encoding, "replace")
    return source[: symbol.place] + block + source[symbol.place :]
