"""Slips of small models in Python that facts alone set right: what a class offers against how it and its tests use it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from agent.language.nesting import UNREADABLE
from agent.python.names import undefined_names
from agent.replacements import Replacement, replaced

_EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


_Mend = tuple[Replacement, str]
"""What is exchanged, and the sentence that says why."""


def without_slips(source: bytes, name: str, callers: Collection[bytes] = ()) -> tuple[bytes, tuple[str, ...]]:
    """``source`` with the slips in the function or class ``name`` set right, and a sentence for each kind.

    - An attribute called like a method of its class hides it: the attribute gets an underscore.
    - A bare name that nothing binds and the class has as a member: it is read through ``self``.
    - A parameter that ``callers`` (sources of tests) leave out gets the default None.
    - A method without arguments that they only read is a property.
    - An exception whose ``__init__`` takes one value and does nothing hands it on.
    - ``self.x(…)`` in a function that has no ``self`` calls its own inner function, or one of the file.
    - An inner function stands above what calls it.
    - A parameter of ``__init__`` that other methods read, by itself or through ``self``, and that nothing keeps is kept.
    - A class without ``__init__`` gets one where it makes objects with as many values as it reads attributes never set.
    - The one name that nothing binds in a function that uses all parameters but one is that parameter.
    - A helper that only ``callers`` define, called with one value, is left out: tests make results comparable with it.

    What cannot be parsed is left alone.
    """
    told: dict[str, None] = {}
    of_classes = _hidden_methods, _bare_members, _defaults, _properties, _messages, _kept, _never_set
    for rule in (*of_classes, _no_object, _inner_first, _helpers_of_tests, _unused_parameter):
        try:
            tree = ast.parse(source)
            users = [ast.parse(one) for one in callers]
        except UNREADABLE:
            return source, tuple(told)
        node = _definition(tree, name)
        if node is None:
            continue
        mends = dict(rule(source, node, users))
        source = replaced(source, mends)
        told.update(dict.fromkeys(mends.values()))
    return source, tuple(told)


def _definition(tree: ast.Module, name: str) -> ast.ClassDef | _Function | None:
    found: ast.AST | None = tree
    for part in name.split("."):
        body = getattr(found, "body", [])
        found = next((one for one in body if isinstance(one, (ast.ClassDef, _Function)) and one.name == part), None)
    return found if isinstance(found, (ast.ClassDef, _Function)) else None


def _offset(source: bytes, line: int, column: int) -> int:
    """The place of a line (from 1) and a column in bytes, as the parser gives them."""
    at = 0
    for _ in range(line - 1):
        at = source.index(b"\n", at) + 1
    return at + column


def _methods(node: ast.ClassDef) -> dict[str, _Function]:
    """Its plain methods: no properties, no static ones."""
    return {one.name: one for one in node.body if isinstance(one, _Function) and not one.decorator_list and one.args.args}


def _own(node: ast.ClassDef) -> Iterator[tuple[ast.Attribute, bool]]:
    """(``self.x``, whether it is called) in its methods."""
    for method in _methods(node).values():
        first = method.args.args[0].arg
        called = {id(one.func) for one in ast.walk(method) if isinstance(one, ast.Call)}
        for one in ast.walk(method):
            if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == first:
                yield one, id(one) in called


def _hidden_methods(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, ast.ClassDef):
        return
    own = list(_own(node))
    names = {one.attr for one, _ in own}
    hidden = {one.attr for one, _ in own if isinstance(one.ctx, ast.Store)} & _methods(node).keys()
    for one, called in own:
        if one.attr in hidden and not called and f"_{one.attr}" not in names:
            end = _offset(source, one.end_lineno or 1, one.end_col_offset or 0)
            why = f"The attribute {one.attr} hides the method of that name, so it is called _{one.attr}."
            yield Replacement(end - len(one.attr.encode()), end, f"_{one.attr}"), why


def _bare_members(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, ast.ClassDef):
        return
    stored = {one.attr for one, _ in _own(node) if isinstance(one.ctx, ast.Store)}
    bare = undefined_names(source) & (stored | set(_members(node)))
    for method in _methods(node).values() if bare else ():
        first = method.args.args[0].arg
        called = {id(one.func) for one in ast.walk(method) if isinstance(one, ast.Call)}
        for one in ast.walk(method):
            if isinstance(one, ast.Name) and one.id in bare and isinstance(one.ctx, ast.Load):
                at = _offset(source, one.lineno, one.col_offset)
                hidden = one.id not in stored and id(one) not in called and f"_{one.id}" in stored
                why = f"{one.id} is a member of {node.name}, so it is read through {first}."
                yield Replacement(at, at, f"{first}._" if hidden else f"{first}."), why


def _defaults(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    name = getattr(node, "name", "")
    head = _methods(node).get("__init__") if isinstance(node, ast.ClassDef) else node
    if not isinstance(head, _Function) or head.args.vararg is not None or head.args.posonlyargs:
        return
    parameters = head.args.args[1:] if isinstance(node, ast.ClassDef) else head.args.args
    required = parameters[: len(parameters) - len(head.args.defaults)]
    fewest = len(required)
    for call in (one for tree in users for one in ast.walk(tree) if isinstance(one, ast.Call)):
        named = isinstance(call.func, ast.Name) and call.func.id == name
        if not named or any(isinstance(one, ast.Starred) for one in call.args):
            continue
        if any(word.arg is None for word in call.keywords):
            continue
        given = {word.arg for word in call.keywords}
        left_out = [place for place, one in enumerate(required) if place >= len(call.args) and one.arg not in given]
        fewest = min([fewest, *left_out])
    if fewest == len(required) or any(_expects_refusal(tree) for tree in users):
        return
    for one in required[fewest:]:
        at = _offset(source, one.end_lineno or 1, one.end_col_offset or 0)
        text = "=None" if one.annotation is None else " = None"
        yield Replacement(at, at, text), f"The tests call {name} without {one.arg}, so that it is None by default."


def _expects_refusal(tree: ast.Module) -> bool:
    """Whether tests want a TypeError: a call with too few arguments may then be meant."""
    return any(isinstance(one, ast.Name) and one.id == "TypeError" for one in ast.walk(tree))


def _properties(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, ast.ClassDef):
        return
    called: set[str] = set()
    read: set[str] = set()
    for tree in users:
        calls = {id(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call)}
        for one in ast.walk(tree):
            if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load):
                (called if id(one) in calls else read).add(one.attr)
    for name, method in _methods(node).items():
        takes_nothing = len(method.args.args) == 1 and not method.args.kwonlyargs and method.args.vararg is None
        if name in read - called and takes_nothing and not any(one.attr == name and hit for one, hit in _own(node)):
            at = _offset(source, method.lineno, method.col_offset)
            why = f"The tests read {name} without a call, so it is a property."
            yield Replacement(at, at, "@property\n" + " " * method.col_offset), why


def _messages(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, ast.ClassDef) or not any(_EXCEPTION.search(ast.unparse(base)) for base in node.bases):
        return
    head = _methods(node).get("__init__")
    if head is None or len(head.args.args) != 2 or head.args.vararg or head.args.kwarg or head.args.kwonlyargs:
        return
    body = [one for one in head.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if len(body) == 1 and isinstance(body[0], ast.Pass):
        at, name = _offset(source, body[0].lineno, body[0].col_offset), head.args.args[1].arg
        yield Replacement(at, at + len(b"pass"), f"super().__init__({name})"), f"{node.name} hands its {name} on."


def _kept(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, ast.ClassDef) or node.bases or (head := _methods(node).get("__init__")) is None:
        return
    own = [one for one, _ in _own(node)]
    known = {one.attr for one in own if isinstance(one.ctx, ast.Store)} | set(_members(node))
    given = {name for name in _parameters(head)[1:] if name not in known}
    bare = [
        (one, method.args.args[0].arg)
        for method in _methods(node).values()
        for one in ast.walk(method)
        if isinstance(one, ast.Name) and one.id in given & undefined_names(source) and one.id not in _parameters(method)
    ]
    missing = sorted({one.id for one, _ in bare} | {one.attr for one in own if one.attr in given})
    body = [one for one in head.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if not missing or not body:
        return
    first, at = head.args.args[0].arg, _offset(source, body[0].lineno, body[0].col_offset)
    indent = " " * body[0].col_offset
    why = f"{', '.join(missing)} of {node.name}'s __init__ is read by its methods, so it is kept."
    yield Replacement(at, at, "".join(f"{first}.{name} = {name}\n{indent}" for name in missing)), why
    for one, owner in bare:
        start = _offset(source, one.lineno, one.col_offset)
        yield Replacement(start, start, f"{owner}."), why


def _never_set(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, ast.ClassDef) or node.bases or node.decorator_list or "__init__" in _methods(node):
        return
    own = [one for one, _ in _own(node)]
    known = {one.attr for one in own if isinstance(one.ctx, ast.Store)} | set(_members(node))
    unset = list(dict.fromkeys(one.attr for one in own if one.attr not in known))
    made = [one for one in ast.walk(node) if isinstance(one, ast.Call) and ast.unparse(one.func) in (node.name, "cls")]
    given = {len(one.args) for one in made if not one.keywords}
    if not unset or max(given, default=0) != len(unset):
        return
    least = min(given)
    heads = [name if place < least else f"{name}=None" for place, name in enumerate(unset)]
    indent = " " * node.body[0].col_offset
    lines = [f"def __init__(self, {', '.join(heads)}):", *(f"    self.{name} = {name}" for name in unset)]
    first = node.body[ast.get_docstring(node) is not None] if len(node.body) > 1 else node.body[0]
    at = _offset(source, min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", []))]), 0)
    text = "".join(f"{indent}{line}\n" for line in lines) + "\n"
    yield Replacement(at, at, text), f"{node.name} is made with {', '.join(unset)} and kept nothing, so it has an __init__."


def _members(node: ast.ClassDef) -> Iterator[str]:
    """What the body of a class defines: functions, classes, attributes."""
    for one in node.body:
        if isinstance(one, (_Function, ast.ClassDef)):
            yield one.name
        elif isinstance(one, (ast.Assign, ast.AnnAssign)):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _no_object(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, _Function) or "self" not in undefined_names(source) or "self" in _parameters(node):
        return
    inner = {one.name: one for one in node.body if isinstance(one, _Function)}
    known = inner.keys() | {one.name for one in ast.parse(source).body if isinstance(one, _Function)}
    objects = (one.value for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr in known)
    why = f"{node.name} is no method, so it calls its own functions without self."
    for one in objects:
        if isinstance(one, ast.Name) and one.id == "self":
            at = _offset(source, one.lineno, one.col_offset)
            yield Replacement(at, at + len(b"self."), ""), why
    for helper in inner.values():
        args = helper.args.args
        if _parameters(helper)[:1] == ["self"] and not helper.args.defaults:
            start = _offset(source, args[0].lineno, args[0].col_offset)
            end = _offset(source, args[1].lineno, args[1].col_offset) if len(args) > 1 else start + len(b"self")
            yield Replacement(start, end, ""), why


def _inner_first(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, _Function):
        return
    lines = source.splitlines(keepends=True)
    doc = ast.get_docstring(node, clean=False) is not None
    for place, helper in enumerate(node.body):
        if not isinstance(helper, _Function):
            continue
        calling = next((one for one in node.body[doc:place] if _names(one, helper.name)), None)
        if calling is None or isinstance(calling, _Function):
            continue  # an inner function may call one that stands below it
        first = min(one.lineno for one in (helper, *helper.decorator_list))
        start, end = _offset(source, first, 0), _offset(source, helper.end_lineno or first, 0)
        end += len(lines[(helper.end_lineno or first) - 1])
        text = source[start:end].decode()
        at = _offset(source, calling.lineno, 0)
        why = f"The inner function {helper.name} stands above what calls it."
        yield Replacement(at, at, text if text.endswith("\n") else text + "\n"), why
        yield Replacement(start, end, ""), why


def _helpers_of_tests(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    helpers = {one.name for tree in users for one in ast.walk(tree) if isinstance(one, _Function)}
    helpers &= undefined_names(source)
    for call in (one for one in ast.walk(node) if isinstance(one, ast.Call)) if helpers else ():
        if not isinstance(call.func, ast.Name) or call.func.id not in helpers or len(call.args) != 1 or call.keywords:
            continue
        start, end = _span(source, call)
        inner = source[slice(*_span(source, call.args[0]))].decode("utf-8", "replace")
        why = f"{call.func.id} is a helper of the tests, so its argument stands in its place."
        yield Replacement(start, end, inner), why


def _unused_parameter(source: bytes, node: ast.AST, users: list[ast.Module]) -> Iterator[_Mend]:
    if not isinstance(node, _Function):
        return
    body = [one for statement in node.body for one in ast.walk(statement)]
    read = {one.id for one in body if isinstance(one, ast.Name)}
    unbound, unused = undefined_names(source) & read, [one for one in _parameters(node) if one not in read]
    called = {one.func.id for one in body if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
    if len(unbound) != 1 or len(unused) != 1 or unused[0] in ("self", "cls") or unbound <= called:
        return
    for one in body:
        if isinstance(one, ast.Name) and one.id in unbound:
            yield Replacement(*_span(source, one), unused[0]), f"{one.id} is not defined, and {unused[0]} was not used."


def _span(source: bytes, node: ast.expr) -> tuple[int, int]:
    start = _offset(source, node.lineno, node.col_offset)
    return start, _offset(source, node.end_lineno or node.lineno, node.end_col_offset or 0)


def _parameters(node: _Function) -> list[str]:
    return [one.arg for one in node.args.args]


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))
