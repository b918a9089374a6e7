"""Operators that raise what failing checks expect."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from agent.repair.operators.registry import EditParts, Site, operator
from agent.repair.operators.told import numbers_told

_MOST = 6
"""Exceptions that are tried."""

_MOST_PARAMETERS = 3
_TYPES = ("str", "int", "list", "dict")
_ALONE = ("not {0}", "{0} < 0", "{0} <= 0", "{0} is None", "len({0}) == 0", "not {0}.isdigit()", "not {0}.isalpha()",
          "any(one < 0 for one in {0})", *(f"not isinstance({{0}}, {one})" for one in _TYPES))  # fmt: skip
_NUMBER = re.compile(r"\b\d+\b")
_CHARACTERS = {
    "letters?|alphabetic|characters?": "one.isalpha()",
    "digits?|numeric|numbers?": "one.isdigit()",
    "spaces?|blanks?|whitespace": "one.isspace()",
    "punctuations?|symbols?": "one in '!\"#$%&\\'*,/:;<=>?@[]^_`{|}~'",
}
"""Words of a message, and what tells such characters. Round brackets, dots, plus and minus are part of what people write."""

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
    common = [form.format(name) for name in names for form in _ALONE]
    common += [form.format(*pair) for pair in itertools.permutations(names, 2) for form in _TOGETHER]
    common += [f"{name} {sign} {number}" for name in names for number in numbers_told(site) for sign in ("<", ">", "!=")]
    for exception in site.raised[:_MOST]:
        tests = [*(test for name in names for test in _of_the_message(name, exception)), *common]
        for place, test in enumerate(dict.fromkeys(tests)):
            yield site.before(first, f"if {test}:\n    raise {exception}", 1 / (1 + place / len(tests)))


@operator("made-check", "a value looked at once it is made, with the exception that a failing check expects", ("python",),
          weight=0.5)  # fmt: skip
def made_check(site: Site) -> Iterator[EditParts]:
    """``digits = clean(text)``, then ``if len(digits) < 10: raise ValueError("...")``; what the message tells is first."""
    made = [one for one in site.of("assignment") if one.parent is not None and one.parent.parent == site.body]
    for node in made if site.raised else ():
        target, statement = node.child_by_field_name("left"), node.parent
        if target is None or statement is None or target.type not in ("identifier", "attribute"):
            continue
        name = site.text(target)
        for exception in site.raised[:_MOST]:
            tests = [*_of_the_message(name, exception), *(form.format(name) for form in _ALONE)]
            for place, test in enumerate(dict.fromkeys(tests)):
                yield site.after(statement, f"if {test}:\n    raise {exception}", 1 / (1 + place / len(tests)))


def _of_the_message(name: str, exception: str) -> Iterator[str]:
    """Conditions on ``name`` with the numbers and kinds of characters that an exception's message holds."""
    for number in _NUMBER.findall(exception):
        for sign in ("<", ">", "!=", "=="):
            yield f"len({name}) {sign} {number}"
            yield f"{name} {sign} {number}"
    for words, test in _CHARACTERS.items():
        if re.search(rf"\b(?:{words})\b", exception, re.I):
            yield f"any({test} for one in {name})"
            yield f"not all({test} for one in {name})"
