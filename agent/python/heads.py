"""Heads of Python definitions: a function without its body, which is what a small model is shown when it would only copy the
body again, and how what comes after a definition begins."""

from __future__ import annotations

import ast
import textwrap

from agent.language.nesting import UNREADABLE


def without_body(code: str) -> str:
    """Decorators, head and docstring of a function's source with ``raise NotImplementedError`` for the rest; "" when it is
    no function, cannot be read, or has its body on the line of its head."""
    try:
        parsed = ast.parse(textwrap.dedent(code)).body
    except UNREADABLE:
        return ""
    if len(parsed) != 1 or not isinstance(parsed[0], ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    function = parsed[0]
    told = ast.get_docstring(function, clean=False) is not None
    first = function.body[1] if told and len(function.body) > 1 else function.body[0]
    if first.lineno <= function.lineno or (told and len(function.body) == 1):
        return ""
    lines = code.split("\n")
    last = lines[first.lineno - 1]
    indent = last[: len(last) - len(last.lstrip())]
    return "\n".join([*lines[: first.lineno - 1], f"{indent}raise NotImplementedError"])


def heads_after(source: str, name: str) -> tuple[str, ...]:
    """How the functions and classes begin that stand behind the top-level definition called ``name`` in its file."""
    try:
        body = ast.parse(source).body
    except UNREADABLE:
        return ()
    found = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    places = [number for number, one in enumerate(found) if one.name == name]
    return tuple(_head(one) for one in found[places[0] + 1 :]) if places else ()


def _head(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    return f"{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}def {node.name}("
