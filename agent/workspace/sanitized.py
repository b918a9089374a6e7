"""The checks once more in a copy, built with sanitizers: a crash then says what it was, and where.

The flags are those of gcc and clang (``-fsanitize=address,undefined``). make is given them with the compiler, since that is
the one variable that nearly every Makefile uses; CMake and Meson read CFLAGS and LDFLAGS when they configure a new build.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from agent.languages import is_unit
from agent.workspace.fresh_copy import fresh_copy
from agent.workspace.sandbox import Limits, command_line, run_command

FLAGS = "-fsanitize=address,undefined -fsanitize-recover=address -fno-omit-frame-pointer -g"
"""With ``recover`` a program continues after a finding, as without sanitizers, and later findings are reported too."""

_OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:halt_on_error=0:color=never", "UBSAN_OPTIONS": "print_stacktrace=1:color=never"}
_BUILDERS = ("cmake", "meson")


def can_be_sanitized(command: str) -> bool:
    """Whether the command builds C in a way that takes flags from outside."""
    words = command_line(command) if command.strip() else []
    return bool(words) and (Path(words[0]).name == "make" or any(name in command for name in _BUILDERS))


async def run_sanitized(
    root: Path, command: str, compiler: str, timeout: float, *, limits: Limits, written: Collection[str] = ()
) -> tuple[str, str]:
    """(output, folder that it ran in) of the checks, built with sanitizers in a copy that is gone afterwards.

    ("", "") when the command cannot be built that way, there is no C, or the tree is too large to be copied for it.

    Raises:
        WorkspaceError: git cannot list the tree.
    """
    if not can_be_sanitized(command):
        return "", ""
    async with fresh_copy(root, written, is_unit) as copy:
        if copy is None:
            return "", ""
        words, env = command_line(command), dict(_OPTIONS)
        if Path(words[0]).name == "make":
            words = [*words, f"CC={compiler} {FLAGS}"]
        else:
            env |= {"CC": compiler, "CFLAGS": FLAGS, "LDFLAGS": FLAGS}
        done = await run_command(words, copy, timeout, limits=limits, env=env)
        return done.output, str(copy)
