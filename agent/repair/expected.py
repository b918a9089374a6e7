"""What the sources of failing checks tell, beside what the checks say when they run."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from agent.language.base import Expected
from agent.language.test_names import test_function
from agent.languages import reader_of
from agent.regular_files import read_inside
from agent.walking import files_below
from agent.workspace.protected import is_test_file

_LARGEST = 1 << 20
_MOST_FILES = 60


def expected_by(root: Path, failing: Collection[str]) -> Expected:
    """What checks expect that are named as pytest does (``path::Class::test``), or by a test function of any file of tests
    below ``root``; each thing once. Blocking."""
    tests: dict[str, list[str]] = {}
    for one in failing:
        path, by_path, _ = one.partition("::")
        tests.setdefault(path if by_path else "", []).append(test_function(one))
    anywhere = tests.pop("", [])
    for path in _files_of_tests(root) if anywhere else ():
        tests.setdefault(path, []).extend(anywhere)
    found: list[Expected] = []
    for path, names in tests.items():
        reader = reader_of(path)
        if reader is not None:
            with contextlib.suppress(OSError):
                found.append(reader.tests.expected(read_inside(root, root / path, _LARGEST), names))
    exceptions = dict.fromkeys(text for one in found for text in one.exceptions)
    return Expected(tuple(exceptions), tuple(dict.fromkeys(text for one in found for text in one.texts)))


def _files_of_tests(root: Path) -> list[str]:
    paths = (file.relative_to(root).as_posix() for file in files_below(root))
    return sorted(path for path in paths if is_test_file(path) and reader_of(path) is not None)[:_MOST_FILES]
