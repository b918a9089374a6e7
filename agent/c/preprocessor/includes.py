"""Putting an ``#include`` where it works: after the last live one, below guard and feature-test macros, one line changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from agent.atomic import replace_file
from agent.c.preprocessor.conditions import FALLBACK_MACROS
from agent.c.preprocessor.directives import Include
from agent.c.preprocessor.include_placement import IncludeEffects, include_places
from agent.c.preprocessor.text import BOM, CText


class IncludeEdit(NamedTuple):
    """An include line put into a file: 1-based ``line``, its ``text`` without newline. ``changed`` is False when the
    same include was live there already (``line`` is then that one's)."""

    line: int
    text: str
    changed: bool


def spelled(header: str, brackets: bool) -> str:
    """The include line for a header."""
    return f"#include <{header}>" if brackets else f'#include "{header}"'


def analyse(source: bytes, macros: Mapping[str, str] | None = None) -> CText:
    """The shape of a C file given as bytes; ``macros`` default to those of a hosted Linux compiler."""
    return CText(source.decode("latin-1"), FALLBACK_MACROS if macros is None else macros)


@lru_cache(maxsize=256)  # the same headers are read for every function of a file
def includes_of(source: bytes) -> tuple[Include, ...]:
    """The includes of a file that no conditional certainly leaves out, in order, with their names as UTF-8 text."""
    found = analyse(source).includes
    return tuple(replace(i, name=i.name.encode("latin-1").decode("utf-8", "replace")) for i in found if i.live is not False)


def active_include(shape: CText, header: str, before_line: int | None = None) -> int:
    """The line of a live include of ``header`` above ``before_line``, 0 when there is none.

    Live means: not in a comment, a string or a dead conditional, and not below the use.
    """
    limit = before_line or shape.line_count + 1
    for include in shape.includes:
        if include.name == header and include.live is True and include.line < limit:
            return include.line
    return 0


def places_in(
    source: bytes,
    *,
    system: bool,
    before_line: int | None = None,
    macros: Mapping[str, str] | None = None,
    surroundings: IncludeEffects | None = None,
) -> list[int]:
    """The lines before which an include may go so that it is live at ``before_line`` (the file's end when None), best
    first; see :func:`include_places`."""
    shape = analyse(source, macros)
    limit = min(before_line or shape.line_count + 1, shape.line_count + 1)
    return include_places(shape, system=system, limit=max(1, limit), surroundings=surroundings)


def insert_include(
    source: bytes,
    header: str,
    system: bool,
    before_line: int | None = None,
    macros: Mapping[str, str] | None = None,
    *,
    line: int = 0,
    brackets: bool = False,
) -> tuple[bytes, int]:
    """``source`` with an include of ``header`` that is live at ``before_line``, and the 1-based line it stands on.

    ``line`` is the line before which it goes (one of :func:`places_in`; 0: the best); ``brackets`` names a header of the
    project as one of the system is named. Newline style, byte-order mark,
    encoding and a missing final newline stay as they are. A header that is live there already changes nothing.
    """
    shape = analyse(source, macros)
    limit = min(before_line or shape.line_count + 1, shape.line_count + 1)
    if there := active_include(shape, header, limit):
        return source, there
    line = line or include_places(shape, system=system, limit=max(1, limit))[0]
    text = source.decode("latin-1")
    newline = _newline_near(shape, line)
    new = spelled(header, system or brackets).encode("utf-8").decode("latin-1")
    offset = shape.starts[line - 1] if line <= len(shape.starts) else len(text)
    if offset == 0 and text.startswith(BOM):
        offset = len(BOM)
    if offset == len(text) and text and not text.endswith(("\n", "\r")):
        return (text + newline + new).encode("latin-1"), shape.line_count + 1
    return (text[:offset] + new + newline + text[offset:]).encode("latin-1"), line


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's bytes in one step, keeping its mode; a link's target is replaced, not the link."""
    replace_file(Path(os.path.realpath(path)), data)


def _newline_near(shape: CText, line: int) -> str:
    """The newline style of the neighbouring line, else of the file's first, else a plain newline."""
    for near in (line - 1, line):
        if 1 <= near < len(shape.starts):
            end = shape.starts[near]
            return "\r\n" if shape.text[end - 2 : end] == "\r\n" else "\n"
    return "\r\n" if "\r\n" in shape.text else "\n"
