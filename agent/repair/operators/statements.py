"""Operators on statements: removed, repeated, moved, added after the pattern of another, left early."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from agent.repair.operators.registry import EditParts, Site, operator

_MOST_NAMES = 8


def _simple(site: Site) -> Iterator[tuple[tree_sitter.Node, tuple[tree_sitter.Node, ...], int]]:
    for one, block, place in site.statements:
        if site.is_simple(one) and one.type != "pass_statement" and not _is_docstring(one):
            yield one, block, place


def _is_docstring(node: tree_sitter.Node) -> bool:
    return node.type == "expression_statement" and bool(node.named_children) and node.named_children[0].type == "string"


@operator("statement-removed", "a statement left out", weight=0.5)
def removed(site: Site) -> Iterator[EditParts]:
    """The only one of a Python block becomes ``pass``."""
    for one, block, _ in _simple(site):
        if len(block) == 1 and site.python:
            yield site.replace(one, "pass", 0.7)
        elif one.type != "declaration":
            yield site.remove(one)


@operator("statement-moved", "a statement one place up or down, out of its block or into the one before", weight=0.5)
def moved(site: Site) -> Iterator[EditParts]:
    """Swapped with the next; to an end of a loop's body; behind or in front of the block that holds it; to the end of the
    block before it."""
    for one, block, place in site.statements:
        if place + 1 < len(block) and not _is_docstring(one):
            after = block[place + 1]
            if site.begins_line(one) and site.begins_line(after):
                yield site.swap(one, after, 1.0 if site.is_simple(one) and site.is_simple(after) else 0.7)
        if one.type != "declaration" and not _is_docstring(block[0]) and site.begins_line(one):
            yield from _to_an_end(site, one, block, place)
    for one, block, place in _simple(site):
        if not site.begins_line(one):
            continue
        owner = _owner(one)
        text = site.text(one)
        cut = site.remove(one).parts[0]
        if owner is not None and len(block) > 1 and site.begins_line(owner):
            indent = site.indent(owner)
            if place == len(block) - 1 and one.end_byte == owner.end_byte:
                yield EditParts(((cut[0], one.end_byte, f"{indent}{text}"),), site.line(one))
            elif place == len(block) - 1:
                yield EditParts((cut, (owner.end_byte, owner.end_byte, f"\n{indent}{text}")), site.line(one))
            if place == 0:
                yield EditParts((cut, (owner.start_byte, owner.start_byte, f"{text}\n{indent}")), site.line(one))
        if place > 0 and not site.is_simple(block[place - 1]):
            inner = _last_inside(site, block[place - 1])
            if inner is not None and site.begins_line(inner):
                spot = (inner.end_byte, inner.end_byte, f"\n{site.indent(inner)}{text}")
                yield EditParts((spot, cut), site.line(one), 0.9)


def _to_an_end(
    site: Site, one: tree_sitter.Node, block: tuple[tree_sitter.Node, ...], place: int
) -> Iterator[EditParts]:
    """A statement of a loop's body put in front of all others or behind them, past two at least."""
    owner = block[0].parent.parent if block[0].parent is not None else None
    if owner is None or not _is_loop(owner):
        return
    text, indent, cut = site.text(one), site.indent(one), site.remove(one).parts[0]
    first, last = block[0], block[-1]
    if place > 1 and site.begins_line(first):
        yield EditParts(((first.start_byte, first.start_byte, f"{text}\n{indent}"), cut), site.line(one), 0.7)
    if place < len(block) - 2 and site.begins_line(last):
        yield EditParts((cut, (last.end_byte, last.end_byte, f"\n{indent}{text}")), site.line(one), 0.7)


def _owner(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The compound statement that a statement stands in; None at the top of the function."""
    one = node.parent
    while one is not None and one.type not in ("if_statement", "for_statement", "while_statement", "with_statement",
                                               "try_statement", "do_statement", "function_definition"):  # fmt: skip
        one = one.parent
    return None if one is None or one.type == "function_definition" else one


def _last_inside(site: Site, compound: tree_sitter.Node) -> tree_sitter.Node | None:
    body = compound.child_by_field_name("body") or compound.child_by_field_name("consequence")
    inside = [one for one in body.named_children if site.is_statement(one)] if body is not None else []
    return inside[-1] if inside else None


@operator("statement-repeated", "a simple statement of the function carried out at another place, too", weight=0.3)
def repeated(site: Site) -> Iterator[EditParts]:
    """Before a return, before and behind a loop, and at the end of a loop or branch; with each name of its argument in
    turn."""
    patterns: dict[str, tree_sitter.Node] = {}
    for one, _, _ in _simple(site):
        if one.type == "expression_statement":
            patterns.setdefault(site.text(one), one)
    texts = list(patterns)
    for call in site.calls:  # what is done with a collection once may have to be done with another name
        if call.receiver in site.collections and len(call.arguments) == 1 and call.node.parent is not None:
            texts += [
                f"{call.receiver}.{call.name}({name})" for name in site.variables[:_MOST_NAMES] if name != call.receiver
            ]
    read: list[str] = []
    for call in site.calls:  # the last item is often left to be handled behind the loop, under another name
        whole = patterns.get(f"{site.text(call.node)};")
        item = _named(call.arguments[-1]) if call.arguments else None
        if whole is not None and item is not None:
            head = site.source[whole.start_byte : item.start_byte].decode("utf-8", "replace")
            tail = site.source[item.end_byte : whole.end_byte].decode("utf-8", "replace")
            others = texts if item == call.arguments[-1] else read
            others += [f"{head}{name}{tail}" for name in site.variables[:_MOST_NAMES]]
    texts += read
    texts = list(dict.fromkeys(texts))[:40]
    for one, block, place in site.statements:
        if not site.begins_line(one):
            continue
        last = place == len(block) - 1
        if _is_loop(one):
            yield from (site.before(one, text, 0.7) for text in texts)
            yield from (site.after(one, text, 0.8) for text in texts if one.parent == site.body)
        if one.type == "return_statement" and one.parent is not None:
            for text in texts:
                yield site.before(one, text, 0.9)
        elif last and one.parent is not None and one.parent != site.body and not _leaves(one):
            for text in texts:
                if text != site.text(one):
                    yield site.after(one, text, 0.8)


def _named(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """What of an argument another name can stand for: the name that it is, or the address of, or a call of it."""
    inside = node.child_by_field_name("arguments") if node.type in ("call_expression", "call") else None
    if inside is not None and [one.type for one in inside.named_children] == ["identifier"]:
        return node
    inner = node.child_by_field_name("argument") if node.type == "pointer_expression" else node
    return inner if inner is not None and inner.type == "identifier" else None


@operator("sibling-copied", "a statement done for one of two that are treated alike is done for the other, too", weight=0.35)
def sibling_copied(site: Site) -> Iterator[EditParts]:
    """``out.extend(b[j:])`` gets ``out.extend(a[i:])`` beside it where the function treats ``a`` and ``b``, ``i`` and ``j``
    alike: two statements that are the same but for these names say so."""
    texts = [(one, site.text(one)) for one, _, _ in _simple(site) if site.begins_line(one)]
    counterparts = _counterparts(site, [text for _, text in texts])
    written = {text for _, text in texts}
    for one, text in texts:
        other = _WORD.sub(lambda match: counterparts.get(match[0], match[0]), text)
        if other not in written and one.type != "declaration":
            yield site.before(one, other)
            if not _leaves(one):
                yield site.after(one, other)


_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def _counterparts(site: Site, texts: list[str]) -> dict[str, str]:
    """Variables that two statements exchange for each other, each with one other only."""
    known, pairs = set(site.variables), set[tuple[str, str]]()
    shapes: dict[str, list[list[str]]] = {}
    for text in texts:
        names = [name for name in _WORD.findall(text) if name in known]
        shapes.setdefault(_WORD.sub(lambda match: "?" if match[0] in known else match[0], text), []).append(names)
    for alike in shapes.values():
        for place, one in enumerate(alike):
            for other in alike[place + 1 :]:
                pairs |= {(a, b) for a, b in zip(one, other, strict=False) if a != b}
    found: dict[str, str] = {}
    for a, b in sorted(pairs):
        if sum(a in pair for pair in pairs) == sum(b in pair for pair in pairs) == 1:
            found |= {a: b, b: a}
    return found


@operator(
    "call-added",
    "a name put into a collection that is searched or emptied and never filled with it",
    ("python",),
    weight=0.35,
)
def call_added(site: Site) -> Iterator[EditParts]:
    """``seen.add(x)``, ``stack.append(x)`` at any place of a block."""
    filling = ["append", "add"]
    used = [call.name for call in site.calls if call.receiver in site.collections]
    methods = [one for one in dict.fromkeys(used) if one in ("append", "add", "appendleft", "push")] or filling
    sets = {call.receiver for call in site.calls if call.name in ("add", "discard")}
    searched = {site.text(one.right) for one in site.binaries if one.text in ("in", "not in")}
    for receiver in site.collections:
        filled = {call.name for call in site.calls if call.receiver == receiver}
        for method in methods if receiver not in searched | sets else dict.fromkeys((*methods, *filling)):
            weight = 1.0 if not filled & set(filling) else 0.5
            for item in (*site.variables[:_MOST_NAMES],):
                if item == receiver:
                    continue
                for one, block, place in site.statements:
                    if site.begins_line(one) and not _is_docstring(one) and one.parent is not None:
                        yield site.before(one, f"{receiver}.{method}({item})", weight)
                        if not _leaves(one) and (site.is_simple(one) or place == len(block) - 1):
                            yield site.after(one, f"{receiver}.{method}({item})", 0.9 * weight)


@operator("assignment-added", "a variable that is not brought up to date takes the value of another", weight=0.3)
def assignment_added(site: Site) -> Iterator[EditParts]:
    """``a = b`` in a loop or branch, for names that have values already."""
    names = site.variables[:6]
    end = "" if site.python else ";"
    assigned = set(site.locals)
    for one, block, place in site.statements:
        if one.parent is None or one.parent == site.body or not site.begins_line(one) or len(names) < 2:
            continue
        for left in names:
            if left not in assigned and site.python:
                continue
            for right in names:
                if left == right:
                    continue
                text = f"{left} = {right}{end}"
                yield site.before(one, text, 0.8)
                if place == len(block) - 1 and not _leaves(one):
                    yield site.after(one, text)
    for one, block, place in site.statements:  # counters that do not move
        if one.parent is None or one.parent == site.body or place != len(block) - 1 or _leaves(one):
            continue
        if site.begins_line(one):
            for left in names:
                if left in assigned:
                    for sign in ("+", "-"):
                        yield site.after(one, f"{left} {sign}= 1{end}", 0.7)


def _leaves(node: tree_sitter.Node) -> bool:
    return node.type in ("return_statement", "break_statement", "continue_statement", "raise_statement", "goto_statement")


@operator("early-exit", "a loop or function left early, or not left", weight=0.45)
def early_exit(site: Site) -> Iterator[EditParts]:
    """``break``, ``continue`` and ``return`` for each other; a ``break`` after the last statement of a branch."""
    end = "" if site.python else ";"
    for node in site.of("break_statement", "continue_statement"):
        other = "continue" if node.type == "break_statement" else "break"
        yield site.replace(node, other + end)
        if site.locals:
            yield site.replace(node, f"return {site.locals[0]}{end}", 0.5)
    for one, block, place in site.statements:
        inside = any(_is_loop(parent) for parent in _parents(one))
        if inside and place == len(block) - 1 and site.is_simple(one) and not _leaves(one) and site.begins_line(one):
            yield site.after(one, f"break{end}", 0.7)
            yield site.after(one, f"continue{end}", 0.4)


def _parents(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    one = node.parent
    while one is not None and one.type != "function_definition":
        yield one
        one = one.parent


def _is_loop(node: tree_sitter.Node) -> bool:
    return node.type in ("for_statement", "while_statement", "do_statement", "switch_statement")


@operator("missing-return", "the value of a call is handed back", weight=0.5)
def missing_return(site: Site) -> Iterator[EditParts]:
    """``f(x)`` as a statement becomes ``return f(x)``; the last assignment's value is returned, or a method's object."""
    for one, block, place in _simple(site):
        if (
            one.type == "expression_statement"
            and one.named_children
            and one.named_children[0].type in ("call", "call_expression")
        ):
            yield EditParts(((one.start_byte, one.start_byte, "return "),), site.line(one))
        if place == len(block) - 1 and one.parent == site.body and not _leaves(one) and site.python:
            own = ("self",) if _may_return_object(site) else ()
            for name in (*site.locals[:4], *own):
                yield site.after(one, f"return {name}", 0.6)


def _may_return_object(site: Site) -> bool:
    """Whether it is a plain method that returns nothing."""
    name, outer = site.function.name.rpartition(".")[2], site.function.node.parent
    decorated = outer is not None and outer.type == "decorated_definition"
    return "." in site.function.name and name[:2] != "__" and not decorated and not site.of("return_statement")


@operator("result", "another result: a name, or a collection that holds one", weight=0.35)
def result(site: Site) -> Iterator[EditParts]:
    """``return []`` becomes ``return [x]`` or ``[[]]``; an empty one becomes a name."""
    for node in site.of("return_statement", "assignment", "yield"):
        value = node.child_by_field_name("right") or (node.named_children[0] if node.named_children else None)
        if value is None or value.type not in ("list", "tuple", "dictionary", "string", "set"):
            continue
        text = site.text(value)
        if text in ("[]", "()", "{}", '""', "''"):
            for name in site.variables[:_MOST_NAMES]:
                if text == "[]":
                    yield site.replace(value, f"[{name}]")
                yield site.replace(value, name, 0.8)
            if text == "[]":
                yield site.replace(value, "[[]]")
