"""What a failing check got beside what it expects: which of two messages tells of the nearer one."""

from __future__ import annotations

import pytest

from agent.repair.nearness import nearer, nearness

NEARER = [
    ('FAIL b: expected "6 7 8 -9 done", got "-9876 done"', 'FAIL b: expected "6 7 8 -9 done", got "-6 -7 -8 -9 done"'),
    ("a.py:3: AssertionError: assert [4, 1, 2] == [1, 2, 3]", "a.py:3: AssertionError: assert [1, 2, 4] == [1, 2, 3]"),
    ("AssertionError: 'the old red hat' != 'the new red hat'", "AssertionError: 'the new hat' != 'the new red hat'"),
]


@pytest.mark.parametrize(("before", "now"), NEARER)
def test_what_has_more_in_common_is_nearer(before: str, now: str) -> None:
    assert 0 < nearness(before) < nearness(now) < 1
    assert nearer({"b": before}, {"b": now}) > 0 > nearer({"b": now}, {"b": before})


NOTHING = ("", "it crashes", "assert 4 == 5", 'expected "4", got "5"', "TypeError: 'int' and nothing else")


@pytest.mark.parametrize("said", NOTHING)
def test_what_shows_no_two_texts_tells_nothing(said: str) -> None:
    assert nearness(said) == 0


def test_a_check_that_is_not_told_any_more_does_not_count() -> None:
    assert nearer({"a": NEARER[0][0], "b": NEARER[1][0]}, {"b": NEARER[1][0]}) == 0
