"""A character of C taken as a small or a capital letter: what handles ``'A'`` is given ``'a'``."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from agent.language.nodes import walk
from agent.repair.operators.registry import EditParts, Site, operator

_HEADER = "#include <ctype.h>\n"
_INCLUDED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<ctype\.h>", re.M)
_FIRST = re.compile(rb"^[ \t]*#[ \t]*include\b", re.M)
_TAKEN = ("subscript_expression", "pointer_expression")
_DECLARES = ("parameter_declaration", "declaration")


@operator("letter-case", "a character is taken as a small or a capital letter", ("c",), weight=0.6)
def letter_case(site: Site) -> Iterator[EditParts]:
    """``switch (*word)`` becomes ``switch (toupper((unsigned char)*word))``: what a character is compared with, looked up
    in, indexes or is added to. The header comes along."""
    for node in _characters(site):
        for name in ("tolower", "toupper"):
            edit = site.replace(node, f"{name}((unsigned char){site.text(node)})")
            yield EditParts((*_include(site), *edit.parts), edit.line, 1.0 if _is_handled(node) else 0.6)


def _characters(site: Site) -> Iterator[tree_sitter.Node]:
    """Expressions that are one character of a text, or a variable that holds one, where their value is used."""
    declared = [one for one in walk(site.function.node) if one.type in _DECLARES]
    texts, single = set[str](), set[str]()
    for one in declared:
        kind = one.child_by_field_name("type")
        if kind is None or "char" not in site.text(kind).split():
            continue
        for declarator in one.children_by_field_name("declarator"):
            name = next((inner for inner in walk(declarator) if inner.type == "identifier"), None)
            if name is not None:
                (texts if site.text(name) in site.pointers else single).add(site.text(name))
    for node in site.of(*_TAKEN):
        base = next((inner for inner in walk(node) if inner.type == "identifier"), None)
        if base is not None and site.text(base) in texts and not site.text(node).startswith("&") and _is_value(node):
            yield node
    yield from (node for node in site.uses if site.text(node) in single and _is_value(node))


def _is_value(node: tree_sitter.Node) -> bool:
    """Whether a node is read: not written to, nor a part of an expression that is one itself."""
    parent = node.parent
    if parent is None or parent.type in (*_TAKEN, "update_expression", "init_declarator", "expression_statement"):
        return parent is not None and parent.type == "init_declarator" and node == parent.child_by_field_name("value")
    return not (parent.type == "assignment_expression" and node == parent.child_by_field_name("left"))


def _is_handled(node: tree_sitter.Node) -> bool:
    """Whether a ``switch`` or a call handles the character as a whole, so that one change is all that lacks."""
    one = node.parent
    while one is not None and one.type == "parenthesized_expression":
        one = one.parent
    return one is not None and one.type in ("switch_statement", "argument_list")


def _include(site: Site) -> tuple[tuple[int, int, str], ...]:
    if _INCLUDED.search(site.source):
        return ()
    first = _FIRST.search(site.source)
    at = first.start() if first is not None else 0
    return ((at, at, _HEADER),)
