"""A local variable that hides the function it is set from."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.c.writing.extract import extract_function
from agent.c.writing.slips.shadowed_function import without_shadowing
from agent.compiling.compiler import Compiler, compile_object

INSERT = """bool insert(struct table *t, const char *key)
{
    size_t hash = hash(key, t->count);
    t->hash = hash;
    return t->slots[hash] != hash(key, 1);
}"""
BEFORE = """#include <stdbool.h>
#include <stddef.h>
struct table { size_t hash, count; size_t slots[8]; };
static size_t hash(const char *key, size_t count) { return (size_t)key[0] % count; }
"""


async def test_the_variable_gets_another_name_and_the_code_compiles(tmp_path: Path) -> None:
    text, said = without_shadowing(INSERT)
    assert "size_t hash_value = hash(key, t->count);" in text and "t->hash = hash_value;" in text
    assert "t->slots[hash_value] != hash(key, 1)" in text and len(said) == 1
    for code, ok in ((INSERT, False), (text, True)):
        (tmp_path / "t.c").write_text(BEFORE + code + "\n")
        assert (await compile_object(Compiler.find(), tmp_path / "t.c", cwd=tmp_path)).ok is ok


@pytest.mark.parametrize(
    "text",
    [
        "int sum(int *a, size_t n)\n{\n    int sum = 0;\n    return sum + other(n);\n}",
        "void each(visit_fn visit)\n{\n    visit(1);\n}",
        "void each(void (*visit)(int))\n{\n    visit(1);\n}",
        "int f(int n)\n{\n    return n ? f(n - 1) : 0;\n}",
        "void each(struct ops ops)\n{\n    visit_fn visit = ops.visit;\n    visit(1);\n}",
    ],
)
def test_what_may_be_called_or_is_not_called_stays(text: str) -> None:
    assert without_shadowing(text) == (text, ())


def test_a_name_that_is_taken_is_not_taken_again() -> None:
    text, _ = without_shadowing("int f(int hash_value)\n{\n    int hash = hash(hash_value);\n    return hash;\n}")
    assert "int hash_value2 = hash(hash_value);" in text and "return hash_value2;" in text


def test_a_reply_is_set_right_without_asking_again() -> None:
    found = extract_function(f"```c\n{INSERT}\n```", "bool insert(struct table *t, const char *key)", known={"hash"})
    assert found.ok and "hash_value" in found.function_text and any("renamed" in one for one in found.repairs)
