"""Calls whose right result a task tells."""

from __future__ import annotations

import pytest

from agent.task.reported import ReportedCall, reported_calls


@pytest.mark.parametrize(
    ("task", "name", "arguments", "wanted"),
    [
        ("slug('A 1') gives 'a' instead of 'a1'.", "slug", "('A 1')", "'a1'"),
        ("Fix it: `total([1, 2])` returns `2`, should be `3`.", "total", "([1, 2])", "3"),
        ("parse(\"a(b\") should return ['a', 'b'], not None", "parse", '("a(b")', "['a', 'b']"),
        ("wrong: f(0) is 1, not 0", "f", "(0)", "0"),
        ("mean([]) returns None but it should return 0.0", "mean", "([])", "0.0"),
        ("grow(-3, {'a': 1}) == {} where it should be {'a': -3}", "grow", "(-3, {'a': 1})", "{'a': -3}"),
        ("flag(True) gives False, expected True", "flag", "(True)", "True"),
        ("f() -> 1; I expected 2", "f", "()", "2"),
        ("pair(1) must be (1, 1).", "pair", "(1)", "(1, 1)"),
    ],
)
def test_what_a_call_should_come_to(task: str, name: str, arguments: str, wanted: str) -> None:
    assert reported_calls(task) == [ReportedCall(name, arguments, wanted)]


def test_an_exception_and_several_calls() -> None:
    task = "pop([]) should raise an IndexError. pop([1]) gives None instead of 1; and again, pop([1]) should be 1."
    assert reported_calls(task) == [ReportedCall("pop", "([])", raises="IndexError"), ReportedCall("pop", "([1])", "1")]


@pytest.mark.parametrize(
    "task",
    [
        "slug drops digits", "slug(text) should return text", "f(1) fails", "f(1) returns 2", "f(1) should return the sum",
        "f(1 should be 2", "call f(1), then see that x should be 3", "f(1) gives 'a' instead of nothing",
    ],
)  # fmt: skip
def test_what_tells_no_result(task: str) -> None:
    assert reported_calls(task) == []
