"""Remove the unfinished files of killed processes, once no process can be using them."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from agent.scratch import sweep_scratch

OLD_SECONDS = 3600.0
"""Nothing that is still being made takes this long: a copy is a gigabyte at most."""


_DAY = 24 * OLD_SECONDS
_TEMPORARY = (
    "home", "report", "sanitized", "tests", "repair", "objects", "object", "link", "ninja", "configured", "classify", "ls",
)  # fmt: skip


def sweep_temporary() -> None:
    """Remove what killed processes left in the system's temporary folder; only files of this program. Those of version
    0.1.0, which do not show whether their process still runs, are removed after a day."""
    sweep_scratch()
    folder = Path(tempfile.gettempdir())
    sweep(folder, [f"cra-{name}-*" for name in _TEMPORARY], age=_DAY)


def sweep(folder: Path, patterns: Iterable[str], kept: Iterable[str] = (), age: float | None = None) -> None:
    """Remove the entries of ``folder`` that match one of ``patterns`` and are ``age`` seconds old (default
    :data:`OLD_SECONDS`), but for the names in ``kept`` and what belongs to somebody else.

    What cannot be removed stays; it does no harm.
    """
    before = time.time() - (OLD_SECONDS if age is None else age)
    spared = set(kept)
    for path in (found for pattern in patterns for found in folder.glob(pattern)):
        with contextlib.suppress(OSError):
            info = path.lstat()
            if path.name in spared or info.st_mtime > before or info.st_uid != os.getuid():
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
