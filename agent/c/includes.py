"""Putting an ``#include`` where it works: after the last live one, below guard and feature-test macros, one line changed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from agent.atomic import replace_file
from agent.c.conditions import FALLBACK_MACROS
from agent.c.directives import FEATURE_MACROS, Directive, Include
from agent.c.text import BOM, CText

_LICENCE = re.compile(r"copyright|licen[cs]e|spdx|\(c\)|all rights reserved|@file|\\file", re.IGNORECASE)


class IncludeEdit(NamedTuple):
    """An include line put into a file: 1-based ``line``, its ``text`` without newline. ``changed`` is False when the
    same include was live there already (``line`` is then that one's)."""

    line: int
    text: str
    changed: bool


def spelled(header: str, system: bool) -> str:
    """The include line for a header."""
    return f"#include <{header}>" if system else f'#include "{header}"'


def analyse(source: bytes, macros: Mapping[str, str] | None = None) -> CText:
    """The shape of a C file given as bytes; ``macros`` default to those of a hosted Linux compiler."""
    return CText(source.decode("latin-1"), dict(FALLBACK_MACROS if macros is None else macros))


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


def insert_include(
    source: bytes,
    header: str,
    system: bool,
    before_line: int | None = None,
    macros: Mapping[str, str] | None = None,
) -> tuple[bytes, int]:
    """``source`` with an include of ``header`` that is live at ``before_line``, and the 1-based line it stands on.

    The line goes after the last live top-level include above ``before_line`` (the line that needs it; the file's end
    when None), never inside a conditional, comment, literal, continued line or braces; without such an include, below
    licence comment, include guard, ``#pragma once`` and feature-test macros. Newline style, byte-order mark, encoding and
    a missing final newline stay as they are. A header that is live there already changes nothing.
    """
    shape = analyse(source, macros)
    limit = min(before_line or shape.line_count + 1, shape.line_count + 1)
    if there := active_include(shape, header, limit):
        return source, there
    line = _place(shape, max(1, limit))
    text = source.decode("latin-1")
    newline = _newline_near(shape, line)
    new = spelled(header, system).encode("utf-8").decode("latin-1")
    offset = shape.starts[line - 1] if line <= len(shape.starts) else len(text)
    if offset == 0 and text.startswith(BOM):
        offset = len(BOM)
    if offset == len(text) and text and not text.endswith(("\n", "\r")):
        return (text + newline + new).encode("latin-1"), shape.line_count + 1
    return (text[:offset] + new + newline + text[offset:]).encode("latin-1"), line


def remove_line(source: bytes, line: int) -> bytes:
    """``source`` without its 1-based ``line``: takes an include out again that did not help."""
    parts = source.split(b"\n")
    if not 1 <= line <= len(parts):
        return source
    mark = BOM.encode("latin-1") if line == 1 and source.startswith(BOM.encode("latin-1")) else b""
    del parts[line - 1]
    return mark + b"\n".join(parts)


def add_include_to_file(
    path: Path,
    header: str,
    *,
    system: bool,
    before_line: int | None = None,
    macros: Mapping[str, str] | None = None,
) -> IncludeEdit:
    """Insert an include into a file on disk, all or nothing. Placement: :func:`insert_include`.

    The file's mode is kept, a symbolic link stays one. Adding twice changes nothing.

    Raises:
        OSError: the file cannot be read or written; it is then as it was.
    """
    source = path.read_bytes()
    changed, line = insert_include(source, header, system, before_line, macros)
    if changed != source:
        write_atomically(path, changed)
    return IncludeEdit(line, spelled(header, system), changed != source)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's bytes in one step, keeping its mode; a link's target is replaced, not the link."""
    replace_file(Path(os.path.realpath(path)), data)


def _place(shape: CText, limit: int) -> int:
    """The line before which the include goes, at most ``limit``."""
    after = [
        i.end_line for i in shape.includes if i.depth == 0 and i.live is not False and not i.braces and i.end_line < limit
    ]
    line = max(after) + 1 if after else 0
    macro_end = _after_feature_macros(shape, limit)
    line = max(line, macro_end) if line else max(_after_opening(shape, limit), macro_end)
    return _clean_line(shape, min(line, limit), limit)


def _after_feature_macros(shape: CText, limit: int) -> int:
    """The line after the last top-level feature-test macro (or the conditional around it) above ``limit``, else 0."""
    line, opened = 0, None
    touched = False
    for d in shape.directives:
        if d.end_line >= limit:
            break
        if d.depth == 0 and d.keyword in ("if", "ifdef", "ifndef") and not _is_guard(shape, d):
            opened, touched = d, False
        if d.keyword == "define" and not d.braces and d.argument.split("(")[0].split()[:1]:
            name = re.split(r"\W", d.argument, maxsplit=1)[0]
            if name in FEATURE_MACROS:
                if d.depth == 0:
                    line = d.end_line + 1
                else:
                    touched = True
        if d.keyword == "endif" and d.depth == 0 and opened is not None and not _is_guard(shape, d):
            line = d.end_line + 1 if touched else line
            opened = None
    return line


def _is_guard(shape: CText, d: Directive) -> bool:
    return shape.guard is not None and d in (shape.directives[shape.guard.opened], shape.directives[shape.guard.closed])


def _after_opening(shape: CText, limit: int) -> int:
    """The first line below what must stay on top: licence comment, guard, ``#pragma once``, ``#line``-like directives."""
    line = 1
    guard_lines = _opening_directives(shape)
    last_directive = max((end for _, end in guard_lines if end < limit), default=0)
    line = last_directive + 1
    code = _first_code_line(shape, line, limit)
    block = _comment_before(shape, line, code)
    if block is None:
        return min(code, limit)
    start, text = block
    if not last_directive and _LICENCE.search(text):
        return min(code, limit)
    return min(start, limit)


def _opening_directives(shape: CText) -> list[tuple[int, int]]:
    """Lines of the guard's two directives and of pragmas that open the file, before any code."""
    found = []
    guard = {id(shape.directives[i]) for i in (shape.guard.opened, shape.guard.defined)} if shape.guard else set()
    last = 0
    for d in shape.directives:
        if shape.masked[last : d.start].strip():
            break
        if id(d) in guard or (d.keyword == "pragma" and d.argument.split()[:1] == ["once"]):
            found.append((d.line, d.end_line))
            last = d.end
            continue
        break
    return found


def _first_code_line(shape: CText, line: int, limit: int) -> int:
    while line < limit and not shape.masked_line(line).strip():
        line += 1
    return line


def _comment_before(shape: CText, first: int, code: int) -> tuple[int, str] | None:
    """A comment that touches the line ``code`` from above: its first line and text. Such a comment documents the code."""
    line = code - 1
    while line >= first and shape.line_text(line).strip():
        line -= 1
    start = line + 1
    if start >= code:
        return None
    return start, "\n".join(shape.line_text(n) for n in range(start, code))


def _clean_line(shape: CText, line: int, limit: int) -> int:
    """The nearest line at or below ``line`` (else above) whose start is no comment, literal or continued line."""
    for candidate in range(line, limit + 1):
        if _starts_clean(shape, candidate):
            return candidate
    for candidate in range(min(line, limit), 0, -1):
        if _starts_clean(shape, candidate):
            return candidate
    return 1


def _starts_clean(shape: CText, line: int) -> bool:
    if line <= 1:
        return True
    if line > len(shape.starts):
        return True
    offset = shape.starts[line - 1]
    before = shape.text[:offset].rstrip("\r\n") if offset else ""
    if shape.text[offset - 1 : offset] == "\n" and before.endswith("\\") and len(shape.text[len(before) : offset]) <= 2:
        return False
    return not shape.opaque_at(offset)


def _newline_near(shape: CText, line: int) -> str:
    """The newline style of the neighbouring line, else of the file's first, else a plain newline."""
    for near in (line - 1, line):
        if 1 <= near < len(shape.starts):
            end = shape.starts[near]
            return "\r\n" if shape.text[end - 2 : end] == "\r\n" else "\n"
    return "\r\n" if "\r\n" in shape.text else "\n"
