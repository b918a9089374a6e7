"""Conditions made from parts: only where forcing a place mends a check, and in the direction that mends it."""

from __future__ import annotations

from agent.repair.edits import Candidate, Edit, apply_edits
from agent.repair.functions import functions_of, parses
from agent.repair.synthesis import FIXED, MOST_MADE, MOST_PLACES, REMOVED, Forced, guarded_changes, made_conditions

RATE = """\
def rate(weight, limit, member):
    cost = 5
    if weight > 20:
        cost = 9
    cost = cost - 1
    return cost
"""


def forced(source: str, old: str, new: str, operator: str, path: str = "rate.py") -> Forced:
    """An edit that mends one check."""
    at = source.index(old)
    edit = Edit(path, at, at + len(old), new)
    name = functions_of(path, source.encode())[0].name
    return Forced(Candidate((edit,), operator, path, name, source[:at].count("\n") + 1, rank=0.5), frozenset({"t"}))


def made(source: str, *edits: Forced, path: str = "rate.py") -> dict[str, Candidate]:
    """Whole new texts and their candidates."""
    found = made_conditions(functions_of(path, source.encode()), edits)
    return {apply_edits(source.encode(), one.edits).decode(): one for one in found}


def test_a_condition_that_has_to_hold_more_often_is_made_weaker() -> None:
    texts = made(RATE, forced(RATE, "weight > 20", "True", FIXED))
    assert RATE.replace("weight > 20", "weight > 20 or weight > limit") in texts
    assert RATE.replace("weight > 20", "weight > limit") in texts
    assert not any(" and " in text for text in texts)
    assert 100 < len(texts) <= MOST_MADE and all(parses("rate.py", text.encode()) for text in texts)
    ranks = [one.rank for one in texts.values()]
    assert ranks == sorted(ranks, reverse=True) and max(ranks) < 0.5


def test_a_condition_that_holds_too_often_is_made_stricter() -> None:
    source = RATE.replace("weight > 20", "weight > 20 or member")
    texts = made(source, forced(source, "weight > 20 or member", "False", FIXED))
    assert source.replace("weight > 20 or member", "(weight > 20 or member) and weight != limit") in texts


def test_a_statement_that_is_one_too_many_gets_a_guard() -> None:
    texts = made(RATE, forced(RATE, "    cost = cost - 1\n", "", REMOVED))
    wanted = RATE.replace("    cost = cost - 1\n", "    if not member:\n        cost = cost - 1\n")
    assert wanted in texts
    right = [text for text in texts if _passes(text)]
    assert wanted in right and len(right) < len(texts) / 4


def _passes(text: str) -> bool:
    scope: dict[str, object] = {}
    exec(text, scope)
    rate = scope["rate"]
    assert callable(rate)
    return [rate(1, 9, True), rate(1, 9, False), rate(30, 9, True), rate(30, 9, False)] == [5, 4, 9, 8]


def test_in_c_and_with_elements_and_fields() -> None:
    source = "int f(int *a, struct box *p, int i, int n)\n{\n    if (i < n)\n        i = 0;\n    return a[i] + p->size;\n}\n"
    texts = made(source, forced(source, "i < n", "0", FIXED, "f.c"), path="f.c")
    assert source.replace("i < n", "i < n && i < p->size") in texts
    assert source.replace("i < n", "i < n && a[i] != 0") in texts


def test_no_more_than_a_few_places() -> None:
    lines = "".join(f"    if a > {n}:\n        b = b + {n}\n" for n in range(2, 12))
    source = f"def f(a, b):\n{lines}    return b\n"
    edits = [forced(source, f"a > {n}:", "True:", FIXED) for n in range(2, 12)]
    places = {one.line for one in made(source, *edits).values()}
    assert len(places) == MOST_PLACES
    first = list(made(source, *edits).values())[:MOST_PLACES]
    assert {one.line for one in first} == places  # a small condition at each place before larger ones at any
    assert made(RATE) == {}


FARE = """\
def fare(age, zones, day):
    price = 2 * zones
    return price
"""


def test_a_change_that_is_right_in_some_cases_gets_a_condition() -> None:
    at = FARE.index("zones\n    return")
    edit = Edit("fare.py", at, at + len("zones"), "day")
    mixed = Forced(Candidate((edit,), "name", "fare.py", "fare", 2, rank=0.5), frozenset({"t"}), 3)
    found = guarded_changes(functions_of("fare.py", FARE.encode()), [mixed])
    texts = [apply_edits(FARE.encode(), one.edits).decode() for one in found]
    wanted = "    if zones > day:\n        price = 2 * day\n    else:\n        price = 2 * zones\n"
    assert FARE.replace("    price = 2 * zones\n", wanted) in texts
    assert all(parses("fare.py", text.encode()) for text in texts) and len(texts) <= MOST_MADE


def test_a_changed_statement_of_c_keeps_its_place_under_an_else() -> None:
    source = "int f(int a, int b)\n{\n    int m;\n    if (a)\n        m = a;\n    else\n        m = b;\n    return m;\n}\n"
    at = source.index("b;\n    return")
    change = Candidate((Edit("f.c", at, at + 1, "a"),), "name", "f.c", "f", 7, rank=0.5)
    [first, *_] = guarded_changes(functions_of("f.c", source.encode()), [Forced(change, frozenset({"t"}), 1)])
    text = apply_edits(source.encode(), first.edits).decode()
    assert "    else\n        if (m)\n            m = a;\n        else\n            m = b;\n    return m;" in text


def test_what_is_put_in_or_declared_gets_no_condition_so() -> None:
    source = "int f(int a, int b)\n{\n    int m = a;\n    return m;\n}\n"
    declared, inserted = Edit("f.c", source.index("a;\n"), source.index("a;\n") + 1, "b"), Edit("f.c", 30, 30, "a = b;\n")
    edits = [Forced(Candidate((one,), "name", "f.c", "f", 3), frozenset({"t"}), 1) for one in (declared, inserted)]
    assert guarded_changes(functions_of("f.c", source.encode()), edits) == []
