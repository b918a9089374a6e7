"""Compiler flags of a project: from compile_commands.json and the configuration, without those that run or write things."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from agent.c.compile_commands import CompileCommand, read_commands

_UNSAFE_PREFIXES = (
    "-fplugin", "-specs", "--specs", "-wrapper", "-B", "@", "-fdump", "-save-temps", "--save-temps", "-dumpdir", "-Xclang",
    "-load", "-fprofile-use", "-aux-info", "-ftime-trace", "-fcallgraph-info", "-fstack-usage", "-MF", "-MJ", "-gsplit",
    "-Wa,", "-Wp,", "-index-store", "-serialize-diagnostics",
)  # fmt: skip
_UNSAFE_WITH_VALUE = frozenset(
    {
        "-wrapper",
        "-B",
        "-MF",
        "-MT",
        "-MQ",
        "-MJ",
        "-aux-info",
        "-Xclang",
        "-load",
        "-dumpdir",
        "--serialize-diagnostics",
        "-index-store-path",
    }
)
_DEPENDENCY = frozenset({"-MD", "-MMD", "-M", "-MM", "-MP", "-MG"})
_HEADER_DIRS = ("include", "inc", "src", "lib")


def safe_flags(flags: Iterable[str]) -> list[str]:
    """``flags`` without those that load code into the compiler, run programs, or write other files than the object."""
    kept: list[str] = []
    skip = False
    for flag in flags:
        if skip:
            skip = False
            continue
        if flag in _UNSAFE_WITH_VALUE:
            skip = True
            continue
        if flag in _DEPENDENCY or flag.startswith(_UNSAFE_PREFIXES):
            continue
        kept.append(flag)
    return kept


class BuildFlags:
    """The flags to compile a project's files with.

    ``root`` is where the files are (a worktree), ``origin`` the directory that paths in ``compile_commands.json`` speak of
    (the user's checkout); paths below ``origin`` are moved to ``root``.
    """

    def __init__(self, root: Path, extra: Sequence[str] = (), origin: Path | None = None) -> None:
        self.root = root
        self.origin = origin or root
        self.extra = safe_flags(extra)
        self._commands = read_commands(self.root) or read_commands(self.origin)

    def for_file(self, path: str) -> list[str]:
        """Flags for a file given relative to the root: its own command's, else a neighbour's, and the include folders."""
        wanted = os.path.normpath(self.root / path)
        exact = next((c for c in self._commands if self._moved(c.file) == wanted), None)
        command = exact or self._neighbour(wanted)
        flags = self._flags_of(command) if command else []
        return [*flags, *self._missing_dirs(flags), *self.extra]

    def _neighbour(self, wanted: str) -> CompileCommand | None:
        folder = os.path.dirname(wanted)
        same = [c for c in self._commands if os.path.dirname(self._moved(c.file)) == folder]
        return next(iter(same or self._commands), None)

    def _moved(self, path: str) -> str:
        path = os.path.normpath(path)
        origin = os.path.normpath(self.origin)
        if path == origin or path.startswith(origin + os.sep):
            return os.path.normpath(str(self.root) + path[len(origin) :])
        return path

    def _flags_of(self, command: CompileCommand) -> list[str]:
        out: list[str] = []
        skip = False
        for _place, part in enumerate(safe_flags(command.arguments[1:])):
            if skip:
                skip = False
                continue
            if part == "-o":
                skip = True
                continue
            if part == "-c" or (
                part.endswith((".c", ".o")) and not part.startswith("-") and not (out and out[-1] in ("-include", "-I"))
            ):
                continue
            if part.startswith("-I") and len(part) > 2:
                part = "-I" + self._absolute(part[2:], command.directory)
            elif out and out[-1] in ("-I", "-isystem", "-iquote", "-include", "-idirafter"):
                part = self._absolute(part, command.directory)
            out.append(part)
        return out

    def _absolute(self, path: str, directory: str) -> str:
        return self._moved(path if os.path.isabs(path) else os.path.join(directory, path))

    def _missing_dirs(self, flags: Sequence[str]) -> list[str]:
        """The root and its usual header folders, as far as the flags do not name them yet."""
        wanted = [self.root, *(self.root / d for d in _HEADER_DIRS if (self.root / d).is_dir())]
        present = {os.path.normpath(f[2:]) for f in flags if f.startswith("-I")}
        return [f"-I{d}" for d in wanted if os.path.normpath(d) not in present]
