"""Who frees what a C function returns, as its callers show."""

from __future__ import annotations

import tree_sitter

from agent.c.declarations.functions import declared_names
from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk


def freed_results(source: bytes) -> frozenset[str]:
    """The functions whose result a caller in ``source`` hands to ``free``: at once, or by the variable that holds it."""
    if b"free" not in source:
        return frozenset()
    root = parse_c(source)
    shared = {name for node in root.children if node.type == "declaration" for name in declared_names(node)}
    bodies = [list(walk(node)) for node in root.children if node.type == "function_definition"]
    freed = [[one for node in nodes if (one := _freed(node)) is not None] for nodes in bodies]
    everywhere = {text_of(one) for arguments in freed for one in arguments} & shared
    found = {_called(one) for arguments in freed for one in arguments}
    for nodes, arguments in zip(bodies, freed, strict=True):
        names = everywhere | {text_of(one) for one in arguments}
        set_here = [(name, value) for name, value in map(_set_by, nodes) if value is not None and name in names]
        found |= {_called(value) for _, value in set_here}
    return frozenset(found - {""})


def _freed(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """What a call of ``free`` is handed, None for any other node."""
    given = node.child_by_field_name("arguments") if node.type == "call_expression" and _called(node) == "free" else None
    return given.named_children[0] if given is not None and given.named_children else None


def _set_by(node: tree_sitter.Node) -> tuple[str, tree_sitter.Node | None]:
    """The variable that a declaration or an assignment sets, and to what; ("", None) for any other node."""
    match node.type:
        case "init_declarator":
            target, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        case "assignment_expression":
            target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        case _:
            return "", None
    while target is not None and target.type == "pointer_declarator":
        target = target.child_by_field_name("declarator")
    return (text_of(target), value) if target is not None and target.type == "identifier" else ("", None)


def _called(value: tree_sitter.Node) -> str:
    """The function whose call ``value`` is, through casts and parentheses; "" when it is none."""
    while value.type in ("cast_expression", "parenthesized_expression"):
        inner = value.child_by_field_name("value") or next(iter(value.named_children), None)
        if inner is None:
            return ""
        value = inner
    callee = value.child_by_field_name("function") if value.type == "call_expression" else None
    return text_of(callee) if callee is not None and callee.type == "identifier" else ""
