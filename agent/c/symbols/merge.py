"""Joins what the grammar saw of a C file with what the tolerant scan saw."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable
from itertools import accumulate

from agent.c.symbols.scan import TopLevel
from agent.language.symbols import Symbol

Key = tuple[int, int, str, str]


def _key(symbol: Symbol) -> Key:
    return symbol.start, symbol.end, symbol.name, symbol.kind


class _Functions:
    """The tree's functions, found by overlap without looking at all of them."""

    def __init__(self, symbols: list[Symbol]) -> None:
        self._sorted = sorted((s for s in symbols if s.kind == "function"), key=lambda s: s.body_start)
        self._starts = [s.body_start for s in self._sorted]
        self._furthest = list(accumulate((s.body_end for s in self._sorted), max))

    def overlapping(self, start: int, end: int) -> list[Symbol]:
        found = []
        index = bisect_left(self._starts, end) - 1
        while index >= 0 and self._furthest[index] > start:
            if self._sorted[index].body_end > start:
                found.append(self._sorted[index])
            index -= 1
        return found


class _Known:
    """Symbols by what they are: the same one is not added twice."""

    def __init__(self, symbols: list[Symbol]) -> None:
        self._kinds: set[tuple[str, str]] = set()
        self._places: dict[tuple[str, str, int], list[Symbol]] = defaultdict(list)
        self._spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for symbol in sorted(symbols, key=lambda s: s.start):
            self.add(symbol)

    def add(self, symbol: Symbol) -> None:
        self._kinds.add((symbol.name, symbol.kind))
        self._places[symbol.name, symbol.kind, symbol.start].append(symbol)
        insort(self._spans[symbol.name], (symbol.start, symbol.end))

    def at(self, item: TopLevel) -> list[Symbol]:
        """Those of the same name and kind that begin where ``item`` does."""
        return self._places.get((item.name, item.kind, item.start), [])

    def has(self, item: TopLevel) -> bool:
        """Whether ``item`` is known: a prototype at its place, anything else by name and kind."""
        if item.kind != "prototype":
            return (item.name, item.kind) in self._kinds
        spans = self._spans[item.name]
        before = bisect_left(spans, (item.end, 0)) - 1
        return before >= 0 and spans[before][1] > item.start


def merge(symbols: list[Symbol], found: list[TopLevel], make: Callable[[TopLevel], Symbol]) -> list[Symbol]:
    """Adds what the tree missed; where the tree stumbled inside a function or type, the scan's range is the true one.

    ``make`` turns a found thing into a symbol. A function that stands once per preprocessor branch stays as the tree has it.
    """
    functions = _Functions(symbols)
    loose = sorted((s for s in symbols if s.kind in ("global", "prototype")), key=lambda s: s.start)
    loose_starts = [s.start for s in loose]
    known = _Known(symbols)
    dropped: set[Key] = set()
    added: list[Symbol] = []
    for item in found:
        if item.kind != "function":
            beyond = [s for s in known.at(item) if s.end > item.end]
            dropped.update(_key(symbol) for symbol in beyond)  # a macro among its members hid the closing brace
            if beyond or not known.has(item):
                added.append(make(item))
                known.add(added[-1])
            continue
        overlapping = functions.overlapping(item.body_start, item.end)
        if any(s.name == item.name and s.body_start != item.body_start for s in overlapping):
            continue
        dropped.update(_key(s) for s in overlapping if s.body_start == item.body_start or s.start >= item.start)
        inside = loose[bisect_left(loose_starts, item.start) : bisect_left(loose_starts, item.end)]
        dropped.update(_key(s) for s in inside)
        added.append(make(item))
    return [s for s in symbols if _key(s) not in dropped] + added
