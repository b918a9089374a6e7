"""The functions of a C or Python file as the repair sees them: a syntax tree, its lines, its contract."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec
import tree_sitter
import tree_sitter_python

from agent.c.syntax.tree import parse_c

LANGUAGES = {".py": "python", ".c": "c", ".h": "c"}


@cache
def _python() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_python.language())


def _parse(language: str, source: bytes) -> tree_sitter.Node:
    return tree_sitter.Parser(_python()).parse(source).root_node if language == "python" else parse_c(source)


def language_of(path: str) -> str:
    """``python``, ``c`` or "" by the file's name."""
    return next((name for suffix, name in LANGUAGES.items() if path.endswith(suffix)), "")


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
    language = language_of(path)
    if not language:
        return []
    root = _parse(language, source)
    return list(_functions(path, language, source, root, ""))


def parses(path: str, source: bytes) -> bool:
    """Whether the text has no syntax error that its grammar sees."""
    language = language_of(path)
    return not language or not _parse(language, source).has_error


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
