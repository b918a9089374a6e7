"""A test in plain statements: assertions as ``assert``, an exception that is expected behind the call that raises it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from agent.language.nesting import UNREADABLE

EQUAL = frozenset({"assertEqual", "assertEquals", "assertIs", "assertAlmostEqual", "assertListEqual", "assertDictEqual",
                   "assertCountEqual", "assertTupleEqual", "assertSetEqual", "assertSequenceEqual"})  # fmt: skip
_OPERATORS: dict[str, ast.cmpop] = {
    "assertIs": ast.Is(), "assertIsNot": ast.IsNot(), "assertNotEqual": ast.NotEq(), "assertIn": ast.In(),
    "assertNotIn": ast.NotIn(), "assertGreater": ast.Gt(), "assertGreaterEqual": ast.GtE(), "assertLess": ast.Lt(),
    "assertLessEqual": ast.LtE(), **{name: ast.Eq() for name in EQUAL - {"assertIs"}},
}  # fmt: skip
_RAISES = ("assertRaises", "assertRaisesRegex", "raises")


def method_of(call: ast.AST) -> str:
    """The last part of the name of what is called, "" where nothing is."""
    if not isinstance(call, ast.Call):
        return ""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def free_names(node: ast.AST) -> set[str]:
    """Every name in an expression or statement."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def plain(function: ast.FunctionDef) -> str:
    """The body of a test or of a helper of tests, without the messages of its assertions."""
    return "\n".join(line for statement in function.body for line in _lines(statement, messages(function)))


def _lines(statement: ast.stmt, said: dict[str, Caught]) -> Iterator[str]:
    if isinstance(statement, ast.With) and (found := raised(statement, said)):
        body = "\n".join(_written(one) for one in statement.body)
        yield f"{body}  # raises {found}"
        return
    checks = isinstance(statement, ast.Assert) or (isinstance(statement, ast.Expr) and method_of(statement.value) in EQUAL)
    if not (checks and free_names(statement) & said.keys()):
        yield _written(statement)


def _written(statement: ast.stmt) -> str:
    return ast.unparse(_Plain().visit(ast.parse(ast.unparse(statement)).body[0]))


class _Plain(ast.NodeTransformer):
    """``self.assertEqual(a, b)`` as ``assert a == b``."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call, name = node.value, method_of(node.value)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return node
        if name == "assertIs" and len(call.args) >= 2 and ast.unparse(call.args[1]) in ("True", "False"):
            name = f"assert{ast.unparse(call.args[1])}"
        if name in _OPERATORS and len(call.args) >= 2:
            return ast.Assert(ast.Compare(call.args[0], [_OPERATORS[name]], [call.args[1]]))
        if name in ("assertTrue", "assertFalse") and call.args:
            return ast.Assert(ast.UnaryOp(ast.Not(), call.args[0]) if name == "assertFalse" else call.args[0])
        if name in ("assertIsNone", "assertIsNotNone") and call.args:
            operator = ast.Is() if name == "assertIsNone" else ast.IsNot()
            return ast.Assert(ast.Compare(call.args[0], [operator], [ast.Constant(None)]))
        return node


class Caught(NamedTuple):
    """What a test says of an exception that it caught, as it is written there: the message that it is compared with, and the
    class that it is of; "" for what is not said."""

    message: str = ""
    kind: str = ""


def messages(function: ast.FunctionDef) -> dict[str, Caught]:
    """The names that caught exceptions are bound to, each with what is said of the exception."""
    found = {
        item.optional_vars.id: Caught()
        for node in ast.walk(function)
        if isinstance(node, ast.With)
        for item in node.items
        if method_of(item.context_expr) in _RAISES and isinstance(item.optional_vars, ast.Name)
    }
    for pair in filter(None, map(_compared, ast.walk(function))):
        told, said = sorted(pair, key=lambda one: not free_names(one) & found.keys())
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            for name in free_names(told) & found.keys():
                found[name] = found[name] if found[name].message else found[name]._replace(message=ast.unparse(said))
        elif isinstance(told, ast.Call) and isinstance(told.func, ast.Name) and told.func.id == "type":
            for name in free_names(told) & found.keys():
                found[name] = found[name]._replace(kind=ast.unparse(said))
    return found


def _compared(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The two sides of an assertion that they are equal."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in EQUAL:
        return (node.args[0], node.args[1]) if len(node.args) >= 2 else None
    test = node.test if isinstance(node, ast.Assert) else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        return test.left, test.comparators[0]
    return None


def raised(node: ast.With, said: dict[str, Caught]) -> str:
    """The exception that a ``with`` block expects, of the class that is said of it, with its message where that is known:
    ``ValueError('no')``; "" for another block."""
    for item in node.items:
        call = item.context_expr
        if not (isinstance(call, ast.Call) and call.args and method_of(call) in _RAISES):
            continue
        name = item.optional_vars.id if isinstance(item.optional_vars, ast.Name) else ""
        message, kind = said.get(name, Caught())
        if method_of(call) == "assertRaisesRegex" and len(call.args) > 1:
            message = ast.unparse(call.args[1])
        matched = (one.value for one in call.keywords if one.arg == "match" and isinstance(one.value, ast.Constant))
        message = next(map(ast.unparse, matched), message)
        return (kind or ast.unparse(call.args[0])) + (f"({message})" if message else "")
    return ""


def exceptions_of(source: bytes, tests: Collection[str]) -> tuple[str, ...]:
    """What the test functions ``tests`` of a file expect to be raised, those with a message; () where it does not parse."""
    wanted = (one for one in functions_of(source) if one.name in tests)
    blocks = ((node, messages(one)) for one in wanted for node in ast.walk(one) if isinstance(node, ast.With))
    return tuple(dict.fromkeys(found for node, said in blocks if (found := raised(node, said)).endswith(")")))


def texts_of(source: bytes, tests: Collection[str]) -> tuple[str, ...]:
    """The strings in the test functions ``tests`` of a file, each once; () where it does not parse."""
    bodies = (statement for one in functions_of(source) if one.name in tests for statement in one.body)
    values = (node.value for statement in bodies for node in ast.walk(statement) if isinstance(node, ast.Constant))
    return tuple(dict.fromkeys(value for value in values if isinstance(value, str)))


def functions_of(source: bytes) -> list[ast.FunctionDef]:
    """All functions and methods of a file, the outer ones first; [] where it does not parse."""
    try:
        tree = ast.parse(source)
    except UNREADABLE:
        return []
    return [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
