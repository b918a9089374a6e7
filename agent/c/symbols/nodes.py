"""What one node of tree-sitter's C tree says about a declaration."""

from __future__ import annotations

from tree_sitter import Node


def static(node: Node) -> bool:
    return any(child.type == "storage_class_specifier" and child.text == b"static" for child in node.children)


def declared_name(node: Node | None) -> Node | None:
    """The identifier at the heart of a declarator."""
    while node is not None:
        if node.type in ("identifier", "type_identifier", "field_identifier", "primitive_type"):
            return node
        inner = node.child_by_field_name("declarator")
        if inner is None:
            named = [c for c in node.named_children if c.type.endswith(("declarator", "identifier", "primitive_type"))]
            inner = named[0] if named else None
        node = inner
    return None


def is_prototype(node: Node | None) -> bool:
    """True when the declarator declares a function rather than a pointer to one."""
    while node is not None:
        if node.type == "function_declarator":
            inner = node.child_by_field_name("declarator")
            return inner is None or inner.type == "identifier" or is_prototype(inner)
        if node.type == "init_declarator":
            return False
        if node.type == "parenthesized_declarator" and any(c.type == "pointer_declarator" for c in node.children):
            inner = node.named_children[0].child_by_field_name("declarator")
            return inner is not None and inner.type == "function_declarator"
        node = node.child_by_field_name("declarator")
    return False
