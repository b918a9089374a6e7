"""The types of a function's arguments and of its result, by the literals in its tests: ``encode(str, int) → str``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from agent.language.nesting import UNREADABLE

_FEWEST = 2
"""Calls with a known result that a signature rests on."""

_MOST = 2
"""Types in one place; with more of them nothing is told."""


class CallTypes:
    """Collects calls of the function ``name``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._arguments: list[tuple[str, ...]] = []
        self._results: list[str] = []
        self._mixed = False

    def add(self, call: ast.expr, result: ast.expr | None) -> None:
        """A call, and what it comes to; None where that is not told."""
        if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != self.name:
            return
        try:
            arguments = tuple(_type_of(ast.literal_eval(one)) for one in call.args)
            found = _type_of(ast.literal_eval(result)) if result is not None else ""
        except (*UNREADABLE, TypeError):
            return
        self._mixed |= bool(call.keywords) or any(len(arguments) != len(one) for one in self._arguments)
        if found:
            self._arguments.append(arguments)
            self._results.append(found)

    def told(self) -> str:
        """The signature, "" where too little is known."""
        if self._mixed or len(self._results) < _FEWEST:
            return ""
        parts = [_either(column) for column in zip(*self._arguments, strict=True)]
        result = _either(self._results)
        return f"{self.name}({', '.join(parts)}) → {result}" if result and all(parts) else ""


def _either(types: Iterable[str]) -> str:
    """The types of one place, an empty collection counted as the kind of the filled ones; "" for too many."""
    every = list(dict.fromkeys(types))
    kept = [one for one in every if not any(other.startswith(f"{one}[") for other in every)]
    return " | ".join(kept) if len(kept) <= _MOST else ""


def _type_of(value: object) -> str:
    """As an annotation has it (PEP 585), without the parts of an empty collection."""
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, tuple) and value:
        return f"tuple[{', '.join(map(_type_of, value))}]"
    if isinstance(value, (list, set)) and value:
        inner = _either(map(_type_of, value))
        return f"{name}[{inner}]" if inner else name
    if isinstance(value, dict) and value:
        key, inner = _either(map(_type_of, value)), _either(map(_type_of, value.values()))
        return f"{name}[{key}, {inner}]" if key and inner else name
    return name
