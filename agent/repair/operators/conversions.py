"""Operators that convert a result, or what a function is given, into the form that failing checks expect.

What checks got and what they expected is compared before anything runs: a conversion is proposed where it turns the one into
the other. Those that need a number or a text of their own, such as groups of five letters, read it from what is expected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec
import tree_sitter

from agent.repair.operators.registry import EditParts, Site, operator

HOLE = "\0"
"""Where a form's value goes. No text of a form can hold it: ``repr`` writes it as an escape."""

_PLAIN = tuple(form.replace("{}", HOLE) for form in (
    "list({})", "''.join({})", "' '.join({})", "'\\n'.join({})", "sorted({})", "tuple({})", "str({})", "int({})",
    "[list(one) for one in {}]", "[tuple(one) for one in {}]", "[''.join(one) for one in {}]", "set({})", "bool({})",
    "[{}]", "{}[0]", "{}.lower()", "{}.upper()", "{}.strip()", "{}[::-1]", "{}.capitalize()", "{}.title()", "{}.rstrip()",
    "{}.lstrip()", "{}.split()", "{}.splitlines()", "''.join({}.split())", "' '.join({}.split())",
    "sorted({}, reverse=True)", "list(dict.fromkeys({}))", "dict({})", "float({})", "not {}", "-{}", "abs({})", "len({})",
    "sum({})", "max({})", "min({})", "round({})", "round({}, 1)", "round({}, 2)", "round({}, 3)", "', '.join({})",
    "','.join({})", "' '.join(map(str, {}))", "[str(one) for one in {}]", "[int(one) for one in {}]",
    "[one for one in {} if one]", "{}[-1]", "{}[1:]", "{}[:-1]", "({},)",
    "''.join(one for one in {} if one.isalnum())", "''.join(one for one in {} if one.isalpha())",
    "''.join(one for one in {} if one.isdigit())", "''.join(sorted({}))", "{} or None", "{} or []", "{} or ''",
    "'\\n'.join(line.rstrip() for line in {}.splitlines())", "list({}.items())", "list({}.values())", "list({}.keys())",
))  # fmt: skip
"""Conversions of a value, which stands in a form once; the most usual first."""

_MOST_USUAL = 19
"""So many of them are tried where a check does not show the values that it compared."""

_CONSTANTS = {"none", "true", "false", "integer", "float"}

_GIVEN = tuple(form.replace("{}", HOLE) for form in (
    "{}.lower()", "''.join(one for one in {} if one.isalnum())", "''.join(one for one in {} if one.isalpha())",
    "''.join(one for one in {} if one.isdigit())", "''.join({}.split())", "{}.strip()", "{}.upper()", "sorted({})",
    "list({})", "list(dict.fromkeys({}))", "str({})", "int({})", "abs({})", "{}.split()", "{}[::-1]",
    "''.join(one for one in {}.lower() if one.isalnum())", "''.join(one for one in {}.lower() if one.isalpha())",
))  # fmt: skip
"""Conversions of an argument, the more usual first."""

_OF_GROUPS = tuple(form.replace("{}", HOLE) for form in (
    "sum(one) == {}", "len(one) == {}", "not set(one) & set({})", "{} not in one", "{} in one", "one != {}",
    "sum(one) <= {}", "set(one) <= set({})",
))  # fmt: skip
_OF_ITEMS = tuple(form.replace("{}", HOLE) for form in (
    "one != {}", "one not in {}", "one in {}", "one < {}", "one <= {}", "one > {}", "one >= {}", "one % {} == 0",
    "len(one) == {}", "{} % one == 0",
))  # fmt: skip
"""Conditions on the items of a result, which are lists themselves or not, with an argument of the function."""

_MOST_PARAMETERS = 3
_MOST_PAIRS = 8
_MOST_FORMS = 6
_LONGEST = 400
_BEFORE = re.compile(r"^(?:.*?Error: )?(?:\w+ differ: |assert )?")
_BETWEEN = re.compile(r" (?:!=|==) ")
_SEPARATORS = (" ", "\n", "-", ", ", ",")

_NONE = object()
"""What is no value: None is one."""


class Pair(NamedTuple):
    """The two values that a failing check compared; which of them was expected is not known."""

    one: Any
    other: Any


def compared(said: str) -> list[Pair]:
    """The values that messages like ``'a' != 'b'`` and ``assert [1] == [2]`` show, where both are literals."""
    found = []
    for line in said.splitlines():
        for sign in _BETWEEN.finditer(line):
            values = [_literal(_BEFORE.sub("", line[: sign.start()], count=1)), _literal(line[sign.end() :])]
            if _NONE not in values:
                found.append(Pair(*values))
    return found


def _literal(text: str) -> Any:
    """The value of a literal's text; ``_NONE`` for any other and for long ones."""
    if len(text) > _LONGEST:
        return _NONE
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _NONE


@operator("converted", "a result converted into the form that failing checks expect", ("python",), weight=1.0)
def converted(site: Site) -> Iterator[EditParts]:
    """``return text`` becomes ``return text.lower()`` where checks got 'Ab' and expected 'ab'; at most two conversions, and
    where the function returns at several places also at all of them."""
    pairs, places = _results(site)
    for place, form in enumerate(conversions(pairs) if places else ()):
        weight = 1 - place / (4 * _MOST_FORMS)
        single, all_at_once = _rewritten(site, places, form)
        yield from (msgspec.structs.replace(one, weight=weight) for one in (*single, *all_at_once))


def _results(site: Site) -> tuple[list[Pair], list[tree_sitter.Node]]:
    """The values that failing checks compared, and what the function returns, none where nothing was compared."""
    pairs = [pair for said in site.said for pair in compared(said)][:_MOST_PAIRS]
    places = [node for node in (_returned(one) for one in site.of("return_statement") if pairs) if node is not None]
    return pairs, places


def _rewritten(
    site: Site, places: Sequence[tree_sitter.Node], form: str
) -> tuple[list[EditParts], list[EditParts]]:
    """Each of the places with a form around it, and, where there are several, all of them at once."""
    edits = [(node.start_byte, node.end_byte, form.replace(HOLE, site.grouped(node))) for node in places]
    single = [EditParts((edit,), site.line(node)) for node, edit in zip(places, edits, strict=True)]
    return single, [EditParts(tuple(edits), site.line(places[0]))] if len(edits) > 1 else []


@operator("result-shape", "the result as another kind of value", ("python",), weight=0.5)
def result_shape(site: Site) -> Iterator[EditParts]:
    """``return x`` becomes ``return list(x)``, ``return "".join(x)`` and the like, where values that checks compared do not
    tell which: a generator prints no items, an exception no result."""
    if site.said and all(compared(said) for said in site.said):
        return
    for value in (_returned(one) for one in site.of("return_statement")):
        if value is not None and value.type not in _CONSTANTS:
            for place, form in enumerate(_PLAIN[:_MOST_USUAL]):
                yield site.replace(value, form.replace(HOLE, site.grouped(value)), 1 - place / 30)


@operator("filtered", "what a result holds too much left out", ("python",), weight=0.7)
def filtered(site: Site) -> Iterator[EditParts]:
    """``return found`` becomes ``return [one for one in found if sum(one) == total]`` where checks got more items than they
    expected; with each parameter, and where the function returns at several places at all of them."""
    pairs, places = _results(site)
    conditions = dict.fromkeys(form for pair in pairs for form in _left_out(pair)) if places else ()
    for name in site.parameters[:_MOST_PARAMETERS]:
        for condition in conditions:
            form = f"[one for one in {HOLE} if {condition.replace(HOLE, name)}]"
            single, all_at_once = _rewritten(site, places, form)
            yield from all_at_once
            yield from (msgspec.structs.replace(one, weight=0.8) for one in single)


def _left_out(pair: Pair) -> tuple[str, ...]:
    """Conditions on an item that may hold for what is expected alone; none where neither list holds all of the other."""
    if not all(isinstance(value, list) for value in pair):
        return ()
    less, more = sorted(pair, key=len)
    if len(less) == len(more) or any(one not in more for one in less):
        return ()
    return _OF_GROUPS if isinstance(more[0], list | tuple) else _OF_ITEMS


@operator("argument-converted", "an argument converted before it is used", ("python",), weight=0.4)
def argument_converted(site: Site) -> Iterator[EditParts]:
    """``text = text.lower()`` at the beginning of the function; a parameter that defaults to None only where it is given."""
    first = site.first_statement
    if first is None:
        return
    for name in site.parameters[:_MOST_PARAMETERS]:
        optional = f"if {name} is not None:\n    " if _defaults_to_none(site, name) else ""
        for place, form in enumerate(_GIVEN):
            text = f"{optional}{name} = {form.replace(HOLE, name)}"
            yield site.before(first, text, 1 - place / (2 * len(_GIVEN)))


def _defaults_to_none(site: Site, name: str) -> bool:
    parameters = site.function.node.child_by_field_name("parameters")
    for one in parameters.named_children if parameters is not None else ():
        value = one.child_by_field_name("value")
        if value is not None and site.text(value) == "None" and re.match(rf"{name}\b", site.text(one)):
            return True
    return False


def conversions(pairs: list[Pair]) -> list[str]:
    """Forms with one :data:`HOLE` each that turn one value of pairs into the other, at most six for each direction; those
    that hold for the most pairs first, the shorter before the longer."""
    best: list[list[str]] = []
    for turned in (pairs, [Pair(pair.other, pair.one) for pair in pairs]):
        forms = dict.fromkeys(form for got, wanted in turned for form in _between(got, wanted))
        holds = {form: sum(_same(_value(form, got), wanted) for got, wanted in turned) for form in forms}
        best.append(sorted(holds, key=lambda form: (-holds[form], len(form)))[:_MOST_FORMS])
    return list(dict.fromkeys(form for both in zip_longest(*best) for form in both if form is not None))


def _between(got: Any, wanted: Any) -> Iterator[str]:
    """What turns ``got`` into ``wanted``: one form, else two."""
    if _same(got, wanted):
        return
    single = [form for form in (*_PLAIN, *_made(got, wanted)) if _same(_value(form, got), wanted)]
    yield from single
    for first in () if single else _PLAIN:
        half = _value(first, got)
        if half is not _NONE and not _same(half, got):
            for second in (*_PLAIN, *_made(half, wanted)):
                if _same(_value(second, half), wanted):
                    yield second.replace(HOLE, _grouped(first))


def _grouped(form: str) -> str:
    """A form as the operand of another one."""
    return f"({form})" if re.search(r"^not |^-| or ", form) else form


def _made(got: Any, wanted: Any) -> Iterator[str]:
    """Forms with a text or a number that ``wanted`` shows."""
    if not (isinstance(got, str) and isinstance(wanted, str)):
        return
    mostly = 2 * len(got) > len(wanted)  # a text that is hardly there yet is no conversion
    if mostly and wanted.startswith(got):
        yield f"{HOLE} + {wanted[len(got) :]!r}"
    if mostly and wanted.endswith(got):
        yield f"{wanted[: -len(got)]!r} + {HOLE}"
    if wanted and got.startswith(wanted):
        yield f"{HOLE}.removesuffix({got[len(wanted) :]!r})"
    if wanted and got.endswith(wanted):
        yield f"{HOLE}.removeprefix({got[: -len(wanted)]!r})"
    for side in ("ljust", "rjust", "zfill"):
        yield f"{HOLE}.{side}({len(wanted)})"
    gone = sorted(set(got) - set(wanted))
    if len(gone) == 1:
        new = sorted(set(wanted) - set(got)) or [""]
        yield f"{HOLE}.replace({gone[0]!r}, {new[0]!r})"
    for separator in _SEPARATORS:
        parts = wanted.split(separator)
        size = len(parts[0])
        if len(parts) > 1 and size and all(len(part) == size for part in parts[:-1]) and len(parts[-1]) <= size:
            cut = f"whole[at : at + {size}] for whole in [{HOLE}] for at in range(0, len(whole), {size})"
            yield f"{separator!r}.join({cut})"


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _value(form: str, given: Any) -> Any:
    """What a form makes of a value; ``_NONE`` where it does not suit it."""
    try:
        return _compiled(form)(given)
    except (TypeError, ValueError, AttributeError, IndexError, KeyError, OverflowError):
        return _NONE


@lru_cache(maxsize=4096)
def _compiled(form: str) -> Callable[[Any], Any]:
    """The form as a function. Its code is the table's; what a check printed stands in it as quoted texts alone."""
    function: Callable[[Any], Any] = eval(f"lambda given: {form.replace(HOLE, 'given')}")
    return function


def _returned(node: tree_sitter.Node) -> tree_sitter.Node | None:
    return node.named_children[0] if node.named_children else None
