"""Operators on conditions: negated, made stricter or weaker, fixed, guarded."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from agent.repair.operators.expressions import compared
from agent.repair.operators.registry import EditParts, Site, operator

_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_ATOMS = 14
_MOST_NAMES = 7
_PLAIN_RESULTS = {"integer", "number_literal", "true", "false", "none", "null", "list", "string", "identifier",
                  "string_literal", "dictionary", "tuple", "unary_operator", "unary_expression"}  # fmt: skip


def connective_signs(site: Site) -> tuple[str, str]:
    """How the language writes ``and`` and ``or``."""
    return ("and", "or") if site.python else ("&&", "||")


@operator("connective", "and for or, or the other way round", weight=0.8)
def connective(site: Site) -> Iterator[EditParts]:
    """``&&`` and ``||`` in C; ``&`` and ``|`` in a C condition become logical."""
    both, either = connective_signs(site)
    for one in site.binaries:
        if one.text in (both, either):
            yield site.sign(one, either if one.text == both else both)
        elif not site.python and one.text in ("&", "|") and any(_within(one.node, test) for test in site.conditions):
            yield site.sign(one, one.text * 2, 0.8)


def _within(node: tree_sitter.Node, outer: tree_sitter.Node) -> bool:
    return bool(outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte)


@operator("negation", "a condition or one part of it negated", weight=0.7)
def negation(site: Site) -> Iterator[EditParts]:
    """``not`` put in front, or taken away."""
    for node in site.of("not_operator", "unary_expression"):
        argument = node.child_by_field_name("argument")
        if argument is not None and (site.python or site.text(node).startswith("!")):
            yield site.replace(node, site.text(argument))
    for test in site.conditions:
        yield site.replace(test, f"not {site.grouped(test)}" if site.python else f"!{_closed(site, test)}", 0.8)
    both, either = connective_signs(site)
    for one in site.binaries:
        if one.text in (both, either):
            for part in (one.left, one.right):
                if part.type in ("identifier", "call", "call_expression", "attribute", "field_expression"):
                    text = site.text(part)
                    yield site.replace(part, f"not {text}" if site.python else f"!{text}", 0.6)
    for node in site.of("return_statement"):
        value = node.named_children[0] if node.named_children else None
        if value is not None and value.type in ("comparison_operator", "boolean_operator", "call"):
            yield site.replace(value, f"not {site.grouped(value)}" if site.python else f"!({site.text(value)})", 0.4)


def _closed(site: Site, node: tree_sitter.Node) -> str:
    return f"({site.text(node)})" if node.type == "binary_expression" else site.text(node)


def atoms(site: Site) -> list[str]:
    """Conditions that are worth adding to another: those of the function, and what can be asked of its names."""
    found = [site.text(one.node) for one in compared(site)]
    used = {site.text(node) for node in site.uses}
    for name in site.variables:
        if name in used and site.python:
            found += [f"not {name}", f"{name} is None", name, f"{name} is not None"]
        elif name in used:
            found += [f"!{name}", name]
    return list(dict.fromkeys(found))


@operator("condition-part", "a condition made stricter or weaker by another one", weight=0.4)
def condition_part(site: Site) -> Iterator[EditParts]:
    """``c and x`` or ``c or x``, x from the function's own conditions and names."""
    both, either = connective_signs(site)
    known = atoms(site)
    for test in site.conditions:
        text = site.text(test)
        fixed = text in ("True", "1", "true")
        for atom in known[: 2 * _MOST_ATOMS]:
            if atom in text and len(atom) > 3:
                continue
            if fixed:
                yield site.replace(test, atom, 1.3)
                continue
            lead = site.text(test) if test.type not in ("boolean_operator", "binary_expression") else f"({text})"
            lead = text if test.type == "comparison_operator" or _is_comparison(site, test) else lead
            yield site.replace(test, f"{lead} {either} {atom}", 1.0)
            yield site.replace(test, f"{lead} {both} {atom}", 0.9)


def _is_comparison(site: Site, node: tree_sitter.Node) -> bool:
    return any(one.node == node for one in compared(site))


@operator("unchecked-null", "a name that may be null is looked at before what it points to", weight=0.6)
def unchecked_null(site: Site) -> Iterator[EditParts]:
    """In front of a condition that reads ``x.y`` or ``x->y``: ``x is None or``, ``x is not None and``."""
    both, either = connective_signs(site)
    for test in site.conditions:
        objects = []
        for node in site.of("attribute", "field_expression", "subscript", "subscript_expression", "pointer_expression"):
            if _within(node, test):
                inner = node.child_by_field_name("object") or node.child_by_field_name("argument")
                inner = inner or node.child_by_field_name("value")
                if inner is not None and inner.type in ("identifier", "attribute", "field_expression"):
                    objects.append(site.text(inner))
        for name in dict.fromkeys(objects):
            no, yes = (f"{name} is None", f"{name} is not None") if site.python else (f"!{name}", name)
            text = site.text(test)
            plain = (
                f"({text})" if test.type in ("boolean_operator",) or f" {both} " in text or f" {either} " in text else text
            )
            yield site.replace(test, f"{no} {either} {text}")
            yield site.replace(test, f"{yes} {both} {plain}")


@operator("fixed-condition", "a condition that always or never holds", weight=0.2)
def fixed_condition(site: Site) -> Iterator[EditParts]:
    """True or false for the whole condition."""
    for test in site.conditions:
        if test.parent is not None and test.parent.type == "while_statement":
            continue
        yield site.replace(test, "True" if site.python else "1", 0.8)
        yield site.replace(test, "False" if site.python else "0", 0.8)


@operator("guard", "an early way out for an empty, null or zero argument", weight=0.4)
def guard(site: Site) -> Iterator[EditParts]:
    """At the beginning of the function, and ``continue`` or ``break`` at the beginning of a loop."""
    places = [
        one for one, block, place in site.statements if place == 0 and one.parent is not None and one.parent == site.body
    ]
    results = _results(site)
    for first in places[:1]:
        if first.type == "expression_statement" and first.named_children and first.named_children[0].type == "string":
            later = [one for one, block, place in site.statements if place == 1 and one.parent == site.body]
            first = later[0] if later else first
        for name in site.parameters[:4]:
            for test in (f"not {name}", f"{name} is None") if site.python else (f"!{name}", f"{name} == 0", f"{name} < 0"):
                for result in results[:5]:
                    if site.python:
                        yield site.before(first, f"if {test}:\n    return {result}".rstrip())
                    else:
                        yield site.before(first, f"if ({test})\n    return{' ' if result else ''}{result};")
    for loop in site.of("for_statement", "while_statement"):
        body = loop.child_by_field_name("body")
        inside = [one for one in body.named_children if site.is_statement(one)] if body is not None else []
        if not inside:
            continue
        here = set(_WORD.findall(site.text(loop)))
        away = set(site.variables) - here
        for test in sorted(atoms(site), key=lambda one: bool(away.intersection(_WORD.findall(one))))[:_MOST_ATOMS]:
            for way in ("continue", "break"):
                text = f"if {test}:\n    {way}" if site.python else f"if ({test})\n    {way};"
                yield site.before(inside[0], text, 0.5)


def _results(site: Site) -> list[str]:
    found = []
    for node in site.of("return_statement"):
        value = node.named_children[0] if node.named_children else None
        if value is not None and value.type in _PLAIN_RESULTS:
            found.append(site.text(value))
    plain = ["[]", "0", "None", "False"] if site.python else ["0", "-1", ""]
    return list(dict.fromkeys((*found, *plain, *site.parameters[:2])))


@operator("guard-removed", "a condition that keeps a statement from being carried out is taken away", weight=0.35)
def guard_removed(site: Site) -> Iterator[EditParts]:
    """``if c: s`` becomes ``s``; an ``if`` without an else part goes whole; ``else if`` becomes ``if``."""
    for node in site.of("if_statement"):
        body = node.child_by_field_name("consequence")
        if node.child_by_field_name("alternative") is not None or body is None:
            continue
        yield site.remove(node, 0.8)
        inside = (
            [one for one in body.named_children if site.is_statement(one)]
            if not body.type.endswith("_statement")
            else [body]
        )
        if body.type == "compound_statement" and not inside:
            inside = [one for one in body.named_children if one.type != "comment"]
        if len(inside) == 1:
            yield site.replace(node, site.text(inside[0]))
    for node in site.of("elif_clause"):
        if site.begins_line(node):
            yield EditParts(((node.start_byte, node.start_byte + 4, "if"),), site.line(node), 0.7)
    for node in site.of("else_clause"):
        inner = [one for one in node.named_children if one.type == "if_statement"]
        if inner and not site.python:
            yield EditParts(((node.start_byte, inner[0].start_byte, ""),), site.line(node), 0.7)


@operator("missing-else", "an if that should only be looked at when the one before did not hold", weight=0.5)
def missing_else(site: Site) -> Iterator[EditParts]:
    """``if a: … if b: …`` becomes ``if a: … elif b: …``; the last ``else if`` becomes ``else``."""
    for one, block, place in site.statements:
        if one.type != "if_statement" or place == 0 or block[place - 1].type != "if_statement":
            continue
        if block[place - 1].child_by_field_name("alternative") is None or not site.python:
            word = "elif" if site.python else "else if"
            yield EditParts(((one.start_byte, one.start_byte + 2, word),), site.line(one))
    for node in site.of("elif_clause"):
        test = node.child_by_field_name("condition")
        if test is not None and (
            node.next_named_sibling is None or node.next_named_sibling.type not in ("elif_clause", "else_clause")
        ):
            yield EditParts(((node.start_byte, test.end_byte, "else"),), site.line(node), 0.7)
    for node in site.of("else_clause"):
        inner = next((one for one in node.named_children if one.type == "if_statement"), None)
        if inner is not None and inner.child_by_field_name("alternative") is None and not site.python:
            body = inner.child_by_field_name("consequence")
            if body is not None:
                yield EditParts(((inner.start_byte, body.start_byte, ""),), site.line(node), 1.2)
    for one, block, place in site.statements:
        if not site.python and one.type == "if_statement" and one.child_by_field_name("alternative") is None and place:
            body, before = one.child_by_field_name("consequence"), block[place - 1]
            if body is not None and before.type == "if_statement":
                yield EditParts(((one.start_byte, body.start_byte, "else "),), site.line(one), 0.8)


@operator("else-added", "the statement after an if carried out only where its condition does not hold", weight=0.4)
def else_added(site: Site) -> Iterator[EditParts]:
    """``if c: a`` and then ``b`` becomes ``if c: a`` ``else: b``."""
    for one, block, place in site.statements:
        before = block[place - 1] if place else None
        if before is None or before.type != "if_statement" or not site.is_simple(one) or not site.begins_line(one):
            continue
        if one.type == "declaration" or any(part.type == "else_clause" for part in before.named_children):
            continue
        text = f"else:\n{site.indent(one)}    " if site.python else f"else\n{site.indent(one)}    "
        yield EditParts(((one.start_byte, one.start_byte, text),), site.line(one))


@operator("repeated-while", "what is done once is done as long as the condition holds, or the other way round", weight=0.4)
def repeated_while(site: Site) -> Iterator[EditParts]:
    """``if`` without an else part becomes ``while``, and back."""
    for node in site.of("if_statement"):
        if node.child_by_field_name("alternative") is None:
            yield EditParts(((node.start_byte, node.start_byte + 2, "while"),), site.line(node))
    for node in site.of("while_statement"):
        if node.child_by_field_name("alternative") is None:
            yield EditParts(((node.start_byte, node.start_byte + 5, "if"),), site.line(node), 0.6)


def _exchanged(text: str, one: str, other: str) -> str:
    """Two names in each other's places, everywhere."""
    swap = {one: other, other: one}
    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda match: swap.get(match[0], match[0]), text)


def _name_pairs(site: Site, text: str) -> list[tuple[str, str]]:
    """Pairs of variables of which the text names at least one."""
    used = set(re.findall(r"[A-Za-z_]\w*", text))
    names = site.variables[:_MOST_NAMES]
    return [(one, other) for place, one in enumerate(names) for other in names[place + 1 :] if {one, other} & used]


@operator("names-exchanged", "two names in each other's places, in a whole condition or statement", weight=0.35)
def names_exchanged(site: Site) -> Iterator[EditParts]:
    """``a < b and b < c`` becomes ``a < c and c < b``; ``x = t[i][j]`` becomes ``x = t[j][i]``."""
    for statement in site.of("expression_statement", "return_statement"):
        text = site.text(statement)
        for pair in _name_pairs(site, text):
            if all(re.search(rf"(?<![\w.]){name}\b", text) for name in pair):
                yield site.replace(statement, _exchanged(text, *pair))
    for test in site.conditions:
        text = site.text(test)
        for one, other in _name_pairs(site, text):
            yield site.replace(test, _exchanged(text, one, other))


@operator("branch-added", "a case that is missing, after the pattern of its neighbour with two names exchanged", weight=0.3)
def branch_added(site: Site) -> Iterator[EditParts]:
    """``if a < b: x = a`` is followed by ``elif b < a: x = b``, in front of the other branches."""
    for node in site.of("if_statement", "elif_clause"):
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if test is None or body is None or (not site.begins_line(node) and node.type == "elif_clause"):
            continue
        text, done = site.text(test), site.text(body)
        for one, other in _name_pairs(site, text):
            new = _exchanged(text, one, other)
            if new == text:
                continue
            if site.python:
                branch = f"\n{site.indent(node)}elif {new}:\n{site.indent(body)}{_exchanged(done, one, other)}"
                if site.line(body) > site.line(node):
                    yield EditParts(((body.end_byte, body.end_byte, branch),), site.line(node))
            else:
                branch = f" else if {new} {_exchanged(done, one, other)}"
                yield EditParts(((body.end_byte, body.end_byte, branch),), site.line(node))
