"""A literal or a local array returned to a caller that frees it: the program crashes in ``free`` or reads a dead frame.

A small model writes ``return "";`` for the simple case and allocates in the others. That the caller frees the result is a
fact of its code, so that only one thing can be meant: memory from the heap with the same contents.
"""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk
from agent.replacements import Replacement, replaced

_LITERALS = frozenset({"string_literal", "concatenated_string"})


def with_owned_results(text: str) -> tuple[str, tuple[str, ...]]:
    """``text``, a function definition whose result the caller frees, with what it returns taken from the heap, and a
    sentence for each place; the rest is as it was."""
    nodes = list(walk(parse_c(text.encode())))
    edits: list[Replacement] = []
    told: list[str] = []
    for value in _returned(nodes):
        if value.type in _LITERALS:
            literal = text_of(value)
            edits.append(Replacement(value.start_byte, value.end_byte, f"strcpy(malloc(sizeof({literal})), {literal})"))
            told.append(f"The caller frees the result; the literal {literal} is now copied into memory of its own.")
        elif value.type == "identifier" and (made := _from_heap(text_of(value), nodes)):
            edits += made
            told.append(f"The caller frees the result; the local array {text_of(value)} is now memory from the heap.")
    return replaced(text.encode(), edits).decode(), tuple(dict.fromkeys(told))


def _returned(nodes: list[tree_sitter.Node]) -> Iterator[tree_sitter.Node]:
    """What is returned, each branch of ``?:`` by itself."""
    open_values = [node.named_children[0] for node in nodes if node.type == "return_statement" and node.named_children]
    while open_values:
        value = open_values.pop(0)
        if value.type == "conditional_expression":
            sides = (value.child_by_field_name("consequence"), value.child_by_field_name("alternative"))
            open_values += [one for one in sides if one is not None]
        elif value.type in ("parenthesized_expression", "cast_expression"):
            inner = value.child_by_field_name("value") or next(iter(value.named_children), None)
            open_values += [inner] if inner is not None else []
        else:
            yield value


def _from_heap(name: str, nodes: list[tree_sitter.Node]) -> list[Replacement]:
    """The edits that make the local array ``name`` a pointer to zeroed memory of its size; none when it is no such array,
    or is initialised with more than zeros."""
    declared = [node for node in nodes if node.type == "declaration" and _array_of(node, name) is not None]
    if len(declared) != 1:
        return []
    declaration = declared[0]
    array, kind = _array_of(declaration, name), declaration.child_by_field_name("type")
    size = array.child_by_field_name("size") if array is not None else None
    if size is None or kind is None or len(declaration.children_by_field_name("declarator")) != 1:
        return []
    line = f"{text_of(kind)} *{name} = calloc({text_of(size)}, sizeof *{name});"
    sizes = [one for one in nodes if one.type == "sizeof_expression" and text_of(one)[6:].strip(" ()") == name]
    whole = f"(({text_of(size)}) * sizeof *{name})"
    return [
        Replacement(declaration.start_byte, declaration.end_byte, line),
        *(Replacement(one.start_byte, one.end_byte, whole) for one in sizes),
    ]


def _array_of(declaration: tree_sitter.Node, name: str) -> tree_sitter.Node | None:
    """The declarator ``name[size]`` in a declaration that sets it to zeros or to nothing."""
    for declarator in declaration.children_by_field_name("declarator"):
        value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
        if value is not None and text_of(value).replace(" ", "") not in ("{0}", "{}", '""', r"{'\0'}"):
            continue
        inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
        own = inner.child_by_field_name("declarator") if inner is not None and inner.type == "array_declarator" else None
        if own is not None and own.type == "identifier" and text_of(own) == name:
            return inner
    return None
