"""What is comment, what is literal and what is code, in every spelling that hides one in another."""

from __future__ import annotations

import pytest

from agent.c.preprocessor.comments import blanked, mask, noise, without_comments

CASES = {
    "line comment": ("int a; // b { \n}", "int a;        \n}"),
    "continued line comment": ("// a \\\n b {\nint c;", "     \\\n    \nint c;"),
    "block comment": ("a /* { \n \" */ b", "a      \n      b"),
    "unclosed block comment": ("a /* {", "a     "),
    "comment in a macro": ("#define A /* x \\\n y */ 1", "#define A      \\\n      1"),
    "comment mark in a string": ('s = "/* // */"; }', "s = " + " " * 10 + "; }"),
    "quote in a string": (r's = "\"{"; }', "s =      ; }"),
    "quote as a character": ("c = '\"'; d = '\\''; {", "c =    ; d =     ; {"),
    "string over two lines": ('s = "a\\\n{"; }', "s =   \\\n  ; }"),
    "string over two lines, CRLF": ('s = "a\\\r\n{"; }', "s =   \\\r\n  ; }"),
    "unclosed string": ('s = "a {\n}', "s =     \n}"),
    "unclosed string, cut in an escape": ('s = "a\\', "s =    "),
    "apostrophe in prose": ("#error don't {\n}", "#error don    \n}"),
    "separated digits": ("n = 1'000'000; c = '{';", "n = 1'000'000; c =    ;"),
    "hexadecimal digits": ("n = 0xFF'FF; }", "n = 0xFF'FF; }"),
    "a character behind a keyword": ("case'{': return'}';", "case   : return   ;"),
    "division": ("a = b / c / d;", "a = b / c / d;"),
}


@pytest.mark.parametrize("name", CASES)
def test_noise_is_blanked_and_nothing_moves(name: str) -> None:
    text, expected = CASES[name]
    assert blanked(text) == expected
    for version in (mask(text), without_comments(text)):
        assert len(version) == len(text)
        assert [i for i, c in enumerate(version) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]


def test_a_mask_keeps_the_quotes_and_without_comments_the_whole_literals() -> None:
    text = 'f("a//b", \'{\'); // "c"'
    assert mask(text) == 'f("    ", \' \');       '
    assert without_comments(text) == 'f("a//b", \'{\');       '


def test_each_comment_and_literal_is_told_with_its_place() -> None:
    text = "/* a */ \"b\" 1'0 // c"
    assert [(text[one.start : one.end], one.comment) for one in noise(text)] == [
        ("/* a */", True), ('"b"', False), ("// c", True),
    ]  # fmt: skip


@pytest.mark.parametrize("piece", ["/*", '"\\', "'", "1'", "//\\\n", "\\\r\n", '"a'])
def test_odd_text_costs_linear_time(piece: str) -> None:
    text = piece * 40_000
    assert len(mask(text)) == len(blanked(text)) == len(text)
