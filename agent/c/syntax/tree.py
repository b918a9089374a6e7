"""The C grammar and its top level. Every reader of C trees in the repository starts here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import tree_sitter
import tree_sitter_c

CONTAINERS = frozenset(
    {
        "translation_unit", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef",
        "linkage_specification", "declaration_list", "ERROR",
    }
)  # fmt: skip
"""Nodes whose children stand at file scope."""


@cache
def _language() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_c.language())


def parse_c(source: bytes) -> tree_sitter.Node:
    """The root node of ``source``. A parser of its own each time: one is not safe to share between threads."""
    return tree_sitter.Parser(_language()).parse(source).root_node


def top_level(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The file's top-level nodes, those inside preprocessor blocks and ``extern "C"`` included."""
    stack = [node]
    while stack:
        child = stack.pop()
        if child.type in CONTAINERS:
            stack.extend(reversed(child.children))
        else:
            yield child
