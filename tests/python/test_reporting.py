"""Tests that are written of what a task reports: they run in the form that the project's runner finds."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.python.tests_in_file import reporting

HOMES = {"half": "src/sums.py"}
REPORTED = [("half(4)", "2", ""), ("half(None)", "", "TypeError"), ("half(3)", "2", "")]


@pytest.mark.parametrize(("flavour", "runner"), [("", ["pytest", "-q"]), ("unittest", ["unittest"])])
def test_each_reported_call_is_a_test_of_its_own(tmp_path: Path, flavour: str, runner: list[str]) -> None:
    (tmp_path / "sums.py").write_text("def half(number):\n    return number // 2\n")
    (tmp_path / "test_reported_half.py").write_text(reporting(HOMES, REPORTED, flavour))
    command = [sys.executable, "-m", *runner, "test_reported_half.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode != 0 and "test_reported_3" in said, said
    assert "1 failed, 2 passed" in said if not flavour else "failures=1" in said and "Ran 3 tests" in said
