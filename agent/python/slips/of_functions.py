"""Slips in functions: names that mean something else, and what stands in the wrong place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from agent.python.names import has_home
from agent.python.slips.reading import Function, Mend, Reading, parameters, stored_names
from agent.replacements import Replacement

_PLAIN = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.ListComp)
"""Expressions that can stand in another's place as they are."""

_TAKE_VALUES = frozenset(
    ("abs", "all", "any", "enumerate", "float", "int", "iter", "len", "list", "max", "min", "range", "reversed", "set",
     "sorted", "str", "sum", "tuple", "zip")
)  # fmt: skip
"""Builtin functions whose plain arguments are values, no functions or classes."""


def no_object(read: Reading) -> Iterator[Mend]:
    """``self.x(...)`` in a function that has no ``self`` calls its own inner function, or one of the file."""
    node = read.node
    if not isinstance(node, Function):
        return
    inner = {one.name: one for one in node.body if isinstance(one, Function)}
    known = inner.keys() | {one.name for one in read.tree.body if isinstance(one, Function)}
    bare = {id(one) for one in read.uses_unbound(node) if one.id == "self"}
    why = f"{node.name} is no method, so it calls its own functions without self."
    meant: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and id(one.value) in bare and one.attr in known:
            at = read.span(one)[0]
            if read.source.startswith(f"self.{one.attr}".encode(), at):
                meant.add(one.attr)
                yield Replacement(at, at + len(b"self."), ""), why
    for helper in (inner[name] for name in meant & inner.keys()):
        args = helper.args.args
        if parameters(helper)[:1] == ["self"] and args and not helper.args.defaults:
            start = read.offset(args[0].lineno, args[0].col_offset)
            end = read.offset(args[1].lineno, args[1].col_offset) if len(args) > 1 else start + len(b"self")
            yield Replacement(start, end, ""), why


def inner_first(read: Reading) -> Iterator[Mend]:
    """An inner function stands above what calls it."""
    node = read.node
    if not isinstance(node, Function):
        return
    moved: list[Function] = []
    places: list[int] = []
    for place, helper in enumerate(node.body):
        if not isinstance(helper, Function) or not _can_move(node, helper):
            continue
        before = next((at for at, one in enumerate(node.body[:place]) if _calls_now(one, helper.name)), None)
        if before is not None:
            moved.append(helper)
            places.append(before)
    if not moved or read.indent(node.body[min(places)]) is None:
        return
    spans = [read.lines(one) for one in moved]
    texts = [read.source[start:end].decode() for start, end in spans]
    at, names = read.lines(node.body[min(places)])[0], ", ".join(one.name for one in moved)
    why = f"The inner {'function' if len(moved) == 1 else 'functions'} {names} must stand above the first call."
    yield Replacement(at, at, "".join(text if text.endswith("\n") else f"{text}\n" for text in texts)), why
    for start, end in spans:
        yield Replacement(start, end, ""), why


def _can_move(node: Function, helper: Function) -> bool:
    """Whether an inner function needs nothing that is bound above it, and its name means nothing else in ``node``."""
    if helper.decorator_list or helper.args.defaults or helper.args.kw_defaults:
        return False
    twice = [one for one in node.body if isinstance(one, (Function, ast.ClassDef)) and one.name == helper.name]
    if len(twice) > 1 or helper.name in stored_names(node) or helper.name in parameters(node):
        return False
    heads = [*(one.annotation for one in ast.walk(helper.args) if isinstance(one, ast.arg)), helper.returns]
    used = {one.id for head in heads if head is not None for one in ast.walk(head) if isinstance(one, ast.Name)}
    return used.isdisjoint(stored_names(node) | {getattr(one, "name", "") for one in node.body})


def _calls_now(statement: ast.stmt, name: str) -> bool:
    """Whether a statement calls ``name`` when it is carried out, and not in a function or class that it defines."""
    if isinstance(statement, (Function, ast.ClassDef)):
        return False
    waiting: list[ast.AST] = [statement]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == name:
            return True
        inner = ast.iter_child_nodes(one)
        waiting += [child for child in inner if not isinstance(child, (Function, ast.ClassDef, ast.Lambda))]
    return False


def helpers_of_tests(read: Reading) -> Iterator[Mend]:
    """A helper that only tests define, called with one value, is left out: they make results comparable with it."""
    helpers = {one.name for tree in read.users for one in tree.body if isinstance(one, Function)}
    unbound = {id(one): one.id for one in read.uses_unbound(read.node) if one.id in helpers and not has_home(one.id)}
    within: set[int] = set()
    for call in (one for one in ast.walk(read.node) if isinstance(one, ast.Call)):
        inner: ast.expr = call
        while isinstance(inner, ast.Call) and id(inner.func) in unbound and len(inner.args) == 1 and not inner.keywords:
            within.add(id(inner := inner.args[0]))
        if inner is call or id(call) in within or isinstance(inner, ast.Starred):
            continue
        text = read.source[slice(*read.span(inner))].decode()
        why = f"{unbound[id(call.func)]} is a helper of the tests, so its argument stands in its place."
        plain = isinstance(inner, _PLAIN) and "\n" not in text
        yield Replacement(*read.span(call), text if plain else f"({text})"), why


def unused_parameter(read: Reading) -> Iterator[Mend]:
    """The one name that nothing binds in a function that uses all its parameters but one is that parameter."""
    node = read.node
    if not isinstance(node, Function) or node.args.vararg or node.args.kwarg:
        return
    used = {one.id for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.Name)}
    unused = [name for name in parameters(node) if name not in used and name not in ("self", "cls")]
    unbound = [one for statement in node.body for one in read.uses_unbound(statement)]
    names = {one.id for one in unbound}
    if len(unused) != 1 or len(names) != 1 or not all(name.islower() and not has_home(name) for name in names):
        return
    if all(_is_value(node, one) for one in unbound):
        for one in unbound:
            yield Replacement(*read.span(one), unused[0]), f"{one.id} is not defined, and {unused[0]} was not used."


def _is_value(node: Function, name: ast.Name) -> bool:
    """Whether a name stands for a value where it is used, and not for a function, a class or an exception."""
    for one in ast.walk(node):
        children = list(ast.iter_child_nodes(one))
        if name not in children:
            continue
        if isinstance(one, ast.Call):
            return name is not one.func and isinstance(one.func, (ast.Name, ast.Attribute)) and (
                isinstance(one.func, ast.Attribute) or one.func.id in _TAKE_VALUES
            )  # fmt: skip
        return not isinstance(one, (ast.keyword, ast.Raise, ast.ExceptHandler, ast.arg, ast.AnnAssign, ast.MatchValue,
                                    ast.MatchClass))  # fmt: skip
    return False
