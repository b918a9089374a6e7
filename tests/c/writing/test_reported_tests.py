"""What a task tells of single calls, as checks of a file of tests that is there, in its own style."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agent.c.writing.reported_tests import with_reported
from agent.c.writing.tests_in_file import reporting_in

TOLD = [("steps(12)", "5", ""), ("name(2)", "'two'", "")]
PLAIN = """#include "steps.h"
#include <assert.h>

static void test_none(void)
{
    assert(steps(0) == 0);
}

int main(void)
{
    test_none();
    return 0;
}
"""
HANDED_ON = """#include "unity.h"
#include "steps.h"

void test_none(void) { TEST_ASSERT_TRUE(steps(0) == 0); }

int main(void)
{
  UNITY_BEGIN();
  RUN_TEST(test_none, "none");
  return UNITY_END();
}
"""
IN_MAIN = """#include <stdio.h>
#include <string.h>
#include "steps.h"
#define CHECK(x) do { if (!(x)) { printf("FAIL %d\\n", __LINE__); bad = 1; } } while (0)

int main(void)
{
\tint bad = 0;
\tCHECK(steps(0) == 0);
\tCHECK(steps(1) == 1);
\treturn bad;
}
"""


def test_a_function_of_its_own_is_called_as_the_others_are() -> None:
    text = reporting_in(PLAIN, TOLD)
    assert "static void test_reported_1(void)\n{\n    assert(steps(12) == 5);\n}\n" in text
    assert '    assert(strcmp(name(2), "two") == 0);\n' in text and text.count("#include <string.h>\n") == 1
    assert "    test_none();\n    test_reported_1();\n    test_reported_2();\n    return 0;" in text
    handed = reporting_in(HANDED_ON, TOLD[:1])
    assert '  RUN_TEST(test_none, "none");\n  RUN_TEST(test_reported_1, "none");\n' in handed
    assert "    TEST_ASSERT_TRUE(steps(12) == 5);\n" in handed


def test_checks_of_main_get_another_beside_them() -> None:
    text = reporting_in(IN_MAIN, TOLD)
    added = '\tCHECK(steps(1) == 1);\n\tCHECK(steps(12) == 5);\n\tCHECK(strcmp(name(2), "two") == 0);\n\treturn bad;'
    assert added in text and text.count("#include <string.h>") == 1 and "test_reported" not in text


@pytest.mark.parametrize(
    ("wanted", "condition"),
    [("True", "f(1) != 0"), ("False", "f(1) == 0"), ("None", "f(1) == NULL"), ("'x'", "f(1) == 'x'"),
     ('"x"', 'strcmp(f(1), "x") == 0'), ("-3", "f(1) == -3"), ("[1]", ""), ("(1, 2)", "")],
)  # fmt: skip
def test_what_a_result_is_in_c(wanted: str, condition: str) -> None:
    text = with_reported(PLAIN, ["test_none"], [("f(1)", wanted, "")])
    assert f"assert({condition});" in text if condition else text == ""


def test_nothing_where_it_cannot_be_said_in_c() -> None:
    assert with_reported(PLAIN, [], [("f(1)", "", "ValueError")]) == ""
    assert with_reported(PLAIN, [], [("f(1)", "2", ""), ("f(2)", "", "KeyError")]) == ""
    assert with_reported("int f(void) { return 1; }\n", [], [("f()", "2", "")]) == ""
    again = with_reported(reporting_in(PLAIN, TOLD[:1]), ["test_none", "test_reported_1"], TOLD[:1])
    assert "test_reported_2" in again


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
@pytest.mark.parametrize("text", [PLAIN, IN_MAIN], ids=["functions", "main"])
def test_the_file_with_more_checks_is_built_and_fails(tmp_path: Path, text: str) -> None:
    (tmp_path / "steps.h").write_text("int steps(int n);\nconst char *name(int n);\n")
    code = '#include "steps.h"\nint steps(int n) { return n; }\nconst char *name(int n) { return n ? "two" : ""; }\n'
    (tmp_path / "steps.c").write_text(code)
    (tmp_path / "test_steps.c").write_text(reporting_in(text, TOLD))
    words = ["cc", "-Wall", "-Werror", "steps.c", "test_steps.c", "-o", "t"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, text=True).stderr == ""
    assert subprocess.run(["./t"], cwd=tmp_path, capture_output=True).returncode != 0
