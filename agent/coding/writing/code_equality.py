"""Code without its comments and docstrings, to prove that an edit changed nothing else."""

from __future__ import annotations

import ast
import re

from agent.language.nesting import UNREADABLE

_C_TOKEN = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^[ \t]*#(?:\\\n|[^\n])*|\w+|[^\w\s]",
    re.S | re.M,
)


def same_code(before: bytes, after: bytes, language: str) -> bool:
    """Whether two versions of a file differ in comments, docstrings and white space only.

    A file that does not parse is never the same as another one.
    """
    if before == after:
        return True
    if language == "python":
        one, other = _python(before), _python(after)
        return one is not None and one == other
    return _c(before) == _c(after)


def _c(source: bytes) -> list[str]:
    """The tokens; a directive keeps its line, since there the end of a line counts."""
    text = source.decode("latin-1").replace("\r\n", "\n")
    tokens = []
    for match in _C_TOKEN.finditer(text):
        token = match[0]
        if token.startswith(("//", "/*")):
            continue
        if token.lstrip().startswith("#") and "\n" not in token[:1]:
            token = re.sub(r"/\*.*?\*/|//[^\n]*", " ", token, flags=re.S)
            token = re.sub(r"\s+", " ", token).strip()
        tokens.append(token)
    return tokens


def _python(source: bytes) -> str | None:
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
