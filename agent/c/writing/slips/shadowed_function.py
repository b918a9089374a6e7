"""Local variables that hide a function which the same code calls (``size_t hash = hash(key);``): an error in C, always, and
set right by another name for the variable, so that nobody needs to be asked again."""

from __future__ import annotations

import tree_sitter

from agent.c.declarations.functions import declared_names
from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk

_NUMBERS = frozenset({"primitive_type", "sized_type_specifier"})


def without_shadowing(text: str) -> tuple[str, tuple[str, ...]]:
    """``text``, a function definition, with such variables renamed, and a sentence for each.

    Only variables of arithmetic types are looked at: one of a typedef's type may be a function pointer, which can be called.
    """
    nodes = list(walk(parse_c(text.encode())))
    calls = _called(nodes)
    called = {text_of(node) for node in nodes if node.id in calls}
    hiding = sorted({name for node in nodes for name in _declared(node)} & called)
    taken = {text_of(node) for node in nodes if node.type == "identifier"}
    for name in hiding:
        fresh = next(one for one in _names(name) if one not in taken)
        text = _renamed(text, name, fresh)
    return text, tuple(f"The variable {name} hid the function of that name and was renamed." for name in hiding)


def _called(nodes: list[tree_sitter.Node]) -> set[int]:
    """The ids of the identifiers that are called. Looked for from above: a node's way up costs as much as it is deep."""
    functions = (node.child_by_field_name("function") for node in nodes if node.type == "call_expression")
    return {function.id for function in functions if function is not None and function.type == "identifier"}


def _declared(node: tree_sitter.Node) -> list[str]:
    """The variables of arithmetic type, or pointers to such, that a declaration or parameter declares."""
    kind = node.child_by_field_name("type")
    return declared_names(node) if kind is not None and kind.type in _NUMBERS else []


def _names(name: str) -> list[str]:
    return [f"{name}_value", *(f"{name}_value{number}" for number in range(2, 100))]


def _renamed(text: str, name: str, fresh: str) -> str:
    source = bytearray(text.encode())
    nodes = list(walk(parse_c(bytes(source))))
    kept = _called(nodes) | {child.id for node in nodes if node.type == "function_declarator" for child in node.children}
    for node in reversed(nodes):
        if node.type == "identifier" and node.text == name.encode() and node.id not in kept:
            source[node.start_byte : node.end_byte] = fresh.encode()
    return source.decode()
