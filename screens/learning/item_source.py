"""The source that a question was about, as it stands in the repository now."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import msgspec
from textual.content import Content

from agent.languages import language_of, parse_file, parser_for
from screens.code import code_lines
from screens.text import MUTED, line

_LARGEST = 400_000
"""Bytes of a file that are read."""


class ItemSource(msgspec.Struct, frozen=True):
    """A file as it is now, and the lines of the symbol in it that is meant: from 1, inclusive, both 0 for the whole file."""

    path: str
    text: str
    line: int = 0
    end_line: int = 0


def item_source(repo: Path, item: str) -> ItemSource | None:
    """What an item names: ``path``, ``path:symbol``, or the first file among its words. None if there is no such file inside
    the repository that can be read."""
    root = repo.resolve()
    for word in [item, *(word.strip(",;()") for word in item.split())]:
        path, _, symbol = word.partition(":")
        file = root / path
        with suppress(OSError):  # a text that is longer than a name may be, or a file that is not to be read
            if path and file.is_file() and file.resolve().is_relative_to(root):
                facts = file.stat()
                text, symbols = _read(file, facts.st_mtime_ns, facts.st_size)
                return ItemSource(path, text, *symbols.get(symbol, (0, 0)))
    return None


@lru_cache(maxsize=16)
def _read(file: Path, _mtime: int, _size: int) -> tuple[str, dict[str, tuple[int, int]]]:
    """The text of a file, and the lines of each symbol; of several of one name the longest, which is the definition."""
    with file.open("rb") as stream:
        source = stream.read(_LARGEST)
    found: dict[str, tuple[int, int]] = {}
    if parser_for(language_of(file.name)) is not None:
        for symbol in parse_file(file.name, source).symbols:
            first, last = found.get(symbol.qualified, (1, 0))
            if symbol.end_line - symbol.line > last - first:
                found[symbol.qualified] = symbol.line, symbol.end_line
    return source.decode("utf-8", "replace"), found


def numbered(source: ItemSource, first: int = 1, last: int | None = None) -> list[Content]:
    """Lines ``first`` to ``last`` (1-based, inclusive; default: all) with their numbers, in colours."""
    rows = source.text.split("\n")[first - 1 : last]
    wide = len(str(first + len(rows) - 1))
    coloured = code_lines("\n".join(rows), source.path)
    return [line((f"{number:>{wide}} ", MUTED), row) for number, row in enumerate(coloured, first)]


def excerpt(source: ItemSource, shown: str, most: int = 16) -> list[Content]:
    """The first lines of the symbol that is meant, at most ``most``; none for a whole file, and none where the text that was
    shown to the model holds them already."""
    if not source.line:
        return []
    rows = source.text.split("\n")[source.line - 1 : source.end_line]
    body = [row.strip() for row in rows[1:] if len(row.strip()) > 1]
    if body and all(row in shown for row in body[:3]):
        return []
    lines = numbered(source, source.line, min(source.end_line, source.line + most - 1))
    left = len(rows) - most
    return [*lines, line((f"… {left} more lines: v shows them", MUTED))] if left > 0 else lines
