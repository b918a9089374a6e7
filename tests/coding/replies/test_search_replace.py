"""Search/replace edits: what is matched, what is refused, and that nothing else moves."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent.coding.replies.search_replace import EditBlock, apply_edit, apply_edits, parse_edits

SOURCE = b"def a():\n    return 1\n\n\ndef b():\n    return 1\n"


def test_a_reply_with_prose_fences_and_two_files_is_read() -> None:
    reply = (
        "Sure! Here are the changes.\n\nFILE: src/a.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n"
        ">>>>>>> REPLACE\n```\n"
        "and\n\n**src/b.py**\n```\n<<<<<<< SEARCH\n=======\nprint(1)\n>>>>>>> REPLACE\n```\nDone."
    )
    parsed = parse_edits(reply)
    assert parsed.edits == (EditBlock("src/a.py", "x = 1", "x = 2"), EditBlock("src/b.py", "", "print(1)"))
    assert parsed.problems == ()


def test_a_cut_block_is_a_problem_and_the_whole_ones_stay() -> None:
    reply = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nc\n=======\nd"
    parsed = parse_edits(reply, "x.c")
    assert parsed.edits == (EditBlock("x.c", "a", "b"),)
    assert len(parsed.problems) == 1 and "line 6" in parsed.problems[0]


def test_no_block_is_a_problem() -> None:
    assert parse_edits("I cannot help with that.").problems


def test_an_underline_of_equal_signs_is_no_separator() -> None:
    reply = "FILE: r.rst\n<<<<<<< SEARCH\nTitle\n=====\n=======\nTitles\n======\n>>>>>>> REPLACE"
    assert parse_edits(reply).edits == (EditBlock("r.rst", "Title\n=====", "Titles\n======"),)


def test_a_unique_line_is_replaced_and_the_rest_is_untouched() -> None:
    result = apply_edit(SOURCE, EditBlock("m.py", "def b():\n    return 1", "def b():\n    return 2"))
    assert result.ok and result.how == "exact"
    assert result.data == SOURCE.replace(b"def b():\n    return 1", b"def b():\n    return 2")
    assert (result.added, result.removed) == (1, 1)


def test_two_places_are_refused_with_their_number() -> None:
    result = apply_edit(SOURCE, EditBlock("m.py", "    return 1", "    return 2"))
    assert not result.ok and "2 times" in result.reason and result.data == SOURCE


def test_a_whole_line_wins_over_the_same_text_inside_another() -> None:
    result = apply_edit(b"x = 10\nx = 1\n", EditBlock("m", "x = 1", "x = 3"))
    assert result.ok and result.data == b"x = 10\nx = 3\n"


def test_lost_indentation_is_tolerated_and_given_back() -> None:
    source = b"class A:\n    def f(self):\n        if x:\n            return 1\n"
    result = apply_edit(source, EditBlock("m", "if x:\n    return 1", "if x:\n    y()\n    return 2"))
    assert result.ok and result.how == "whitespace"
    assert result.data == b"class A:\n    def f(self):\n        if x:\n            y()\n            return 2\n"


def test_tabs_for_spaces_are_tolerated() -> None:
    result = apply_edit(b"int f(void)\n{\n\treturn 1;\n}\n", EditBlock("m", "{\n    return 1;\n}", "{\n    return 2;\n}"))
    assert result.ok and result.data == b"int f(void)\n{\n\treturn 2;\n}\n"


def test_a_miss_shows_the_nearest_text() -> None:
    result = apply_edit(SOURCE, EditBlock("m.py", "def b():\n    return 11", "x"))
    assert not result.ok and result.nearest == "def b():\n    return 1" and result.nearest_line == 5


def test_a_miss_with_nothing_alike_shows_nothing() -> None:
    result = apply_edit(SOURCE, EditBlock("m.py", "SELECT * FROM users WHERE name = 'x'", "x"))
    assert not result.ok and result.nearest == ""


def test_crlf_bom_and_missing_final_newline_stay() -> None:
    source = b"\xef\xbb\xbfa = 1\r\nb = 2\r\nc = 3"
    result = apply_edit(source, EditBlock("m", "b = 2\nc = 3", "b = 2\nx = 0\nc = 4"))
    assert result.ok and result.data == b"\xef\xbb\xbfa = 1\r\nb = 2\r\nx = 0\r\nc = 4"


def test_a_part_of_a_line_in_a_crlf_file() -> None:
    result = apply_edit(b"one\r\ntwo(1)\r\nthree\r\n", EditBlock("m", "(1)\nthr", "(2)\nthr"))
    assert result.ok and result.data == b"one\r\ntwo(2)\r\nthree\r\n"


def test_an_empty_replacement_takes_the_lines_with_their_ends() -> None:
    assert apply_edit(b"a\nb\nc\n", EditBlock("m", "b", "")).data == b"a\nc\n"


def test_latin1_stays_latin1_and_refuses_what_it_cannot_hold() -> None:
    source = "gr\u00fc\u00dfe = 1\n".encode("latin-1")
    assert apply_edit(source, EditBlock("m", "= 1", "= '\u00e4'")).data == "gr\u00fc\u00dfe = '\u00e4'\n".encode("latin-1")
    refused = apply_edit(source, EditBlock("m", "= 1", "= '\u20ac'"))
    assert not refused.ok and "latin-1" in refused.reason


def test_a_binary_file_is_refused() -> None:
    assert not apply_edit(b"\x7fELF\0\0", EditBlock("m", "ELF", "x")).ok


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "~/x", "C:\\x", ""])
def test_paths_out_of_the_project_are_refused(path: str) -> None:
    outcome = apply_edits({"a.py": b"x\n"}, [EditBlock(path, "", "boo")])
    assert not outcome.ok and outcome.files == {}


def test_a_protected_test_is_refused_and_nothing_is_changed() -> None:
    files = {"a.py": b"x = 1\n", "tests/test_a.py": b"assert x\n"}
    edits = [EditBlock("a.py", "x = 1", "x = 2"), EditBlock("test_a.py", "assert x", "pass")]
    outcome = apply_edits(files, edits, protected=["tests/test_a.py"])
    assert not outcome.ok and outcome.files == {} and "protected" in outcome.results[1].reason


@pytest.mark.parametrize("path", ["./src/link.c", "src//link.c", "src\\link.c", ".//src/./link.c"])
def test_a_rule_is_asked_of_the_cleaned_path(path: str) -> None:
    asked: list[str] = []
    rule = lambda one: bool(asked.append(one)) or one == "src/link.c"  # noqa: E731
    outcome = apply_edits({"a.c": b"x\n"}, [EditBlock(path, "", "boo")], protected=rule)
    assert not outcome.ok and asked == ["src/link.c"] and "protected" in outcome.results[0].reason


def test_a_path_is_cleaned_a_folder_and_a_file_below_a_file_are_refused() -> None:
    assert apply_edits({"src/a.c": b"x\n"}, [EditBlock("./src//a.c", "x", "y")]).files == {"src/a.c": b"y\n"}
    for path in ("src/", "src/.", "."):
        assert "folder" in apply_edits({}, [EditBlock(path, "", "boo")]).results[0].reason
    outcome = apply_edits({}, [EditBlock("new.c", "", "int x;"), EditBlock("new.c/more.c", "", "int y;")])
    assert not outcome.ok and "at once" in outcome.results[1].reason


@pytest.mark.parametrize(
    "reply",
    [
        "<<<<<<< SEARCH\n" * 5000,
        "<<<<<<< SEARCH\nx\n=======\n" * 5000,
        "a.c\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n" * 2000,
        "FILE:" + " " * 20000 + "`x`y",
        ("FILE:" + " " * 400 + "`x`y\n") * 100,
        "<<<<<<<" + " " * 20000 + "x",
        "a." * 10000 + "!\n<<<<<<< SEARCH",
    ],
    ids=["opens", "no end", "many", "spaces", "lines of spaces", "open and spaces", "dots"],
)
def test_a_reply_that_repeats_itself_is_refused_in_time_linear_in_its_length(reply: str) -> None:
    started = time.process_time()
    parsed = parse_edits(reply)
    assert time.process_time() - started < 0.5
    assert not parsed.edits and 1 <= len(parsed.problems) <= 3


def test_a_new_file_is_made_and_a_short_path_is_found() -> None:
    blocks = [EditBlock("a.py", "x = 1", "x = 2"), EditBlock("src/b.py", "", "y = 1\n")]
    outcome = apply_edits({"src/a.py": b"x = 1\n"}, blocks)
    assert outcome.ok and outcome.files == {"src/a.py": b"x = 2\n", "src/b.py": b"y = 1\n"}


def test_a_search_in_a_file_that_is_not_there_names_the_files_that_are() -> None:
    outcome = apply_edits({"src/a.py": b"x\n"}, [EditBlock("src/q.py", "x", "y")])
    assert "src/a.py" in outcome.results[0].reason


_line = st.text(alphabet="ab=(){} \t#\u00e9", max_size=8).map(str.rstrip).filter(bool)
_newline = st.sampled_from(["\n", "\r\n"])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(_line, min_size=1, max_size=6),
    st.lists(_line, max_size=6),
    _newline,
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_an_edit_and_its_inverse_give_the_same_bytes(
    before: list[str], after: list[str], newline: str, bom: bool, final: bool, data: st.DataObject
) -> None:
    old = ["OLD " + line for line in data.draw(st.lists(_line, min_size=1, max_size=3))]
    new = ["NEW " + line for line in data.draw(st.lists(_line, min_size=1, max_size=3))]
    assume(len(set(old)) == len(old) and len(set(new)) == len(new))
    text = newline.join([*before, *old, *after]) + (newline if final else "")
    source = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    there = apply_edit(source, EditBlock("f", "\n".join(old), "\n".join(new)))
    assert there.ok, there.reason
    assert there.data == source.replace(newline.join(old).encode(), newline.join(new).encode())
    back = apply_edit(there.data, EditBlock("f", "\n".join(new), "\n".join(old)))
    assert back.ok and back.data == source


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.text(max_size=20), st.text(max_size=20))
def test_no_input_raises_and_a_failure_changes_nothing(source: bytes, search: str, replace: str) -> None:
    result = apply_edit(source, EditBlock("f", search, replace))
    assert result.ok or result.data == source
