"""Which structs and unions a C file names, which it defines, and what typedefs it gives them."""

from __future__ import annotations

import msgspec
import tree_sitter

from agent.c.declarations.functions import comment_above
from agent.c.syntax.tree import parse_c, top_level
from agent.language.nodes import text_of, walk


class TypeFacts(msgspec.Struct, frozen=True):
    """``named`` maps ``struct tag`` to the comment above where it is declared without a body; ``defined`` holds those with
    one; ``typedefs`` maps a spelling to the names a typedef gives it (to it or to a pointer to it)."""

    named: dict[str, str]
    defined: frozenset[str]
    typedefs: dict[str, list[str]]


def type_facts(source: bytes) -> TypeFacts:
    """The facts of one file. Never raises on broken code."""
    named: dict[str, str] = {}
    typedefs: dict[str, list[str]] = {}
    root = parse_c(source)
    for node in top_level(root):
        inner = _aggregate(node)
        if inner is None:
            continue
        spelling = _spelling(inner)
        if node.type == "type_definition" and spelling:
            names = [text_of(part) for part in walk_declarators(node)]
            typedefs.setdefault(spelling, []).extend(names)
        if spelling and inner.child_by_field_name("body") is None and node.type in ("type_definition", inner.type):
            doc, _ = comment_above(source, node)
            named[spelling] = named.get(spelling) or doc
    defined = {
        _spelling(node)
        for node in walk(root)
        if node.type in ("struct_specifier", "union_specifier") and node.child_by_field_name("body") is not None
    }
    return TypeFacts(named, frozenset(defined - {""}), typedefs)


def walk_declarators(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The type names that a typedef introduces."""
    found: list[tree_sitter.Node] = []
    for declarator in node.children_by_field_name("declarator"):
        found.extend(part for part in walk(declarator) if part.type == "type_identifier")
    return found


def _aggregate(node: tree_sitter.Node) -> tree_sitter.Node | None:
    if node.type in ("struct_specifier", "union_specifier"):
        return node
    inner = node.child_by_field_name("type") if node.type in ("type_definition", "declaration") else None
    return inner if inner is not None and inner.type in ("struct_specifier", "union_specifier") else None


def _spelling(node: tree_sitter.Node) -> str:
    name = node.child_by_field_name("name")
    return f"{node.type.split('_')[0]} {text_of(name)}" if name is not None else ""
