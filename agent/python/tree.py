"""The Python grammar of tree-sitter: trees with the place of every token, of code that need not be whole."""

from __future__ import annotations

from functools import cache

import tree_sitter
import tree_sitter_python


@cache
def _language() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_python.language())


def parse_python(source: bytes) -> tree_sitter.Node:
    """The root node of ``source``. A parser of its own each time: one is not safe to share between threads."""
    return tree_sitter.Parser(_language()).parse(source).root_node
