"""Operators on the values that variables begin with, keep and are set to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import tree_sitter

from agent.repair.operators.registry import EditParts, Site, operator

_NUMBERS = ("integer", "number_literal", "float")
_CONSTANTS = {*_NUMBERS, "true", "false", "none", "null", "string", "string_literal", "char_literal"}
_MOST = 6
_WIDER = {"int": ("long long", "lld"), "long": ("long long", "lld"), "float": ("double", "lf")}


@operator("number-of-code", "a number in place of another one of the same function", weight=0.35)
def number_of_code(site: Site) -> Iterator[EditParts]:
    """``n < 0`` becomes ``n < 10`` where the function counts by tens."""
    texts = list(dict.fromkeys(site.text(node) for node in site.of(*_NUMBERS)))[:_MOST]
    for node in site.of(*_NUMBERS):
        for new in texts:
            if new != site.text(node):
                yield site.replace(node, new)


@operator("first-value", "a search that begins with the first item, a sum that begins with nothing", weight=0.4)
def first_value(site: Site) -> Iterator[EditParts]:
    """``best = 0`` becomes ``best = items[0]`` or another name; ``result = base`` becomes ``result = 1`` or ``0``."""
    arrays = _arrays(site)
    for name, value in _beginnings(site):
        if value.type in _NUMBERS:
            for array in arrays:
                yield site.replace(value, f"{array}[0]")
            for other in site.variables[:_MOST]:
                if other != name and other not in arrays:
                    yield site.replace(value, other, 0.7)
        elif value.type == "identifier":
            yield site.replace(value, "0")
            yield site.replace(value, "1")


def _arrays(site: Site) -> list[str]:
    """What the function indexes or goes through, by plain names."""
    found = []
    for node in site.of("subscript", "subscript_expression"):
        value = node.child_by_field_name("value") or node.child_by_field_name("argument")
        found += [site.text(value)] if value is not None and value.type == "identifier" else []
    if site.python:
        for node in site.of("for_statement"):
            right = node.child_by_field_name("right")
            found += re.findall(r"[A-Za-z_]\w*", site.text(right)) if right is not None else []
    known = set(site.variables)
    return [one for one in dict.fromkeys(found) if one in known][:_MOST]


def _beginnings(site: Site) -> Iterator[tuple[str, tree_sitter.Node]]:
    """(name, value) of the first plain assignment to each name."""
    seen: set[str] = set()
    for node in site.of("assignment", "assignment_expression", "init_declarator"):
        left = node.child_by_field_name("left") or node.child_by_field_name("declarator")
        value = node.child_by_field_name("right") or node.child_by_field_name("value")
        if left is None or value is None or left.type != "identifier" or site.text(left) in seen:
            continue
        seen.add(site.text(left))
        while value.type == "assignment" and (inner := value.child_by_field_name("right")) is not None:
            value = inner
        yield site.text(left), value


def read_unset(site: Site) -> set[str]:
    """C: local variables that are counted on, or added to, before anything is written to them. In the order of the text: of
    a loop the first round counts."""
    return {site.text(part) for part in _without_value(site) if _is_read_first(site, part)}


def begun(site: Site, names: Collection[str]) -> list[EditParts]:
    """C: edits that let local variables begin with 0."""
    parts = (part for part in _without_value(site) if site.text(part) in names)
    return [EditParts(((part.end_byte, part.end_byte, " = 0"),), site.line(part)) for part in parts]


def _without_value(site: Site) -> list[tree_sitter.Node]:
    """The names that C declarations of the function give no value."""
    parts = [part for node in site.of("declaration") for part in node.children_by_field_name("declarator")]
    return [part for part in parts if part.type == "identifier" and not site.python]


def _is_read_first(site: Site, declared: tree_sitter.Node) -> bool:
    """Whether the first place of a name behind its declaration counts on, or adds to, the value that it has."""
    name = site.text(declared)
    later = (one for one in site.of("identifier") if one.start_byte > declared.end_byte and site.text(one) == name)
    first = min(later, key=lambda one: one.start_byte, default=None)
    parent = first.parent if first is not None else None
    if first is None or parent is None:
        return False
    if parent.type == "assignment_expression" and parent.child_by_field_name("left") == first:
        sign, value = parent.child_by_field_name("operator"), parent.child_by_field_name("right")
        reads = value is not None and re.search(rf"(?<![\w.]){name}\b", site.text(value)) is not None
        return reads or (sign is not None and sign.text != b"=")
    return parent.type == "update_expression"


@operator("flag-set", "a variable set to a constant that it takes elsewhere", weight=0.3)
def flag_set(site: Site) -> Iterator[EditParts]:
    """``seen = 1`` in a loop or branch, where the function sets ``seen`` to a constant somewhere and tests it."""
    end = "" if site.python else ";"
    texts = [f"{name} = {value}{end}" for name, values in _flags(site).items() for value in values]
    for one, block, place in site.statements:
        if one.parent is None or one.parent == site.body or not site.begins_line(one):
            continue
        if place == 0:
            yield from (site.before(one, text) for text in texts)
        if place == len(block) - 1 and one.type not in ("return_statement", "break_statement", "continue_statement"):
            yield from (site.after(one, text) for text in texts)


def _flags(site: Site) -> dict[str, list[str]]:
    """Constants of each name, and 0 and 1 (True and False) for one that is a yes or no."""
    found: dict[str, list[str]] = {}
    for node in site.of("assignment", "assignment_expression", "init_declarator"):
        left = node.child_by_field_name("left") or node.child_by_field_name("declarator")
        value = node.child_by_field_name("right") or node.child_by_field_name("value")
        if left is not None and value is not None and left.type == "identifier" and value.type in _CONSTANTS:
            found.setdefault(site.text(left), []).append(site.text(value))
    for values in found.values():
        for pair in (("0", "1"), ("False", "True"), ("false", "true")):
            if set(values) <= set(pair):
                values += [one for one in pair if one not in values]
    return {name: list(dict.fromkeys(values)) for name, values in list(found.items())[:_MOST]}


@operator("running-extreme", "a value kept only where it is larger, or smaller, than the one before", weight=0.35)
def running_extreme(site: Site) -> Iterator[EditParts]:
    """``best = x`` becomes ``best = max(best, x)``, or is guarded by ``x > best``; ``return best`` hands back the
    ``max(best, x)`` that the function makes elsewhere."""
    made = [call for call in site.calls if call.name in ("max", "min") and not call.receiver]
    for node in site.of("return_statement"):
        result = node.named_children[0] if node.named_children else None
        if result is not None and result.type == "identifier":
            kept = (one for one in made if any(site.text(argument) == site.text(result) for argument in one.arguments))
            yield from (site.replace(result, text) for text in dict.fromkeys(site.text(one.node) for one in kept))
    for one, _, _ in site.statements:
        inside = one.named_children[0] if one.type == "expression_statement" and one.named_children else None
        if inside is None or inside.type not in ("assignment", "assignment_expression") or one.parent == site.body:
            continue
        left, value = inside.child_by_field_name("left"), inside.child_by_field_name("right")
        if left is None or value is None or left.type != "identifier" or value.type in _CONSTANTS:
            continue
        name, text = site.text(left), site.text(value)
        if site.text(inside)[len(name) :].lstrip()[:2].strip() != "=" and not site.python:
            continue
        for call, sign in (("max", ">"), ("min", "<")):
            if site.python:
                yield site.replace(value, f"{call}({name}, {text})")
            else:
                yield site.replace(one, f"if ({text} {sign} {name})\n{site.indent(one)}    {site.text(one)}")


@operator("reduced", "a number taken modulo a length before it is used", ("python",), weight=0.3)
def reduced(site: Site) -> Iterator[EditParts]:
    """``steps %= len(items)`` in front of a statement of the function's own block."""
    for one, _, place in site.statements:
        if one.parent != site.body or not site.begins_line(one) or (place == 0 and site.text(one).startswith(('"', "'"))):
            continue
        for name in site.parameters[:4]:
            for other in site.parameters[:4]:
                if other != name:
                    yield site.before(one, f"{name} %= len({other})")


@operator("printed-type", "a wider type, and the formats that print and read it", ("c",), weight=0.4)
def printed_type(site: Site) -> Iterator[EditParts]:
    """``int n`` becomes ``long long n``, and ``%d`` of each n becomes ``%lld``."""
    for node in site.of("declaration"):
        kind = node.child_by_field_name("type")
        if kind is None or site.text(kind) not in _WIDER:
            continue
        new, conversion = _WIDER[site.text(kind)]
        names = {name for name in site.locals if re.search(rf"\b{name}\b", site.text(node))}
        formats = list(_formats(site, names, conversion))
        if formats:
            parts = ((kind.start_byte, kind.end_byte, new), *formats)
            yield EditParts(tuple(sorted(parts)), site.line(node))


def _formats(site: Site, names: set[str], conversion: str) -> Iterator[tuple[int, int, str]]:
    """The pieces of formats that print or read one of the names, and what they become."""
    for call in site.calls:
        if call.name not in ("printf", "scanf") or not call.arguments or call.arguments[0].type != "string_literal":
            continue
        text = site.source[call.arguments[0].start_byte : call.arguments[0].end_byte].decode("latin-1")
        marks = list(re.finditer(r"%[-+0 #]*\d*(?:\.\d+)?((?:hh|h|ll|l|z)?[diufcsxX])", text.replace("%%", "__")))
        for mark, argument in zip(marks, call.arguments[1:], strict=False):
            named = names & set(re.findall(r"[A-Za-z_]\w*", site.text(argument)))
            if named and mark[1] != ("f" if call.name == "printf" else "") and mark[1][-1] in "dif":
                start = call.arguments[0].start_byte
                yield start + mark.start(1), start + mark.end(1), conversion
