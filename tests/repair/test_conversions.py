"""Results that become what checks expect by a conversion: which one, read from what the checks said."""

from __future__ import annotations

import pytest

from agent.repair.edits import Edit, apply_edits
from agent.repair.functions import functions_of
from agent.repair.operators import OPERATORS, Site, Told
from agent.repair.operators.conversions import HOLE, compared, conversions

SAID = [
    ("AssertionError: 'Ab' != 'ab'", "{}.lower()"),
    ("Lists differ: (1, 2) != [1, 2]", "list({})"),
    ("test_a.py:7: AssertionError: assert ['a', 'b'] == 'a, b'", "', '.join({})"),
    ("AssertionError: None != []", "{} or []"),
    ("AssertionError: 0.6666666666666666 != 0.67", "round({}, 2)"),
    ("AssertionError: 'row' != 'row\\n'", "{} + '\\n'"),
    ("AssertionError: '7' != '007'", "{}.zfill(3)"),
    ("AssertionError: 'a_b' != 'a b'", "{}.replace('_', ' ')"),
    ("AssertionError: {'a': 1} != [('a', 1)]", "list({}.items())"),
    ("AssertionError: 'B a!' != 'ba'", "''.join(one for one in {}.lower() if one.isalpha())"),
    ("AssertionError: 'red_onions' != 'Red Onions'", "{}.title().replace('_', ' ')"),
]


@pytest.mark.parametrize(("said", "form"), SAID)
def test_the_conversion_is_read_from_what_a_check_said(said: str, form: str) -> None:
    assert form.replace("{}", HOLE) in conversions(compared(said))


def test_the_size_of_groups_is_read_from_what_is_expected() -> None:
    pairs = compared("AssertionError: 'abcdefgh' != 'abc def gh'\nAssertionError: 'abcd' != 'abc d'")
    grouped = next(form for form in conversions(pairs) if "range" in form)
    assert eval(grouped.replace(HOLE, "'uvwxyz1'")) == "uvw xyz 1"


def test_what_holds_for_more_checks_comes_first() -> None:
    found = conversions(compared("AssertionError: 'Ab' != 'ab'\nAssertionError: 'ba' != 'ab'\nAssertionError: 'ca' != 'ac'"))
    assert found.index(f"''.join(sorted({HOLE}))") < found.index(f"{HOLE}.lower()")


def proposed(operator: str, source: bytes, said: str = "") -> list[bytes]:
    """The whole texts that an operator proposes for the first function."""
    site = Site(functions_of("a.py", source)[0], (), Told((said,)))
    changes = OPERATORS[operator].generate(site)
    return [apply_edits(source, tuple(Edit("a.py", *part) for part in one.parts)) for one in changes]


def converted(source: bytes, said: str) -> list[bytes]:
    """What the operator for results proposes."""
    return proposed("converted", source, said)


def test_braces_in_a_text_are_kept() -> None:
    made = converted(b"def f(a):\n    return a\n", "AssertionError: 'wxyz' != 'wxyz{0}'")
    assert b"def f(a):\n    return a + '{0}'\n" in made


def test_all_returns_are_converted_at_once_too() -> None:
    made = converted(b"def f(a):\n    if a:\n        return a\n    return g(a)\n", "AssertionError: (1,) != [1]")
    assert b"def f(a):\n    if a:\n        return list(a)\n    return list(g(a))\n" in made


@pytest.mark.parametrize(
    "said", ["AssertionError: f(1) != 2", "a line", "AssertionError: 'a' != '" + "b" * 500 + "'", "'a != 'b'"]
)
def test_what_is_no_pair_of_literals_is_passed_over(said: str) -> None:
    assert compared(said) == []


def test_no_text_of_a_check_is_taken_for_a_place_or_for_code() -> None:
    wanted = r"'a{0.__class__}\0b c{}'", "'a{x}b'", "'{}_O_K'"
    said = "\n".join(
        f"AssertionError: {got} != {one}" for got, one in zip(("'A_B c'", "'A_B'", "'o_k'"), wanted, strict=True)
    )
    found = conversions(compared(said))
    assert found and all(form.count(HOLE) == 1 for form in found)


def test_items_too_many_are_left_out_at_all_returns_at_once() -> None:
    source = b"def f(n, total):\n    if n == 1:\n        return one(n)\n    return more(n)\n"
    made = proposed("filtered", source, "AssertionError: Lists differ: [[1, 2], [3, 4]] != [[3, 4]]")
    both = b"one(n) if sum(one) == total]\n    return [one for one in more(n) if sum(one) == total]"
    assert any(both in one for one in made)


@pytest.mark.parametrize("said", ["AssertionError: [1, 2] != [2, 1]", "AssertionError: [1, 2] != [3]", "assert 'ab' == 'a'"])
def test_nothing_is_left_out_where_no_list_holds_the_other(said: str) -> None:
    assert proposed("filtered", b"def f(n):\n    return g(n)\n", said) == []


def test_an_optional_argument_is_converted_only_where_it_is_given() -> None:
    made = proposed("argument-converted", b"def f(names=None):\n    return names or [1]\n")
    assert b"def f(names=None):\n    if names is not None:\n        names = sorted(names)\n    return names or [1]\n" in made
