"""Conditions put together from parts, where forcing a place one way mends a failing check.

In two steps, after Long and Rinard (ESEC/FSE 2015): a condition that is fixed to true or false, or a statement that is left
out, shows by the checks that it mends whether the place matters and which way; only there conditions are made, small ones
first, from comparisons of what is in scope.

A change that mends some checks and breaks others may be right in some cases only: it gets a condition in the same way.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import tree_sitter

from agent.repair.edits import Candidate, Edit, apply_edits
from agent.repair.functions import Function
from agent.repair.operators import Site
from agent.repair.operators.conditions import connective_signs

OPERATOR = "condition-made"
FIXED, REMOVED = "fixed-condition", "statement-removed"
FORCING = frozenset({FIXED, REMOVED})
"""Operators whose edits show which way a place has to go."""

MOST_PLACES = 4
MOST_MADE = 240
"""Conditions for one place."""

_AT_ONE_PLACE = 2
"""Changes of one statement that get a condition."""

_MOST_TERMS = 8
_RANK = 0.3
_PARTS = {"subscript", "attribute", "subscript_expression", "field_expression", "call", "call_expression"}
_NAME = re.compile(r"[A-Za-z_]\w*")


class Forced(msgspec.Struct, frozen=True):
    """An edit and the failing checks that it mends; ``broken`` is how many others fail by it."""

    candidate: Candidate
    fixed: frozenset[str]
    broken: int = 0


def made_conditions(functions: Iterable[Function], forced: Sequence[Forced]) -> list[Candidate]:
    """Candidates at the places that mend most, small conditions first, the places in turn."""
    by_name = {(one.path, one.name): one for one in functions}
    best = sorted(forced, key=lambda one: (-len(one.fixed), -one.candidate.rank))
    found: list[list[Candidate]] = []
    places: set[tuple[str, int]] = set()
    for one in best:
        candidate = one.candidate
        function = by_name.get((candidate.path, candidate.function))
        place = candidate.path, candidate.edits[0].start
        if function is None or len(candidate.edits) != 1 or len(places) >= MOST_PLACES:
            continue
        places.add(place)
        found.append(_at(Site(function), candidate))
    return _in_turn(found)


def guarded_changes(functions: Iterable[Function], mixed: Sequence[Forced]) -> list[Candidate]:
    """The statements that ``mixed`` edits change, changed where a condition holds and left as they are elsewhere; those that
    mend most and break least first, in turn."""
    by_name = {(one.path, one.name): one for one in functions}
    found: list[list[Candidate]] = []
    places: Counter[tuple[str, int]] = Counter()
    for one in sorted(mixed, key=lambda one: (-len(one.fixed), one.broken, -one.candidate.rank)):
        function = by_name.get((one.candidate.path, one.candidate.function))
        if function is None or len(one.candidate.edits) != 1 or len(found) >= 2 * MOST_PLACES:
            continue
        site = Site(function)
        statement = _changed_statement(site, one.candidate.edits[0])
        place = one.candidate.path, statement.start_byte if statement is not None else -1
        if statement is not None and places[place] < _AT_ONE_PLACE:
            places[place] += 1
            found.append(_where(site, statement, one.candidate))
    return _in_turn(found)


def _changed_statement(site: Site, edit: Edit) -> tree_sitter.Node | None:
    """The simple statement that an edit changes a part of."""
    if edit.start == edit.end or not edit.text.strip() or "\n" in edit.text:
        return None
    simple = site.of("expression_statement", "return_statement")
    around = [one for one in simple if one.start_byte <= edit.start and edit.end <= one.end_byte]
    return min(around, key=lambda one: one.end_byte - one.start_byte, default=None)


def _where(site: Site, statement: tree_sitter.Node, changed: Candidate) -> list[Candidate]:
    edit = changed.edits[0]
    old, indent = site.text(statement), site.indent(statement)
    start = statement.start_byte
    new = apply_edits(old.encode(), (Edit(edit.path, edit.start - start, edit.end - start, edit.text),)).decode()
    form = "if {0}:\n{3}    {1}\n{3}else:\n{3}    {2}" if site.python else "if ({0})\n{3}    {1}\n{3}else\n{3}    {2}"
    texts = [form.format(made, new, old, indent) for made in _made(site, _terms(site, statement))]
    found = []
    for place, text in enumerate(dict.fromkeys(texts[:MOST_MADE])):
        rank = round(changed.rank * _RANK / (1 + place / MOST_MADE), 5)
        whole = Edit(edit.path, start, statement.end_byte, text)
        found.append(Candidate((whole,), OPERATOR, changed.path, changed.function, changed.line, rank=rank))
    return found


def _in_turn(found: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    return [one for turn in itertools.zip_longest(*found) for one in turn if one is not None]


def _at(site: Site, forced: Candidate) -> list[Candidate]:
    edit = forced.edits[0]
    node = _node_at(site, edit)
    if node is None:
        return []
    texts: dict[str, None] = {}
    terms = _terms(site, node)
    if forced.operator == REMOVED:
        for made in _made(site, terms):
            texts.setdefault(_guarded(site, node, made))
    else:
        old = site.text(node)
        both, either = connective_signs(site)
        sign = either if edit.text in ("True", "1") else both
        simple = not re.search(r"\b(?:and|or)\b|&&|\|\|", old)
        for made in _made(site, terms):
            texts.setdefault(f"{old if simple else f'({old})'} {sign} {made}")
            texts.setdefault(made)
    found = []
    for place, text in enumerate(list(texts)[:MOST_MADE]):
        rank = round(forced.rank * _RANK / (1 + place / MOST_MADE), 5)
        new = Edit(edit.path, node.start_byte, node.end_byte, text)
        found.append(Candidate((new,), OPERATOR, forced.path, forced.function, forced.line, rank=rank))
    return found


def _node_at(site: Site, edit: Edit) -> tree_sitter.Node | None:
    """The condition, or the simple statement, that a forcing edit replaces."""
    nodes = site.conditions if edit.text.strip() and edit.text != "pass" else [one for one, _, _ in site.statements]
    inside = [one for one in nodes if edit.start <= one.start_byte and one.end_byte <= edit.end]
    return max(inside, key=lambda one: one.end_byte - one.start_byte, default=None)


def _guarded(site: Site, node: tree_sitter.Node, made: str) -> str:
    indent = site.indent(node)
    return f"if {made}:\n{indent}    {site.text(node)}" if site.python else f"if ({made})\n{indent}    {site.text(node)}"


def _terms(site: Site, node: tree_sitter.Node) -> list[str]:
    """What can be compared: the names that the place uses, then those of the lines around it, then parts of objects."""
    line = site.line(node)
    here = _NAME.findall(site.text(node))
    near = [site.text(one) for one in site.uses if abs(site.line(one) - line) <= 2]
    names = [one for one in dict.fromkeys((*here, *near, *site.variables)) if one in site.variables]
    parts = [one for one in site.of(*_PARTS) if one.end_byte - one.start_byte <= 30 and abs(site.line(one) - line) <= 3]
    called = {call.function for call in site.calls}
    texts = [site.text(one) for one in parts if one not in called]
    return list(dict.fromkeys((*names[:_MOST_TERMS], *texts[: _MOST_TERMS // 2])))


def _made(site: Site, terms: Sequence[str]) -> Iterator[str]:
    """Single names, comparisons with a number, comparisons with each other, membership."""
    for one in terms:
        yield from (one, f"not {one}") if site.python else (one, f"!{one}")
    numbers = [site.text(one) for one in site.of("integer", "number_literal")]
    constants = [one for one in dict.fromkeys(("0", "1", *numbers)) if one.isdigit()][:4]
    for one in terms:
        for constant in constants:
            yield from (f"{one} {sign} {constant}" for sign in ("==", "!=", ">", "<"))
    for place, one in enumerate(terms):
        for other in terms[place + 1 :]:
            yield from (f"{one} {sign} {other}" for sign in ("<", ">", "==", "!=", "<=", ">="))
    for collection in site.collections:
        for one in terms:
            if one != collection:
                yield from (f"{one} in {collection}", f"{one} not in {collection}")
