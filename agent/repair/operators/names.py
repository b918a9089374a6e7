"""Operators on names: another variable, field, function or key in place of one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

import tree_sitter

from agent.repair.operators.expressions import compared
from agent.repair.operators.registry import Binary, EditParts, Site, operator

_PAIRS = (
    ("append", "extend"), ("append", "add"), ("update", "add"), ("pop", "popleft"), ("append", "appendleft"), ("min", "max"),
    ("any", "all"), ("floor", "ceil"), ("lower", "upper"), ("startswith", "endswith"), ("lstrip", "rstrip"),
    ("strip", "rstrip"), ("strip", "lstrip"), ("find", "rfind"), ("index", "find"), ("keys", "values"), ("values", "items"),
    ("keys", "items"), ("isalpha", "isalnum"), ("isdigit", "isalnum"), ("islower", "isupper"), ("split", "rsplit"),
    ("partition", "rpartition"), ("union", "intersection"), ("left", "right"), ("first", "last"), ("next", "prev"),
    ("head", "tail"), ("start", "end"), ("begin", "end"), ("low", "high"), ("lo", "hi"), ("row", "col"), ("x", "y"),
    ("width", "height"), ("src", "dst"), ("source", "target"), ("read", "write"), ("size", "capacity"), ("count", "size"),
    ("remove", "discard"), ("sorted", "reversed"), ("round", "int"), ("get", "pop"), ("isspace", "isalpha"),
    ("tolower", "toupper"), ("strcmp", "strncmp"), ("strcpy", "strncpy"), ("strchr", "strrchr"),
    ("memcpy", "memmove"), ("abs", "fabs"), ("isalpha", "isdigit"), ("fgets", "gets"), ("isxdigit", "isdigit"),
)  # fmt: skip
_MATES: dict[str, list[str]] = {}
for _one, _other in _PAIRS:
    _MATES.setdefault(_one, []).append(_other)
    _MATES.setdefault(_other, []).append(_one)


@operator("name", "another variable in scope", weight=0.6)
def name(site: Site) -> Iterator[EditParts]:
    """Every use of a variable becomes every other; assigned names too, at a lower weight."""
    counts = Counter(site.text(node) for node in site.uses)
    for node in site.uses:
        old = site.text(node)
        for new in site.variables:
            if new != old:
                yield site.replace(node, new, 1.0 if counts[new] else 0.9)
    for node in site.of("assignment", "augmented_assignment", "assignment_expression"):
        left = node.child_by_field_name("left")
        if left is not None and left.type == "identifier":
            for new in site.variables:
                if new != site.text(left):
                    yield site.replace(left, new, 0.5)


@operator("field", "another field, attribute or method of the same file", weight=0.5)
def field(site: Site) -> Iterator[EditParts]:
    """Fields that the function uses itself first; then names that are commonly mistaken for each other."""
    nodes = [
        one.child_by_field_name("attribute" if site.python else "field") for one in site.of("attribute", "field_expression")
    ]
    used = [one for one in nodes if one is not None]
    called = {call.function.child_by_field_name("attribute") for call in site.calls}
    fields = list(dict.fromkeys(site.text(one) for one in used if one not in called))
    for node in used:
        old = site.text(node)
        others = [one for one in fields if one != old] if node not in called else []
        for new in dict.fromkeys((*_MATES.get(old, ()), *others[:8])):
            yield site.replace(node, new, 1.0 if new in _MATES.get(old, ()) else 0.8)


@operator("called", "another function with a like name or meaning", weight=0.5)
def called(site: Site) -> Iterator[EditParts]:
    """``min`` for ``max`` and the like, and functions of the same file that begin or end alike."""
    for call in site.calls:
        if call.receiver or call.function.type != "identifier":
            continue
        alike = [one for one in site.others if one != call.name and (one[:4] == call.name[:4] or one[-4:] == call.name[-4:])]
        for new in dict.fromkeys((*_MATES.get(call.name, ()), *alike[:6])):
            yield site.replace(call.function, new)


@operator("unwrapped", "a value that went through a call is used as it is", weight=0.45)
def unwrapped(site: Site) -> Iterator[EditParts]:
    """``f(x)`` becomes ``x``."""
    for call in site.calls:
        if len(call.arguments) == 1 and call.arguments[0].type not in ("keyword_argument", "list_splat"):
            yield site.replace(call.node, site.text(call.arguments[0]))
        elif call.receiver and not call.arguments and call.node.parent is not None:
            yield site.replace(call.node, call.receiver, 0.6)


@operator("wrapped", "a value goes through a call of a function with one argument", weight=0.25)
def wrapped(site: Site) -> Iterator[EditParts]:
    """Functions of one argument that the function uses already, and itself where it has one parameter."""
    own = site.function.name.rpartition(".")[2]
    single = [call.name for call in site.calls if len(call.arguments) == 1 and not call.receiver]
    plain = ["int", "str", "list", "len", "abs", "sorted", "set"] if site.python else ["abs"]
    names = list(dict.fromkeys((*single, *([own] if len(site.parameters) == 1 and site.python else []), *plain)))
    for node in site.uses:
        parent = node.parent
        if parent is None or (parent.type in ("subscript", "attribute") and node == parent.named_children[0]):
            continue
        for one in names:
            yield site.replace(node, f"{one}({site.text(node)})", 1.0 if one in single else 0.6)


@operator("key", "another key or index that the function uses", weight=0.4)
def key(site: Site) -> Iterator[EditParts]:
    """``x[a]`` for ``x[b]``; ``x[i]`` for ``x``."""
    kind, inner = ("subscript", "subscript") if site.python else ("subscript_expression", "index")
    nodes = [(node, node.child_by_field_name(inner)) for node in site.of(kind)]
    texts = list(dict.fromkeys(site.text(index) for _, index in nodes if index is not None))
    for _, index in nodes:
        if index is not None and index.type != "slice":
            for new in texts[:8]:
                if new != site.text(index) and ":" not in new:
                    yield site.replace(index, new)


@operator("known-value", "a variable in place of what is looked up or computed again", weight=0.3)
def known_value(site: Site) -> Iterator[EditParts]:
    """``get(k) + 1`` becomes ``found + 1``: calls, items and fields in calculations, arguments and results."""
    kinds = ("call", "subscript", "attribute", "call_expression", "subscript_expression", "field_expression")
    places = ("binary_operator", "binary_expression", "comparison_operator", "argument_list", "return_statement")
    for node in site.of(*kinds):
        if node.parent is not None and node.parent.type in places:
            near = site.text(node)
            for new in site.variables:
                yield site.replace(node, new, 0.7 if re.search(rf"\b{re.escape(new)}\b", near) else 1.0)


@operator("spelling", "a name that is not known becomes one that is spelled nearly so", weight=0.9)
def spelling(site: Site) -> Iterator[EditParts]:
    """``totl`` becomes ``total``: the names of the function and of the file's other functions."""
    own = site.function.name.rpartition(".")[2]
    known = list(dict.fromkeys((*site.variables, *site.others, own)))
    for node in site.of("identifier"):
        text = site.text(node)
        if text not in known:
            for new in get_close_matches(text, known, 2, 0.75):
                yield site.replace(node, new)


@operator("target", "an assignment stores in another place that the function uses", weight=0.45)
def target(site: Site) -> Iterator[EditParts]:
    """``x[a] = …`` becomes ``y[b] = …``, a place that the function reads or stores in; what the right side reads first."""
    kinds = ("subscript", "attribute") if site.python else ("subscript_expression", "field_expression", "pointer_expression")
    called = {call.function for call in site.calls}
    places = [node for node in site.of(*kinds) if node not in called]
    for node in site.of("assignment", "augmented_assignment", "assignment_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type not in (*kinds, "identifier"):
            continue
        own = [site.text(one) for one in places if right.start_byte <= one.start_byte and one.end_byte <= right.end_byte]
        for new in dict.fromkeys((*own, *map(site.text, places))):
            if new != site.text(left) and ":" not in new:
                yield site.replace(left, new, 1.0 if new in own else 0.6)


@operator("sibling-operand", "one name in place of the same operand of neighbouring conditions", weight=0.5)
def sibling_operand(site: Site) -> Iterator[EditParts]:
    """``if b < c: …`` and ``if c < d: …`` become ``if a < c: …`` and ``if a < d: …``: a fault is often made more than once
    (Saha, Saha and Prasad, ICSE 2019)."""
    for run in _sibling_comparisons(site):
        for new in site.variables:
            for first in range(len(run) - 1):
                for operands in ([one.left for one in run[first:]], [one.right for one in run[first:]]):
                    changed = [node for node in operands if site.text(node) != new]
                    if len(changed) > 1:
                        parts = tuple((node.start_byte, node.end_byte, new) for node in changed)
                        yield EditParts(parts, site.line(changed[0]))


def _sibling_comparisons(site: Site) -> Iterator[list[Binary]]:
    """The conditions of statements that follow each other, where each is one comparison by the same sign."""
    found = {(one.node.start_byte, one.node.end_byte): one for one in compared(site)}
    conditions: dict[tree_sitter.Node, Binary | None] = {}
    for test in site.conditions:
        outer = test if site.python else test.parent  # in C the parentheses stand between
        if outer is not None and outer.parent is not None:
            conditions[outer.parent] = found.get((test.start_byte, test.end_byte))
    run: list[Binary] = []
    last: tuple[int, int] | None = None
    for statement, block, place in site.statements:
        one = conditions.get(statement)
        here = block[0].start_byte, place
        if run and (one is None or one.text != run[0].text or last is None or here != (last[0], last[1] + 1)):
            if len(run) > 1:
                yield run
            run = []
        if one is not None:
            run.append(one)
            last = here
    if len(run) > 1:
        yield run
