"""The checks once more in a copy, built with sanitizers: a crash then says what it was, and where.

The flags are those of gcc and clang (``-fsanitize=address,undefined``). make is given them with the compiler, since that is
the one variable that nearly every Makefile uses; CMake and Meson read CFLAGS and LDFLAGS when they configure a new build.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path

from agent.languages import is_unit
from agent.scratch import scratch_folder
from agent.walking import files_below
from agent.workspace.git import run_git, text
from agent.workspace.sandbox import Limits, command_line, run_command

FLAGS = "-fsanitize=address,undefined -fsanitize-recover=address -fno-omit-frame-pointer -g"
"""With ``recover`` a program goes on behind a finding, as the unsanitized one did, and later ones are told too."""

_OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:halt_on_error=0:color=never", "UBSAN_OPTIONS": "print_stacktrace=1:color=never"}
_BUILDERS = ("cmake", "meson")

_PROGRAMS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe")
"""How programs and objects begin (ELF; Mach-O, 64 and 32 bit)."""

LARGEST = 200 << 20
"""Bytes of a working tree up to which it is copied for this."""


def can_be_sanitized(command: str) -> bool:
    """Whether the command builds C in a way that takes flags from outside."""
    words = command_line(command) if command.strip() else []
    return bool(words) and (Path(words[0]).name == "make" or any(name in command for name in _BUILDERS))


async def run_sanitized(
    root: Path, command: str, compiler: str, timeout: float, *, limits: Limits, written: Collection[str] = ()
) -> tuple[str, str]:
    """(output, folder that it ran in) of the checks, built with sanitizers in a copy that is gone afterwards.

    The copy holds what git has, and the new files of ``written`` (paths below the checkout that holds ``root``): nothing
    that an earlier build left, which make would take for up to date.

    ("", "") when the command cannot be built so, there is no C, or the tree is too large to be copied for it.

    Raises:
        WorkspaceError: git cannot list the tree.
    """
    if not can_be_sanitized(command):
        return "", ""
    parent = Path(tempfile.mkdtemp(prefix="sanitized-", dir=scratch_folder()))
    copy = (parent / "tree").resolve()
    try:
        if not await asyncio.to_thread(_copy, root, copy, written):
            return "", ""
        words, env = command_line(command), dict(_OPTIONS)
        if Path(words[0]).name == "make":
            words = [*words, f"CC={compiler} {FLAGS}"]
        else:
            env |= {"CC": compiler, "CFLAGS": FLAGS, "LDFLAGS": FLAGS}
        done = await run_command(words, copy, timeout, limits=limits, env=env)
        return done.output, str(copy)
    finally:
        await asyncio.to_thread(shutil.rmtree, parent, True)


def _copy(root: Path, target: Path, written: Collection[str]) -> bool:
    """The files that git knows and those just written: builds begin from nothing. False when there is no C among them, or
    too much."""
    listed = run_git(root, "ls-files", "-z", "--cached").stdout
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    below = text(run_git(root, "rev-parse", "--show-prefix"))
    names += [path.removeprefix(below) for path in sorted(written) if path.startswith(below)]
    for folder in [root / name for name in names if (root / name).is_dir() and not (root / name).is_symlink()]:
        names += [str(path.relative_to(root)) for path in files_below(folder)]  # a submodule's
    there = [name for name in names if (root / name).is_symlink() or _is_source(root / name)]
    has_c = any(is_unit(name) for name in there)
    if not has_c or sum((root / name).lstat().st_size for name in there) > LARGEST:
        return False
    target.mkdir(parents=True)
    for name in there:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target / name, follow_symlinks=False)
    return True


def _is_source(path: Path) -> bool:
    """Whether there is a file, and no program or object that a build left (carried in from the person's tree, perhaps)."""
    if not path.is_file():
        return False
    if ".so" in path.name or not (path.suffix in ("", ".o", ".out") or os.access(path, os.X_OK)):
        return True
    with path.open("rb") as file:
        return file.read(4) not in _PROGRAMS
