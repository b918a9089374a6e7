"""The preprocessor lines of a C file, as they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"^[ \t\f\v]*(?:#|%:|\?\?=)[ \t\f\v]*([A-Za-z_]\w*)?((?:[^\n\\]|\\\r?\n|\\)*)", re.MULTILINE)
_NEWLINE = re.compile("\n")
_TARGET = re.compile(r'\s*(?:<([^>\n]+)>|"([^"\n]+)")')

CONDITIONALS = ("if", "ifdef", "ifndef")
"""Directives that open a conditional."""

BRANCHES = ("else", "elif", "elifdef", "elifndef")
"""Directives that begin another branch of one."""

INCLUDES = ("include", "include_next", "import")
"""Directives that read another file."""

FEATURE_MACROS = frozenset(
    [
        "_GNU_SOURCE",
        "_POSIX_C_SOURCE",
        "_POSIX_SOURCE",
        "_XOPEN_SOURCE",
        "_XOPEN_SOURCE_EXTENDED",
        "_DEFAULT_SOURCE",
        "_BSD_SOURCE",
        "_SVID_SOURCE",
        "_ISOC99_SOURCE",
        "_ISOC11_SOURCE",
        "_ISOC2X_SOURCE",
        "_LARGEFILE_SOURCE",
        "_LARGEFILE64_SOURCE",
        "_FILE_OFFSET_BITS",
        "_TIME_BITS",
        "_ATFILE_SOURCE",
        "_REENTRANT",
        "_THREAD_SAFE",
        "_FORTIFY_SOURCE",
        "_DARWIN_C_SOURCE",
        "_NETBSD_SOURCE",
        "_OPENBSD_SOURCE",
        "__EXTENSIONS__",
        "_ALL_SOURCE",
        "_MINIX",
        "__STDC_FORMAT_MACROS",
        "__STDC_LIMIT_MACROS",
        "__STDC_CONSTANT_MACROS",
        "__STDC_WANT_LIB_EXT1__",
        "__STDC_WANT_IEC_60559_BFP_EXT__",
        "__USE_MINGW_ANSI_STDIO",
        "_CRT_SECURE_NO_WARNINGS",
        "WIN32_LEAN_AND_MEAN",
        "_WIN32_WINNT",
        "WINVER",
        "NOMINMAX",
    ]
)
"""Macros that change what the headers after them declare (feature_test_macros(7), and their cousins elsewhere)."""


@dataclass(slots=True)
class Directive:
    """A preprocessor line. ``line``/``end_line`` are 1-based and inclusive; ``end`` is the offset after its newline."""

    keyword: str
    argument: str
    line: int
    end_line: int
    start: int
    end: int
    depth: int = 0
    live: bool | None = True
    braces: int = 0


@dataclass(slots=True)
class Include:
    """An ``#include``. ``live`` is None where only a compiler could tell; ``depth`` 0 is the top level, guard aside."""

    name: str
    system: bool
    line: int
    end_line: int
    depth: int
    live: bool | None
    braces: int


def read_directives(text: str, masked: str, starts: Sequence[int] = ()) -> list[Directive]:
    """The directives of ``text``; ``masked`` is the same text with comments and the insides of literals blanked, ``starts``
    the offsets of its lines where they are known."""
    starts = starts or [0, *map(re.Match.end, _NEWLINE.finditer(text))]
    found = []
    for match in _DIRECTIVE.finditer(masked):
        keyword = match[1] or ""
        start, end = match.span()
        if keyword in INCLUDES:
            argument = text[match.start(2) : end]
        else:
            argument = match[2].replace("\\\r\n", " ").replace("\\\n", " ").strip()
        first = bisect_right(starts, start)
        last = bisect_right(starts, end - 1, first - 1) if end > start else first
        found.append(Directive(keyword, argument, first, last, start, min(end + 1, len(masked))))
    return found


def include_of(directive: Directive) -> Include | None:
    """The include that a directive is; None for any other directive and for a macro in place of the name."""
    match = _TARGET.match(directive.argument) if directive.keyword in INCLUDES else None
    if match is None:
        return None
    name = (match.group(1) or match.group(2)).strip()
    d = directive
    return Include(name, match.group(1) is not None, d.line, d.end_line, d.depth, d.live, d.braces) if name else None
