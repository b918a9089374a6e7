"""Where a compiler points at in a syntax tree."""

from __future__ import annotations

import tree_sitter


def caret_node(node: tree_sitter.Node) -> tree_sitter.Node:
    """What the caret of gcc and clang stands at for an expression: its operator, else its begin."""
    return node.child_by_field_name("operator") or node


def distance(node: tree_sitter.Node, column: int) -> int:
    """Columns between a node's caret and ``column`` (from 1)."""
    return abs(caret_node(node).start_point[1] + 1 - column)
