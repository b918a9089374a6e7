"""Operators on what only Python has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import tree_sitter

from agent.language.nesting import UNREADABLE
from agent.python.names import insert_imports
from agent.repair.operators.registry import EditParts, Site, inserted, operator

_VALUE_PLACES = {"comparison_operator", "return_statement", "argument_list", "assignment", "boolean_operator",
                 "if_statement", "for_statement"}  # fmt: skip


@operator("mutable-default", "a default that all calls share becomes None, created in the function", ("python",), weight=0.7)
def mutable_default(site: Site) -> Iterator[EditParts]:
    """``def f(x=[])`` (pylint W0102)."""
    parameters = site.function.node.child_by_field_name("parameters")
    first = next((one for one, _, place in site.statements if one.parent == site.body), None)
    for node in parameters.named_children if parameters is not None and first is not None else ():
        value, own = node.child_by_field_name("value"), node.child_by_field_name("name")
        if value is None or own is None or site.text(value) not in ("[]", "{}", "set()", "list()", "dict()"):
            continue
        name = site.text(own)
        guard = site.before(first, f"if {name} is None:\n    {name} = {site.text(value)}").parts[0]  # type: ignore[arg-type]
        yield EditParts(((value.start_byte, value.end_byte, "None"), guard), site.line(node))


@operator("alias", "a copy is kept, not the collection itself", ("python",), weight=0.4)
def alias(site: Site) -> Iterator[EditParts]:
    """``x`` becomes ``x[:]``, ``list(x)`` or ``x.copy()`` where it is stored, passed on or returned."""
    for node in site.uses:
        parent = node.parent
        if parent is not None and parent.type in ("argument_list", "assignment", "return_statement", "list", "yield"):
            text = site.text(node)
            for new in (f"list({text})", f"{text}.copy()", f"{text}[:]"):
                yield site.replace(node, new)


@operator("literal", "another empty or neutral value", ("python",), weight=0.4)
def literal(site: Site) -> Iterator[EditParts]:
    """``True`` for ``False``, ``None`` for ``0``, ``set()`` for ``[]``, an infinity for a number."""
    table = {
        "True": ("False", "None"), "False": ("True", "None"), "None": ("[]", "0", "False", "''"),
        "[]": ("set()", "{}", "None"), "{}": ("[]", "set()"), "''": ("None", "' '"), '""': ("None", '" "'),
        "' '": ("''",), '" "': ('""',),
        "0": ("float('-inf')", "None", "float('inf')"), "set()": ("[]",), "float('inf')": ("float('-inf')", "0"),
        "float('-inf')": ("float('inf')", "0"), "1": ("0.5", "1.0"), "-1": ("None", "0"),
    }  # fmt: skip
    for node in site.nodes:
        if node.is_named:
            for new in table.get(site.text(node), ()):
                yield site.replace(node, new)


@operator("default-value", "a key that may be missing is read with a default", ("python",), weight=0.4)
def default_value(site: Site) -> Iterator[EditParts]:
    """``d[k]`` becomes ``d.get(k)`` or ``d.get(k, 0)``; ``d.get(k)`` gets a default."""
    for node in site.of("subscript"):
        value, index, parent = node.child_by_field_name("value"), node.child_by_field_name("subscript"), node.parent
        if value is None or index is None or index.type == "slice" or parent is None:
            continue
        if parent.type in ("assignment", "augmented_assignment") and node == parent.child_by_field_name("left"):
            continue
        for default in (", 0", "", ", []"):
            yield site.replace(node, f"{site.text(value)}.get({site.text(index)}{default})", 0.7)
    for call in site.calls:
        if call.name == "get" and len(call.arguments) == 1 and call.receiver:
            for default in ("0", "[]", "''", "1"):
                yield site.replace(call.node, f"{call.receiver}.get({site.text(call.arguments[0])}, {default})")
        if call.name == "get" and len(call.arguments) == 2 and call.receiver:
            yield site.replace(call.node, f"{call.receiver}[{site.text(call.arguments[0])}]", 0.5)


@operator("range", "the bounds of a range", ("python",), weight=0.6)
def ranges(site: Site) -> Iterator[EditParts]:
    """A start of 1, the other direction, one step less; ``range(len(x))`` of another collection."""
    for call in site.calls:
        if call.name != "range":
            continue
        args = [site.text(one) for one in call.arguments]
        if len(args) == 1:
            for text in (f"1, {args[0]}", f"1, {args[0]} + 1", f"0, {args[0]} - 1", f"{args[0]} - 1, -1, -1"):
                yield site.replace(call.node, f"range({text})")
        elif len(args) == 2:
            yield site.replace(call.node, f"range({args[0]} + 1, {args[1]} + 1)")
            yield site.replace(call.node, f"range({args[1]})", 0.8)
            yield site.replace(call.node, f"range({args[1]} - 1, {args[0]} - 1, -1)", 0.6)
        elif len(args) == 3 and args[2] == "-1":
            yield site.replace(call.node, f"range({args[0]}, {args[1]} - 1, -1)")


@operator("any-beginning", "a beginning or end that is one of several characters", ("python",), weight=0.55)
def any_beginning(site: Site) -> Iterator[EditParts]:
    """``word.startswith(vowels)`` becomes ``word.startswith(tuple(vowels))``: a text of characters that it might begin with
    is taken for one beginning."""
    for call in site.calls:
        if call.name in ("startswith", "endswith") and len(call.arguments) == 1:
            argument = call.arguments[0]
            text = site.text(argument)
            if argument.type == "identifier" or (argument.type == "string" and len(text) > 4):
                yield site.replace(argument, f"tuple({text})")


@operator("unbounded", "a search that goes on until it finds something", ("python",), weight=0.55)
def unbounded(site: Site) -> Iterator[EditParts]:
    """``for n in range(2, limit)`` becomes ``for n in itertools.count(2)`` where only the loop returns a value: behind a
    guessed limit the function gives None."""
    for node in site.of("for_statement"):
        right, body = node.child_by_field_name("right"), node.child_by_field_name("body")
        call = next((one for one in site.calls if one.node == right and one.name == "range"), None)
        if call is None or body is None or not 0 < len(call.arguments) < 3 or not _returns_only_in(site, body):
            continue
        start = site.text(call.arguments[0]) if len(call.arguments) == 2 else ""
        counting = (call.node.start_byte, call.node.end_byte, f"itertools.count({start})")
        yield EditParts((*_with_import(site, "itertools"), counting), site.line(node))


def _returns_only_in(site: Site, body: tree_sitter.Node) -> bool:
    """Whether all values that the function returns are returned within ``body``, at least one."""
    own = [one for one in site.of("return_statement") if one.named_children and _function_above(one) == site.function.node]
    return bool(own) and all(body.start_byte <= one.start_byte < body.end_byte for one in own)


def _function_above(node: tree_sitter.Node) -> tree_sitter.Node | None:
    one = node.parent
    while one is not None and one.type not in ("function_definition", "lambda"):
        one = one.parent
    return one


def _with_import(site: Site, module: str) -> tuple[tuple[int, int, str], ...]:
    """The insertion that imports a standard module; none where that is done."""
    if re.search(rf"^import\b.*\b{module}\s*(?:,|$)", site.source.decode("utf-8", "replace"), re.M):
        return ()
    try:
        return inserted(site.source, insert_imports(site.source, [f"import {module}"]))
    except UNREADABLE:
        return ()


@operator("backwards", "the same numbers in the other direction", ("python",), weight=0.35)
def backwards(site: Site) -> Iterator[EditParts]:
    """``range(a, b + 1)`` becomes ``range(b, a - 1, -1)``, ``range(n)`` becomes ``range(n - 1, -1, -1)``, and back."""
    for call in site.calls:
        args = [site.text(one) for one in call.arguments]
        if call.name != "range" or call.receiver or not args:
            continue
        if len(args) == 3 and args[2] == "-1":
            yield site.replace(call.node, f"range({_next(args[1], 1)}, {_next(args[0], 1)})")
        elif len(args) < 3:
            first, end = args if len(args) == 2 else ("0", args[0])
            yield site.replace(call.node, f"range({_next(end, -1)}, {_next(first, -1)}, -1)")


def _next(text: str, step: int) -> str:
    """One more or less than an expression, as it is usually written."""
    if re.fullmatch(r"-?\d+", text):
        return str(int(text) + step)
    undone = re.fullmatch(rf"(.*\w\)?) \{'-' if step > 0 else '+'} 1", text)
    return undone[1] if undone else f"{text} {'+' if step > 0 else '-'} 1"


@operator("method-result", "a method is called and not only named, or the other way round", ("python",), weight=0.5)
def method_result(site: Site) -> Iterator[EditParts]:
    """``x.strip`` for ``x.strip()``; a string method whose result is thrown away is assigned."""
    called = {call.function for call in site.calls}
    for node in site.of("attribute"):
        parent = node.parent
        if node not in called and parent is not None and parent.type in _VALUE_PLACES:
            if parent.type == "assignment" and node == parent.child_by_field_name("left"):
                continue
            yield site.replace(node, f"{site.text(node)}()", 0.8)
    for call in site.calls:
        parent = call.node.parent
        if parent is not None and parent.type == "expression_statement" and re.fullmatch(r"[\w.]+", call.receiver or "-"):
            yield site.replace(call.node, f"{call.receiver} = {site.text(call.node)}", 0.7)
        if call.receiver and not call.arguments:
            yield site.replace(call.node, site.text(call.function), 0.4)


@operator("pop-end", "taken from the other end of a list", ("python",), weight=0.5)
def pop_end(site: Site) -> Iterator[EditParts]:
    """``pop()`` and ``pop(0)``, ``x[0]`` and ``x[-1]``, ``insert(0, x)`` and ``append(x)``."""
    for call in site.calls:
        if call.name == "pop" and not call.arguments:
            yield site.replace(call.node, f"{call.receiver}.pop(0)")
        elif call.name == "pop" and len(call.arguments) == 1 and site.text(call.arguments[0]) in ("0", "-1"):
            yield site.replace(call.node, f"{call.receiver}.pop()")
        elif call.name == "append" and len(call.arguments) == 1:
            yield site.replace(call.node, f"{call.receiver}.insert(0, {site.text(call.arguments[0])})", 0.7)
        elif call.name == "insert" and len(call.arguments) == 2:
            yield site.replace(call.node, f"{call.receiver}.append({site.text(call.arguments[1])})", 0.8)
    for node in site.of("subscript"):
        index = node.child_by_field_name("subscript")
        if index is not None and site.text(index) in ("0", "-1"):
            yield site.replace(index, "-1" if site.text(index) == "0" else "0")


@operator("ordering", "sorted the other way, or sorted at all", ("python",), weight=0.4)
def ordering(site: Site) -> Iterator[EditParts]:
    """``reverse=True`` added or taken away; ``sorted`` around what a loop goes through."""
    for call in site.calls:
        if call.name not in ("sorted", "sort"):
            continue
        flag = [one for one in call.arguments if one.type == "keyword_argument" and site.text(one).startswith("reverse")]
        if flag:
            value = flag[0].child_by_field_name("value")
            if value is not None:
                yield site.replace(value, "False" if site.text(value) == "True" else "True")
        else:
            args = ", ".join([*(site.text(one) for one in call.arguments), "reverse=True"])
            yield site.replace(call.node, f"{site.text(call.function)}({args})")
    for node in site.of("for_statement", "for_in_clause"):
        right = node.child_by_field_name("right")
        if right is not None and right.type in ("identifier", "call", "attribute"):
            yield site.replace(right, f"sorted({site.text(right)})", 0.6)
            yield site.replace(right, f"reversed({site.text(right)})", 0.6)
            yield site.replace(right, f"list({site.text(right)})", 0.7)


@operator("own-attribute", "the object's attribute, not a local name, or the other way round", ("python",), weight=0.5)
def own_attribute(site: Site) -> Iterator[EditParts]:
    """``x`` and ``self.x``."""
    own = {site.text(node) for node in site.of("attribute") if site.text(node).startswith("self.")}
    names = {one[5:] for one in own if one[5:].isidentifier()}
    for node in site.of("identifier"):
        text, parent = site.text(node), node.parent
        if parent is None or parent.type in ("attribute", "keyword_argument", "parameters"):
            continue
        if text in names:
            yield site.replace(node, f"self.{text}")
    for node in site.of("attribute"):
        text = site.text(node)
        if text.startswith("self.") and text[5:] in site.variables:
            yield site.replace(node, text[5:])


@operator("power", "a value squared, halved, doubled, shifted by a digit or negated", weight=0.3)
def power(site: Site) -> Iterator[EditParts]:
    """``x ** 2``, ``x * x``, ``-x``, ``x // 2``."""
    for node in site.uses:
        parent, name = node.parent, site.text(node)
        if parent is None or parent.type not in ("binary_operator", "binary_expression", "return_statement", "argument_list",
                                                 "assignment", "comparison_operator"):  # fmt: skip
            continue
        if parent.type == "assignment" and node == parent.child_by_field_name("left"):
            continue
        news = (
            (f"{name} ** 2", f"-{name}", f"{name} // 2") if site.python else (f"{name} * {name}", f"-{name}", f"{name} / 2")
        )
        for new in (*news, f"{name} * 10", f"{name} * 2"):
            yield site.replace(node, new)


@operator("exception", "another or a wider exception", ("python",), weight=0.3)
def exception(site: Site) -> Iterator[EditParts]:
    """``KeyError``, ``IndexError``, ``ValueError`` and ``TypeError`` for each other, or their common class."""
    family = ("KeyError", "IndexError", "ValueError", "TypeError", "LookupError", "AttributeError")
    for node in site.of("identifier"):
        if site.text(node) in family and any(one.type in ("except_clause", "raise_statement") for one in _above(node)):
            for new in family:
                yield site.replace(node, new)


@operator("elements", "two neighbours of a tuple or list swapped, a last argument left out", ("python",), weight=0.35)
def elements(site: Site) -> Iterator[EditParts]:
    """``(a, b)`` becomes ``(b, a)``; ``f(x, 1)`` becomes ``f(x)``."""
    for node in site.of("tuple", "list", "expression_list"):
        parts = node.named_children
        for one, other in pairwise(parts[:6]):
            yield site.swap(one, other)
    for call in site.calls:
        if len(call.arguments) > 1:
            last, before = call.arguments[-1], call.arguments[-2]
            yield EditParts(((before.end_byte, last.end_byte, ""),), site.line(last), 0.8)


@operator("limited", "a text taken apart, or replaced in, at the first place only", ("python",), weight=0.3)
def limited(site: Site) -> Iterator[EditParts]:
    """``x.split(':')`` becomes ``x.split(':', 1)``; ``x.replace(a, b)`` becomes ``x.replace(a, b, 1)``."""
    usual = {"split": 1, "rsplit": 1, "replace": 2}
    for call in site.calls:
        count, args = usual.get(call.name, 0), call.arguments
        if call.receiver and args and count == len(args):
            yield EditParts(((args[-1].end_byte, args[-1].end_byte, ", 1"),), site.line(call.node))


@operator("yielded", "all items of a value given, or the value itself", ("python",), weight=0.45)
def yielded(site: Site) -> Iterator[EditParts]:
    """``yield from f(x)`` becomes ``yield f(x)`` and ``yield x``; ``yield x`` becomes ``yield from x``."""
    for node in site.of("yield"):
        text = site.text(node)
        value = node.named_children[0] if node.named_children else None
        if value is None:
            continue
        inner = next((call.arguments[0] for call in site.calls if call.node == value and len(call.arguments) == 1), None)
        if text.startswith("yield from"):
            yield site.replace(node, f"yield {site.text(value)}")
            if inner is not None:
                yield site.replace(node, f"yield {site.text(inner)}")
        else:
            own = site.function.name.rpartition(".")[2]
            yield site.replace(node, f"yield from {site.text(value)}")
            yield site.replace(node, f"yield from {own}({site.text(value)})", 0.8)


def _above(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    found: list[tree_sitter.Node] = []
    one = node.parent
    for _ in range(3):
        if one is None:
            break
        found.append(one)
        one = one.parent
    return found
