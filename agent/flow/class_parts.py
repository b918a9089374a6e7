"""A class of which a part of the tests pass is not written anew as a whole: its methods are, one after the other."""

from __future__ import annotations

import re
from collections.abc import Collection

from agent.flow.test_contract import TestContract
from agent.languages import reader_of


class ClassParts:
    """Chooses the method, by what the failing tests use. Each is chosen once for each state of its file."""

    def __init__(self, contract: TestContract) -> None:
        self.contract = contract
        self._chosen: set[tuple[str, bytes]] = set()

    def to_blame(self, path: str, source: bytes, name: str, failing: Collection[str]) -> str:
        """The most suspicious method of the class ``name`` that was not chosen yet, qualified; "" when none is left that
        failing tests use, or when the class has no other methods. ``failing`` are names of test functions. Blocking."""
        reader = reader_of(path)
        symbols = reader.parse(source).symbols if reader is not None else ()
        methods = [one.qualified for one in symbols if one.kind == "method" and one.parent == name]
        if len(methods) < 2:
            return ""
        suspicion = {one: self.contract.suspicion(one, failing) or 0.0 for one in methods}
        left = [one for one in methods if suspicion[one] > 0 and (one, source) not in self._chosen]
        best = max(left, key=suspicion.__getitem__, default="")
        self._chosen |= {(best, source)} if best else set()
        return best

    def examples(self, method: str, language: str) -> tuple[str, ...]:
        """What the tests say of the class, as far as they use the method. Blocking."""
        owner, _, own = method.rpartition(".")
        used = re.compile(rf"\.{re.escape(own)}\b")
        return tuple(one for one in self.contract.examples(owner, language) if used.search(one))
