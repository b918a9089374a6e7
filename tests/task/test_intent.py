"""What tasks ask for, in many wordings: the kind, and what may be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.task.intent import read_intent
from agent.task.title import read_title

ROWS = [
    line.split(" | ", 1)
    for line in (Path(__file__).parent / "kinds.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]

WORDINGS = [
    line.split(" | ", 2)
    for line in (Path(__file__).parent / "wordings.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(("kind", "flags", "task"), WORDINGS)
def test_one_answer_for_every_wording(kind: str, flags: str, task: str) -> None:
    intent = read_intent(task)
    assert (intent.kind if intent.sure or kind != "?" else "?") == kind
    assert intent.wants_tests == ("t" in flags)
    assert intent.completes and not intent.other_work if "d" in flags else True


@pytest.mark.parametrize(("kind", "task"), ROWS)
def test_kind(kind: str, task: str) -> None:
    assert read_intent(task).kind == kind


@pytest.mark.parametrize(
    ("task", "new", "changed"),
    [
        ("Add tests for ring.h", True, True),
        ("Fix the tests in budget.py", False, True),
        ("Update the tests for the new signature", False, True),
        ("Adapt the unit tests", False, True),
        ("Fix the failing tests", False, False),
        ("Make the tests pass", False, False),
        ("Implement f so that the tests pass", False, False),
        ("ring_push corrupts memory", False, False),
    ],
)
def test_new_tests_and_changed_tests_are_two_things(task: str, new: bool, changed: bool) -> None:
    intent = read_intent(task)
    assert (intent.wants_tests, intent.edits_tests) == (new, changed)


@pytest.mark.parametrize(
    "task",
    [
        "Make the tests pass",
        "Fix the failing tests",
        "Get the checks green",
        "The tests fail; repair the code",
        "All tests should pass",
    ],
)
def test_the_checks_are_the_task(task: str) -> None:
    assert read_intent(task).about_checks


@pytest.mark.parametrize("task", ["ring_pop hangs", "Add tests for ring.h", "Implement ring_push", "Add a test flag"])
def test_the_checks_are_not_the_task(task: str) -> None:
    assert not read_intent(task).about_checks


@pytest.mark.parametrize("task", ["budget.c", "colours of the prompt", "hello", "The list is printed in reverse order"])
def test_what_the_words_leave_open_is_said_to_be_open(task: str) -> None:
    assert not read_intent(task).sure


@pytest.mark.parametrize("task", ["The todo list drops the last item", "Show a todo count", "todo.c crashes"])
def test_a_todo_list_is_not_what_is_left_to_write(task: str) -> None:
    assert not read_intent(task).completes


@pytest.mark.parametrize(
    ("task", "read"),
    [
        ("[Bug] a crash", ("bug", "a crash")),
        ("[Feature request]: a quiet mode", ("feature", "a quiet mode")),
        ("fix(parser)!: accept a comma", ("bug", "accept a comma")),
        ("Bug - wrong exit code", ("bug", "wrong exit code")),
        ("docs: ring.h: say who frees it", ("docs", "say who frees it")),
        ("server/http: move the reader", (None, "move the reader")),
        ("Note: it crashes", (None, "it crashes")),
        ("tests fail: all of them", (None, "tests fail: all of them")),
        ("AssertionError: 1 != 2", (None, "AssertionError: 1 != 2")),
        ("Fix it", (None, "Fix it")),
    ],
)
def test_what_stands_before_a_title_is_read_apart(task: str, read: tuple[str | None, str]) -> None:
    assert read_title(task) == read
