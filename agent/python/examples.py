"""What tests in Python say of each function or class, as examples: ``rotate("a", 1) → 'b'``; ``rotate(None) raises
TypeError('a letter')``. Of a class short tests are told as they stand: what its objects do takes more than one call."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

MOST = 12
LONGEST = 160
LINES = 14
"""Of a test that is told as it stands."""

_EQUAL = frozenset({"assertEqual", "assertEquals", "assertIs", "assertAlmostEqual", "assertListEqual", "assertDictEqual",
                    "assertCountEqual", "assertTupleEqual", "assertSetEqual", "assertSequenceEqual"})  # fmt: skip
_ALONE = {"assertTrue": "true", "assertFalse": "false", "assertIsNone": "None", "assertIsNotNone": "not None"}


def examples_of(source: bytes, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Examples by the last part of a name, in the order of the tests, literal ones first; {} where it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, dict[str, bool]] = {name: {} for name in names}
    classes = _classes(names)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        values = dict(_literals(function))
        for name in classes & _used(function):
            if (said := _as_it_stands(function)) and not found[name].get(said):
                found[name][said] = True
        for call, said in _assertions(function, values):
            for name in found.keys() - classes:
                if _calls(call, name) and len(said) <= LONGEST:
                    found[name].setdefault(said, not _free_names(call) - values.keys() - {name})
    ordered = {name: sorted(said, key=lambda one: not said[one]) for name, said in found.items() if said}
    return {name: tuple(_covering(said) if name in classes else said)[:MOST] for name, said in ordered.items()}


def _classes(names: Collection[str]) -> set[str]:
    """Those of ``names`` that are written as classes are (PEP 8)."""
    return {name for name in names if re.match(r"_*[A-Z]\w*[a-z]", name)}


def _used(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def _as_it_stands(function: ast.FunctionDef) -> str:
    """The body of a short test, its assertions as plain ones; "" of a long test."""
    copied = [_Plain().visit(statement) for statement in ast.parse("\n".join(map(ast.unparse, function.body))).body]
    text = "\n".join(map(ast.unparse, copied))
    return text if text.count("\n") < LINES else ""


class _Plain(ast.NodeTransformer):
    """``self.assertEqual(a, b)`` as ``assert a == b``."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) >= 2):
            return node
        operator = ast.Is() if call.func.attr == "assertIs" else ast.Eq() if call.func.attr in _EQUAL else None
        if operator is None:
            return node
        return ast.Assert(ast.Compare(call.args[0], [operator], [call.args[1]]))


def _covering(tests: Iterable[str]) -> list[str]:
    """The tests of a class in turn by the members of its objects that they use, so that a short list shows each."""
    seen: Counter[frozenset[str]] = Counter()
    places: dict[str, int] = {}
    for one in tests:
        members = frozenset(re.findall(r"\.(\w+)", one))
        places[one] = seen[members]
        seen[members] += 1
    return sorted(places, key=places.__getitem__)


def _literals(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Local names that are bound once, to a literal."""
    bound: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(node.value)
    for name, values in bound.items():
        if len(values) == 1 and _is_literal(values[0]) and len(ast.unparse(values[0])) <= 80:
            yield name, values[0]


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _assertions(function: ast.FunctionDef, values: dict[str, ast.expr]) -> Iterator[tuple[ast.expr, str]]:
    """(the expression under test, the example) of every assertion whose meaning is known."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield from _plain(node.test, values)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in _EQUAL and len(node.args) >= 2:
                first, second = node.args[:2]
                tested, expected = (second, first) if _is_literal(first) and not _is_literal(second) else (first, second)
                yield tested, f"{_shown(tested, values)} → {_shown(expected, values)}"
            elif name in _ALONE and node.args:
                yield node.args[0], f"{_shown(node.args[0], values)} → {_ALONE[name]}"
        elif isinstance(node, ast.With):
            yield from _raising(node, values, _messages(function))


def _plain(test: ast.expr, values: dict[str, ast.expr]) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is)):
        left, right = test.left, test.comparators[0]
        tested, expected = (right, left) if _is_literal(left) and not _is_literal(right) else (left, right)
        yield tested, f"{_shown(tested, values)} → {_shown(expected, values)}"
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield test.operand, f"{_shown(test.operand, values)} → false"
    elif isinstance(test, ast.Call):
        yield test, f"{_shown(test, values)} → true"


def _messages(function: ast.FunctionDef) -> dict[str, str]:
    """The message that a caught exception is compared with, by the name it is bound to."""
    found: dict[str, str] = {}
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call) and len(node.args) >= 2):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in _EQUAL):
            continue
        told, said = sorted(call.args[:2], key=lambda one: isinstance(one, ast.Constant))
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            for name in _free_names(told):
                found.setdefault(name, ast.unparse(said))
    return found


def _raising(node: ast.With, values: dict[str, ast.expr], messages: dict[str, str]) -> Iterator[tuple[ast.expr, str]]:
    for item in node.items:
        call = item.context_expr
        if not (isinstance(call, ast.Call) and call.args):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name not in ("assertRaises", "assertRaisesRegex", "raises"):
            continue
        bound = item.optional_vars.id if isinstance(item.optional_vars, ast.Name) else ""
        message = messages.get(bound, "")
        if name == "assertRaisesRegex" and len(call.args) > 1:
            message = ast.unparse(call.args[1])
        raised = ast.unparse(call.args[0]) + (f"({message})" if message else "")
        for statement in node.body:
            if isinstance(statement, (ast.Expr, ast.Assign)):
                yield statement.value, f"{_shown(statement.value, values)} raises {raised}"


def _shown(node: ast.expr, values: dict[str, ast.expr]) -> str:
    class Written(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return values.get(name.id, name)

    copied = ast.parse(ast.unparse(node), mode="eval").body
    return ast.unparse(Written().visit(copied))


def _calls(node: ast.expr, name: str) -> bool:
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            called = one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
            if called == name:
                return True
    return False


def _free_names(node: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
