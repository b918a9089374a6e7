"""What every language module needs from raw bytes: lines of offsets, comments as prose, symbol lookup by offset."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from operator import add

from agent.language.symbols import Reference, Symbol

_LICENCE = re.compile(
    r"copyright|\blicen[cs]e|spdx|all rights reserved|permission is hereby|redistribution|warrant(y|ies)|without fee",
    re.I,
)
_SHORT = 3
"""A shorter name that is not called is a loop variable, hardly ever a symbol."""

_MARKER = re.compile(r"^\s*(?:/\*+!?<?|\*+/|//+[!/<]*|\*(?!/)|#+!?)[ \t]?", re.M)
_RULE = re.compile(r"^[\s*/=#\-_~+<>.|]*$")


class Lines:
    """1-based line numbers of byte offsets."""

    def __init__(self, source: bytes) -> None:
        lengths = list(map(len, source.split(b"\n")))
        self._starts: list[int] = [0, *map(add, accumulate(lengths), range(1, len(lengths)))]

    def at(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def start_of(self, offset: int) -> int:
        """The offset at which the line holding ``offset`` begins."""
        return self._starts[bisect_right(self._starts, offset) - 1]


def text_of(raw: bytes) -> str:
    """Bytes as text; what is not UTF-8 becomes the replacement character."""
    return raw.decode("utf-8", "replace")


def one_line(raw: bytes, limit: int = 400) -> str:
    """Source text on one line, white space folded, at most ``limit`` characters. No more is read than may be shown: of a
    declaration with thousands of names each begins with the same text."""
    cut = raw[: 16 * limit]
    folded = " ".join(text_of(cut).split())
    return folded if len(folded) <= limit and len(cut) == len(raw) else folded[: limit - 1].rstrip() + "…"


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


def uses(
    code: bytes, symbols: Iterable[Symbol], pattern: re.Pattern[bytes], ignore: Callable[[bytes], bool]
) -> list[Reference]:
    """Names used in ``code`` (comments and strings already blanked), each once per enclosing symbol and kind, without lines.

    ``pattern`` has two groups, a name and the bracket behind it that makes it a call; what is no identifier is passed over.
    A symbol's own name in its own head is its definition, not a use. Enclosing symbols come in order of their first text.
    """
    seen: dict[str, dict[tuple[bytes, bytes], None]] = {}
    for owner, start, end in _pieces(symbols, len(code)):
        found = seen.setdefault(owner.qualified if owner else "", {})
        heads = end if owner is None or owner.body_start < 0 else min(max(owner.body_start, start), end)
        if start < heads:
            names = dict.fromkeys(pattern.findall(code[start:heads]))
            if owner is not None:
                own = owner.name.encode()
                names.pop((own, b"("), None)
                names.pop((own, b""), None)
            found.update(names)
        if heads < end:
            found.update(dict.fromkeys(pattern.findall(code[heads:end])))
    return [
        Reference(kind="call" if call else "use", target=target, line=0, source=source)
        for source, found in seen.items()
        for name, call in found
        if (call or len(name) >= _SHORT) and not ignore(name) and (target := name.decode()).isidentifier()
    ]


def _pieces(symbols: Iterable[Symbol], size: int) -> list[tuple[Symbol | None, int, int]]:
    """(innermost symbol, start, end) of every stretch of text, ascending. Symbols either nest or lie apart."""
    pieces: list[tuple[Symbol | None, int, int]] = []
    open_: list[tuple[int, Symbol]] = []
    at = 0

    def own(until: int) -> None:
        nonlocal at
        if until > at:
            pieces.append((open_[-1][1] if open_ else None, at, until))
            at = until

    for symbol in sorted(symbols, key=lambda s: (s.start, -s.end)):
        while open_ and open_[-1][0] <= symbol.start:
            own(open_[-1][0])
            open_.pop()
        own(symbol.start)
        open_.append((min(symbol.end, open_[-1][0]) if open_ else symbol.end, symbol))
    while open_:
        own(open_[-1][0])
        open_.pop()
    own(size)
    return pieces
