"""Slips in classes: what a class offers against how it and its tests use it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from agent.python.slips.reading import Function, Mend, Reading, is_text, parameters, stored_names
from agent.replacements import Replacement

_EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$")

_OWN_WAYS = frozenset(("__new__", "__init__", "__getattr__", "__getattribute__", "__setattr__", "__slots__"))
"""Members of classes that make, read or set attributes in ways of their own."""

_BY_NAME = re.compile(rb"\b(?:setattr|vars|__dict__|__setattr__|hasattr)\b")


def hidden_methods(read: Reading) -> Iterator[Mend]:
    """An attribute called like a method of its class hides it: the attribute gets an underscore."""
    if not isinstance(read.node, ast.ClassDef):
        return
    own = list(_own(read.node))
    names = {one.attr for one, _ in own}
    hidden = {one.attr for one, _ in own if isinstance(one.ctx, ast.Store)} & _methods(read.node).keys()
    for one, called in own:
        if one.attr in hidden and not called and f"_{one.attr}" not in names:
            end = read.span(one)[1]
            why = f"The attribute {one.attr} hides the method of that name, so it is called _{one.attr}."
            yield Replacement(end - len(one.attr.encode()), end, f"_{one.attr}"), why


def bare_members(read: Reading) -> Iterator[Mend]:
    """A bare name that nothing binds and the class has as a member: it is read through ``self``."""
    if not isinstance(read.node, ast.ClassDef):
        return
    stored = _stored(read.node)
    members = stored | set(_members(read.node))
    for method in _methods(read.node).values():
        first = method.args.args[0].arg
        called = {id(one.func) for one in ast.walk(method) if isinstance(one, ast.Call)}
        for one in (name for name in read.uses_unbound(method) if name.id in members):
            at = read.span(one)[0]
            hidden = one.id not in stored and id(one) not in called and f"_{one.id}" in stored
            why = f"{one.id} is a member of {read.node.name}, so it is read through {first}."
            yield Replacement(at, at, f"{first}._" if hidden else f"{first}."), why


def left_out_parameters(read: Reading) -> Iterator[Mend]:
    """A parameter that the tests leave out gets the default None."""
    node, name = read.node, read.node.name
    head = _methods(node).get("__init__") if isinstance(node, ast.ClassDef) else node
    if not isinstance(head, Function) or head.args.vararg is not None or head.args.posonlyargs:
        return
    known = head.args.args[1:] if isinstance(node, ast.ClassDef) else head.args.args
    required = known[: len(known) - len(head.args.defaults)]
    fewest = len(required)
    for call in (one for tree in read.users for one in ast.walk(tree) if isinstance(one, ast.Call)):
        named = isinstance(call.func, ast.Name) and call.func.id == name
        if not named or any(isinstance(one, ast.Starred) for one in call.args):
            continue
        if any(word.arg is None for word in call.keywords):
            continue
        given = {word.arg for word in call.keywords}
        left_out = [place for place, one in enumerate(required) if place >= len(call.args) and one.arg not in given]
        fewest = min([fewest, *left_out])
    if fewest == len(required) or any(_expects_refusal(tree) for tree in read.users):
        return
    for one in required[fewest:]:
        at = read.offset(one.end_lineno or 1, one.end_col_offset or 0)
        text = "=None" if one.annotation is None else " = None"
        yield Replacement(at, at, text), f"The tests call {name} without {one.arg}, so that it is None by default."


def _expects_refusal(tree: ast.Module) -> bool:
    """Whether tests want a TypeError: a call with too few arguments may then be meant."""
    return any(isinstance(one, ast.Name) and one.id == "TypeError" for one in ast.walk(tree))


def read_properties(read: Reading) -> Iterator[Mend]:
    """A method without arguments that the tests only read is a property."""
    if not isinstance(read.node, ast.ClassDef):
        return
    called: set[str] = set()
    only_read: set[str] = set()
    for tree in read.users:
        calls = {id(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call)}
        for one in ast.walk(tree):
            if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load):
                (called if id(one) in calls else only_read).add(one.attr)
    own = list(_own(read.node))
    for name, method in _methods(read.node).items():
        takes_nothing = len(parameters(method)) == 1 and not name.startswith("__")
        if name in only_read - called and takes_nothing and not any(one.attr == name and hit for one, hit in own):
            at = read.offset(method.lineno, method.col_offset)
            why = f"The tests read {name} without a call, so it is a property."
            yield Replacement(at, at, f"@property\n{read.indent(method) or ''}"), why


def exception_messages(read: Reading) -> Iterator[Mend]:
    """An exception whose ``__init__`` takes one value and does nothing hands it on."""
    if not isinstance(read.node, ast.ClassDef) or not any(_EXCEPTION.search(ast.unparse(base)) for base in read.node.bases):
        return
    head = _methods(read.node).get("__init__")
    if head is None or len(head.args.args) != 2 or len(parameters(head)) != 2:
        return
    body = [one for one in head.body if not is_text(one)]
    if len(body) == 1 and isinstance(body[0], ast.Pass):
        at, name = read.offset(body[0].lineno, body[0].col_offset), head.args.args[1].arg
        yield Replacement(at, at + len(b"pass"), f"super().__init__({name})"), f"{read.node.name} hands its {name} on."


def kept_values(read: Reading) -> Iterator[Mend]:
    """A parameter of ``__init__`` that methods read, by itself or through ``self``, and that nothing keeps is kept."""
    node = read.node
    if not isinstance(node, ast.ClassDef) or not _is_plain(read) or (head := _methods(node).get("__init__")) is None:
        return
    given = set(parameters(head)[1:]) - _stored(node) - set(_members(node))
    if not given:
        return
    bare = [
        (one, method.args.args[0].arg)
        for method in _methods(node, decorated=True).values()
        for one in read.uses_unbound(method)
        if one.id in given
    ]
    missing = sorted({one.id for one, _ in bare} | {one.attr for one, _ in _own(node) if one.attr in given})
    first = next((one for one in head.body if not is_text(one)), None)
    indent = read.indent(first) if first is not None else None
    if not missing or first is None or indent is None:
        return
    at, owner = read.lines(first)[0], head.args.args[0].arg
    why = f"{', '.join(missing)} of {node.name}'s __init__ is read by its methods, so it is kept."
    yield Replacement(at, at, "".join(f"{indent}{owner}.{name} = {name}\n" for name in missing)), why
    for one, own in bare:
        yield Replacement(read.span(one)[0], read.span(one)[0], f"{own}."), why


def missing_init(read: Reading) -> Iterator[Mend]:
    """A class without ``__init__`` gets one where it makes its objects with values and reads as many attributes that nothing
    sets; of several values a call has to tell which is which."""
    node = read.node
    if not isinstance(node, ast.ClassDef) or not _is_plain(read) or _OWN_WAYS & set(_members(node)):
        return
    known = _stored(node) | set(_members(node))
    unset = {one.attr for one, called in _own(node) if not called and one.attr not in known and one.attr[:2] != "__"}
    made = [one for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
    made = [one for one in made if one.func.id in (node.name, "cls") and not one.keywords]  # type: ignore[attr-defined]
    starred = any(isinstance(argument, ast.Starred) for one in made for argument in one.args)
    least = min((len(one.args) for one in made), default=0)
    orders = [tuple(_told_by(argument) for argument in one.args) for one in made if len(one.args) == len(unset)]
    order = next((one for one in orders if set(one) == unset), tuple(unset) if len(unset) == 1 and orders else ())
    first = next((one for one in node.body if not is_text(one)), None)
    indent = read.indent(first) if first is not None else None
    if not order or starred or first is None or indent is None or max(len(one.args) for one in made) != len(order):
        return
    heads = [name if place < least else f"{name}=None" for place, name in enumerate(order)]
    step = "\t" if "\t" in indent else "    "
    lines = [f"def __init__(self, {', '.join(heads)}):", *(f"{step}self.{name} = {name}" for name in order)]
    at, text = read.lines(first)[0], "".join(f"{indent}{line}\n" for line in lines) + "\n"
    yield Replacement(at, at, text), f"{node.name} is made with {', '.join(order)} and kept nothing, so it has an __init__."


def _told_by(argument: ast.expr) -> str:
    """The name that a value has where an object is made with it: ``self.left``, ``left``, ``self.left[0]``."""
    while isinstance(argument, ast.Subscript):
        argument = argument.value
    return argument.attr if isinstance(argument, ast.Attribute) else argument.id if isinstance(argument, ast.Name) else ""


def _is_plain(read: Reading) -> bool:
    """Whether a class has only attributes that one sees: no bases, no decorators, nothing set by its name."""
    node = read.node
    if not isinstance(node, ast.ClassDef) or node.bases or node.keywords or node.decorator_list:
        return False
    start, end = read.lines(node)
    return _BY_NAME.search(read.source, start, end) is None and not (_OWN_WAYS - {"__init__"}) & set(_members(node))


def _methods(node: ast.ClassDef, decorated: bool = False) -> dict[str, Function]:
    """Its plain methods; with ``decorated`` properties and their like too, but no static ones and none of the class."""
    found = [one for one in node.body if isinstance(one, Function) and one.args.args]
    others = ("staticmethod", "classmethod")
    plain = [
        one
        for one in found
        if not one.decorator_list
        or (decorated and not any(isinstance(mark, ast.Name) and mark.id in others for mark in one.decorator_list))
    ]
    return {one.name: one for one in plain}


def _own(node: ast.ClassDef) -> Iterator[tuple[ast.Attribute, bool]]:
    """(``self.x``, whether it is called) in its methods and properties, those of classes within them left out."""
    for method in _methods(node, decorated=True).values():
        first = method.args.args[0].arg
        foreign = {id(inner) for one in ast.walk(method) if isinstance(one, ast.ClassDef) for inner in ast.walk(one)}
        called = {id(one.func) for one in ast.walk(method) if isinstance(one, ast.Call)}
        for one in ast.walk(method):
            own = isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == first
            if isinstance(one, ast.Attribute) and own and id(one) not in foreign:
                yield one, id(one) in called


def _stored(node: ast.ClassDef) -> set[str]:
    """The attributes that any method of the class sets, decorated ones too."""
    found = (one for method in node.body if isinstance(method, Function) for one in ast.walk(method))
    return {one.attr for one in found if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load)}


def _members(node: ast.ClassDef) -> Iterator[str]:
    """What the body of a class defines: functions, classes, attributes."""
    for one in node.body:
        if isinstance(one, (Function, ast.ClassDef)):
            yield one.name
        else:
            yield from stored_names(one)
