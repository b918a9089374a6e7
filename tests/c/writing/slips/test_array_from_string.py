"""Strings assigned to arrays of characters, by what gcc and clang say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.c.writing.slips.array_from_string import with_strings_copied
from agent.compiling.compiler import Compiler, compile_object

HEADER = b"""typedef struct { unsigned char grade; char name[20]; } student_t;
typedef struct { int count; student_t list[4]; } roster_t;
struct mark { char sign; char text[8]; };
"""
FORMS = {
    "member": "void f(student_t *s, const char *text)\n{\n    s->name = text;\n}",
    "local": "int f(const char *text)\n{\n    char all[8];\n    all = text;\n    return all[0];\n}",
    "declared": "int f(const char *text)\n{\n    char all[8] = text;\n    return all[0];\n}",
    "list": "int f(const char *text)\n{\n    student_t one = { 2, text };\n    return one.name[0];\n}",
    "designated": "int f(const char *text)\n{\n    struct mark one = { .text = text };\n    return one.text[0];\n}",
    "assigned": "void f(roster_t *r, const char *text)\n{\n    r->list[r->count++] = (student_t){ 1, text };\n}",
    "branch": "void f(roster_t *r, const char *text)\n{\n    if (text)\n    r->list[r->count++] = (student_t){1, text};\n}",
    "twice": "void f(roster_t *r, const char *text)\n{\n    r->list[0] = (student_t){1, text};\n"
    "    r->list[1] = (student_t){2, text};\n}",
    "returned": "student_t f(const char *text)\n{\n    return (student_t){ 1, text };\n}",
}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("form", FORMS)
async def test_the_string_is_copied_and_the_code_compiles(tmp_path: Path, form: str, compiler: str) -> None:
    (tmp_path / "own.h").write_bytes(HEADER)
    source = f'#include <stdio.h>\n#include "own.h"\n\n{FORMS[form]}\n'.encode()
    for ok in (False, True):
        (tmp_path / "own.c").write_bytes(source)
        done = await compile_object(Compiler.find(compiler), tmp_path / "own.c", cwd=tmp_path)
        assert done.ok == ok, done.diagnostics
        source, told = with_strings_copied(source, done.diagnostics, range(1, 99), [HEADER])
        assert bool(told) == (not ok)
    assert source.count(b"snprintf(") == (2 if form == "twice" else 1)
    assert source.count(b"count++") == FORMS[form].count("count++")


@pytest.mark.parametrize(
    "body",
    ["int a[2], b[2]; a = b;", "struct mark one = { text };", "s[i++].name = text;"],
)  # fmt: skip
async def test_what_may_be_meant_otherwise_is_left_alone(tmp_path: Path, body: str) -> None:
    source = HEADER + f"void f(student_t *s, int i, const char *text)\n{{\n    {body}\n}}\n".encode()
    (tmp_path / "own.c").write_bytes(source)
    done = await compile_object(Compiler.find(), tmp_path / "own.c", cwd=tmp_path)
    assert not done.ok
    assert with_strings_copied(source, done.diagnostics, range(1, 99)) == (source, ())
