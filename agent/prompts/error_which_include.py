"""Which header is missing? Asked once a missing include is likely and no fact names it."""

from __future__ import annotations

from collections.abc import Sequence

SYSTEM = """You name the header that a C file lacks. You see what the compiler said.
Answer with the header's name only, such as stdio.h or list.h: no angle brackets, no quotes, no explanation."""


def prompt(excerpt: str, project_headers: Sequence[str] = ()) -> str:
    """The question. ``project_headers`` are listed so that one of them can be named as it is spelt."""
    own = "\nHeaders of this project: " + ", ".join(project_headers[:40]) if project_headers else ""
    return f"Compiler output:\n{excerpt}\n{own}\nMissing header:"
