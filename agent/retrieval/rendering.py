"""Symbols as text for the coding model: full source, or a signature with the first line of its doc."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.languages import is_unit, reader_of
from agent.models.budget import estimate_tokens
from agent.retrieval.types import ScopedFile, ScopedSymbol
from agent.values import DetailLevel, Value

if TYPE_CHECKING:
    from agent.index import Index
    from agent.index.entries import IndexedSymbol

_TYPE_KINDS = ("struct", "union", "enum", "typedef", "class", "macro", "constant")
_DEFINED = tuple(kind for kind in _TYPE_KINDS if kind != "class")
MAX_TYPE_LINES = 40
"""A type is shown whole up to this length, else by its signature."""

MAX_TEXT_LINES = 200
"""Longest text taken from a file without symbols that the task names."""

HEADING_TOKENS = 12
"""Tokens of a heading line, for a file or a symbol; an estimate."""

FULL: tuple[DetailLevel, ...] = ("primary", "supporting")


class Block(Value, frozen=True):
    """One symbol as it will be shown. ``rank`` orders what goes first when the budget is short: the highest."""

    path: str
    name: str
    level: DetailLevel
    rank: int
    line: int
    end_line: int
    text: str
    tokens: int

    @property
    def key(self) -> str:
        """``path:Qualified.name``."""
        return f"{self.path}:{self.name}"


def blocks_of(index: Index, symbols: list[ScopedSymbol], texts: Sequence[str] = ()) -> list[Block]:
    """Blocks of all symbols that are shown, best first, and of the types they need to be read.

    ``texts`` are paths of named files without symbols (a README, a build file): their text comes first.

    A symbol that lies inside another one shown in full is not shown twice. What the index no longer knows is left out.
    """
    now = _current(index, symbols)
    blocks = [
        _block(index, now[s.key], s.detail_level, s.rank) if s.key in now else _library(s)
        for s in symbols
        if s.detail_level != "excluded" and (s.library or s.key in now)
    ]
    blocks += _companions(index, blocks, now, len(symbols))
    return [_text(index, path) for path in texts] + _outermost(blocks)


def render(index: Index, blocks: list[Block]) -> str:
    """The context as text: a section per file, best file first, in line order inside it."""
    parts: list[str] = []
    for path in dict.fromkeys(block.path for block in blocks):
        inside = sorted((b for b in blocks if b.path == path), key=lambda b: (b.line, b.name))
        parts.append(section(index, path, inside))
    return "\n".join(parts)


def section(index: Index, path: str, blocks: list[Block]) -> str:
    """One file: a line with its path, its imports or includes where source is shown in full, then the symbols."""
    lines = [f"### {path}"]
    if any(block.level in FULL for block in blocks):
        head = imports_text(index, path)
        if head:
            lines += [head, ""]
    library = [block.name for block in blocks if not block.line]
    if library:
        lines += [f"-- from libraries: {', '.join(library)}", ""]
    for block in blocks:
        if not block.line:
            continue
        lines += [f"-- {block.name} lines {block.line}-{block.end_line} ({block.level})", block.text, ""]
    return "\n".join(lines)


def imports_text(index: Index, path: str) -> str:
    """The file's include or import lines, as they stand."""
    language = reader_of(path)
    return "\n".join(language.reference_lines(index.text(path))) if language else ""


def source_of(index: Index, symbol: IndexedSymbol) -> str:
    """A symbol's full source with the comment above it."""
    raw = index.source(symbol.path)
    start = symbol.doc_start if 0 <= symbol.doc_start < symbol.start else symbol.start
    line = raw.rfind(b"\n", 0, start) + 1
    start = start if raw[line:start].strip() else line
    text = raw[start : symbol.end].decode("utf-8", "replace")
    declared = None if symbol.doc else declaration_of(index, symbol)
    return text if declared is None else f"{_comment_of(index, declared)}\n{text}"


def declaration_of(index: Index, symbol: IndexedSymbol) -> IndexedSymbol | None:
    """The documented prototype of a C function: its contract often stands in the header only."""
    if symbol.kind != "function" or symbol.static or not is_unit(symbol.path):
        return None
    return next((s for s in index.find_symbols(symbol.name) if s.kind == "prototype" and s.doc), None)


def _comment_of(index: Index, symbol: IndexedSymbol) -> str:
    raw = index.source(symbol.path)[max(0, symbol.doc_start) : symbol.start]
    return raw.decode("utf-8", "replace").strip()


def type_context_of(index: Index, symbol: IndexedSymbol) -> str:
    """A short type, macro or constant as it is defined, else the signature."""
    short = symbol.end_line - symbol.line < MAX_TYPE_LINES
    return source_of(index, symbol) if short and symbol.kind in _DEFINED else signature_of(index, symbol)


def signature_of(index: Index, symbol: IndexedSymbol) -> str:
    """Signature and first doc line."""
    doc = first_doc_line(index, symbol)
    return (symbol.signature or symbol.name) + (f"\n    {doc}" if doc else "")


def first_doc_line(index: Index, symbol: IndexedSymbol) -> str:
    """The first line of the symbol's doc, or of its declaration's."""
    declared = None if symbol.doc else declaration_of(index, symbol)
    lines = (declared.doc if declared else symbol.doc).strip().splitlines()
    return lines[0].strip() if lines else ""


def texts_of(index: Index, files: Sequence[ScopedFile]) -> list[str]:
    """Included seeds that hold no symbols."""
    return [file.path for file in files if file.included and file.seed and not index.symbols(file.path)]


def _current(index: Index, symbols: list[ScopedSymbol]) -> dict[str, IndexedSymbol]:
    """The symbols as they are now: an edit may have moved them. Of several of one name the longest."""
    now: dict[str, IndexedSymbol] = {}
    for path in dict.fromkeys(symbol.path for symbol in symbols if not symbol.library):
        for symbol in index.symbols(path):
            old = now.get(symbol.key)
            if old is None or symbol.end - symbol.start > old.end - old.start:
                now[symbol.key] = symbol
    return now


def _block(index: Index, symbol: IndexedSymbol, level: DetailLevel, rank: int) -> Block:
    text = source_of(index, symbol) if level in FULL else type_context_of(index, symbol)
    return _made(symbol, level, rank, text)


def _made(symbol: IndexedSymbol, level: DetailLevel, rank: int, text: str) -> Block:
    tokens = estimate_tokens(text) + HEADING_TOKENS
    return Block(symbol.path, symbol.qualified, level, rank, symbol.line, symbol.end_line, text, tokens)


def _library(symbol: ScopedSymbol) -> Block:
    tokens = estimate_tokens(symbol.name) + 1
    return Block(symbol.path, symbol.name, symbol.detail_level, symbol.rank, 0, 0, symbol.name, tokens)


def _text(index: Index, path: str) -> Block:
    """A named file without symbols, up to ``MAX_TEXT_LINES``."""
    lines = index.text(path).splitlines()
    cut = len(lines) > MAX_TEXT_LINES
    text = "\n".join(lines[:MAX_TEXT_LINES]) + ("\n… (the rest is left out)" if cut else "")
    tokens = estimate_tokens(text) + HEADING_TOKENS
    return Block(path, "text", "supporting", 0, 1, max(1, min(len(lines), MAX_TEXT_LINES)), text, tokens)


def _companions(index: Index, blocks: list[Block], known: dict[str, IndexedSymbol], last: int) -> list[Block]:
    """Types, macros and constants that the fully shown symbols name and that stand in the same files, ranked last."""
    shown = {block.key for block in blocks}
    text = "\n".join(block.text for block in blocks if block.level in FULL)
    words = set(re.findall(r"[A-Za-z_]\w+", text))
    found = []
    for key, symbol in known.items():
        if key in shown or symbol.kind not in _TYPE_KINDS or symbol.name not in words:
            continue
        last += 1
        found.append(_made(symbol, "type_context", last, type_context_of(index, symbol)))
    return found


def _outermost(blocks: list[Block]) -> list[Block]:
    full = [block for block in blocks if block.level in FULL and block.line]
    return [
        block
        for block in blocks
        if not any(
            other is not block and other.path == block.path and other.line <= block.line and block.end_line <= other.end_line
            and (other.line, other.end_line) != (block.line, block.end_line)
            for other in full
        )
    ]  # fmt: skip
