"""What killed processes left half-made, swept away once it is certainly nobody's any more."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

OLD_SECONDS = 3600.0
"""Nothing that is still being made takes this long: a copy is a gigabyte at most."""


def sweep(folder: Path, patterns: Iterable[str], kept: Iterable[str] = ()) -> None:
    """Remove the entries of ``folder`` that match one of ``patterns`` and are old, but for the names in ``kept``.

    What cannot be removed stays: it is in nobody's way.
    """
    before = time.time() - OLD_SECONDS
    spared = set(kept)
    for path in (found for pattern in patterns for found in folder.glob(pattern)):
        with contextlib.suppress(OSError):
            if path.name in spared or path.lstat().st_mtime > before:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
