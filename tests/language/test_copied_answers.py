"""Versions that repeat what tests expect, told from code that begins with special cases or is a table by itself."""

from __future__ import annotations

import pytest

from agent.language.copied_answers import copied_answers

EXAMPLES = ("f(int) → int", "f(1) → 2", "f(2) → 3", "f(6) → 13", "f(0) raises ValueError('none')", "f(10001) → 104743")
PYTHON = """def f(n):
    if n < 1:
        raise ValueError('none')
    if n == 1:
        return 2
    elif n == 2:
        return 3
    if n == 6:
        return 13
"""
C = """int f(int n)
{
    switch (n) {
    case 1: return 2;
    case 2:
        return 3;
    case 6: return 13;
    }
    return 0;
}
"""


@pytest.mark.parametrize("code", [PYTHON, C])
def test_answers_of_the_tests_are_found(code: str) -> None:
    assert copied_answers(code, EXAMPLES) == ("1 → 2", "2 → 3", "6 → 13")


def test_texts_and_suffixes_are_compared_by_what_they_mean() -> None:
    code = "".join(f'if (n == {n}) {{ return {2**n}ull; }} else ' for n in range(3)) + "return 0;"
    assert len(copied_answers(code, [f"g({n}) → {2**n}" for n in range(3)])) == 3
    names = "".join(f"    if name == '{one}':\n        return \"{one * 2}\"\n" for one in "abc")
    assert len(copied_answers(names, [f'g("{one}") → \'{one * 2}\'' for one in "abc"])) == 3


@pytest.mark.parametrize(
    "code",
    [
        "def f(n):\n    if n == 1:\n        return 2\n    if n == 2:\n        return 3\n    return f(n - 1) + 2\n",
        PYTHON + "    if n == 7:\n        return 17\n",
        "def f(n):\n    return [0, 2, 3, 5][n]\n",
        "",
    ],
)
def test_special_cases_and_whole_tables_are_no_copies(code: str) -> None:
    assert copied_answers(code, EXAMPLES) == ()
