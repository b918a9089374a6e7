"""Files of tests in which each test is tried in a process of its own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from agent.c.writing.isolated import isolated
from agent.language.base import TEST_LIMIT

UNITY = """#define TEST_FAIL_MESSAGE(said) do { printf("%s:%d:%s:FAIL: %s\\n", __FILE__, __LINE__, name, said); failed++; \\
    longjmp(place, 1); } while (0)
#define RUN_TEST(test) do { name = #test; if (!setjmp(place)) { \\
    test(); printf("%s:%d:%s:PASS\\n", __FILE__, 1, name); } } while (0)
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static int failed;
static const char *name;
"""
TESTS = """
static void test_null(void) { const volatile int *p = 0; CHECK(*p == 1); }
static void test_right(void) { CHECK(1 + 1 == 2); }
static void test_endless(void) { for (volatile int i = 1; i;) { } }
static void test_wrong(void) { CHECK(1 + 1 == 3); }
static void test_last(void) { CHECK(seen == 2); }
"""
RUN = """
int main(void)
{
    RUN(test_null); RUN(test_right); RUN(test_endless); RUN(test_wrong); seen = 2; RUN(test_last);
    return 0;
}
"""


def ran(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """What the program made of ``text`` comes to, built without a warning."""
    (folder / "unity.h").write_text(UNITY)
    (folder / "test_it.c").write_text(text)
    build = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wmissing-declarations", "test_it.c", "-o", "t"]
    subprocess.run(build, cwd=folder, check=True)
    return subprocess.run(["./t"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_unity_hears_every_test(tmp_path: Path) -> None:
    text = '#include "unity.h"\n#define CHECK(c) do { if (!(c)) TEST_FAIL_MESSAGE("wrong"); } while (0)\nstatic int seen;\n'
    changed = isolated(text + TESTS + RUN.replace("RUN(", "RUN_TEST("), "test_it.c")
    said = ran(tmp_path, changed).stdout.splitlines()
    assert [line.split(":", 2)[2] for line in said] == [
        "test_null:FAIL: it crashes", "test_right:PASS", "test_endless:FAIL: it does not end", "test_wrong:FAIL: wrong",
        "test_last:PASS",
    ]  # fmt: skip
    assert said[0].startswith("test_it.c:5:")  # as it stands in the file


def test_plain_assertions_are_told_one_by_one(tmp_path: Path) -> None:
    text = "#include <assert.h>\n#define CHECK(c) assert(c)\nstatic int seen;\n"
    plain = re.sub(r"RUN\((\w+)\)", r"\1()", RUN)
    done = ran(tmp_path, isolated(text + TESTS + plain, "test_it.c"))
    assert [line.split(":", 2)[2] for line in done.stdout.splitlines()] == [
        "test_null:FAIL: it crashes", "test_right:PASS", "test_endless:FAIL: it does not end",
        "test_wrong:FAIL: it is aborted", "test_last:PASS",
    ]  # fmt: skip
    assert done.returncode == 1 and "Assertion `1 + 1 == 3' failed" in done.stderr


def test_the_environment_says_how_long_a_test_may_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "#include <assert.h>\n#include <poll.h>\n"
    tests = "static void test_slow(void) { poll(0, 0, 60000); }\nstatic void test_quick(void) { assert(1); }\n"
    program = isolated(f"{text}{tests}int main(void) {{ test_slow(); test_quick(); return 0; }}\n", "test_it.c")
    monkeypatch.setenv(TEST_LIMIT, "20000")
    assert [line.split(":", 2)[2] for line in ran(tmp_path, program).stdout.splitlines()] == [
        "test_slow:FAIL: it does not end", "test_quick:PASS",
    ]  # fmt: skip


def test_files_that_look_after_themselves_stay() -> None:
    own = '#include "unity.h"\n#include <unistd.h>\nstatic void start(void) { if (fork() == 0) { } }\n'
    assert isolated(own + TESTS + RUN, "t.c") == ""
    assert isolated("#include <stdio.h>\n" + TESTS + RUN, "t.c") == ""
    assert (
        isolated('#include "unity.h"\nstatic void test_one(void) { }\nint main(void) { test_one(); return 0; }\n', "t.c")
        == ""
    )
