"""A pass must be a pass: code under test that ends the runner early, hides tests, or loses some."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.values import CheckResult
from agent.workspace.checks import proven, run_checks

TEST = """from a import f

def test_one():
    assert f() == 1

class TestMore:
    def test_two(self):
        assert f() == 1
"""


def project(root: Path, code: str) -> Path:
    root.mkdir(exist_ok=True)
    (root / "a.py").write_text(code)
    (root / "test_a.py").write_text(TEST)
    return root


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos._exit(0)\n",
        "import os\ndef f():\n    os._exit(0)\n",
        "import os, signal\ndef f():\n    os.execv('/bin/true', ['true'])\n",
        "import threading, os\nthreading.Timer(0, lambda: os._exit(0)).start()\nimport time\ntime.sleep(2)\n",
    ],
)
@pytest.mark.parametrize("command", ["pytest -q -p no:cacheprovider", "python3 -m pytest -q -p no:cacheprovider"])
async def test_an_early_end_is_no_pass(tmp_path: Path, code: str, command: str) -> None:
    result = await run_checks(project(tmp_path / "p", code), command, 60)
    assert not result.ok and "ended before they reported" in result.output


@pytest.mark.parametrize("what", ["os.mkfifo(report)", "os.symlink('/dev/zero', report)", "os.truncate(report, 1 << 29)"])
async def test_a_report_that_is_none_is_not_waited_for(tmp_path: Path, what: str) -> None:
    swap = f"""import atexit, os, sys
report = next(word for word in sys.argv if word.startswith("--junitxml=")).partition("=")[2]
def swap():
    if not "{what}".startswith("os.truncate"):
        os.unlink(report)
    {what}
atexit.register(swap)
def f():
    return 1
"""
    result = await run_checks(project(tmp_path / "p", swap), "python3 -m pytest -q -p no:cacheprovider", 120)
    assert not result.ok and "ended before they reported" in result.output


async def test_results_come_from_the_report(tmp_path: Path) -> None:
    root = project(tmp_path / "p", "print('7 passed in 0.1s')\ndef f():\n    return 1\n")
    result = await run_checks(root, "pytest -q -s -p no:cacheprovider", 60)
    assert result.ok and (result.passed, result.failed) == (2, 0)
    assert result.passing == ("test_a.py::test_one", "test_a.py::TestMore::test_two")
    (root / "a.py").write_text("def f():\n    return 2\n")
    result = await run_checks(root, "pytest -q -p no:cacheprovider", 60)
    assert not result.ok and result.failing == ("test_a.py::test_one", "test_a.py::TestMore::test_two")


async def test_a_module_that_cannot_be_read_is_named_as_a_failure(tmp_path: Path) -> None:
    result = await run_checks(project(tmp_path / "p", "def f(:\n"), "pytest -q -p no:cacheprovider", 60)
    assert not result.ok and result.failing and "test_a" in result.failing[0]


def counted(
    ok: bool, passing: tuple[str, ...] = (), failing: tuple[str, ...] = (), passed: int | None = None
) -> CheckResult:
    return CheckResult(
        "make test", 0 if ok else 1, ok, passed if passed is not None else len(passing), len(failing), failing, passing
    )


@pytest.mark.parametrize(
    ("before", "now", "good"),
    [
        (counted(False, ("a", "b"), ("c",)), counted(True, ("a", "b", "c")), True),
        (counted(False, ("a", "b"), ("c",)), counted(True, ("a", "c", "new")), False),
        (counted(False, ("a", "b"), ("c",)), CheckResult("make test", 0, True), False),
        (counted(True, passed=9), counted(True, passed=8), False),
        (counted(True, passed=9), counted(True, passed=10), True),
        (CheckResult("make test", 2, False), CheckResult("make test", 0, True), True),  # nothing is counted there
        (counted(False, (), ("c",)), CheckResult("make test", 0, True), True),  # a runner that names only what fails
        (None, counted(True, ("a",)), True),
    ],
)
def test_tests_that_do_not_report_any_more_are_failures(before: CheckResult | None, now: CheckResult, good: bool) -> None:
    judged = proven(before, now)
    assert judged.ok == good
    assert good or before is None or not before.passing or set(judged.failing) >= {"b"}
