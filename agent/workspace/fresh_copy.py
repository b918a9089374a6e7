"""A copy of a run's place without build products, so that a build in it starts from nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from agent.scratch import scratch_folder
from agent.walking import files_below
from agent.workspace.git import paths, run_git, text

_PROGRAMS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe")
"""How programs and objects begin (ELF; Mach-O, 64 and 32 bit)."""

LARGEST = 200 << 20
"""Bytes of a working tree up to which it is copied for this."""


@asynccontextmanager
async def fresh_copy(
    root: Path, written: Collection[str] = (), holding: Callable[[str], bool] = lambda _path: True
) -> AsyncIterator[Path | None]:
    """The folder of the copy, which is gone afterwards; None where no path is ``holding``, or the tree is
    too large.

    It holds the files that git tracks and the new files of ``written`` (paths relative to the checkout that holds ``root``),
    but nothing that an earlier build left, which make would take for up to date.

    Raises:
        WorkspaceError: git cannot list the tree.
    """
    parent = Path(tempfile.mkdtemp(prefix="copy-", dir=scratch_folder()))
    copy = (parent / "tree").resolve()
    try:
        yield copy if await asyncio.to_thread(_copy, root, copy, written, holding) else None
    finally:
        await asyncio.to_thread(shutil.rmtree, parent, True)


def _copy(root: Path, target: Path, written: Collection[str], holding: Callable[[str], bool]) -> bool:
    """Copy the tracked and the written files. False where none is ``holding``, or they are too large."""
    names = paths(run_git(root, "ls-files", "-z", "--cached"))
    below = text(run_git(root, "rev-parse", "--show-prefix"))
    names += [path.removeprefix(below) for path in sorted(written) if path.startswith(below)]
    for folder in [root / name for name in names if (root / name).is_dir() and not (root / name).is_symlink()]:
        names += [str(path.relative_to(root)) for path in files_below(folder)]  # a submodule's
    there = [name for name in names if (root / name).is_symlink() or _is_source(root / name)]
    if not any(map(holding, there)) or sum((root / name).lstat().st_size for name in there) > LARGEST:
        return False
    target.mkdir(parents=True)
    for name in there:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target / name, follow_symlinks=False)
    return True


def _is_source(path: Path) -> bool:
    """Whether ``path`` is a file, but no program or object of a build (such as one carried in from the person's tree)."""
    if not path.is_file():
        return False
    if ".so" in path.name or not (path.suffix in ("", ".o", ".out") or os.access(path, os.X_OK)):
        return True
    with path.open("rb") as file:
        return file.read(4) not in _PROGRAMS
