"""Words in text, against the patterns that one would write for a single name."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.c.declarations.scan import scan
from agent.c.words import around, holds_word, is_called, is_member
from agent.compiling.reading.diagnostics import is_noise

TEXT = st.lists(
    st.sampled_from(["time", "timer", "a", "3", ".", "->", "(", ")", " ", "=", "_", "*", ",", ">", "x.time", "time("])
).map("".join)
NAME = st.sampled_from(["time", "a", "x", "timer"])


@settings(max_examples=150, deadline=None)
@given(TEXT, NAME)
def test_they_find_what_a_pattern_for_the_name_finds(text: str, name: str) -> None:
    assert holds_word(text, name) == bool(re.search(rf"\b{name}\b", text))
    assert is_called(text, name) == bool(re.search(rf"\b{name}\s*\(", text))
    assert is_member(text, name) == bool(re.search(rf"(?:\.|->)\s*{name}\b", text))
    loose = re.search(rf"(?<![\w.>]){name}\b", text)
    sides = (text[: loose.start()].rstrip(), text[loose.end() :].lstrip()) if loose else None
    assert around(text, name) == sides


def test_lines_that_only_count_or_end_are_noise_in_any_case() -> None:
    noise = (
        "2 errors generated.", "1 Warning", "compilation terminated.", "  ^", "(Each undeclared identifier is …",
        "all warnings being treated as errors", "ld returned 1 exit status", "Linker command failed with …",
    )  # fmt: skip
    for text in noise:
        assert is_noise(text), text
    for text in ("expected 2 errors", "exit status is not declared", "unknown type name 'linker'"):
        assert not is_noise(text), text


def test_a_scan_steps_over_bodies_whatever_their_braces() -> None:
    found = scan(
        "int f(void) { if (a) { b(); } while (c) { { } } }\nint g(void) { { }\n"
        "typedef struct { struct inner { int x; } y; } outer;\n"
    )
    assert found.functions == {"f": True, "g": True}
    found = scan("struct s { int a[2]; }; static int v = { 1, { 2 } }; enum e { ONE = (1), TWO };\nint after(void);")
    assert found.has("ONE")
    assert found.has("TWO")
    assert found.has("after")
    assert found.has("v")
    assert not found.has("s")
    assert all(found.has(name) for name in found.names())
