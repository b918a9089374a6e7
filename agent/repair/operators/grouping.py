"""Operators on how a calculation is put together: what belongs into which brackets, what is said of which part."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from agent.repair.operators.conditions import connective_signs
from agent.repair.operators.registry import Binary, EditParts, Site, operator

_RECKONED = {"+", "-", "*", "/", "%", "//"}


@operator("grouping", "the parts of a calculation in other brackets, or in another order", weight=0.5)
def grouping(site: Site) -> Iterator[EditParts]:
    """``(a + b) % n`` becomes ``a + b % n`` and ``a % n + b``; ``a + b % n`` becomes ``(a + b) % n``; a cast moves in."""
    known = {one.node: one for one in site.binaries if one.text in _RECKONED}
    for outer in known.values():
        left, right = known.get(_bare(outer.left)), known.get(_bare(outer.right))
        if left is not None:
            a, b, c = site.text(left.left), site.text(left.right), site.text(outer.right)
            if outer.left.type == "parenthesized_expression":
                yield site.replace(outer.node, f"{a} {left.text} {b} {outer.text} {c}", 0.8)
                yield site.replace(outer.node, f"{a} {outer.text} {c} {left.text} {b}")
            if outer.text != left.text or outer.text in ("-", "/", "//", "%"):
                yield site.replace(outer.node, f"{a} {left.text} ({b} {outer.text} {c})")
        if right is not None:
            a, b, c = site.text(outer.left), site.text(right.left), site.text(right.right)
            yield site.replace(outer.node, f"({a} {outer.text} {b}) {right.text} {c}", 0.9)
            if outer.right.type == "parenthesized_expression":
                yield site.replace(outer.node, f"{a} {outer.text} {b} {right.text} {c}")
    for node in site.of("cast_expression"):
        value, kind = node.child_by_field_name("value"), node.child_by_field_name("type")
        inner = known.get(_bare(value)) if value is not None else None
        if inner is not None and kind is not None:
            yield site.replace(node, f"({site.text(kind)}){site.text(inner.left)} {inner.text} {site.text(inner.right)}")


def _bare(node: tree_sitter.Node) -> tree_sitter.Node:
    """What stands inside of brackets."""
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


@operator("implied", "two conditions that should be: the second, where the first holds", weight=0.35)
def implied(site: Site) -> Iterator[EditParts]:
    """``a and b`` becomes ``not a or b``; ``a or b`` becomes ``not a and b``."""
    both, either = connective_signs(site)
    for one in site.binaries:
        if one.text in (both, either):
            other = either if one.text == both else both
            yield site.replace(one.node, f"{_denied(site, one)} {other} {site.text(one.right)}")


def _denied(site: Site, one: Binary) -> str:
    text = site.text(one.left)
    for sign in ("not ", "!"):
        if text.startswith(sign) and not any(known.node == one.left for known in site.binaries):
            return text[len(sign) :].strip()
    return f"not {site.grouped(one.left)}" if site.python else f"!{site.grouped(one.left)}"


@operator("part-added", "a case that a chain of comparisons lacks, after the pattern of another one", weight=0.35)
def part_added(site: Site) -> Iterator[EditParts]:
    """``a == b or b == c`` becomes ``… or a == c``: one name of a part exchanged for another that the chain compares."""
    for chain in _chains(site):
        parts = _parts(site, chain)
        written = {site.text(one.node) for one in parts}
        terms = list(dict.fromkeys(site.text(side) for one in parts for side in (one.left, one.right)))
        for one in parts:
            left, right = site.text(one.left), site.text(one.right)
            for first, second in [*((left, term) for term in terms), *((term, right) for term in terms)]:
                part = f"{first} {one.text} {second}"
                if first != second and part not in written:
                    written.add(part)
                    yield site.replace(chain.node, f"{site.text(chain.node)} {chain.text} {part}")


def _chains(site: Site) -> list[Binary]:
    """Outermost ``a or b or …`` and ``a and b and …`` of comparisons."""
    found = [one for one in site.binaries if one.text in connective_signs(site)]
    inner = {one.left for one in found} | {one.right for one in found}
    return [one for one in found if one.node not in inner and 1 < len(_parts(site, one)) <= 8]


def _parts(site: Site, chain: Binary) -> list[Binary]:
    """The comparisons that a chain joins by its own sign."""
    by_node = {one.node: one for one in site.binaries}
    found: list[Binary] = []
    todo = [chain.right, chain.left]
    while todo:
        one = by_node.get(_bare(todo.pop()))
        if one is not None and one.text == chain.text:
            todo += [one.right, one.left]
        elif one is not None and one.text in ("==", "!=", "<", ">", "<=", ">="):
            found.append(one)
    return found


@operator("end-character", "a character at which reading also stops, or is also left out", ("c",), weight=0.35)
def end_character(site: Site) -> Iterator[EditParts]:
    """``c != '\\n'`` becomes ``c != '\\n' && c != EOF``; ``c == ' '`` becomes ``c == ' ' || c == '\\n'``."""
    for one in site.binaries:
        if one.text not in ("!=", "==") or (one.right.type != "char_literal" and site.text(one.right) != "EOF"):
            continue
        sign = "&&" if one.text == "!=" else "||"
        for other in ("'\\n'", "'\\0'", "' '", "EOF", "'\\t'"):
            if other not in site.text(one.node):
                text = f"{site.text(one.node)} {sign} {site.text(one.left)} {one.text} {other}"
                nested = one.node.parent is not None and one.node.parent.type == "binary_expression"
                yield site.replace(one.node, f"({text})" if nested else text)
