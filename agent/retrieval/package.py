"""The result of retrieval, for planning and coding: ranked files and symbols with their classes, and the context as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.retrieval.call_budget import Allowance
from agent.retrieval.explain import explained
from agent.retrieval.types import ScopedFile, ScopedSymbol, TaskFacts

if TYPE_CHECKING:
    from agent.index import Index


class ContextPackage:
    """The result of one retrieval.

    ``files`` and ``symbols`` hold every candidate, best first, with what became of it. ``text`` is the context that fitted
    into ``budget`` tokens when it was assembled.
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
