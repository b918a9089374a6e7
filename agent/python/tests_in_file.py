"""The test functions in a Python file of tests: which there are, which of them check something, the file without some.

A test is a function or method called ``test…``, as pytest and unittest find them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from agent.language.base import Expected, Instruction
from agent.python.examples import examples_of, examples_of_one_test
from agent.python.isolated import isolated as with_alarms
from agent.python.plain_tests import exceptions_of, texts_of
from agent.python.replace import syntax_problem

suffix = ".py"
styles = ("test_{}", "{}_test")

_PYTEST_RULES = """- Test only what the docstrings promise, edge cases included.
- One short function per test, called test_..., with plain assert. At most six tests.
- Import only from the code under test and the standard library. No explanation."""
_UNITTEST_RULES = """- Test only what the docstrings promise, edge cases included.
- One class that derives from unittest.TestCase, one short method per test, called test_..., with self.assert... At most six.
- Import only from the code under test and the standard library. No explanation."""
_Named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def words(flavour: str) -> Instruction:
    """What a model is told of the file it is to write; ``flavour`` is unittest where tests are run by that."""
    if flavour == "unittest":
        return Instruction("file of unittest tests", _UNITTEST_RULES)
    return Instruction("pytest file", _PYTEST_RULES)


def names(text: str) -> list[str]:
    """The test functions of a file in their order."""
    return list(dict.fromkeys(node.name for node in _tests(text)))


def asserting(text: str) -> list[str]:
    """Those of :func:`names` that check something that is not a constant."""
    return list(dict.fromkeys(node.name for node in _tests(text) if any(_checks(one) for one in ast.walk(node))))


def defined(text: str) -> set[str]:
    """The functions and classes that a file of tests defines itself."""
    return {node.name for node in ast.parse(text).body if isinstance(node, _Named)}


def problem(text: str) -> str:
    """Why ``text`` is not a file of tests, "" when it is one: it must parse, and assert something that is not a constant."""
    wrong = syntax_problem(text.encode())
    if wrong:
        return f"It is not valid Python: {wrong}"
    tests = names(text)
    if not tests:
        return "It has no function called test_..."
    return "" if asserting(text) else f"{tests[0]} asserts nothing."


def without(text: str, unwanted: Collection[str]) -> str:
    """The file without the test functions ``unwanted``; "" when no test that checks something would be left."""
    if not set(asserting(text)) - set(unwanted):
        return ""
    lines = text.splitlines()
    tree = ast.parse(text)
    gone: set[int] = set()
    for holder in ast.walk(tree):
        if isinstance(holder, (ast.Module, ast.ClassDef)):
            cut = [node for node in holder.body if _is_test(node) and node.name in unwanted]  # type: ignore[attr-defined]
            rest = [node for node in holder.body if node not in cut]
            bare = isinstance(holder, ast.ClassDef) and cut and not any(_is_code(node) for node in rest)
            for node in [holder] if bare else cut:
                gone |= _lines_of(node)
    kept = "\n".join(line for number, line in enumerate(lines, 1) if number not in gone)
    return re.sub(r"\n{4,}", "\n\n\n", kept).rstrip("\n") + "\n"


def whole_part(text: str) -> str:
    """What is whole of a file that was cut off in the middle: up to the end of its last whole function; "" when that holds
    no test that checks something."""
    lines = text.splitlines()
    ends = [n for n, line in enumerate(lines) if re.match(r"\s*(?:(?:async )?def |@)", line) and n]
    for end in reversed(ends):
        part = "\n".join(lines[:end]) + "\n"
        try:
            return part if asserting(part) else ""
        except SyntaxError:
            continue
    return ""


def complete(text: str) -> str:
    """``text``: runners find every test themselves."""
    return text


def examples(source: bytes, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """What a file of tests says of functions; see :func:`agent.python.examples.examples_of`."""
    return examples_of(source, names)


def examples_in(source: bytes, name: str, test: str) -> tuple[str, ...]:
    """What one test says of a function, a line each; see :func:`agent.python.examples.examples_of_one_test`."""
    return examples_of_one_test(source, name, test)


def expected(source: bytes, tests: Collection[str]) -> Expected:
    """The exceptions that tests expect, with their messages (``ValueError('too long')``), and all their strings."""
    return Expected(exceptions_of(source, tests), texts_of(source, tests))


def stating(path: str, interface: Sequence[str], stated: Sequence[tuple[str, str]]) -> str:
    """One test for each call and the literal that it comes to."""
    del path
    modules = [_module(one) for one in interface if one.endswith(suffix)]
    if not modules:
        return ""
    lines = [f"from {module} import *" for module in modules]
    lines += [f"\n\ndef test_{number}():\n    assert {call} == {result}" for number, (call, result) in enumerate(stated)]
    return "\n".join(lines) + "\n"


def reporting(homes: Mapping[str, str], reported: Sequence[tuple[str, str, str]], flavour: str) -> str:
    """Plain functions for pytest, a class where ``flavour`` is unittest."""
    as_class = flavour == "unittest"
    raising = any(exception for _, _, exception in reported)
    head = ["import unittest", ""] if as_class else ["import pytest", ""] if raising else []
    imports = sorted(f"from {_module(path)} import {name}" for name, path in homes.items())
    lines = ['"""What the task reports."""', "", *head, *imports, "", ""]
    lines += ["class Reported(unittest.TestCase):"] if as_class else []
    indent, own, raises = ("    ", "self", "self.assertRaises") if as_class else ("", "", "pytest.raises")
    for number, (call, result, exception) in enumerate(reported, 1):
        lines.append(f"{indent}def test_reported_{number}({own}):")
        if exception:
            lines += [f"{indent}    with {raises}({exception}):", f"{indent}        {call}"]
        else:
            check = f"self.assertEqual({call}, {result})" if as_class else f"assert {call} == {result}"
            lines.append(f"{indent}    {check}")
        lines += [""] if as_class else ["", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def reporting_in(text: str, reported: Sequence[tuple[str, str, str]]) -> str:
    """Nothing: a new file of tests is found by what runs them."""
    del text, reported
    return ""


def isolated(text: str, path: str) -> str:
    """The file with an alarm for each test; see :mod:`agent.python.isolated`."""
    return with_alarms(text, path)


def how_to_use(path: str, interface: Sequence[str]) -> str:
    """How the file at ``path`` gets at what it tests: a fact that a small model need not guess."""
    del path
    modules = [_module(one) for one in interface if one.endswith(suffix)]
    return "\n".join(f"Import with: from {module} import ..." for module in modules)


def _module(path: str) -> str:
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[0] == "src" and len(parts) > 1:
        parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _lines_of(node: ast.stmt | ast.Module) -> set[int]:
    if isinstance(node, ast.Module):
        return set()
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    return set(range(first, (node.end_lineno or node.lineno) + 1))


def _is_code(node: ast.stmt) -> bool:
    """Whether a statement of a class is more than a docstring or ``pass``."""
    return not (isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)))


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")


def _tests(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_test(node):
            yield node


def _checks(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    return isinstance(node, ast.Call) and re.search(r"\b(?:raises|assert\w*)\b", ast.unparse(node.func)) is not None
