"""The checks once more in a copy, with each test by itself: this shows what a crash or an endless loop hides.

Only files of tests that can be rewritten so are (see :meth:`agent.language.base.FilesOfTests.isolated`); the project's own
command builds and runs them. The tests of the run's place stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from agent.language.base import ENDLESS, TEST_SECONDS
from agent.languages import is_module, is_unit, reader_of
from agent.regular_files import read_inside
from agent.values import CheckResult
from agent.walking import files_below
from agent.workspace.checks import DOES_NOT_BUILD, run_checks
from agent.workspace.fresh_copy import fresh_copy
from agent.workspace.protected import is_test_file
from agent.workspace.sandbox import Limits

LARGEST = 1 << 20
"""Bytes of a file of tests."""

LEAST_ALONE = 4.0
"""Seconds that a test may take at least, where it is not compiled; half of what all checks may take, if that is more."""

MOST = 60
"""Files of tests; a larger project does not have its tests in one program."""


def isolated_tests(root: Path) -> dict[str, str]:
    """The files of tests below ``root`` that can be isolated, by path, with their changed text; {} where there are more than
    :data:`MOST` files of tests. Blocking."""
    found = {}
    paths = [file.relative_to(root).as_posix() for file in files_below(root)]
    tests = [sorted(path for path in paths if is_test_file(path) and kind(path)) for kind in (is_unit, is_module)]
    for path in (path for some in tests if len(some) <= MOST for path in some):
        file, reader = root / path, reader_of(path)
        if reader is None:
            continue
        try:
            text = read_inside(root, file, LARGEST).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if changed := reader.tests.isolated(text, path):
            found[path] = changed
    return found


def broke_off(result: CheckResult, tests: Collection[str]) -> bool:
    """Whether checks that were built ended before their tests reported: one did not end, or, where a file of ``tests`` is
    compiled, crashed."""
    if result.ok or not any(map(is_unit, tests)):
        return result.timed_out
    if DOES_NOT_BUILD.search(result.output):
        return False
    return result.timed_out or not (result.passed or result.failed)


async def run_isolated(
    root: Path,
    command: str,
    timeout: float,
    tests: Mapping[str, str],
    *,
    limits: Limits,
    env: dict[str, str] | None = None,
    written: Collection[str] = (),
) -> CheckResult | None:
    """What the checks say when each test of ``tests`` (path to changed text) is isolated; None when they do not report
    then either, because the code does not build, say. A test that crashed has failed, whatever the exit code is.

    Raises:
        WorkspaceError: git cannot list the tree.
    """
    async with fresh_copy(root, written) as copy:
        if copy is None:
            return None
        for path, text in tests.items():
            if (copy / path).is_file():
                (copy / path).write_text(text, encoding="utf-8")
        seconds = {TEST_SECONDS: f"{max(LEAST_ALONE, timeout / 2):.1f}"}
        now = await run_checks(copy, command, timeout, limits=limits, env=seconds | (env or {}))
    if now.timed_out or not (now.passed or now.failed):
        return None
    output = now.output.replace(f"{copy}/", "")
    return msgspec.structs.replace(now, ok=now.ok and not now.failing, output=output, endless=ENDLESS in output)
