# ruff: noqa: E501, SIM905
from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.c.symbols.reader import parse
from agent.language.symbols import ParsedFile, Symbol

NASTY = (Path(__file__).parent / "nasty.c.txt").read_bytes()


def find(parsed: ParsedFile, name: str, kind: str = "function") -> Symbol:
    found = [s for s in parsed.symbols if s.name == name and s.kind == kind]
    assert len(found) == 1, (name, kind, [(s.name, s.kind, s.line) for s in parsed.symbols])
    return found[0]


def body(source: bytes, symbol: Symbol) -> bytes:
    return source[symbol.body_start : symbol.body_end]


SOUND = b"""\
/* Copyright 2020 Somebody. All rights reserved. */
/*
 * Rings of bytes.
 */
#include <stdio.h>
#include "ring.h"
#define RING_MAX 16
#define LARGER(a, b) \\
    ((a) > (b) ? (a) : (b))

struct ring { int head; struct slot { int used; } slots[4]; };
typedef struct { int x; } point;
typedef int (*visit_fn)(void *);
union word { int i; float f; };
enum color { RED, GREEN = 3 };
extern int counter;
static const char *names[] = { "a;{" };

/** Pushes one.
 *  @return 0 */
static int ring_push(struct ring *r, int v) { return LARGER(r->head, v); }

// Pops one.
// Never blocks.
int ring_pop(struct ring *r)
{
    char c = '}';
    return ring_push(r, c);
}
int ring_peek(const struct ring *r);
"""


def test_every_kind_of_symbol_is_found() -> None:
    parsed = parse(SOUND)
    kinds = {(s.qualified, s.kind) for s in parsed.symbols}
    assert kinds == {
        ("RING_MAX", "macro"), ("LARGER", "macro"), ("ring", "struct"), ("ring.slot", "struct"), ("point", "typedef"),
        ("visit_fn", "typedef"), ("word", "union"), ("color", "enum"), ("color.RED", "enumerator"), ("color.GREEN", "enumerator"),
        ("counter", "global"), ("names", "global"), ("ring_push", "function"), ("ring_pop", "function"), ("ring_peek", "prototype"),
    }  # fmt: skip
    assert parsed.errors == 0
    assert parsed.doc == "Rings of bytes."


def test_ranges_signatures_and_comments_are_exact() -> None:
    parsed = parse(SOUND)
    push, pop = find(parsed, "ring_push"), find(parsed, "ring_pop")
    assert SOUND[push.start : push.end] == b"static int ring_push(struct ring *r, int v) { return LARGER(r->head, v); }"
    assert body(SOUND, push) == b"{ return LARGER(r->head, v); }"
    assert push.static and not pop.static
    assert push.doc == "Pushes one.\n@return 0" and SOUND[push.doc_start :].startswith(b"/** Pushes one.")
    assert pop.doc == "Pops one.\nNever blocks."
    assert pop.signature == "int ring_pop(struct ring *r)"
    assert SOUND.splitlines()[pop.line - 1] == b"int ring_pop(struct ring *r)"
    assert SOUND.splitlines()[pop.end_line - 1] == b"}"
    larger = find(parsed, "LARGER", "macro")
    assert SOUND[larger.start : larger.end].endswith(b"(a) : (b))")


def test_members_and_numbers_are_no_uses() -> None:
    source = b"int f(int p) { return p->lost + q.gone + 0xFFul + 1.5e3f + kept(p -> left, .5) + member; }\n"
    assert [(r.kind, r.target) for r in parse(source).references] == [("call", "kept"), ("use", "member")]


def test_a_hash_in_the_middle_of_a_line_begins_no_directive() -> None:
    source = b"int a; # define lost 1\n  # define kept 2\n#\tdefine \\\n  odd 3\n"
    assert [s.name for s in parse(source).symbols if s.kind == "macro"] == ["kept"]


def test_calls_and_includes_name_their_place() -> None:
    refs = parse(SOUND).references
    includes = [(r.target, r.system, r.line) for r in refs if r.kind == "include"]
    assert includes == [("stdio.h", True, 5), ("ring.h", False, 6)]
    calls = {(r.source, r.target) for r in refs if r.kind == "call"}
    assert ("ring_pop", "ring_push") in calls and ("ring_push", "LARGER") in calls


NAMES = """foo bar kr att sp inside winf getfp after_macro tcp_open initx many bsd_style last three_lines implicit winx
Java_x c23 enumproc noreturn_fn log_it""".split()


@pytest.mark.parametrize("name", NAMES)
def test_functions_hidden_by_macros_and_split_braces_are_caught(name: str) -> None:
    symbol = find(parse(NASTY), name)
    text = body(NASTY, symbol)
    assert text.startswith(b"{") and text.endswith(b"}")
    assert name.encode() in NASTY[symbol.start : symbol.body_start]
    assert NASTY[symbol.start : symbol.end].endswith(text)


def test_split_function_ends_where_it_ends() -> None:
    parsed = parse(NASTY)
    assert body(NASTY, find(parsed, "sp")).endswith(b"return 1;\n}")
    assert NASTY[find(parsed, "after_macro").start :].startswith(b"int after_macro")
    assert find(parsed, "winf").signature == "DLLEXPORT void WINAPI winf(void)"
    assert find(parsed, "printf_like", "prototype").line == 53 and find(parsed, "uv_x", "prototype").line == 20


def test_types_behind_macros_are_caught() -> None:
    parsed = parse(NASTY)
    assert find(parsed, "opcode", "typedef").line < find(parsed, "handle_s", "struct").line
    assert ("Java_x", "g") in {(r.source, r.target) for r in parsed.references if r.kind == "call"}


def test_a_macro_among_the_members_does_not_stretch_the_type() -> None:
    source = (
        b"#define FIELDS int a;\nstruct loop {\n  unsigned flag;\n  FIELDS\n};\n\n"
        b"EXTERN void* loop_data(const struct loop*);\nEXTERN void loop_stop(struct loop*);\n\n"
        b"union any {\n  HANDLES(XX)\n};\ntypedef struct {\n  int x;\n  MORE\n} pair_t;\nEXTERN int last(void);\n"
    )
    parsed = parse(source)
    assert source[find(parsed, "loop", "struct").start : find(parsed, "loop", "struct").end].endswith(b"FIELDS\n}")
    assert source[: find(parsed, "pair_t", "typedef").end].endswith(b"MORE\n} pair_t;")
    assert find(parsed, "any", "union").end_line == 12
    assert {s.name for s in parsed.symbols if s.kind == "prototype"} == {"loop_data", "loop_stop", "last"}


def test_neighbours_survive_a_broken_function() -> None:
    source = b"int one(void) { return 1; }\nint two(int a { retur 2 +; }\nint three(void) { return 3; }\n"
    parsed = parse(source)
    assert parsed.errors > 0
    assert body(source, find(parsed, "one")) == b"{ return 1; }"
    assert body(source, find(parsed, "three")) == b"{ return 3; }"


def test_one_function_of_two_branches_is_told_once_per_branch() -> None:
    source = b"#ifdef A\nint f(int a) { return a; }\n#else\nint f(int a) { return -a; }\n#endif\nint g(void) { return 1; }\n"
    parsed = parse(source)
    assert [s.line for s in parsed.symbols if s.name == "f"] == [2, 4]
    assert body(source, find(parsed, "g")) == b"{ return 1; }"


def test_bytes_that_are_no_text_do_not_stop_it() -> None:
    source = b'\xef\xbb\xbfint a(void) { return 1; }\r\nchar *s = "\xff\xfe";\r\nint b(void) {\r\n}\r\n'
    parsed = parse(source)
    assert source[find(parsed, "b").start :].startswith(b"int b")
    assert source[find(parsed, "a").start :].startswith(b"int a")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cutting_the_source_anywhere_never_raises_and_keeps_ranges_inside(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(NASTY)))
    end = data.draw(st.integers(start, len(NASTY)))
    source = NASTY[:start] + NASTY[end:]
    for symbol in parse(source).symbols:
        assert 0 <= symbol.start < symbol.end <= len(source)
        assert symbol.name.encode() in source[symbol.start : symbol.end] or "_" in symbol.name
        if symbol.body_start >= 0:
            assert symbol.start < symbol.body_start < symbol.body_end == symbol.end
            assert source[symbol.body_start : symbol.body_start + 1] == b"{"
