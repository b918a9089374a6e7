"""Operators that raise what failing checks expect."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from agent.repair.operators.registry import EditParts, Site, operator
from agent.repair.operators.told import numbers_told

_MOST = 6
"""Exceptions that are tried."""

_MOST_PARAMETERS = 3
_TYPES = ("str", "int", "list", "dict")
_ALONE = ("not {0}", "{0} < 0", "{0} <= 0", "{0} is None", "len({0}) == 0", "not {0}.isdigit()", "not {0}.isalpha()",
          "any(one < 0 for one in {0})", *(f"not isinstance({{0}}, {one})" for one in _TYPES))  # fmt: skip
_TOGETHER = ("{0} > {1}", "{0} > len({1})", "len({0}) != len({1})", "{0} == {1}", "{0} not in {1}", "sum({0}) != {1}")


@operator("expected-raise", "another exception becomes the one that a failing check expects", ("python",), weight=0.8)
def expected_raise(site: Site) -> Iterator[EditParts]:
    """Class and message at once: alone neither makes the check pass."""
    for node in site.of("raise_statement"):
        for exception in site.raised[:_MOST]:
            yield site.replace(node, f"raise {exception}")


@operator("expected-check", "an argument looked at first, with the exception that a failing check expects", ("python",),
          weight=0.6)  # fmt: skip
def expected_check(site: Site) -> Iterator[EditParts]:
    """``if size < 0: raise ValueError("...")`` at the beginning of the function."""
    first = site.first_statement if site.raised else None
    if first is None:
        return
    names = site.parameters[:_MOST_PARAMETERS]
    tests = [form.format(name) for name in names for form in _ALONE]
    tests += [form.format(*pair) for pair in itertools.permutations(names, 2) for form in _TOGETHER]
    tests += [f"{name} {sign} {number}" for name in names for number in numbers_told(site) for sign in ("<", ">", "!=")]
    for exception in site.raised[:_MOST]:
        for place, test in enumerate(tests):
            yield site.before(first, f"if {test}:\n    raise {exception}", 1 / (1 + place / len(tests)))
