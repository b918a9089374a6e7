"""Joins what the grammar saw of a C file with what the tolerant scan saw."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from itertools import accumulate

from agent.c.symbols.scan import Found
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


def merge(symbols: list[Symbol], found: list[Found], make: Callable[[Found], Symbol]) -> list[Symbol]:
    """Adds what the tree missed; where the tree stumbled inside a function or type, the scan's range is the true one.

    ``make`` turns a found thing into a symbol. A function that stands once per preprocessor branch stays as the tree has it.
    """
    functions = _Functions(symbols)
    loose = sorted((s for s in symbols if s.kind in ("global", "prototype")), key=lambda s: s.start)
    loose_starts = [s.start for s in loose]
    by_name: dict[str, list[Symbol]] = defaultdict(list)
    for symbol in symbols:
        by_name[symbol.name].append(symbol)
    dropped: set[Key] = set()
    added: list[Symbol] = []
    for item in found:
        if item.kind != "function":
            beyond = [s for s in by_name[item.name] if s.kind == item.kind and s.start == item.start and s.end > item.end]
            dropped.update(_key(symbol) for symbol in beyond)  # a macro among its members hid the closing brace
            if beyond or not any(_same(symbol, item) for symbol in by_name[item.name]):
                added.append(make(item))
                by_name[item.name].append(added[-1])
            continue
        overlapping = functions.overlapping(item.body_start, item.end)
        if any(s.name == item.name and s.body_start != item.body_start for s in overlapping):
            continue
        dropped.update(_key(s) for s in overlapping if s.body_start == item.body_start or s.start >= item.start)
        inside = loose[bisect_left(loose_starts, item.start) : bisect_left(loose_starts, item.end)]
        dropped.update(_key(s) for s in inside)
        added.append(make(item))
    return [s for s in symbols if _key(s) not in dropped] + added


def _same(symbol: Symbol, item: Found) -> bool:
    apart = symbol.start >= item.end or item.start >= symbol.end
    return not apart if item.kind == "prototype" else symbol.kind == item.kind
