"""Test functions in files of tests: found, weighed, taken out, run one by one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent.c.writing.tests_in_file import chooser, every_test_called
from agent.languages import named

C = """#include <assert.h>
#include "ring.h"

static void check(int value)
{
    assert(ring_next(value) > value);
}

/* forward */
static void test_late(void);

// The first.
static void test_first(void)
{
    check(1);
}

static void test_idle(void)
{
    ring_next(2); /* "}" */
}

static void test_late(void)
{
    assert(ring_next(3) == 4);
}

int main(void)
{
    test_first();
    test_idle();
    test_late();
    return 0;
}
"""
PY = '''import pytest

from words import count


@pytest.mark.parametrize("text", ["a", "b"])
def test_one(text):
    assert count(text) == 1


class TestMore:
    """More."""

    def test_two(self):
        assert count("a b") == 2


def test_idle():
    count("")
'''


def test_what_is_a_test_and_what_checks_something() -> None:
    assert named("c").tests.names(C) == ["test_first", "test_idle", "test_late"]
    assert named("c").tests.asserting(C) == ["test_first", "test_late"]
    assert named("python").tests.names(PY) == ["test_one", "test_idle", "test_two"]
    assert named("python").tests.asserting(PY) == ["test_one", "test_two"]


def test_taking_out_leaves_a_whole_file_and_never_only_idle_tests() -> None:
    left = named("c").tests.without(C, ["test_first"])
    assert named("c").tests.names(left) == ["test_idle", "test_late"] and "The first." not in left
    assert "    test_idle();\n    test_late();\n    return 0;\n" in left and left.count("main(") == 1
    assert named("c").tests.without(C, ["test_first", "test_late"]) == ""
    assert "test_late(void);" not in named("c").tests.without(C, ["test_late"])
    left = named("python").tests.without(PY, ["test_two"])
    assert "TestMore" not in left and named("python").tests.names(left) == ["test_one", "test_idle"]
    left = named("python").tests.without(PY, ["test_one"])
    assert "parametrize" not in left and named("python").tests.asserting(left) == ["test_two"]
    assert named("python").tests.without(PY, ["test_one", "test_two"]) == ""


def test_main_has_to_call_every_test_itself_or_through_a_table() -> None:
    assert every_test_called(C)
    assert not every_test_called(C.replace("    test_late();\n", ""))
    table = C.replace("int main", "static void (*all[])(void) = {test_first, test_idle, test_late};\n\nint main")
    assert every_test_called(table.replace("    test_late();\n    return", "    all[0]();\n    return"))
    through = C.replace("    test_late();\n    return", "    rest();\n    return")
    assert every_test_called(through.replace("int main", "static void rest(void)\n{\n    test_late();\n}\n\nint main"))


@pytest.mark.parametrize(("language", "text"), [("c", C), ("python", PY)])
def test_what_is_whole_of_a_reply_that_was_cut_off(language: str, text: str) -> None:
    """Wherever a file is cut: what is left of it parses and checks something, or there is nothing."""
    seen = set()
    for end in range(0, len(text), 7):
        left = named(language).tests.whole_part(text[:end])
        seen.add(bool(left))
        assert not left or named(language).tests.asserting(left)
        assert set(named(language).tests.names(left)) <= set(named(language).tests.names(text))
    assert seen == {False, True}


def test_each_test_of_a_program_can_be_run_alone(tmp_path: Path) -> None:
    (tmp_path / "ring.h").write_text("static inline int ring_next(int n) { return n == 3 ? 5 : n + 1; }\n")
    (tmp_path / "one.c").write_text(chooser(C, "tests/test_ring.c"))
    built = subprocess.run(["cc", "-o", "one", "one.c"], cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    codes = [subprocess.run(["./one", str(n)], cwd=tmp_path, capture_output=True, text=True) for n in range(4)]
    assert [done.returncode for done in codes] == [0, 0, -6, 3]
    assert "tests/test_ring.c:25: test_late: Assertion" in codes[2].stderr


def test_what_an_interface_offers() -> None:
    header = b"int a(int);\nstatic inline int b(void) { return 1; }\nstatic int hidden(void) { return 1; }\nint x;\n"
    assert named("c").public_names(header) == {"a", "b"}
    module = b"def f(): ...\nclass C: ...\ndef _g(): ...\nX = 1\n"
    assert named("python").public_names(module) == {"f", "C"}
    assert named("python").public_names(b"def f(:") == set()
