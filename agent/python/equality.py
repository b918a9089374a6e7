"""Whether two versions of a Python file are the same code."""

from __future__ import annotations

import ast

from agent.language.nesting import UNREADABLE


def same_code(before: bytes, after: bytes) -> bool:
    """Whether two versions of a file differ in comments, docstrings and white space only. A file that does not parse is
    never the same as another one."""
    if before == after:
        return True
    one, other = _code(before), _code(after)
    return one is not None and one == other


def _code(source: bytes) -> str | None:
    try:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                if node.body and ast.get_docstring(node, clean=False) is not None:
                    node.body = node.body[1:]
                node.body = node.body or [ast.Pass()]
        return ast.dump(tree)
    except UNREADABLE:
        return None
