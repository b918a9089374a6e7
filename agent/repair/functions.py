"""The functions of a file as the repair sees them: a syntax tree, its lines, its contract."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import tree_sitter

from agent.language.nodes import text_of, walk
from agent.languages import is_code, reader_of

__all__ = ["Function", "functions_of", "is_searched", "parses", "walk"]


def is_searched(path: str) -> bool:
    """Whether a file is code whose functions can be searched for a fault."""
    return is_code(path)


class Function(msgspec.Struct, frozen=True):
    """One function of a file. ``name`` is qualified (``Class.method``); lines count from 1, both ends included."""

    path: str
    language: str
    name: str
    source: bytes
    node: tree_sitter.Node
    body: tree_sitter.Node
    first: int
    last: int

    @property
    def text(self) -> str:
        """The function as it is written."""
        return self.source[self.node.start_byte : self.node.end_byte].decode("utf-8", "replace")

    @property
    def contract(self) -> str:
        """The comment above (C), at most 600 characters; a docstring is part of the text already."""
        found, node = [], self.node.prev_sibling
        while node is not None and node.type == "comment":
            found.append(self.source[node.start_byte : node.end_byte].decode("utf-8", "replace"))
            node = node.prev_sibling
        return "\n".join(reversed(found))[-600:]


def functions_of(path: str, source: bytes) -> list[Function]:
    """Every function that has a body, outer ones first; nested functions belong to the outer one."""
    reader = reader_of(path)
    root = reader.tree(source) if reader is not None else None
    return [] if reader is None or root is None else list(_functions(path, reader.name, source, root, ""))


def parses(path: str, source: bytes) -> bool:
    """Whether the text has no syntax error that its grammar sees."""
    reader = reader_of(path)
    root = reader.tree(source) if reader is not None else None
    return root is None or not root.has_error


def _functions(path: str, language: str, source: bytes, node: tree_sitter.Node, prefix: str) -> Iterator[Function]:
    for child in node.children:
        if child.type == "function_definition":
            body = child.child_by_field_name("body")
            name = _name(child)
            if body is not None and name:
                yield Function(path, language, prefix + name, source, child, body, child.start_point[0] + 1,
                               child.end_point[0] + 1)  # fmt: skip
        elif child.type == "class_definition":
            own = child.child_by_field_name("name")
            inner = child.child_by_field_name("body")
            if own is not None and inner is not None:
                yield from _functions(path, language, source, inner, f"{prefix}{text_of(own)}.")
        else:
            yield from _functions(path, language, source, child, prefix)


def _name(node: tree_sitter.Node) -> str:
    own = node.child_by_field_name("name")
    if own is not None:
        return text_of(own)
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "identifier":
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type == "parenthesized_declarator":
            inner = declarator.named_children[0] if declarator.named_children else None
        declarator = inner
    return text_of(declarator) if declarator is not None else ""
