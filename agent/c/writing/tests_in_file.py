"""The test functions in a C file of tests: which there are, which of them check something, the file without some of them.

A test is a function ``test…(void)``; ``main`` calls them all.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence

from agent.c.declarations.functions import CFunction, definitions, functions
from agent.c.examples import examples_of
from agent.c.files import is_header
from agent.c.syntax.tree import parse_c
from agent.c.writing.isolated import isolated as with_processes
from agent.c.writing.reported_tests import comes_to, with_reported
from agent.language.base import Expected, Instruction
from agent.language.nodes import text_of, walk

suffix = ".c"
styles = ("test_{}", "{}_test", "test-{}", "{}-test", "{}_tests")

_ASSERT = re.compile(r"\bassert\s*\(\s*(?!(?:[01]|true|false)\s*\))")
_MAIN_NAME = re.compile(rb"\bmain\b")
_RULES = """- Test only what the comments of the header promise, edge cases included.
- Check with assert() from <assert.h>. One static function per test, called test_...; main calls them all.
- At most six tests, each a few lines long and independent of the others.
- Use only the functions that the header declares. No explanation."""


def words(flavour: str) -> Instruction:
    """What a model is told of the file it is to write."""
    del flavour
    return Instruction("test program", _RULES)


def names(text: str) -> list[str]:
    """The test functions of a file in their order."""
    return [one.name for one in definitions(text.encode()) if one.name.startswith("test") and not one.parameters]


def asserting(text: str) -> list[str]:
    """Those of :func:`names` that check something that is not a constant, themselves or in a function they call."""
    source = text.encode()
    bodies = {one.name: source[one.body_start : one.body_end].decode("utf-8", "replace") for one in definitions(source)}
    checking = {name for name, body in bodies.items() if _ASSERT.search(body)}
    while more := {n for n, b in bodies.items() if n not in checking and not checking.isdisjoint(re.findall(r"\w+", b))}:
        checking |= more
    return [name for name in names(text) if name in checking]


def defined(text: str) -> set[str]:
    """The functions that a file of tests defines itself."""
    return {one.name for one in definitions(text.encode())}


def problem(text: str) -> str:
    """Why ``text`` is not a file of tests, "" when it is one."""
    if "main" not in defined(text):
        return "It has no main that calls the tests."
    if "NDEBUG" in text:
        return "It switches assert() off: leave NDEBUG alone."
    if not re.search(r"\bassert\s*\(\s*(?![01]\s*\)|true\s*\))", text):
        return "It checks nothing: use assert()."
    return ""


def without(text: str, unwanted: Collection[str]) -> str:
    """The file without the test functions ``unwanted``, with a plain ``main`` that calls the rest; "" when no test that
    checks something would be left."""
    return _without(text, unwanted) if set(asserting(text)) - set(unwanted) else ""


def whole_part(text: str) -> str:
    """What is whole of a file that was cut off in the middle: up to the end of its last whole function; "" when that holds
    no test that checks something."""
    lines = text.splitlines()
    for end in reversed([number for number, line in enumerate(lines, 1) if line.startswith("}")]):
        part = "\n".join(lines[:end]) + "\n"
        return with_plain_main(part) if asserting(part) else ""
    return ""


def complete(text: str) -> str:
    """``text``, with a plain ``main`` when its own does not call every test."""
    return text if every_test_called(text) else with_plain_main(text)


def examples(source: bytes, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """What a file of tests says of functions; see :func:`agent.c.examples.examples_of`."""
    return examples_of(source, names)


def examples_in(source: bytes, name: str, test: str) -> tuple[str, ...]:
    """What one test says of a function."""
    return examples_of(source, [name], test).get(name, ())


def expected(source: bytes, tests: Collection[str]) -> Expected:
    """The strings in the test functions ``tests``, as they stand between their quotes; C has no exceptions."""
    found = (one for one in definitions(source) if one.name in tests)
    nodes = (node for one in found for node in walk(parse_c(source[one.start : one.end])) if node.type == "string_literal")
    return Expected(texts=tuple(dict.fromkeys(text_of(node)[1:-1] for node in nodes)))


def stating(path: str, interface: Sequence[str], stated: Sequence[tuple[str, str]]) -> str:
    """One test for each call and the literal that it comes to; texts are compared as texts."""
    folder = posixpath.dirname(path) or "."
    includes = [f'#include "{posixpath.relpath(one, folder)}"' for one in interface if is_header(one)]
    if not includes:
        return ""
    standard = [f"#include <{name}.h>" for name in ("assert", "math", "stdbool", "stddef", "string")]
    tests = [
        f"static void test_{number}(void)\n{{\n    assert({comes_to(call, result)});\n}}\n"
        for number, (call, result) in enumerate(stated)
    ]
    called = "".join(f"    test_{number}();\n" for number in range(len(stated)))
    return "\n".join([*standard, *includes, "", *tests, f"int main(void)\n{{\n{called}    return 0;\n}}", ""])


def reporting(homes: Mapping[str, str], reported: Sequence[tuple[str, str, str]], flavour: str) -> str:
    """Nothing: a test program in C has to be built by the project's own rules, which do not know of it."""
    del homes, reported, flavour
    return ""


def reporting_in(text: str, reported: Sequence[tuple[str, str, str]]) -> str:
    """A file that the project builds, with more checks; see :func:`agent.c.writing.reported_tests.with_reported`."""
    return with_reported(text, names(text), reported)


def isolated(text: str, path: str) -> str:
    """The file with each test in a process of its own first; see :mod:`agent.c.writing.isolated`."""
    return with_processes(text, path)


def how_to_use(path: str, interface: Sequence[str]) -> str:
    """How the file at ``path`` gets at what it tests: a fact that a small model need not guess."""
    folder = posixpath.dirname(path) or "."
    lines = [f'#include "{posixpath.relpath(one, folder)}"' for one in interface if is_header(one)]
    return "Include with:\n" + "\n".join(lines) if lines else ""


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
    return all(name in seen or re.search(rf"\b{name}\b", outside) for name in names(text))


def with_plain_main(text: str) -> str:
    """A C file of tests whose ``main`` calls each of its test functions once and does nothing else."""
    return _without(text, ())


def chooser(text: str, path: str) -> str:
    """A program made of a C file of tests that runs the one test function whose number (from 0, in order) it is given.
    ``path`` is what assertions say of the place; line numbers stay those of the file."""
    source = text.encode()
    renamed = source
    for one in definitions(source):
        if one.name == "main":
            head = _MAIN_NAME.sub(b"all_tests_of_the_file", source[one.start : one.body_start], count=1)
            renamed = source[: one.start] + head + source[one.body_start :]
    tests = names(text)
    cases = "".join(f"    case {number}: {name}(); break;\n" for number, name in enumerate(tests))
    main = (
        "\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    switch (argc > 1 ? atoi(argv[1]) : -1) {\n"
        f"{cases}    default: return 3;\n    }}\n    return 0;\n}}\n"
    )
    return f'#line 1 "{path}"\n{renamed.decode()}{main}'


def _without(text: str, unwanted: Collection[str]) -> str:
    source = text.encode()
    cuts = [
        (one.doc_start if one.doc_start >= 0 else one.start, one.end)
        for one in functions(source)
        if one.name in unwanted or one.name == "main"
    ]
    for start, end in sorted(cuts, reverse=True):
        source = source[:start].rstrip() + b"\n\n" + source[end:].lstrip()
    left = source.decode().rstrip("\n")
    calls = "".join(f"    {name}();\n" for name in names(left))
    return f"{left}\n\nint main(void)\n{{\n{calls}    return 0;\n}}\n"


def _outside(source: bytes, found: list[CFunction]) -> str:
    for one in sorted(found, key=lambda f: f.start, reverse=True):
        source = source[: one.start] + source[one.end :]
    return source.decode("utf-8", "replace")
