"""A loop's variable that the code behind the loop uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.c.writing.extract import extract_function
from agent.c.writing.slips.loop_variable import with_loop_variables_outside
from agent.compiling.compiler import Compiler, compile_object

INSERT = """void insert(int *items, size_t n, int value)
{
    for (size_t i = n; i > 0 && items[i - 1] > value; i--)
        items[i] = items[i - 1];
    items[i] = value;
}"""


async def test_it_is_declared_before_the_loop_and_the_code_compiles(tmp_path: Path) -> None:
    text, said = with_loop_variables_outside(INSERT)
    assert "    size_t i;\n    for (i = n; i > 0" in text and len(said) == 1
    for code, ok in ((INSERT, False), (text, True)):
        (tmp_path / "t.c").write_text(f"#include <stddef.h>\n{code}\n")
        assert (await compile_object(Compiler.find(), tmp_path / "t.c", cwd=tmp_path)).ok is ok


def function(*lines: str) -> str:
    return "\n".join(["int f(int n)", "{", *(f"    {line}" for line in lines), "}"])


def test_the_inner_of_two_loops() -> None:
    text, _ = with_loop_variables_outside(
        function("while (n) {", "    for (int i = n; i; i--)", "        g(i);", "    n = i;", "}", "return n;")
    )
    assert "        int i;\n        for (i = n; i; i--)\n" in text.replace("            for", "        for")


LOOP = ("for (int i = 0; i < n; i++)", "    g(i);")


@pytest.mark.parametrize(
    "text",
    [
        function(*LOOP, "return n;"),
        function(*LOOP, *LOOP, "return n;"),
        function("int i = 3;", *LOOP, "return i;"),
        function("if (n) {", *LOOP, "}", "return i;"),
        function(*LOOP, "return n;").replace("int f(int n)", "int f(int i)"),
        function("for (int i = 0, k = 1; i < n; i++)", "    g(i + k);", "return k;"),
        function("for (int *p = at(n); p; p = next(p))", "    g(*p);", "return p != 0;"),
    ],
)
def test_what_is_not_certain_stays(text: str) -> None:
    assert with_loop_variables_outside(text) == (text, ())


def test_a_name_of_the_file_stays() -> None:
    assert with_loop_variables_outside(INSERT, {"i"}) == (INSERT, ())


def test_a_reply_is_set_right_with_a_sentence() -> None:
    found = extract_function(f"```c\n{INSERT}\n```", "void insert(int *items, size_t n, int value)")
    assert found.ok and "size_t i;" in found.function_text
    assert any("used after it" in one for one in found.repairs)
