"""The functions of a C or Python file as the repair sees them: a syntax tree, its lines, its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import tree_sitter

from agent.c.syntax.tree import parse_c
from agent.languages import is_code, language_of
from agent.python.tree import parse_python

_TREES: dict[str, Callable[[bytes], tree_sitter.Node]] = {"python": parse_python, "c": parse_c}


def is_searched(path: str) -> bool:
    """Whether a file is code whose functions can be searched for a fault."""
    return is_code(path) and language_of(path) in _TREES


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
    if not is_searched(path):
        return []
    language = language_of(path)
    return list(_functions(path, language, source, _TREES[language](source), ""))


def parses(path: str, source: bytes) -> bool:
    """Whether the text has no syntax error that its grammar sees."""
    return not is_searched(path) or not _TREES[language_of(path)](source).has_error


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
                yield from _functions(path, language, source, inner, f"{prefix}{_text(own)}.")
        else:
            yield from _functions(path, language, source, child, prefix)


def _name(node: tree_sitter.Node) -> str:
    own = node.child_by_field_name("name")
    if own is not None:
        return _text(own)
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "identifier":
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type == "parenthesized_declarator":
            inner = declarator.named_children[0] if declarator.named_children else None
        declarator = inner
    return _text(declarator) if declarator is not None else ""


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
