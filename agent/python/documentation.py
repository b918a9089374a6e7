"""Docstrings: which public functions and classes have none, and a docstring put into one."""

from __future__ import annotations

import ast
import textwrap

from agent.language.base import WIDTH, Uncommented
from agent.language.nesting import UNREADABLE
from agent.textfile import lines_of, read_text

_Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public_names(source: bytes) -> set[str]:
    """The functions and classes that a module offers to others; none when it does not parse."""
    try:
        body = ast.parse(source).body
    except UNREADABLE:
        return set()
    return {node.name for node in body if isinstance(node, _Documented) and not node.name.startswith("_")}


def uncommented(source: bytes) -> list[Uncommented]:
    """The public functions and classes of a module that have no docstring; ``place`` is the line of the definition."""
    try:
        tree = ast.parse(source)
    except UNREADABLE:
        return []
    lines = lines_of(read_text(source).text)
    found = []
    for node, name in _public(tree):
        if ast.get_docstring(node) is None and not _documented_by_another(node):
            segment = textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))
            found.append(Uncommented(name, segment, node.lineno))
    return found


def with_comment(source: bytes, symbol: Uncommented, text: str) -> bytes:
    """``source`` with ``text`` as the docstring of ``symbol``; unchanged where there is no place for one."""
    file = read_text(source)
    there = _public(ast.parse(source))
    node = next((node for node, name in there if (name, node.lineno) == (symbol.name, symbol.place)), None)
    if node is None or node.body[0].lineno == node.lineno:
        return source
    first = min([node.body[0].lineno, *(d.lineno for d in getattr(node.body[0], "decorator_list", []))])
    lines = lines_of(file.text)
    indent = " " * node.body[0].col_offset
    if lines[first - 1].startswith("\t"):
        indent = lines[first - 1][: node.body[0].col_offset]
    wrapped = [part for line in text.split("\n") for part in textwrap.wrap(line, WIDTH) or [""]]
    doc = f'{indent}"""{wrapped[0]}"""\n'
    if len(wrapped) > 1:
        doc = (
            f'{indent}"""{wrapped[0]}\n'
            + "".join(f"{indent}{line}".rstrip() + "\n" for line in wrapped[1:])
            + f'{indent}"""\n'
        )
    lines.insert(first - 1, file.with_newlines(doc))
    return file.bom + "".join(lines).encode(file.encoding, "replace")


def _public(tree: ast.AST, prefix: str = "") -> list[tuple[_Documented, str]]:
    found: list[tuple[_Documented, str]] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Documented) and not node.name.startswith("_"):
            found.append((node, prefix + node.name))
            if isinstance(node, ast.ClassDef):
                found += _public(node, f"{prefix}{node.name}.")
    return found


def _documented_by_another(node: _Documented) -> bool:
    """Whether the docstring belongs elsewhere: of an overload to the function itself, of a setter to the property."""
    names = [ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list]
    return any(name in ("overload", "setter", "deleter") for name in names)
