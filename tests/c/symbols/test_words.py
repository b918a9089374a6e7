# ruff: noqa: SIM905
"""No keyword of C is ever a symbol, a call or a use; words that only look like one are."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.c.symbols.reader import parse

KEYWORDS = """
alignas alignof auto bool break case char const constexpr continue default do double else enum extern false float for goto if
inline int long nullptr register restrict return short signed sizeof static static_assert struct switch thread_local true
typedef typeof typeof_unqual union unsigned void volatile while _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal128
_Decimal32 _Decimal64 _Generic _Imaginary _Noreturn _Static_assert _Thread_local asm __asm__ __attribute__ __typeof__
__extension__ __alignof__ defined __has_include __VA_OPT__ _Pragma
""".split()
"""C23 6.4.1 and 6.10, the underscored spellings before it, and the usual GNU ones."""
MAY_BE_DECLARED = {"bool", "constexpr", "false", "nullptr", "thread_local", "true"}
"""Keywords since C23 only, which older code may define itself."""

PLACES = {
    "in a function": "int f(void)\n{\n    int x = 1;\n    %s (x) { x++; }\n    return x;\n}\n",
    "after another": "int f(int x)\n{\n    if (x) return 1; else %s(x) x--;\n    return 0;\n}\n",
    "in a macro": "#define CHECK(x) do { %s (!(x)) { log_it(x); } } while (0)\n",
    "in a condition": "#if %s(WINDOWS) && 1\nint f(void);\n#endif\n",
    "in broken code": "int f(int x) {\n  %s (x {\n}\nint g(void) { return %s(1); }\n",
    "at top level": "%s(int) f(void);\n%s (x) { }\n",
    "bare": "int f(int first) { %s first; }\n",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_keyword_is_never_a_symbol_nor_a_reference(place: str) -> None:
    for keyword in KEYWORDS:
        parsed = parse(PLACES[place].replace("%s", keyword).encode())
        assert keyword not in {r.target for r in parsed.references}, keyword
        assert keyword not in {s.name for s in parsed.symbols} - MAY_BE_DECLARED, keyword


def test_the_words_of_directives_are_no_names_but_functions_may_be_called_like_them() -> None:
    parsed = parse(
        b"#include <lib/error.h>\n#error use make_config first\n#pragma once_more\n#define LIMIT compute(3)\n"
        b"void error(const char *text);\nvoid warning(const char *text) { error(text); }\n"
        b"int line;\nint define(int undef) { warning(0); return line + undef; }\n"
    )
    assert {s.name for s in parsed.symbols} == {"LIMIT", "error", "warning", "line", "define"}
    calls = {(r.source, r.target) for r in parsed.references if r.kind == "call"}
    assert calls == {("LIMIT", "compute"), ("warning", "error"), ("define", "warning")}
    uses = {r.target for r in parsed.references if r.kind == "use"}
    assert "line" in uses
    assert not uses & {"make_config", "first", "once_more", "pragma", "error", "lib"}


def test_the_calls_of_a_demo_are_those_it_makes() -> None:
    source = Path(__file__).resolve().parents[3] / "demo_repos/ring_buffer/examples/demo.c"
    calls = {r.target for r in parse(source.read_bytes()).references if r.kind == "call"}
    assert calls == {"ring_create", "log_line", "scanf", "ring_push", "ring_pop", "printf", "ring_destroy"}
