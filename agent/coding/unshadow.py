"""Local variables that hide a function which the same code calls (``size_t hash = hash(key);``): an error in C, always, and
set right by another name for the variable, so that nobody needs to be asked again."""

from __future__ import annotations

import tree_sitter

from agent.coding.csyntax import parse_c, text_of, walk

_NUMBERS = frozenset({"primitive_type", "sized_type_specifier"})
_WRAPPERS = frozenset({"init_declarator", "pointer_declarator", "array_declarator"})


def without_shadowing(text: str) -> tuple[str, tuple[str, ...]]:
    """``text``, a function definition, with such variables renamed, and a sentence for each.

    Only variables of arithmetic types are looked at: one of a typedef's type may be a function pointer, which can be called.
    """
    root = parse_c(text.encode())
    nodes = list(walk(root))
    called = {text_of(node) for node in nodes if _is_called(node)}
    hiding = sorted({name for node in nodes for name in _declared(node)} & called)
    taken = {text_of(node) for node in nodes if node.type == "identifier"}
    for name in hiding:
        fresh = next(one for one in _names(name) if one not in taken)
        text = _renamed(text, name, fresh)
    return text, tuple(f"The variable {name} hid the function of that name and was renamed." for name in hiding)


def _is_called(node: tree_sitter.Node) -> bool:
    parent = node.parent
    if node.type != "identifier" or parent is None or parent.type != "call_expression":
        return False
    function = parent.child_by_field_name("function")
    return function is not None and function.id == node.id


def _declared(node: tree_sitter.Node) -> list[str]:
    """The variables of arithmetic type, or pointers to such, that a declaration or parameter declares."""
    kind = node.child_by_field_name("type") if node.type in ("declaration", "parameter_declaration") else None
    if kind is None or kind.type not in _NUMBERS:
        return []
    names = []
    for child in node.children_by_field_name("declarator"):
        inner: tree_sitter.Node | None = child
        while inner is not None and inner.type in _WRAPPERS:
            inner = inner.child_by_field_name("declarator")
        if inner is not None and inner.type == "identifier":
            names.append(text_of(inner))
    return names


def _names(name: str) -> list[str]:
    return [f"{name}_value", *(f"{name}_value{number}" for number in range(2, 100))]


def _renamed(text: str, name: str, fresh: str) -> str:
    source = bytearray(text.encode())
    for node in reversed(list(walk(parse_c(bytes(source))))):
        if node.type == "identifier" and node.text == name.encode() and not _is_called(node) and not _is_function_name(node):
            source[node.start_byte : node.end_byte] = fresh.encode()
    return source.decode()


def _is_function_name(node: tree_sitter.Node) -> bool:
    return node.parent is not None and node.parent.type == "function_declarator"
