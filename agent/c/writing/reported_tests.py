"""A C file of tests with more checks in it: what a task tells of single calls, written as the file's own checks are.

A new program would have to be built by the project's own rules, which do not know of it; a file that is there is built.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

import tree_sitter

from agent.c.examples import IS_TRUE
from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk

NAME = "test_reported_{}"
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b.*$", re.M)


def with_reported(text: str, tests: Sequence[str], reported: Sequence[tuple[str, str, str]]) -> str:
    """``text``, which holds the functions ``tests``, with a check for each of ``reported`` (a call, the literal that it
    should come to, an exception). They are functions of their own, called as the others are, or stand beside the checks of
    ``main``. "" where a result is none of C, and where there is no ``main``."""
    conditions = [_condition(call, wanted) for call, wanted, raises in reported if not raises]
    source = text.encode()
    main = next((one for one in parse_c(source).children if _name_of(one) == "main"), None)
    if main is None or not conditions or not all(conditions) or len(conditions) != len(reported):
        return ""
    checks = _checks(parse_c(source))
    macro = Counter(text_of(_callee(one)) for one in checks).most_common(1)
    check = macro[0][0] if macro else "assert"
    inside = [one for one in checks if main.start_byte <= one.start_byte < main.end_byte and _is_statement(one)]
    caller = _caller(main, tests)
    if inside and caller is None:
        last = inside[-1].parent
        assert last is not None
        lines = "".join(f"\n{_indent(source, last)}{check}({one});" for one in conditions)
        return _with_includes(_put(source, (last.end_byte, lines)), check, conditions)
    numbered = [(NAME.format(number), one) for number, one in enumerate(conditions, _free(text))]
    functions = "".join(f"static void {name}(void)\n{{\n    {check}({one});\n}}\n\n" for name, one in numbered)
    calls = _calls(source, main, caller, [name for name, _ in numbered])
    return _with_includes(_put(source, (main.start_byte, functions), calls), check, conditions)


def comes_to(call: str, result: str) -> str:
    """The condition that a call comes to a literal of C; texts are compared as texts."""
    if result.startswith('"'):
        return f"strcmp({call}, {result}) == 0"
    if "." in result:
        return f"{call} - ({result}) < 1e-6 && ({result}) - {call} < 1e-6"
    return f"{call} == {result}"


def _condition(call: str, wanted: str) -> str:
    """What has to hold, in C; "" for what C has no literal of."""
    try:
        value = ast.literal_eval(wanted)
    except (ValueError, SyntaxError):
        return ""
    if isinstance(value, bool):
        return f"{call} != 0" if value else f"{call} == 0"
    if isinstance(value, str):
        single = wanted.startswith("'") and len(value) == 1
        return comes_to(call, wanted if single or wanted.startswith('"') else '"' + wanted[1:-1].replace('"', '\\"') + '"')
    return comes_to(call, wanted) if isinstance(value, (int, float)) else f"{call} == NULL" if value is None else ""


def _name_of(node: tree_sitter.Node) -> str:
    declarator = node.child_by_field_name("declarator") if node.type == "function_definition" else None
    while declarator is not None and declarator.type != "identifier":
        declarator = declarator.child_by_field_name("declarator")
    return text_of(declarator) if declarator is not None else ""


def _callee(call: tree_sitter.Node) -> tree_sitter.Node:
    callee = call.child_by_field_name("function")
    assert callee is not None
    return callee


def _checks(root: tree_sitter.Node) -> list[tree_sitter.Node]:
    """Calls of what checks that its one argument holds."""
    found = [one for one in walk(root) if one.type == "call_expression" and one.child_by_field_name("function") is not None]
    return [one for one in found if IS_TRUE.search(text_of(_callee(one))) and len(_arguments(one)) == 1]


def _arguments(call: tree_sitter.Node) -> list[tree_sitter.Node]:
    arguments = call.child_by_field_name("arguments")
    return list(arguments.named_children) if arguments is not None else []


def _is_statement(call: tree_sitter.Node) -> bool:
    return call.parent is not None and call.parent.type == "expression_statement"


def _caller(main: tree_sitter.Node, tests: Sequence[str]) -> tuple[tree_sitter.Node, str] | None:
    """The last statement of ``main`` that calls a test or hands one on, and the test's name."""
    found = None
    for call in (one for one in walk(main) if one.type == "call_expression" and _is_statement(one)):
        used = [text_of(one) for one in (_callee(call), *_arguments(call)) if text_of(one) in tests]
        if used and call.parent is not None:
            found = call.parent, used[0]
    return found


def _calls(
    source: bytes, main: tree_sitter.Node, caller: tuple[tree_sitter.Node, str] | None, tests: Sequence[str]
) -> tuple[int, str]:
    """Where the new tests are called, and the text that does it."""
    if caller is not None:
        statement, old = caller
        text = [re.sub(rf"\b{re.escape(old)}\b", name, text_of(statement)) for name in tests]
        return statement.end_byte, "".join(f"\n{_indent(source, statement)}{one}" for one in text)
    body = main.child_by_field_name("body")
    assert body is not None
    last = body.named_children[-1] if body.named_children else None
    called = [f"{name}();" for name in tests]
    if last is not None and last.type == "return_statement":
        return last.start_byte, "".join(f"{one}\n{_indent(source, last)}" for one in called)
    return body.end_byte - 1, "".join(f"    {one}\n" for one in called)


def _indent(source: bytes, node: tree_sitter.Node) -> str:
    line = source[source.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
    return line[: len(line) - len(line.lstrip())].decode()


def _free(text: str) -> int:
    """The first number of which no test is called so."""
    number = 1
    while NAME.format(number) in text:
        number += 1
    return number


def _put(source: bytes, *parts: tuple[int, str]) -> bytes:
    for at, text in sorted(parts, reverse=True):
        source = source[:at] + text.encode() + source[at:]
    return source


def _with_includes(source: bytes, check: str, conditions: Sequence[str]) -> str:
    """The file with the standard headers that the new checks need and it lacks, behind its last include."""
    wanted = [b"assert.h"] if check == "assert" else []
    wanted += [b"string.h"] if any("strcmp(" in one for one in conditions) else []
    wanted += [b"stddef.h"] if any(one.endswith("NULL") for one in conditions) else []
    lines = b"".join(b"#include <%s>\n" % one for one in wanted if b"<%s>" % one not in source)
    last = list(_INCLUDE.finditer(source))
    at = last[-1].end() + 1 if last else 0
    return (source[:at] + lines + source[at:]).decode()
