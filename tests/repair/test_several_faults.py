"""Edits of several functions at once, each of which mends a part of the failures."""

from __future__ import annotations

from pathlib import Path

from agent.repair.c_testbed import CommandBed
from agent.repair.commands import CheckCommand
from agent.repair.edits import Candidate, Edit
from agent.repair.search import EditSearch, Tried
from agent.repair.testbed import Trial
from agent.repair.workers import Workers
from agent.workspace.sandbox import Limits

SOURCE = "int one(void) { return 0; }\nint two(void) { return 0; }\nint three(void) { return 0; }\n"


def bed(root: Path) -> CommandBed:
    (root / "a.c").write_text(SOURCE)
    return CommandBed(root, CheckCommand("command", "", ()), Workers(root, Limits(), {}, 1), 1.0)


def mends(function: str, number: int, *tests: str) -> Tried:
    at = SOURCE.index("0", SOURCE.index(function))
    candidate = Candidate((Edit("a.c", at, at + 1, str(number)),), "constant", "a.c", function, 1, "operators", 1 / number)
    return Tried(candidate, Trial(False, frozenset(tests)))


def test_all_that_mend_something_more_are_tried_together(tmp_path: Path) -> None:
    search = EditSearch(bed(tmp_path), {"a.c": SOURCE.encode()}, 0.0)
    search.partial = [
        mends("one", 1, "a", "b"), mends("one", 2, "a", "b"), mends("two", 3, "c"), mends("two", 4, "b"),
        mends("three", 5, "d"),
    ]  # fmt: skip
    together = search.combined()[0]
    texts = search.texts(together)
    assert texts is not None
    assert texts["a.c"] == "int one(void) { return 1; }\nint two(void) { return 3; }\nint three(void) { return 5; }\n"
    search.partial = search.partial[:4]
    assert all(len(one.edits) == 2 for one in search.combined())


def test_an_edit_of_two_functions_is_told_from_one_of_one(tmp_path: Path) -> None:
    commands, one, two = bed(tmp_path), mends("one", 1, "a").candidate, mends("two", 2, "b").candidate
    both = Candidate((*one.edits, *two.edits), "both", "a.c", "one", 1)
    assert commands._is_inside(one) and commands._is_inside(two) and not commands._is_inside(both)


def test_an_edit_inside_of_what_another_one_keeps_is_made_there(tmp_path: Path) -> None:
    """``n <= 9`` becomes ``n < 9``, and the whole condition ``n <= 9 && n``."""
    source = "int one(int n) { return n <= 9; }\n"
    at = source.index("n <= 9")
    inner = Candidate((Edit("a.c", at + 2, at + 4, "<"),), "comparison", "a.c", "one", 1)
    outer = Candidate((Edit("a.c", at, at + 6, "n <= 9 && n"),), "condition-part", "a.c", "one", 1)
    other = Candidate((Edit("a.c", at, at + 6, "n != 9"),), "comparison", "a.c", "one", 1)
    search = EditSearch(bed(tmp_path), {"a.c": source.encode()}, 0.0)
    search.partial = [Tried(inner, Trial(False, frozenset("ab"))), Tried(other, Trial(False, frozenset("a")))]
    [both] = search.on_top([outer, other], 4)
    assert search.texts(both) == {"a.c": "int one(int n) { return n < 9 && n; }\n"}
