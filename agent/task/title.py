"""Marks at the beginning of a title: the kind of the task, and the part of the project that it is about."""

from __future__ import annotations

import re

from agent.values import TaskKind

_KINDS: tuple[tuple[TaskKind, str], ...] = (
    ("bug", r"(?:hot|bug)?[- ]?fix(?:es)?|bug(?:[- ]report)?|regression|crash"),
    ("feature", r"feat(?:ure)?(?:[- ]request)?|enhancement|rfe|wish(?:list)?|proposal|idea"),
    ("refactor", r"refactor(?:ing)?|clean-?up"),
    ("test", r"tests?|testing"),
    ("docs", r"docs?|documentation|readme"),
)
_MARK = re.compile(
    r"\W*?(?:\[(?P<tag>[\w -]+)\]:?|(?P<word>[a-z]+(?:[- ](?:report|request|fix|up))?)(?:\([^()\n]*\))?!?(?::|\s[-–—]))"
    r"\s+(?=\S)",
    re.I,
)
"""``[Bug] …``, ``Feature request: …``, ``fix(parser)!: …`` (Conventional Commits 1.0.0)."""

_AREA = re.compile(
    r"\W*(?![\w.]*(?:error|exception|warning|fault|failure)\b)[\w.*+-]+(?:[/,][\w.*+-]+)*:\s+(?=\S+\s+\S)", re.I
)
"""``server/http: …``, ``client.c: …``, but not ``ValueError: …``."""


def read_title(task: str) -> tuple[TaskKind | None, str]:
    """(the kind that a mark at the beginning names, the text after such a mark and after the name of a part)."""
    kind, rest = None, task
    if (mark := _MARK.match(task)) is not None:
        said = mark["tag"] or mark["word"]
        kind = next((kind for kind, words in _KINDS if re.fullmatch(words, said.strip(), re.I)), None)
        rest = task[mark.end() :] if kind else task
    area = _AREA.match(rest)
    return kind, rest[area.end() :] if area else rest
