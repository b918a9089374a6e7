"""What the sources of failing checks tell, beside what the checks say when they run."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from agent.language.base import Expected
from agent.languages import reader_of
from agent.regular_files import read_inside

_LARGEST = 1 << 20


def expected_by(root: Path, failing: Collection[str]) -> Expected:
    """What checks expect that are named as pytest does (``path::Class::test``), each thing once. Blocking."""
    tests: dict[str, list[str]] = {}
    for path, _, name in (one.partition("::") for one in failing):
        tests.setdefault(path, []).append(name.partition("[")[0].rpartition("::")[2])
    found: list[Expected] = []
    for path, names in tests.items():
        reader = reader_of(path)
        if reader is not None:
            with contextlib.suppress(OSError):
                found.append(reader.tests.expected(read_inside(root, root / path, _LARGEST), names))
    exceptions = dict.fromkeys(text for one in found for text in one.exceptions)
    return Expected(tuple(exceptions), tuple(dict.fromkeys(text for one in found for text in one.texts)))
