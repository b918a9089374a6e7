# ruff: noqa: E501
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.language.symbols import ParsedFile, Symbol
from agent.python.symbols import parse

SOURCE = b'''\
#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Counts tokens.

More words.
"""
import os.path as osp, sys
from . import sibling
from ..pkg.mod import thing as other, more
from star import *

CHARS_PER_TOKEN = 4
# How many at most.
limit: int = 3
if True:
    from lazy import late

try:
    def guarded():
        return late()
except ImportError:
    pass


@decorator
class Budget(Base):
    """A budget."""

    MAX = 10
    field: int = 0

    @property
    def left(self) -> int:
        """What is left."""
        return self.total(f"{helper(1)} not_a_name()")

    @functools.cached_property
    def cached(self): return 1

    async def total(self, text: str) -> int:
        # plain_comment()
        def inner():
            return other()
        return inner() + CHARS_PER_TOKEN

    class Inner:
        def deep(self): ...


def helper(n):
    \'\'\'Helps.\'\'\'
    return osp.join(n)
'''


def find(parsed: ParsedFile, qualified: str) -> Symbol:
    [symbol] = [s for s in parsed.symbols if s.qualified == qualified]
    return symbol


def test_every_kind_of_symbol_is_found() -> None:
    parsed = parse(SOURCE)
    assert {(s.qualified, s.kind) for s in parsed.symbols} == {
        ("CHARS_PER_TOKEN", "constant"), ("limit", "global"), ("guarded", "function"), ("Budget", "class"), ("Budget.MAX", "constant"),
        ("Budget.left", "property"), ("Budget.cached", "property"), ("Budget.total", "method"), ("Budget.Inner", "class"),
        ("Budget.Inner.deep", "method"), ("helper", "function"),
    }  # fmt: skip
    assert parsed.doc.startswith("Counts tokens.") and parsed.errors == 0


def test_ranges_begin_at_the_decorator_and_hold_the_suite() -> None:
    parsed = parse(SOURCE)
    left, helper = find(parsed, "Budget.left"), find(parsed, "helper")
    assert SOURCE[left.start : left.end].startswith(b"@property")
    assert left.doc == "What is left." and left.signature == "def left(self) -> int"
    assert SOURCE[helper.body_start : helper.body_end] == b"'''Helps.'''\n    return osp.join(n)"
    assert SOURCE.splitlines()[helper.line - 1] == b"def helper(n):"
    assert find(parsed, "limit").doc == "How many at most."


def test_imports_keep_dots_and_aliases() -> None:
    imports = [(r.target, r.alias) for r in parse(SOURCE).references if r.kind == "import"]
    assert imports == [
        ("os.path", "osp"), ("sys", "sys"), (".sibling", "sibling"), ("..pkg.mod.thing", "other"), ("..pkg.mod.more", "more"),
        ("star.*", ""), ("lazy.late", "late"),
    ]  # fmt: skip


def test_calls_come_from_code_not_from_strings_and_comments() -> None:
    calls = {(r.source, r.target) for r in parse(SOURCE).references if r.kind == "call"}
    assert ("Budget.left", "helper") in calls and ("Budget.left", "total") in calls and ("Budget.total", "other") in calls
    assert not {"not_a_name", "plain_comment"} & {target for _, target in calls}


@pytest.mark.parametrize(
    "string", ['"lost"', "r'lost'", "Rb'lost'", "u'''\nlost'''", 'b"""a "lost\\""""', "'it\\'s lost'", "'lost\\\nlost'"]
)
def test_strings_are_no_code_whatever_their_letters(string: str) -> None:
    assert {r.target for r in parse(f"kept({string}, other)\n".encode()).references} == {"kept", "other"}


@pytest.mark.parametrize("letters", ["f", "F", "rf", "fR"])
def test_what_stands_in_the_holes_of_a_string_is_code(letters: str) -> None:
    source = f"kept({letters}'lost {{found(1)}}', {letters}\"\"\"{{seen}} lost\"\"\")\n"
    assert {r.target for r in parse(source.encode()).references} == {"kept", "found", "seen"}


def test_broken_code_keeps_its_sound_parts() -> None:
    source = b"def one():\n    return 1\n\ndef two(:\n    retur (\n\ndef three():\n    return 3\n"
    parsed = parse(source)
    assert parsed.errors > 0
    assert {"one", "three"} <= {s.name for s in parsed.symbols}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cutting_the_source_anywhere_never_raises_and_keeps_ranges_inside(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(SOURCE)))
    end = data.draw(st.integers(start, len(SOURCE)))
    source = SOURCE[:start] + SOURCE[end:]
    for symbol in parse(source).symbols:
        assert 0 <= symbol.start < symbol.end <= len(source)
        assert symbol.name.encode() in source[symbol.start : symbol.end]


def test_methods_of_containers_are_not_taken_for_the_projects_own() -> None:
    parsed = parse(b"def f(xs):\n    xs.append(1)\n    self.append(2)\n    xs.send(3)\n    join(4)\n")
    assert [r.target for r in parsed.references if r.kind == "call"] == ["append", "send", "join"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("match x:\n    case 1:\n        def f(): pass\n    case _:\n        Y = 2\n", ["f", "Y"]),
        ("a = b = 1\n", ["a", "b"]),
        ("(x, y) = 1, 2\nm, (n, *rest) = v\n[p, q] = v\n", ["x", "y", "m", "n", "rest", "p", "q"]),
        ("type Pair[T] = tuple[T, T]\ntype Alias = int\n", ["Pair", "Alias"]),
        ("a.b = c[0] = d = 1\n", ["d"]),
        ("class A:\n    K = L = 1\n    field = other = 2\n", ["A", "K", "L"]),
    ],
)
def test_every_name_that_a_statement_binds(text: str, expected: list[str]) -> None:
    assert [symbol.name for symbol in parse(text.encode()).symbols] == expected
