"""What the sources of failing checks tell, beside what the checks say when they run."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from agent.languages import reader_of
from agent.regular_files import read_inside

_LARGEST = 1 << 20


def exceptions_expected(root: Path, failing: Collection[str]) -> tuple[str, ...]:
    """The exceptions that checks expect, of those named as pytest does (``path::Class::test``), each once. Blocking."""
    tests: dict[str, list[str]] = {}
    for path, _, name in (one.partition("::") for one in failing):
        tests.setdefault(path, []).append(name.partition("[")[0].rpartition("::")[2])
    found: dict[str, None] = {}
    for path, names in tests.items():
        reader = reader_of(path)
        with contextlib.suppress(OSError):
            source = read_inside(root, root / path, _LARGEST) if reader is not None else b""
            found.update(dict.fromkeys(reader.tests.raised(source, names) if reader is not None else ()))
    return tuple(found)
