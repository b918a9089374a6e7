"""Whether two versions of a C file are the same code."""

from __future__ import annotations

import re

from agent.c.preprocessor.comments import without_comments

_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*|\w+|[^\w\s]",
    re.S | re.M,
)


def same_code(before: bytes, after: bytes) -> bool:
    """Whether two versions of a file differ in comments and white space only."""
    return before == after or _tokens(before) == _tokens(after)


def _tokens(source: bytes) -> list[str]:
    """The tokens; a directive keeps its line, since there the end of a line counts."""
    text = without_comments(source.decode("latin-1").replace("\r\n", "\n"))
    return [
        " ".join(token.split()) if token.lstrip().startswith("#") else token for token in _TOKEN.findall(text)
    ]
