"""What every language module needs from raw bytes: lines of offsets, comments as prose, symbol lookup by offset."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from agent.language.symbols import Reference, Symbol

_LICENCE = re.compile(
    r"copyright|\blicen[cs]e|spdx|all rights reserved|permission is hereby|redistribution|warrant(y|ies)|without fee",
    re.I,
)
_SHORT = 3
"""A shorter name that is not called is a loop variable, hardly ever a symbol."""

_SPACES = re.compile(r"\s+")
_MARKER = re.compile(r"^\s*(?:/\*+!?<?|\*+/|//+[!/<]*|\*(?!/)|#+!?)[ \t]?", re.M)
_RULE = re.compile(r"^[\s*/=#\-_~+<>.|]*$")


class Lines:
    """1-based line numbers of byte offsets."""

    def __init__(self, source: bytes) -> None:
        self._starts = [0, *accumulate(len(line) + 1 for line in source.split(b"\n"))][:-1]

    def at(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def start_of(self, offset: int) -> int:
        """The offset at which the line holding ``offset`` begins."""
        return self._starts[bisect_right(self._starts, offset) - 1]


def text_of(raw: bytes) -> str:
    """Bytes as text; what is not UTF-8 becomes the replacement character."""
    return raw.decode("utf-8", "replace")


def one_line(raw: bytes, limit: int = 400) -> str:
    """Source text on one line, white space folded, at most ``limit`` characters."""
    folded = _SPACES.sub(" ", text_of(raw)).strip()
    return folded if len(folded) <= limit else folded[: limit - 1].rstrip() + "…"


def blank(match: re.Match[bytes]) -> bytes:
    """Replacement for ``re.sub``: as long as what it replaces, newlines kept."""
    return blank_bytes(match.group())


def blank_bytes(piece: bytes) -> bytes:
    """Spaces in place of everything but newlines."""
    return b" " * len(piece) if b"\n" not in piece else b"\n".join([b" " * len(line) for line in piece.split(b"\n")])


def prose(raw: bytes) -> str:
    """A comment without its markers, ruled lines and outer blank lines."""
    lines = [line.rstrip() for line in _MARKER.sub("", text_of(raw)).replace("*/", "").splitlines()]
    kept = [line for line in lines if not (line and _RULE.match(line))]
    while kept and not kept[0].strip():
        kept.pop(0)
    while kept and not kept[-1].strip():
        kept.pop()
    return "\n".join(line.strip() for line in kept)


def is_licence(text: str) -> bool:
    """True when a comment is legal boilerplate, which says nothing about the file."""
    return bool(_LICENCE.search(text[:600]))


def _owners(symbols: Iterable[Symbol]) -> list[tuple[int, Symbol | None]]:
    """(offset, innermost symbol from there on), ascending. Symbols either nest or lie apart."""
    bounds: list[tuple[int, Symbol | None]] = [(0, None)]
    open_: list[tuple[int, Symbol]] = []

    def close_until(offset: int) -> None:
        while open_ and open_[-1][0] <= offset:
            end, _ = open_.pop()
            bounds.append((end, open_[-1][1] if open_ else None))

    for symbol in sorted(symbols, key=lambda s: (s.start, -s.end)):
        close_until(symbol.start)
        open_.append((min(symbol.end, open_[-1][0]) if open_ else symbol.end, symbol))
        bounds.append((symbol.start, symbol))
    close_until(1 << 62)
    return bounds


def uses(
    code: bytes, symbols: tuple[Symbol, ...], lines: Lines, pattern: re.Pattern[bytes], ignore: Callable[[bytes], bool]
) -> list[Reference]:
    """Names used in ``code`` (comments and strings already blanked), each once per enclosing symbol and kind.

    ``pattern`` begins with a group ``name``, followed by a group ``call`` that is set when an opening parenthesis
    follows; a match without a name is passed over. A symbol's own name in its own head is its definition, not a use.
    """
    bounds = _owners(symbols)
    bounds.append((len(code) + 1, None))
    at = 0
    owner: Symbol | None = None
    own = b""
    source = ""
    seen: set[tuple[bytes, bool]] = set()
    by_source: dict[str, set[tuple[bytes, bool]]] = {}
    found: list[Reference] = []
    for match in pattern.finditer(code):
        name, called = match.groups()
        if name is None:
            continue
        offset, call = match.start(), called is not None
        if bounds[at + 1][0] <= offset:
            while bounds[at + 1][0] <= offset:
                at += 1
            owner = bounds[at][1]
            own = owner.name.encode() if owner else b""
            source = owner.qualified if owner else ""
            seen = by_source.setdefault(source, set())
        if (name, call) in seen or ignore(name) or (not call and len(name) < _SHORT):
            continue
        if owner is not None and name == own and (owner.body_start < 0 or offset < owner.body_start):
            continue
        seen.add((name, call))
        target = name.decode("utf-8", "replace")
        found.append(Reference(kind="call" if call else "use", target=target, line=lines.at(offset), source=source))
    return found
