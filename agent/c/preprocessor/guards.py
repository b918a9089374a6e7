"""The include guard of a header, told from a conditional that only looks like one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from agent.c.preprocessor.comments import mask
from agent.c.preprocessor.directives import BRANCHES, CONDITIONALS, FEATURE_MACROS, Directive, read_directives

_NOT_DEFINED = re.compile(r"!\s*defined\s*\(?\s*(\w+)\s*\)?")
_USUAL_NAME = re.compile(r"_H(?:H|PP|XX)?_*\Z|INCLUDED_*\Z", re.I)
_CLOSING_BRACE = re.compile(
    r"^[ \t]*#[ \t]*if[^\n]*__cplusplus[^\n]*\n\s*\}[^\n]*\n[ \t]*#[ \t]*endif[^\n]*\s*\Z"
    r"|^[ \t]*\w*END_DECLS\w*[ \t]*;?\s*\Z",
    re.M,
)


class Guard(NamedTuple):
    """An include guard: its macro, and the indexes of its three directives among those of the file."""

    name: str
    opened: int
    defined: int
    closed: int


def find_guard(directives: Sequence[Directive], masked: str) -> Guard | None:
    """The guard around all declarations of a file, None when there is none. ``#pragma`` and other lines that are no
    conditional may stand before it, code may not; nothing but comments stands behind it."""
    opened = guard_opening(directives, masked)
    if opened is None:
        return None
    closed = _end(directives, opened)
    if closed != len(directives) - 1 or masked[directives[closed].end :].strip():
        return None
    return Guard(_asked(directives[opened]), opened, opened + 1, closed)


def guard_opening(directives: Sequence[Directive], masked: str) -> int | None:
    """The index of the ``#ifndef`` with which a file begins as with a guard, closed or not; None when it does not."""
    last = 0
    for index, directive in enumerate(directives):
        if masked[last : directive.start].strip():
            return None
        if directive.keyword in CONDITIONALS:
            return index if _opens_guard(directives[index : index + 2], masked) else None
        last = directive.end
    return None


def opening_macro(head: str) -> str:
    """The macro of the guard that a file begins with, "" when it has none. ``head`` holds its first directives, comments and
    literals blanked."""
    directives = read_directives(head, head, starts=[0])  # nobody asks for their lines
    opened = guard_opening(directives, head)
    return _asked(directives[opened]) if opened is not None else ""


def _opens_guard(pair: Sequence[Directive], masked: str) -> bool:
    if len(pair) < 2 or pair[1].keyword != "define" or masked[pair[0].end : pair[1].start].strip():
        return False
    name = _asked(pair[0])
    defined, _, value = pair[1].argument.partition(" ")
    usual = value.strip() in ("", "1") or _USUAL_NAME.search(name)
    return bool(name) and name == defined and name not in FEATURE_MACROS and bool(usual)


def _asked(directive: Directive) -> str:
    """The macro that must not be defined, "" when the directive asks for something else."""
    if directive.keyword == "ifndef":
        return (directive.argument.split() or [""])[0]
    match = _NOT_DEFINED.fullmatch(directive.argument) if directive.keyword == "if" else None
    return match.group(1) if match else ""


def _end(directives: Sequence[Directive], opened: int) -> int:
    """The index of the ``#endif`` of a conditional without other branches, -1 when there is none."""
    depth = 0
    for index in range(opened, len(directives)):
        keyword = directives[index].keyword
        if keyword in CONDITIONALS:
            depth += 1
        elif keyword in BRANCHES and depth == 1:
            return -1
        elif keyword == "endif":
            depth -= 1
            if depth == 0:
                return index
    return -1


def is_guarded(header: str) -> bool:
    """Whether a header begins with an include guard or holds ``#pragma once``."""
    directives, masked = _read(header)
    return guard_opening(directives, masked) is not None or any(
        d.keyword == "pragma" and d.argument.split()[:1] == ["once"] for d in directives
    )


def unclosed(header: str) -> int:
    """How many conditionals are open at the end of ``header``."""
    keywords = [directive.keyword for directive in _read(header)[0]]
    return max(0, sum(keyword in CONDITIONALS for keyword in keywords) - keywords.count("endif"))


def end_of_declarations(header: str) -> int:
    """The offset at which the last declaration of ``header`` may stand: inside its guard and its ``extern "C"`` block, and
    in no other conditional."""
    directives, masked = _read(header)
    guard = find_guard(directives, masked)
    at = directives[guard.closed].start if guard else len(header)
    closing = _CLOSING_BRACE.search(masked[:at])
    return closing.start() if closing else at


@lru_cache(maxsize=8)  # every function of a file asks
def guard_line(source: bytes) -> int:
    """The 1-based line on which the guard of a file begins, 0 when it has none."""
    directives, masked = _read(source.decode("latin-1"))
    guard = find_guard(directives, masked)
    return directives[guard.opened].line if guard else 0


def _read(text: str) -> tuple[list[Directive], str]:
    masked = mask(text)
    return read_directives(text, masked), masked
