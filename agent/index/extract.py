"""What the index keeps of one file, made from its bytes alone: the part of a build that can run in several processes."""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agent.index.metadata import describe
from agent.index.source import read_encoded
from agent.index.words import terms
from agent.languages import ParsedFile, Reference, Symbol, language_of, parse_file, parser_for
from agent.workspace.protected import is_test_file

UNSEARCHED = ("prototype", "enumerator")
"""Kinds that are not search results of their own: they are read with what they declare or belong to."""

FUNCTION, PROTOTYPE, OTHER, PRIVATE = 1, 2, 4, 8
"""What a name stands for in one file, added up. ``PRIVATE``: only as a static function or prototype."""

MAX_ROW_BYTES = 1 << 18
"""Text read into one row of the search. What stands further down in one large table is not found by its words."""

MAX_DOC = 4000
"""Characters kept of one comment."""

MAX_SYMBOLS = 1 << 20
"""Symbols of one file. A row's number is its file's number times this, plus the symbol's place from 1; 0 is the file."""


def row_base(row: int) -> int:
    """The number of the row of the file that a row belongs to."""
    return row // MAX_SYMBOLS * MAX_SYMBOLS


_MAX_LENGTH = 65_535
_RACY_NS = 2_000_000_000
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_unpack_links = msgspec.msgpack.Decoder(list[Reference]).decode


class Extract(msgspec.Struct, array_like=True):
    """One file as it is written to the index. ``reason`` is set, and little else, where the file was left out.

    ``mtime_ns`` is -1 where the file was written just before: it may change again within the clock's grain, without another
    time, so it has to be looked at again.
    ``same`` says that the content is what was known. ``names`` holds each name with what it stands for; ``renames`` what
    the file imports under another name; ``rows`` (place, words of the name, words of the head, words of the body).
    """

    path: str
    size: int
    mtime_ns: int
    reason: str = ""
    same: bool = False
    sha: str = ""
    encoding: str = ""
    language: str = ""
    lines: int = 0
    is_test: bool = False
    errors: int = 0
    purpose: str = ""
    domain: str = ""
    concepts: tuple[str, ...] = ()
    surface: tuple[str, ...] = ()
    words: int = 0
    symbol_count: int = 0
    symbols: bytes = b""
    links: bytes = b""
    uses: bytes = b""
    lengths: bytes = b""
    names: list[tuple[str, int]] = []
    renames: list[tuple[str, str]] = []
    rows: list[tuple[int, str, str, str]] = []


def extract(root: Path, path: str, max_bytes: int, known_sha: str) -> Extract | None:
    """Reads and parses one file; None when it went in the meantime. Never raises on what it finds."""
    full = os.path.join(root, path)
    try:
        now = os.stat(full)
    except (OSError, ValueError):
        return None
    data, reason, encoding = read_encoded(Path(full), max_bytes)
    settled = time.time_ns() - now.st_mtime_ns > _RACY_NS
    found = Extract(path, now.st_size, now.st_mtime_ns if settled else -1, reason)
    if reason:
        return found
    found.sha = hashlib.sha256(data).hexdigest()
    found.same = found.sha == known_sha
    if not found.same:
        found.encoding = encoding
        _describe(found, data)
    return found


def _describe(found: Extract, data: bytes) -> None:
    parsed = _parse(found.path, data)
    about = describe(found.path, parsed)
    found.language, found.errors = language_of(found.path), parsed.errors
    found.lines = data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)
    found.is_test = is_test_file(found.path)
    found.purpose, found.domain, found.concepts, found.surface = about.purpose, about.domain, about.concepts, about.surface
    if parser_for(found.language) is None:
        return  # known by name only: such a file is listed and never a search result
    symbols = [_bounded(symbol) for symbol in parsed.symbols[: MAX_SYMBOLS - 1]]
    found.symbol_count = len(symbols)
    found.symbols = packed([msgspec.structs.astuple(symbol) for symbol in symbols])
    found.links = packed([r for r in parsed.references if r.kind in ("include", "import")])
    used = [r for r in parsed.references if r.kind in ("call", "use")]
    found.uses = packed([(r.kind == "call", r.target, r.source) for r in used])
    found.names = _names(symbols)
    found.renames = _renames(parsed.references)
    found.rows = _rows(found.path, data, symbols, parsed.doc)
    counts = array("H", bytes(2 * (len(symbols) + 1)))
    for place, _, _, body in found.rows:
        counts[place] = min(_MAX_LENGTH, body.count(" ") + 1)
    found.lengths, found.words = zlib.compress(counts.tobytes(), 1), sum(counts)


def _parse(path: str, data: bytes) -> ParsedFile:
    """What the language's parser says; a parser that stumbles over a file leaves it searchable as text."""
    try:
        return parse_file(path, data)
    except Exception:  # a parser error in one file must not cost the whole index
        return ParsedFile(language=language_of(path), symbols=(), errors=1)


def _bounded(symbol: Symbol) -> Symbol:
    return symbol if len(symbol.doc) <= MAX_DOC else msgspec.structs.replace(symbol, doc=symbol.doc[:MAX_DOC])


def _names(symbols: Iterable[Symbol]) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for symbol in symbols:
        kind = FUNCTION if symbol.kind == "function" else PROTOTYPE if symbol.kind == "prototype" else OTHER
        old = found.get(symbol.name, PRIVATE)
        private = old & PRIVATE if symbol.static or kind == OTHER else 0
        found[symbol.name] = (old & ~PRIVATE) | kind | private
    return sorted(found.items())


def _renames(references: Iterable[Reference]) -> list[tuple[str, str]]:
    """(name, alias) of what is imported under another name."""
    pairs = {
        (name, r.alias)
        for r in references
        if r.kind == "import" and r.alias and (name := r.target.rpartition(".")[2]) != r.alias and "." in r.target
    }
    return sorted(pairs)


def _rows(path: str, data: bytes, symbols: Sequence[Symbol], doc: str) -> list[tuple[int, str, str, str]]:
    """One row for the file and one for each symbol that is a search result. Every byte is read into one row only."""
    texts = own_texts(data, symbols)
    rows = [(0, terms(path), terms(doc[:MAX_DOC]), terms(texts.get(0, "")))]
    for place, symbol in enumerate(symbols, 1):
        if symbol.kind not in UNSEARCHED:
            head = terms(f"{symbol.signature} {symbol.doc}") if place in texts else ""
            rows.append((place, terms(f"{symbol.parent} {symbol.name}"), head, terms(texts.get(place, ""))))
    return rows


def own_texts(data: bytes, symbols: Sequence[Symbol]) -> dict[int, str]:
    """Place from 1 → the symbol's source without that of the search results inside it; 0 → what is outside of all.

    Where several symbols share one declaration the first has its text, so that the whole is never more than ``data``.
    """
    places = [place for place, s in enumerate(symbols, 1) if s.kind not in UNSEARCHED]
    places.sort(key=lambda place: (symbols[place - 1].start, -symbols[place - 1].end, place))
    pieces: dict[int, list[bytes]] = {}
    open_: list[tuple[int, int, int]] = []
    at = 0

    def own(until: int) -> None:
        nonlocal at
        if until > at:
            pieces.setdefault(open_[-1][2] if open_ else 0, []).append(data[at:until])
            at = until

    for place in places:
        start, end = symbols[place - 1].start, symbols[place - 1].end
        while open_ and open_[-1][1] <= start:
            own(open_[-1][1])
            open_.pop()
        own(start)
        if not open_ or open_[-1][:2] != (start, end):
            open_.append((start, end, place))
    while open_:
        own(open_[-1][1])
        open_.pop()
    own(len(data))
    return {place: b" ".join(found)[:MAX_ROW_BYTES].decode("utf-8", "replace") for place, found in pieces.items()}


def packed(values: Sequence[Any]) -> bytes:
    """Values as compressed MessagePack, b"" of none."""
    return zlib.compress(_pack(values), 1) if values else b""


def unpacked(blob: bytes) -> list[Any]:
    """What ``packed`` made."""
    found: list[Any] = _unpack(zlib.decompress(blob)) if blob else []
    return found


def unpacked_links(blob: bytes) -> list[Reference]:
    """The includes and imports of a file."""
    return _unpack_links(zlib.decompress(blob)) if blob else []


def unpacked_lengths(blob: bytes) -> array[int]:
    """Words of the file's own row, then of each symbol's."""
    found = array("H")
    if blob:
        found.frombytes(zlib.decompress(blob))
    return found
