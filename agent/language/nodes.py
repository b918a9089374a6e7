"""Going through the trees that tree-sitter makes, of any language."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter


def text_of(node: tree_sitter.Node) -> str:
    """The node's source text."""
    return (node.text or b"").decode("utf-8", "replace")


def walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The node and everything below it, in source order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def first_text(node: tree_sitter.Node | None, *types: str) -> str:
    """The text of the first node of these types in ``node``; "" without one."""
    return next((text_of(one) for one in walk(node) if one.type in types), "") if node is not None else ""


def errors(root: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Error nodes nearest the top, found without recursion into sound subtrees."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            found.append(node)
        elif node.has_error:
            stack.extend(node.children)
    return found
