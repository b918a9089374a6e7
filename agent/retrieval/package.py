"""What retrieval hands to planning and coding: ranked files and symbols with their classes, and the context as text."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import msgspec

from agent.retrieval.allowance import Allowance
from agent.retrieval.assembly import trim
from agent.retrieval.rendering import blocks_of, render, texts_of
from agent.retrieval.types import ScopedFile, ScopedSymbol, TaskFacts

if TYPE_CHECKING:
    from agent.index import Index


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
        self.allowance = allowance or Allowance(0)
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

    def context_for(
        self, files: Collection[str] = (), symbols: Collection[str] = (), budget: int | None = None
    ) -> str:
        """The context of one step, without any call: what belongs to ``files`` and ``symbols`` first.

        ``files`` are paths; ``symbols`` are qualified names or ``path:name``. Those are shown in full whatever their
        class; with neither given everything is rendered by its class. The rest follows as far as the budget allows.
        """
        wanted = self._wanted(files, symbols)
        blocks = blocks_of(self.index, wanted, texts_of(self.index, self.files))
        return render(self.index, list(trim(self.index, blocks, budget or self.budget or 4096).blocks))

    def _wanted(self, files: Collection[str], symbols: Collection[str]) -> list[ScopedSymbol]:
        if not files and not symbols:
            return list(self.symbols)
        named = [s for s in self.symbols if s.key in symbols or s.name in symbols or s.name.rsplit(".", 1)[-1] in symbols]
        inside = [s for s in self.symbols if s.path in files and s not in named and s.detail_level != "excluded"]
        rest = [s for s in self.symbols if s not in named and s not in inside]
        raised = [_with(s, level="primary", rank=n) for n, s in enumerate(named, 1)]
        raised += [_with(s, level=s.detail_level, rank=len(named) + n) for n, s in enumerate(inside, 1)]
        return raised + [_with(s, level=s.detail_level, rank=len(raised) + n) for n, s in enumerate(rest, 1)]

    def to_dict(self) -> dict[str, Any]:
        """What ``cra retrieve --json`` prints."""
        return {
            "files": self.included_files,
            "symbols": self.shown_symbols,
            "calls": self.calls,
            "seconds": round(self.seconds, 3),
            "tokens": self.tokens,
        }


def _with(symbol: ScopedSymbol, *, level: str, rank: int) -> ScopedSymbol:
    return msgspec.structs.replace(symbol, detail_level=level, rank=rank)
