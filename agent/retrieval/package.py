"""What retrieval hands to planning and coding: ranked files and symbols with their classes, and the context as text."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import msgspec

from agent.retrieval.assembly import trim
from agent.retrieval.call_budget import Allowance
from agent.retrieval.explain import explained
from agent.retrieval.rendering import FULL, blocks_of, render, texts_of
from agent.retrieval.symbolrank import scoped
from agent.retrieval.types import ScopedFile, ScopedSymbol, TaskFacts
from agent.values import DetailLevel

if TYPE_CHECKING:
    from agent.index import Index


MAX_NAMESAKES = 3
"""Definitions taken for one name that a step targets and the package does not hold."""


class ContextPackage:
    """The result of one retrieval.

    ``files`` and ``symbols`` hold every candidate, best first, with what became of it. ``text`` is the context that fitted
    into ``budget`` tokens when it was assembled; ``render`` and ``context_for`` read the sources as they are now, so that
    they stay right after an edit and ``index.refresh_files``.
    """

    def __init__(
        self,
        index: Index,
        facts: TaskFacts,
        files: list[ScopedFile],
        symbols: list[ScopedSymbol],
        *,
        text: str = "",
        tokens: int = 0,
        budget: int = 0,
        groups: tuple[tuple[str, ...], ...] = (),
        dropped: tuple[str, ...] = (),
        allowance: Allowance | None = None,
        calls: int = 0,
        seconds: float = 0.0,
    ) -> None:
        self.index = index
        self.facts = facts
        self.files = files
        self.symbols = symbols
        self.text = text
        self.tokens = tokens
        self.budget = budget
        self.groups = groups
        self.dropped = dropped
        self.allowance = allowance
        self.calls = calls
        self.seconds = seconds

    @property
    def included_files(self) -> list[str]:
        """Paths in scope, best first."""
        return [file.path for file in self.files if file.included]

    def at_level(self, *levels: str) -> list[ScopedSymbol]:
        """Symbols of these detail levels, best first."""
        return [symbol for symbol in self.symbols if symbol.detail_level in levels]

    @property
    def shown_symbols(self) -> list[str]:
        """``path:Qualified.name`` of the project symbols that are not excluded: primary first, then by rank."""
        return [
            symbol.key
            for level in ("primary", "supporting", "type_context")
            for symbol in self.at_level(level)
            if not symbol.library
        ]

    def render(self, budget: int | None = None) -> str:
        """The context within ``budget`` tokens (by default that of its assembly)."""
        return self.context_for(budget=budget)

    def context_for(self, files: Collection[str] = (), symbols: Collection[str] = (), budget: int | None = None) -> str:
        """The context of one step, without any call: what belongs to ``files`` and ``symbols`` first.

        ``symbols`` are qualified names or ``path:name``; those are shown in full whatever their class. Of ``files`` (paths)
        everything else is shown, at least by signature, and in full where nothing of the file is yet. The package's rest
        follows by its class as far as the budget allows; with neither given that is all.
        """
        wanted = self._wanted(files, symbols)
        blocks = blocks_of(self.index, wanted, texts_of(self.index, self.files))
        return render(self.index, list(trim(self.index, blocks, budget or self.budget or 4096).blocks))

    def _wanted(self, files: Collection[str], symbols: Collection[str]) -> list[ScopedSymbol]:
        """The package's symbols with the step's own first; what it does not hold is taken from the index."""
        if not files and not symbols:
            return list(self.symbols)
        known = {symbol.key: symbol for symbol in self.symbols}
        for symbol in self._missing(files, symbols, known):
            known[symbol.key] = symbol
        named = [s for s in known.values() if not s.library and _is_named(s, symbols)]
        inside = [s for s in known.values() if s.path in files and s not in named and not s.library]
        rest = [s for s in known.values() if s not in named and s not in inside]
        served = {s.path for s in named} | {s.path for s in inside if s.detail_level in FULL}
        ordered: list[tuple[ScopedSymbol, DetailLevel]] = [(s, "primary") for s in named]
        ordered += [(s, _at_least(s, "type_context" if s.path in served else "supporting")) for s in inside]
        ordered += [(s, s.detail_level) for s in rest]
        return [
            msgspec.structs.replace(symbol, detail_level=level, rank=number)
            for number, (symbol, level) in enumerate(ordered, 1)
        ]

    def _missing(
        self, files: Collection[str], symbols: Collection[str], known: dict[str, ScopedSymbol]
    ) -> list[ScopedSymbol]:
        found = [symbol for path in files for symbol in self.index.symbols(path)]
        for name in symbols:
            path, _, qualified = name.rpartition(":")
            hits = self.index.find_symbols(qualified)
            found += [hit for hit in hits if not path or hit.path == path][:MAX_NAMESAKES]
        return [scoped(s, 0.0, len(known)) for s in found if s.key not in known and s.kind != "enumerator"]

    def to_dict(self) -> dict[str, Any]:
        """What ``cra retrieve --json`` prints."""
        return {
            "files": self.included_files,
            "symbols": self.shown_symbols,
            "why": explained(
                [file for file in self.files if file.included],
                [s for s in self.symbols if s.detail_level != "excluded" and not s.library],
            ),
            "calls": self.calls,
            "seconds": round(self.seconds, 3),
            "tokens": self.tokens,
        }


def _is_named(symbol: ScopedSymbol, names: Collection[str]) -> bool:
    return symbol.key in names or symbol.name in names or symbol.name.rsplit(".", 1)[-1] in names


def _at_least(symbol: ScopedSymbol, level: DetailLevel) -> DetailLevel:
    """The symbol's own level, or ``level`` where it was not to be shown in full."""
    return symbol.detail_level if symbol.detail_level in FULL else level
