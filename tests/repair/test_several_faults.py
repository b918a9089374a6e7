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
