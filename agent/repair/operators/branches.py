"""Operators on how branches hang together: which of several is taken, and one that is missing at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

import tree_sitter

from agent.repair.operators.registry import EditParts, Site, operator
from agent.repair.operators.told import replaced_texts

_MOST_NAMES = 8
_MOST_IFS = 10
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


@operator("chained", "of a row of ifs only the first that holds is carried out", weight=0.5)
def chained(site: Site) -> Iterator[EditParts]:
    """``if a: … if b: … if c: …`` becomes ``if a: … elif b: … elif c: …``, all at once."""
    word = "elif" if site.python else "else if"
    for row in _rows(site):
        for first, last in combinations(range(len(row[:_MOST_IFS]) + 1), 2):
            several = row[first:last]
            if len(several) > 2 and all(one.child_by_field_name("alternative") is None for one in several[:-1]):
                parts = tuple((one.start_byte, one.start_byte + 2, word) for one in several[1:])
                yield EditParts(parts, site.line(several[1]))


def _rows(site: Site) -> Iterator[list[tree_sitter.Node]]:
    """Ifs that follow each other directly, as many as there are."""
    row: list[tree_sitter.Node] = []
    for one, _, place in site.statements:
        if place == 0 or one.type != "if_statement":
            yield row
            row = []
        if one.type == "if_statement":
            row.append(one)
    yield row


@operator("else-removed", "what is done where a condition does not hold is left out", weight=0.6)
def else_removed(site: Site) -> Iterator[EditParts]:
    """``if c: a`` ``else: b`` becomes ``if c: a``."""
    for node in site.of("else_clause"):
        before = node.prev_named_sibling
        inside = node.child_by_field_name("body") or (node.named_children[-1] if node.named_children else None)
        if before is None or inside is None or inside.type == "if_statement":
            continue
        first = inside.named_children[0] if inside.named_children else inside
        yield EditParts(((before.end_byte, node.end_byte, ""),), site.line(first))


@operator("step-repeated", "what is done under a condition done once more, behind what follows it", weight=0.4)
def step_repeated(site: Site) -> Iterator[EditParts]:
    """``if a > b: swap`` ``if b > c: swap`` gets the first one again behind the second: what comes between undoes it."""
    for row in _rows(site):
        for first, last in combinations(range(len(row[:_MOST_IFS])), 2):
            if all(one.child_by_field_name("alternative") is None for one in (row[first], row[last])):
                yield site.after(row[last], site.text(row[first]).replace(f"\n{site.indent(row[first])}", "\n"))


@operator("loop-guard", "a statement of a loop carried out only where the loop goes on", weight=0.5)
def loop_guard(site: Site) -> Iterator[EditParts]:
    """``do { read; use; } while (c);`` becomes ``do { read; if (c) use; } while (c);``: what ends the loop is not used."""
    for loop in site.of("while_statement", "do_statement"):
        test, body = loop.child_by_field_name("condition"), loop.child_by_field_name("body")
        if test is None or body is None:
            continue
        text = site.text(test)
        inside = [one for one in body.named_children if site.is_statement(one)]
        for one in inside[1:]:
            if site.is_simple(one) and one.type == "expression_statement" and site.begins_line(one):
                head = f"if {text}:" if site.python else f"if {text}"
                yield site.replace(one, f"{head}\n{site.indent(one)}    {site.text(one)}")


@operator("expected-branch", "a last case that is missing, with what a failing check expects of it", weight=0.6)
def expected_branch(site: Site) -> Iterator[EditParts]:
    """``else if (x >= c) … else print("D")`` becomes ``… else if (x >= d) print("D") else print("F")`` where a check
    expects F in place of D: the condition after the pattern of the one before, with another name in it."""
    for clause in site.of("else_clause"):
        statement, condition = _last_branch(site, clause), _condition_before(clause)
        if statement is None or condition is None:
            continue
        text, indent, lead = site.text(statement), site.indent(statement), site.indent(clause)
        form = "elif {0}:\n{1}{2}\n{3}else:\n{1}{4}" if site.python else "else if {0}\n{1}{2}\n{3}else\n{1}{4}"
        for other in dict.fromkeys(_expected_texts(site, statement)):
            for test in _with_another_name(site, condition):
                new = form.format(test, indent, text, lead, other)
                yield EditParts(((clause.start_byte, clause.end_byte, new),), site.line(statement))


def _expected_texts(site: Site, statement: tree_sitter.Node) -> Iterator[str]:
    """The statement with a part of a literal as a failing check expects it."""
    first, last = statement.start_byte, statement.end_byte
    for start, end, new in replaced_texts(site, statement):
        before, after = (site.source[a:b].decode("utf-8", "replace") for a, b in ((first, start), (end, last)))
        yield f"{before}{new}{after}"


def _last_branch(site: Site, clause: tree_sitter.Node) -> tree_sitter.Node | None:
    """The one simple statement of an ``else`` part."""
    body = clause.child_by_field_name("body") or (clause.named_children[-1] if clause.named_children else None)
    if body is None:
        return None
    inside = [one for one in body.named_children if site.is_statement(one)] if body.type in _BLOCKS else [body]
    return inside[0] if len(inside) == 1 and site.is_simple(inside[0]) else None


_BLOCKS = ("compound_statement", "block")


def _condition_before(clause: tree_sitter.Node) -> tree_sitter.Node | None:
    """The condition that an ``else`` part belongs to: of the last ``elif`` in Python."""
    before, owner = clause.prev_named_sibling, clause.parent
    if before is not None and before.type == "elif_clause":
        return before.child_by_field_name("condition")
    return owner.child_by_field_name("condition") if owner is not None else None


def _with_another_name(site: Site, condition: tree_sitter.Node) -> Iterator[str]:
    """The condition's text with one of its variables exchanged for another one."""
    text = site.text(condition)
    used = [name for name in dict.fromkeys(_NAME.findall(text)) if name in site.variables]
    for other in site.variables[:_MOST_NAMES]:
        for name in used if other not in used else ():
            yield re.sub(rf"(?<![\w.]){name}\b", other, text)
