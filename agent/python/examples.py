"""What tests in Python say of each function or class, as examples: ``rotate("a", 1) → 'b'``; ``rotate(None) raises
TypeError('a letter')``. Of a class short tests are told as they stand: what its objects do takes more than one call."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import msgspec

from agent.python.call_types import CallTypes
from agent.python.plain_tests import EQUAL, free_names, functions_of, messages, method_of, plain, raised

MOST = 12
SHORT, LONGEST = 160, 600
"""Characters of an example. Those up to the first come before the longer ones."""

LINES = 14
"""Of a test that is told as it stands."""

_HELPERS = 900
"""Characters of helpers of tests that are told."""

_FIRST = "first"
"""The kind of what introduces the examples."""

_LONGEST_VALUE = 240
_RESULTS = {"assertTrue": ast.Constant(True), "assertFalse": ast.Constant(False), "assertIsNone": ast.Constant(None)}
_ALONE = {"assertTrue": "true", "assertFalse": "false", "assertIsNone": "None", "assertIsNotNone": "not None"}


class _Example(msgspec.Struct, frozen=True):
    """``kind`` is the same for examples that show the same: a short list takes one of each kind first. ``late`` ones come
    after the others: they are long, or hold names that nobody knows."""

    text: str
    kind: tuple[object, ...]
    late: tuple[bool, bool] = (False, False)


def examples_of(source: bytes, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Examples by the last part of a name, literal and short ones first, and among these one of each kind before a second
    of any; {} where it does not parse."""
    functions = functions_of(source)
    kept = {name: _covering(_told(functions, name)) for name in names}
    return {name: tuple(texts) for name, texts in kept.items() if texts}


def examples_of_one_test(source: bytes, name: str, test: str) -> tuple[str, ...]:
    """What the test function called ``test`` says of a function or class, a line each; () where it does not parse."""
    kept = [one for one in functions_of(source) if one.name == test or not one.name.startswith("test")]
    return tuple(one.text.replace("\n", "; ") for one in _told(kept, name) if one.kind[:1] != (_FIRST,))


def _told(functions: list[ast.FunctionDef], name: str) -> Iterable[_Example]:
    """Of a class when the name is written as one (PEP 8)."""
    return _of_class(functions, name) if re.match(r"_*[A-Z]\w*[a-z]", name) else _of_function(functions, name)


def _covering(examples: Iterable[_Example]) -> list[str]:
    """The texts, each once, so that a short list shows each kind."""
    seen: Counter[tuple[object, ...]] = Counter()
    places: dict[str, tuple[tuple[bool, bool], int]] = {}
    for one in examples:
        if one.text not in places:
            places[one.text] = one.late, seen[one.late, one.kind]
            seen[one.late, one.kind] += 1
    return sorted(places, key=places.__getitem__)[:MOST]


def _of_class(functions: Iterable[ast.FunctionDef], name: str) -> Iterator[_Example]:
    for function in functions:
        text = plain(function) if name in free_names(function) else ""
        if text and text.count("\n") < LINES:
            made = [node for node in ast.walk(function) if isinstance(node, ast.Call) and method_of(node) == name]
            shapes = {(len(call.args), *sorted(word.arg or "" for word in call.keywords)) for call in made}
            used = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
            members = frozenset(one for one in used if not one.startswith("assert"))
            said = messages(function)
            blocks = (node for node in ast.walk(function) if isinstance(node, ast.With))
            yield _Example(text, (members, frozenset(shapes), frozenset(raised(block, said) for block in blocks)))


def _of_function(functions: list[ast.FunctionDef], name: str) -> Iterator[_Example]:
    helpers = {one.name: one for one in functions if not one.name.startswith("test")}
    used: dict[str, None] = {}
    checked: list[_Example] = []
    told: list[_Example] = []
    types = CallTypes(name)
    for function in functions:
        values = dict(_values(function, name))
        for call, said, kind, result in _assertions(function, values):
            if _calls(call, name) and len(said) <= LONGEST:
                told.append(_Example(said, (_shape(call), kind), (bool(free_names(call) - {name}), len(said) > SHORT)))
                types.add(call, result)
        calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and method_of(node) in helpers)
        for shown in (_written(call, values) for call in calls):
            text = ast.unparse(shown).removeprefix("self.")
            if function.name not in helpers and _calls(shown, name) and len(text) <= SHORT:
                used[method_of(shown)] = None
                checked.append(_Example(text, (method_of(shown),)))
    first = [text for text in (types.told(), *_with_those_that_it_calls(used, helpers)) if text]
    yield from (_Example(text, (_FIRST, text)) for text in first)
    yield from told
    yield from checked


def _with_those_that_it_calls(names: Iterable[str], helpers: dict[str, ast.FunctionDef]) -> list[str]:
    """Helpers of tests as they stand, and those behind them."""
    wanted = list(names)
    for name in wanted:
        calls = (method_of(node) for node in ast.walk(helpers[name]))
        wanted += [one for one in dict.fromkeys(calls) if one in helpers and one not in wanted]
    texts: list[str] = []
    for name in wanted:
        arguments = ast.unparse(helpers[name].args).removeprefix("self, ")
        body = plain(helpers[name]).replace("self.", "").replace("\n", "\n    ")
        text = f"def {name}({arguments}):\n    {body}"
        if sum(map(len, texts)) + len(text) <= _HELPERS:
            texts.append(text)
    return texts


def _values(function: ast.FunctionDef, name: str) -> Iterator[tuple[str, ast.expr]]:
    """Local names that are bound once, to a literal or to what the function called ``name`` gives for known values."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(node.value)
    known: dict[str, ast.expr] = {}
    for own, values in bound.items():
        value = _written(values[0], known)
        told = _is_literal(value) or _calls(value, name)
        if len(values) == 1 and told and len(ast.unparse(value)) <= _LONGEST_VALUE:
            known[own] = value
    yield from known.items()


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


_Said = tuple[ast.expr, str, object, ast.expr | None]
"""The expression under test, the example, what kind of result it tells of, and the result where there is one."""


def _assertions(function: ast.FunctionDef, values: dict[str, ast.expr]) -> Iterator[_Said]:
    """Of every assertion whose meaning is known."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield from _plain(node.test, values)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in EQUAL and len(node.args) >= 2:
                yield _equal(node.args[0], node.args[1], values)
            elif name in _ALONE and node.args:
                tested = _written(node.args[0], values)
                yield tested, f"{ast.unparse(tested)} → {_ALONE[name]}", name, _RESULTS.get(name)
        elif isinstance(node, ast.With) and (exception := raised(node, messages(function))):
            for statement in node.body:
                if isinstance(statement, (ast.Expr, ast.Assign)):
                    tested = _written(statement.value, values)
                    yield tested, f"{ast.unparse(tested)} raises {exception}", exception, None


def _equal(one: ast.expr, other: ast.expr, values: dict[str, ast.expr]) -> _Said:
    one, other = _written(one, values), _written(other, values)
    tested, expected = (other, one) if _is_literal(one) and not _is_literal(other) else (one, other)
    return tested, f"{ast.unparse(tested)} → {ast.unparse(expected)}", _shape(expected), expected


def _plain(test: ast.expr, values: dict[str, ast.expr]) -> Iterator[_Said]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is)):
        yield _equal(test.left, test.comparators[0], values)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        tested = _written(test.operand, values)
        yield tested, f"{ast.unparse(tested)} → false", False, ast.Constant(False)
    elif isinstance(test, ast.Call):
        tested = _written(test, values)
        yield tested, f"{ast.unparse(tested)} → true", True, ast.Constant(True)


def _shape(node: ast.expr) -> tuple[object, ...]:
    """The kind of a value: its type, and whether there is nothing in it; of a call those of its arguments."""
    if isinstance(node, ast.Call):
        return ("call", *map(_shape, node.args), *((word.arg, _shape(word.value)) for word in node.keywords))
    if isinstance(node, ast.Constant):
        simple = node.value is None or isinstance(node.value, bool)
        return (type(node.value).__name__, node.value if simple else bool(node.value))
    parts = getattr(node, "elts", None) or getattr(node, "keys", None)
    return (type(node).__name__, bool(parts))


def _written(node: ast.expr, values: dict[str, ast.expr]) -> ast.expr:
    """A copy with known values in place of their names."""

    class Written(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return values.get(name.id, name)

    copied = ast.parse(ast.unparse(node), mode="eval").body
    return Written().visit(copied)  # type: ignore[no-any-return]


def _calls(node: ast.expr, name: str) -> bool:
    return any(method_of(one) == name for one in ast.walk(node))
