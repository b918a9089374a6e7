"""Compiler flags of a project: from what builds it and the configuration, without those that run or write things."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from agent.c.preprocessor.compile_commands import CompileCommand, read_commands, with_response_files
from agent.c.project import ProjectFiles
from agent.compiler_flags import FOLDER_FLAGS, include_folders, is_harmless
from agent.compiling.build_systems import ShutIn, build_commands, build_files, build_stamp
from agent.regular_files import read_regular
from agent.scratch import scratch_folder

_WITH_VALUE = frozenset({
    "-wrapper", "-B", "--prefix", "-prefix", "-MF", "-MT", "-MQ", "-MJ", "-aux-info", "-Xclang", "-Xassembler",
    "-Xpreprocessor", "-load", "-dumpdir", "-dumpbase", "--serialize-diagnostics", "-index-store-path", "-mllvm", "--config",
    "-specs", "-iplugindir", "-gcc-toolchain", "--cuda-path",
})  # fmt: skip
"""Flags that are dropped together with the word behind them."""
_LINKER = re.compile(
    r"-Wl(?:,(?:-z|defs|now|relro|-E|-x|-s|--(?:no-)?(?:undefined|as-needed|whole-archive|gc-sections|export-dynamic"
    r"|allow-multiple-definition|warn-common)|--(?:start|end)-group))+"
)
"""Words for the linker that name no file."""
_MAX_RESPONSE = 1 << 16
_LIST = "compile_flags.txt"
"""The flags of every file, one a line, for projects without a database (Clang, "JSON Compilation Database Format")."""
_C_LANGUAGES = ("c", "c-header", "cpp-output", "none")
_TAKES_OUTPUT = frozenset({"-o", "-l", "-L", "-T", "-Xlinker", "-z", "-u"})
_TAKES_PATH = (*FOLDER_FLAGS, "-include", "-imacros", "-isysroot", "--sysroot=", "--sysroot")
"""Flags with a path, as the next word or joined to it."""
_TAKES_WORD = frozenset({"-D", "-U", "-x", "-arch", "-target", "-Xpreprocessor", "--param", "-std"})
_MAKES_NO_OBJECT = frozenset({"-c", "-fsyntax-only"})
"""How far a compile goes is said where it is run."""
_FOR_THE_LINKER = ("-l", "-L", "-Wl,", "-shared", "-static", "-rdynamic", "-pie", "-s ", "-T")


def safe_flags(flags: Iterable[str]) -> list[str]:
    """``flags`` without those that load code into the compiler, run programs, or write other files than the object."""
    kept: list[str] = []
    words = iter(flags)
    for flag in words:
        if flag in _WITH_VALUE:
            next(words, None)
        elif flag == "-x":
            language = next(words, "")
            kept += [flag, language] if language in _C_LANGUAGES else []
        elif is_harmless(flag) or _LINKER.fullmatch(flag):
            kept.append(flag)
    return kept


class BuildFlags:
    """The flags to compile a project's files with, from what builds it.

    ``root`` is where the files are (a worktree), ``origin`` the directory that paths in ``compile_commands.json`` speak of
    (the user's checkout); paths below ``origin`` are moved to ``root``. A compilation database comes first, then what make,
    CMake, Meson or Ninja tell, then ``compile_flags.txt``. Only where nothing tells the flags are they guessed: the folders
    in which the project's own includes are found. Headers that configuring makes are kept in ``scratch``, by default the
    temporary folder of this process.
    """

    def __init__(
        self,
        root: Path,
        extra: Sequence[str] = (),
        origin: Path | None = None,
        shut_in: ShutIn | None = None,
        scratch: Path | None = None,
    ) -> None:
        self.root = root
        self.origin = origin or root
        self.extra = [flag for flag in safe_flags(extra) if flag not in _MAKES_NO_OBJECT]
        self._shut_in = shut_in
        self._scratch = scratch or scratch_folder()
        self._database = tuple(read_commands(self.root) or read_commands(self.origin))
        self._listed = self._flags_of(CompileCommand("", str(root), ("cc", f"@{_LIST}"))) if (root / _LIST).is_file() else []
        self._asked: tuple[CompileCommand, ...] = ()
        self._stamp: object = None
        self._build_files: tuple[Path, ...] | None = None
        self._guess: tuple[str, ...] | None = None

    @property
    def commands(self) -> tuple[CompileCommand, ...]:
        """The commands by which the project is built; () when nothing tells them. Blocking where a build system is asked."""
        if self._database:
            return self._database
        if self._build_files is None:
            self._build_files = build_files(self.root)
        stamp = build_stamp(self._build_files)
        if stamp != self._stamp:
            self._asked, self._stamp = build_commands(self._build_files, self._scratch, self._shut_in), stamp
        return self._asked

    @property
    def guessed(self) -> bool:
        """Whether nothing tells the flags: neither a build nor the configuration."""
        return not self.commands and not self.extra and not self._listed

    def forget(self) -> None:
        """Files came or went."""
        self._guess = self._build_files = None

    def for_file(self, path: str) -> list[str]:
        """Flags for a file given relative to the root: those of its own command, else of a neighbour's."""
        commands = self.commands
        wanted = os.path.normpath(self.root / path)
        exact = next((c for c in commands if self._moved(c.file) == wanted), None)
        command = exact or self._neighbour(wanted, commands)
        if command is not None:
            return [*self._flags_of(command), *self.extra]
        if include_folders(self.extra):
            return self.extra
        if self._listed:
            return [*self._listed, *self.extra]
        return [*(f"-I{folder}" for folder in self._guessed_folders()), *self.extra]

    def _neighbour(self, wanted: str, commands: Sequence[CompileCommand]) -> CompileCommand | None:
        folder = os.path.dirname(wanted)

        def distance(command: CompileCommand) -> int:
            way = os.path.relpath(os.path.dirname(self._moved(command.file)), folder)
            return 0 if way == os.curdir else len(way.split(os.sep))

        return min(commands, key=distance, default=None)

    def _moved(self, path: str) -> str:
        path = os.path.normpath(path)
        origin = os.path.normpath(self.origin)
        if path == origin or path.startswith(origin + os.sep):
            return os.path.normpath(str(self.root) + path[len(origin) :])
        return path

    def _flags_of(self, command: CompileCommand) -> list[str]:
        out: list[str] = []
        skip = False
        for part in safe_flags(with_response_files(command.arguments[1:], partial(self._read, command.directory))):
            if skip:
                skip = False
                continue
            if part in _TAKES_OUTPUT:
                skip = True
                continue
            behind = out[-1] if out else ""
            if behind in _TAKES_PATH:
                out.append(self._absolute(part, command.directory))
                continue
            if behind in _TAKES_WORD:
                out.append(part)
                continue
            if part in _MAKES_NO_OBJECT or part.startswith(_FOR_THE_LINKER) or not part.startswith("-"):
                continue
            flag = next((one for one in _TAKES_PATH if part.startswith(one) and part != one), "")
            out.append(flag + self._absolute(part[len(flag) :], command.directory) if flag else part)
        return out

    def _read(self, directory: str, path: str) -> str:
        """The text of a file of the project that a command names.

        Raises:
            OSError: it cannot be read.
            ValueError: it is too large, no regular file, or outside of the project.
        """
        real = Path(os.path.realpath(self._absolute(path, directory)))
        if not real.is_relative_to(os.path.realpath(self.root)):
            raise ValueError(f"{path} is not in the project")
        return read_regular(real, _MAX_RESPONSE).decode("utf-8", "replace")

    def _absolute(self, path: str, directory: str) -> str:
        """Where a flag's path is: in ``root``, or still in ``origin`` when only that has it, as what a build made there."""
        full = os.path.normpath(os.path.join(directory, path))
        moved = self._moved(full)
        return full if os.path.exists(full) and not os.path.exists(moved) else moved

    def _guessed_folders(self) -> tuple[str, ...]:
        """The folders from which the includes of the project's files are found that are not found beside the file."""
        if self._guess is None:
            project = ProjectFiles.at(self.root)
            folders: dict[str, None] = {}
            for path in project.paths():
                here = os.path.dirname(path)
                for include in project.shape(path).includes:
                    found = project.included_file(path, include.name)
                    beside = not include.system and found == os.path.normpath(os.path.join(here, include.name))
                    if found is None or beside or ".." in include.name.split("/"):
                        continue
                    folder = found[: -len(include.name)].rstrip("/")
                    if found == f"{folder}/{include.name}".lstrip("/"):
                        folders.setdefault(str(self.root / folder))
            self._guess = tuple(folders)
        return self._guess
