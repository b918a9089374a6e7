"""The project's own checks: the command that runs them, the result of a run, and the difference between two runs."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from agent.regular_files import read_regular
from agent.scratch import scratch_folder
from agent.values import CheckResult
from agent.walking import files_below
from agent.workspace.first_failure import further
from agent.workspace.junit import OPTIONS, read_junit
from agent.workspace.sandbox import PYTEST, PYTHON, CommandResult, Limits, needs_shell, run_command
from agent.workspace.testoutput import read_outcome

_TARGET = re.compile(r"^(?P<names>[^\s#=][^=:#]*?)\s*::?(?![:=])", re.M)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_KEPT_OUTPUT = 64 * 1024
_TELLING = re.compile(r"(?i)\berror\b|\bFAIL|undefined reference|^not ok|\*\*\*")
_NOT_BUILT = r": (?:fatal )?error: |^ninja: build stopped|undefined reference|^collect2: error"
DOES_NOT_BUILD = re.compile(_NOT_BUILT, re.M)
"""What a compiler or linker says of code that does not build; make alone says the same of a test that fails."""
_BUILD_BROKE = re.compile(rf"^make(?:\[\d+\])?: \*\*\* |{_NOT_BUILT}", re.M)


def find_test_command(root: Path, configured: str = "") -> str:
    """The command that runs the tests of the project in ``root``; "" when none is found.

    In this order: what the person configured; a Makefile's ``test`` or ``check`` target; pytest, where the project
    says or shows that it uses it; unittest files; a CMake or Meson build with tests.
    """
    if configured.strip():
        return configured.strip()
    for target in ("test", "tests", "check"):
        if target in make_targets(root):
            return f"make {target}"
    if _uses_pytest(root):
        return "pytest"
    if (root / "meson.build").is_file() and "test(" in _text(root / "meson.build") and shutil.which("meson"):
        return "sh -c 'test -d build || meson setup build; meson test -C build'"
    if (root / "CMakeLists.txt").is_file() and "enable_testing" in _text(root / "CMakeLists.txt") and shutil.which("ctest"):
        return "sh -c 'cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure'"
    return ""


def make_targets(root: Path) -> set[str]:
    """Names of the targets that the Makefile in ``root`` spells out (pattern rules and variables are not followed)."""
    for name in _MAKEFILES:
        if (root / name).is_file():
            found = _TARGET.finditer(_text(root / name))
            return {target for match in found for target in match["names"].split() if not target.startswith(".")}
    return set()


async def run_checks(
    root: Path, command: str, timeout: float = 300.0, *, limits: Limits | None = None, env: dict[str, str] | None = None
) -> CheckResult:
    """Run the checks once. ``ok`` means an exit code of 0 and, with pytest, a report of tests that ran: a process that ends
    early has passed nothing. A build that failed has no counts, or 0 passed.

    Python modules are imported from ``root`` before any place they are installed in: an editable installation of the
    project points at the person's tree, and the tests would measure that one.

    Raises:
        WorkspaceError: ``root`` does not exist or the command is empty.
    """
    env = _import_from(Path(root)) | (env or {})
    with tempfile.TemporaryDirectory(prefix="report-", dir=scratch_folder()) as folder:
        report = Path(folder).resolve() / "junit.xml"
        result, reported = await _run(command, root, timeout, limits, env, report)
        outcome = await asyncio.to_thread(read_junit, report) if reported else None
    vanished = outcome is None and reported and result.ok
    if outcome is None:
        outcome = await asyncio.to_thread(read_outcome, result.output)
    passed, failed = outcome.passed, outcome.failed
    if passed is None and not result.ok and _BUILD_BROKE.search(result.output):
        passed = 0
    if vanished:
        result = msgspec.structs.replace(result, output=f"{result.output}\n{_NO_REPORT}\n")
    return CheckResult(
        command=command,
        exit_code=result.exit_code,
        ok=result.ok and not vanished,
        passed=passed,
        failed=failed,
        failing=outcome.failing,
        passing=outcome.passing,
        seconds=result.seconds,
        timed_out=result.timed_out,
        output=_shortened(result.output),
    )


_NO_REPORT = "error: the tests ended before they reported a result, so none of them counts as passed."


async def _run(
    command: str, root: Path, timeout: float, limits: Limits | None, env: dict[str, str], report: Path
) -> tuple[CommandResult, bool]:
    """The result, and whether a report was asked for."""
    plain = _named(command)
    asked = _with_report(plain, report)
    result = await run_command(asked, root, timeout, limits=limits, env=env, writable=[report.parent])
    if asked != plain and result.exit_code == _USAGE and "--junitxml" in result.output:
        asked = plain  # a pytest without that plugin
        result = await run_command(plain, root, timeout, limits=limits, env=env)
    if own := _own_python(command, result):
        asked, plain = _with_report(own, report), own
        result = await run_command(asked, root, timeout, limits=limits, env=env, writable=[report.parent])
    return result, asked != plain


_USAGE = 4
"""pytest's exit code for a command line that it does not understand."""


def _with_report(command: str, report: Path) -> str:
    """The command with a report written to ``report``, where it plainly runs pytest and does not ask for a report itself."""
    if _pytest_options(command) is None or "--junitxml" in command or "--junit-xml" in command or needs_shell(command):
        return command
    return f"{command} {shlex.join((*OPTIONS, f'--junitxml={report}'))}"


def _pytest_options(command: str) -> list[str] | None:
    """The words after pytest in a command that plainly runs it; None for another command."""
    words = command.split()
    if words and words[0] in PYTEST:
        return words[1:]
    return words[3:] if words[1:3] == ["-m", "pytest"] else None


def proven(baseline: CheckResult | None, now: CheckResult) -> CheckResult:
    """``now``, but failed where it succeeded with fewer tests than ``baseline``: where tests are counted, an exit code alone
    is not enough. Tests that passed before and are not reported any more are added to ``failing``."""
    if baseline is None or not now.ok or not (baseline.passed or baseline.passing):
        return now
    named = set(now.passing) | set(now.failing)
    gone = tuple(name for name in baseline.passing if name not in named)
    before = (baseline.passed or len(baseline.passing)) + (baseline.failed or len(baseline.failing))
    after = (now.passed or len(now.passing)) + (now.failed or len(now.failing))
    if not gone and after >= before:
        return now
    said = (
        f"error: {before} tests were reported before the change and {after} are now; those that are missing count as failed."
    )
    return msgspec.structs.replace(now, ok=False, failing=(*now.failing, *gone), output=f"{now.output}\n{said}\n")


def compare(baseline: CheckResult | None, now: CheckResult) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(newly passing, newly failing) test names.

    A test that passed in the baseline and is in neither list now (the build failed, the runner died) counts as newly
    failing, unless the checks succeed now: some runners name only failures. A failing test that the baseline did not name
    (because it did not build, say) does not count against the change, unless everything passed then.
    """
    if baseline is None:
        return now.passing, now.failing
    before_good, before_bad = set(baseline.passing), set(baseline.failing)
    now_good, now_bad = set(now.passing), set(now.failing)
    gone = [name for name in baseline.passing if name not in now_good | now_bad] if _lost(baseline, now) else []
    newly_passing = [name for name in now.passing if name not in before_good]
    if now.ok:
        newly_passing += [name for name in baseline.failing if name not in now_good]
    names_all = baseline.ok or (baseline.passed and not baseline.passing)
    known = set(now.failing) if names_all else before_good
    newly_failing = [name for name in now.failing if name in known and name not in before_bad] + gone
    return tuple(newly_passing), tuple(newly_failing)


def worse(baseline: CheckResult | None, now: CheckResult) -> bool:
    """Whether ``now`` lost something that ``baseline`` had: a test, the count of passed tests, success itself, or an
    assertion that held."""
    if now.ok or baseline is None:
        return False
    if baseline.ok or compare(baseline, now)[1] or further(baseline, now) < 0:
        return True
    return bool(baseline.passed) and (now.passed or 0) < (baseline.passed or 0)


def _lost(baseline: CheckResult, now: CheckResult) -> bool:
    if now.ok:
        return False
    return bool(now.passing) or (now.passed or 0) < (baseline.passed or len(baseline.passing))


def _import_from(root: Path) -> dict[str, str]:
    places = [place for place in (root / "src", root) if _holds_modules(place)]
    if not places:
        return {}
    before = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([*map(str, places), *([before] if before else [])])}


def _holds_modules(place: Path) -> bool:
    return any(next(place.glob(pattern), None) for pattern in ("*.py", "*/__init__.py"))


def _own_python(command: str, result: CommandResult) -> str:
    """The same checks with this program's interpreter, where the one on PATH is a broken shim or lacks pytest."""
    words = command.split()
    missing = result.exit_code == 127 or re.search(r"No module named ['\"]?pytest\b", result.output) is not None
    if not words or not missing or needs_shell(command):
        return ""
    here = shlex.quote(sys.executable)
    if words[0] in PYTEST and importlib.util.find_spec("pytest"):
        return f"{here} -m pytest -rfEp {' '.join(words[1:])}"
    if words[0] in PYTHON and ("pytest" not in words[:3] or importlib.util.find_spec("pytest")):
        return f"{here} {' '.join(words[1:])}"
    return ""


def _named(command: str) -> str:
    """pytest with a line for each test, so that passing tests have names too; any other command as it is."""
    options = _pytest_options(command)
    return command if options is None or _has_report(options) else f"{command} -rfEp"


def _has_report(options: Collection[str]) -> bool:
    return any(option.startswith("-r") or option in ("-v", "-vv", "--verbose") for option in options)


def _uses_pytest(root: Path) -> bool:
    if (root / "pytest.ini").is_file() or (root / "conftest.py").is_file():
        return True
    if "[tool:pytest]" in _text(root / "setup.cfg") or "[pytest]" in _text(root / "tox.ini"):
        return True
    try:
        project = tomllib.loads(_text(root / "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        project = {}
    if isinstance(tools := project.get("tool"), dict) and "pytest" in tools:
        return True
    folders = [root, *(root / name for name in ("tests", "test") if (root / name).is_dir())]
    return any(next(folder.glob(pattern), None) for folder in folders for pattern in ("test_*.py", "*_test.py")) or any(
        fnmatchcase(path.name, "test_*.py") for folder in folders[1:] for path in files_below(folder)
    )


def _text(path: Path) -> str:
    try:
        return read_regular(path).decode("utf-8", "replace")
    except OSError:
        return ""


def _shortened(output: str) -> str:
    if len(output) <= _KEPT_OUTPUT:
        return output
    head, tail = output[: _KEPT_OUTPUT // 4], output[-_KEPT_OUTPUT // 2 :]
    middle = output[len(head) : -len(tail)]
    telling = "\n".join(line[:300] for line in middle.splitlines() if _TELLING.search(line))[: _KEPT_OUTPUT // 4]
    return f"{head}\n… {len(middle):,} characters left out but for these lines …\n{telling}\n…\n{tail}"
