"""Conditions that a function beside this one tests: methods of a class, and functions on a structure, share their cases."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from agent.language.nodes import walk
from agent.repair.functions import Function, functions_of
from agent.repair.operators.registry import EditParts, Site, operator

_MOST = 4
_LONGEST = 60


@operator("sibling-case", "a step only in the case that a function beside it tests", weight=0.55)
def sibling_case(site: Site) -> Iterator[EditParts]:
    """``self.items.pop(0)`` becomes ``if len(self.items) == self.capacity: self.items.pop(0)`` where ``write`` turns away
    what comes while that holds; or only where it does not."""
    tests = list(dict.fromkeys(_tests_beside(site)))[:_MOST]
    own = {site.text(one) for one in site.conditions}
    for node in site.of("expression_statement"):
        if not site.is_simple(node) or not site.begins_line(node) or _is_text(node):
            continue
        for test in tests:
            if test not in own:
                yield _only(site, node, test, 1.0)
                yield _only(site, node, f"not ({test})" if site.python else f"!({test})", 0.8)


def _only(site: Site, node: tree_sitter.Node, test: str, weight: float) -> EditParts:
    head = f"if {test}:" if site.python else f"if ({test})"
    return site.replace(node, f"{head}\n{site.indent(node)}    {site.text(node)}", weight)


def _tests_beside(site: Site) -> Iterator[str]:
    """The conditions beside that only use what this function has, too."""
    known = {*site.variables, "self", "cls", "len", "NULL", "None", "True", "False"}
    for other in map(Site, _beside(site.function)):
        for test in other.conditions:
            text = other.text(test)
            if len(text) <= _LONGEST and _names(other, test) <= known:
                yield text


def _beside(function: Function) -> list[Function]:
    """The other functions of the same class, or of the file where there is none."""
    home = function.name.rpartition(".")[0]
    found = functions_of(function.path, function.source)
    return [one for one in found if one.name.rpartition(".")[0] == home and one.name != function.name]


def _names(site: Site, node: tree_sitter.Node) -> set[str]:
    """Names that stand for variables and functions; attributes and members are not among them."""
    named = [one for one in walk(node) if one.type == "identifier"]
    attributes = [one for one in named if one.parent is not None and one == one.parent.child_by_field_name("attribute")]
    return {site.text(one) for one in named if one not in attributes}


def _is_text(node: tree_sitter.Node) -> bool:
    return bool(node.named_children) and node.named_children[0].type == "string"
