"""Macros around declarations, and definitions in the oldest style: the functions are seen all the same."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.c.declarations.functions import CFunction, functions
from agent.c.syntax.attribute_macros import without_macros
from agent.c.writing.header_text import merged
from agent.c.writing.stub_text import stub_text
from agent.coding.open_items import find_open_functions

MACROS = """
#define API __attribute__((visibility("default")))
#define PRINTF_LIKE(a, b) __attribute__((format(printf, a, b)))
#define DEPRECATED(why) __attribute__((deprecated(why)))
#define BEGIN_DECLS
#define END_DECLS
#define NOTHROW
#define STATIC_INLINE static inline
#include <stddef.h>
"""

HEADER = """
BEGIN_DECLS

int first(int a);
int say(const char *format, ...) PRINTF_LIKE(1, 2);
API int shown(void) NOTHROW;
DEPRECATED("use (shown)") int old(void);
API int (guarded)(int a);
API size_t  (typed) (size_t a);
API size_t plain (size_t a);
void two(int n, int a[*])
    NOTHROW;
STATIC_INLINE int there(int a) { return a; }

END_DECLS
"""


def test_functions_behind_macros_are_found() -> None:
    found = {one.name: one for one in functions(HEADER.encode())}
    assert list(found) == ["first", "say", "shown", "old", "guarded", "typed", "plain", "two", "there"]
    assert found["say"].head == "int say(const char *format, ...)" and found["first"].head == "int first(int a)"
    assert "STATIC_INLINE" in found["there"].head
    start = found["say"].start
    assert HEADER.encode()[start : found["say"].end].startswith(b"int say(")


def source_of(prototypes: list[CFunction]) -> str:
    return "\n\n".join(['#include "h.h"', *map(stub_text, prototypes)]) + "\n"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_their_stubs_compile(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text(MACROS + HEADER)
    (tmp_path / "h.c").write_text(source_of([f for f in functions(HEADER.encode()) if not f.defined]))
    command = ["gcc", "-c", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations", "-Wno-vla-parameter", "h.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_definition_in_the_oldest_style_is_not_undefined() -> None:
    source = b"char *pick(which, names)\n    int which;\n    char **names;\n{\n    return names[which];\n}\n"
    assert find_open_functions({"a.h": b"char *pick();\n", "a.c": source}) == []
    assert find_open_functions({"a.c": source}) == []


@given(st.text(alphabet='AB_(), \n;{}int"x1', max_size=120))
def test_no_byte_moves(text: str) -> None:
    source = text.encode()
    blanked = without_macros(source)
    assert len(blanked) == len(source)
    assert all(new in (old, ord(" ")) for old, new in zip(source, blanked, strict=True))


def test_a_header_with_macros_is_merged_into_without_a_second_declaration() -> None:
    there = b"#ifndef S_H\n#define S_H\nint say(const char *format, ...) PRINTF_LIKE(1, 2);\n#endif\n"
    assert merged(there, "int say(const char *format, ...);\n") == there
    added = merged(there, "/* More. */\nint more(int a) PRINTF_LIKE(1, 2);\n")
    assert b"/* More. */\nint more(int a) PRINTF_LIKE(1, 2);\n\n#endif" in added


def test_what_only_some_builds_declare_is_not_missing() -> None:
    header = b"""/* Guard after a comment. */
#ifndef A_H
/* and another */
#define A_H
#ifdef __cplusplus
extern "C" {
#endif
int wanted(int a);
#if defined(NO_STRLEN) && !defined(OTHER)
unsigned long strlen(const char *s);
#else
int elsewhere(void);
#endif
#ifdef DEBUG
int both(void);
#endif
int both(void);
#ifdef __cplusplus
}
#endif
#endif
"""
    assert [one.name for one in find_open_functions({"a.h": header})] == ["wanted", "both"]
    assert [one.name for one in functions(header) if one.conditional] == ["strlen", "elsewhere", "both"]


@pytest.mark.parametrize("line", ["FOO_BAR   ", "int f(a) ", "a(b,", "ABC(x) ", "int a; ", "FOO(", "word "])
def test_long_lines_take_no_long_time(line: str) -> None:
    started = time.process_time()
    functions((line * 8000 + "\n" + line * 30 + "(\n").encode())
    assert time.process_time() - started < 4
