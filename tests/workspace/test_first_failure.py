"""How far a program with assertions came."""

import subprocess
from pathlib import Path

import pytest

from agent.values import CheckResult
from agent.workspace.checks import worse
from agent.workspace.first_failure import Stop, further, stopped_at


def result(output: str, ok: bool = False, passed: int | None = 0) -> CheckResult:
    return CheckResult("make test", 0 if ok else 2, ok, passed=passed, output=output)


def at(line: int, function: str = "main") -> CheckResult:
    return result(f"t: tests/t.c:{line}: {function}: Assertion `n == 1' failed.\nmake: *** [Makefile:2: test] Aborted\n")


@pytest.mark.parametrize(
    "said",
    [
        "t: tests/t.c:30: main: Assertion `strcmp(a, b) == 0' failed.",
        "t: tests/t.c:30: int main(void): Assertion `n' failed.",
        "Assertion failed: n == 1 (tests/t.c: main: 30)",
        "Assertion failed: (n == 1), function main, file tests/t.c, line 30.",
    ],
)
def test_the_forms_of_the_c_libraries(said: str) -> None:
    assert stopped_at(f"cc -o t t.c\n./t\n{said}\nmake: *** [test] Aborted\n") == Stop("tests/t.c", "main", 30)


def test_what_a_real_program_says(tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text("#include <assert.h>\nint main(void)\n{\n    assert(1 + 1 == 3);\n}\n")
    subprocess.run(["gcc", "t.c", "-o", "t"], cwd=tmp_path, check=True)
    said = subprocess.run(["./t"], cwd=tmp_path, capture_output=True, text=True).stderr
    assert stopped_at(said) == Stop("t.c", "main", 4)


def test_later_in_the_same_function_is_further() -> None:
    assert further(at(10), at(20)) == 1 and further(at(20), at(10)) == -1 and further(at(10), at(10)) == 0
    assert further(at(10), at(20, "test_push")) == 0
    assert further(at(10), result("Segmentation fault\n")) == 0
    assert worse(at(20), at(10)) and not worse(at(10), at(20))


def test_counts_say_more_than_places() -> None:
    before = result(at(20).output, passed=3)
    assert further(before, result(at(10).output, passed=4)) == 0
    assert further(at(10), result("", ok=True)) == 0
