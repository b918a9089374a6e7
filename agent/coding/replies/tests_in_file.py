"""The test functions in a file of tests: which there are, which of them check something, the file without some of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from agent.c.syntax import CFunction, definitions, functions

_C_ASSERT = re.compile(r"\bassert\s*\(\s*(?!(?:[01]|true|false)\s*\))")
_MAIN_NAME = re.compile(rb"\bmain\b")


def names_of_tests(text: str, language: str) -> list[str]:
    """The test functions of a file in their order: ``test…`` of Python, ``test…(void)`` of C."""
    if language == "python":
        return list(dict.fromkeys(node.name for node in _py_tests(text)))
    return [one.name for one in definitions(text.encode()) if one.name.startswith("test") and not one.parameters]


def asserting(text: str, language: str) -> list[str]:
    """Those of :func:`names_of_tests` that check something that is no constant, themselves or in a function they call."""
    if language == "python":
        return list(dict.fromkeys(node.name for node in _py_tests(text) if any(_checks(one) for one in ast.walk(node))))
    source = text.encode()
    bodies = {one.name: source[one.body_start : one.body_end].decode("utf-8", "replace") for one in definitions(source)}
    checking = {name for name, body in bodies.items() if _C_ASSERT.search(body)}
    while more := {n for n, b in bodies.items() if n not in checking and not checking.isdisjoint(re.findall(r"\w+", b))}:
        checking |= more
    return [name for name in names_of_tests(text, "c") if name in checking]


def public_names(source: bytes, language: str) -> set[str]:
    """What an interface offers by name: the functions that a header declares, the functions and classes of a module."""
    if language == "c":
        return {one.name for one in functions(source) if not (one.static and not one.inline)}
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return set()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in body if isinstance(node, kinds) and not node.name.startswith("_")}


def defined_names(text: str, language: str) -> set[str]:
    """The functions and classes that a file of tests defines itself."""
    if language == "c":
        return {one.name for one in definitions(text.encode())}
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.parse(text).body if isinstance(node, kinds)}


def without_tests(text: str, language: str, names: Collection[str]) -> str:
    """The file without the test functions ``names``; "" when no test that checks something would be left.

    In C a plain ``main`` that calls what is left takes the place of the old one.
    """
    if not set(asserting(text, language)) - set(names):
        return ""
    return _c_without(text, names) if language == "c" else _py_without(text, names)


def whole_part(text: str, language: str) -> str:
    """What is whole of a file of tests that was cut off in the middle: up to the end of its last whole function; "" when
    that holds no test that checks something."""
    lines = text.splitlines()
    ends = [n for n, line in enumerate(lines, 1) if line.startswith("}")] if language == "c" else _py_ends(lines)
    for end in reversed(ends):
        part = "\n".join(lines[:end]) + "\n"
        if language == "c":
            return with_plain_main(part) if asserting(part, "c") else ""
        try:
            return part if asserting(part, "python") else ""
        except SyntaxError:
            continue
    return ""


def _py_ends(lines: list[str]) -> list[int]:
    """The line numbers after which a test may end: those before the next ``def`` or decorator."""
    return [n for n, line in enumerate(lines) if re.match(r"\s*(?:(?:async )?def |@)", line) and n]


def every_test_called(text: str) -> bool:
    """Whether ``main`` of a C file of tests names all its test functions, or a function that it calls does."""
    source = text.encode()
    bodies = {one.name: source[one.body_start : one.body_end].decode("utf-8", "replace") for one in definitions(source)}
    seen: set[str] = set()
    todo = ["main"]
    while todo:
        name = todo.pop()
        if name in bodies and name not in seen:
            seen.add(name)
            todo += re.findall(r"\w+", bodies[name])
    outside = _outside(source, functions(source))  # where a table of functions would stand
    return all(name in seen or re.search(rf"\b{name}\b", outside) for name in names_of_tests(text, "c"))


def with_plain_main(text: str) -> str:
    """A C file of tests whose ``main`` calls each of its test functions once and does nothing else."""
    return _c_without(text, ())


def chooser(text: str, path: str) -> str:
    """A program made of a C file of tests that runs the one test function whose number (from 0, in order) it is given.
    ``path`` is what assertions say of the place; line numbers stay those of the file."""
    source = text.encode()
    renamed = source
    for one in definitions(source):
        if one.name == "main":
            head = _MAIN_NAME.sub(b"all_tests_of_the_file", source[one.start : one.body_start], count=1)
            renamed = source[: one.start] + head + source[one.body_start :]
    names = names_of_tests(text, "c")
    cases = "".join(f"    case {number}: {name}(); break;\n" for number, name in enumerate(names))
    main = (
        "\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    switch (argc > 1 ? atoi(argv[1]) : -1) {\n"
        f"{cases}    default: return 3;\n    }}\n    return 0;\n}}\n"
    )
    return f'#line 1 "{path}"\n{renamed.decode()}{main}'


def _c_without(text: str, names: Collection[str]) -> str:
    source = text.encode()
    cuts = [
        (one.doc_start if one.doc_start >= 0 else one.start, one.end)
        for one in functions(source)
        if one.name in names or one.name == "main"
    ]
    for start, end in sorted(cuts, reverse=True):
        source = source[:start].rstrip() + b"\n\n" + source[end:].lstrip()
    left = source.decode().rstrip("\n")
    calls = "".join(f"    {name}();\n" for name in names_of_tests(left, "c"))
    return f"{left}\n\nint main(void)\n{{\n{calls}    return 0;\n}}\n"


def _outside(source: bytes, found: list[CFunction]) -> str:
    for one in sorted(found, key=lambda f: f.start, reverse=True):
        source = source[: one.start] + source[one.end :]
    return source.decode("utf-8", "replace")


def _py_without(text: str, names: Collection[str]) -> str:
    lines = text.splitlines()
    tree = ast.parse(text)
    gone: set[int] = set()
    for holder in ast.walk(tree):
        if isinstance(holder, (ast.Module, ast.ClassDef)):
            cut = [node for node in holder.body if _is_test(node) and node.name in names]  # type: ignore[attr-defined]
            rest = [node for node in holder.body if node not in cut]
            bare = isinstance(holder, ast.ClassDef) and cut and not any(_is_code(node) for node in rest)
            for node in [holder] if bare else cut:
                gone |= _lines_of(node)
    kept = "\n".join(line for number, line in enumerate(lines, 1) if number not in gone)
    return re.sub(r"\n{4,}", "\n\n\n", kept).rstrip("\n") + "\n"


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


def _py_tests(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_test(node):
            yield node


def _checks(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    return isinstance(node, ast.Call) and re.search(r"\b(?:raises|assert\w*)\b", ast.unparse(node.func)) is not None
