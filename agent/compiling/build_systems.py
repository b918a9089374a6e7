"""The compile commands of a project, asked of what builds it: make's dry run, CMake, Meson and Ninja.

Nothing is built and nothing is written into the project: ``make -n`` only prints recipes (GNU make manual, "Instead of
Executing Recipes"; lines that call make again are run, as dry runs too), CMake and Meson configure a folder of their own.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agent.c.preprocessor.compile_commands import CompileCommand, read_commands
from agent.compiling.child import MAX_OUTPUT, child_environment

TIMEOUT = 20.0
"""Seconds that a build system may take to tell its commands; no further makefile is asked after twice that."""

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_BUILD_FILES = (*MAKEFILES, "build.ninja", "CMakeLists.txt", "meson.build")
_MAX_DEPTH = 3
_MAX_FOLDERS = 400
_MAX_FILES = 24
"""How deep, in how many folders of a level and for how many files in all a build is looked for."""
_GOALS = ("all", "test", "tests", "check")
_ENTERS = re.compile(r"make(?:\[\d+\])?: Entering directory [`'‘](?P<folder>[^'’]+)['’]")
_LEAVES = re.compile(r"make(?:\[\d+\])?: Leaving directory ")
_COMPILER = re.compile(r"(?:[\w.+-]+-)?(?:gcc|clang|cc|c99|c11|c17|tcc|icc|icx)(?:-[\d.]+)?")
_WRAPPERS = frozenset({"ccache", "distcc", "sccache", "env", "time", "nice", "libtool", "exec", "command", "bear"})
_BACKTICKS = re.compile(r"`[^`]*`|\$\([^()]*\)")
_BREAKS = frozenset({"&&", "||", ";", "|", "&", "(", ")", "then", "do", "else", "if", "fi", "done", "{", "}"})

ShutIn = Callable[[list[str], Path], list[str]]
"""Makes of a command and a folder that it may write the command that is kept from all else."""


def build_commands(
    files: Sequence[Path], scratch: Path, shut_in: ShutIn | None = None
) -> tuple[CompileCommand, ...]:
    """The commands by which a project is built, () when nothing tells them. ``files`` are its :func:`build_files`; headers
    that configuring makes go to ``scratch``, where the commands look for them. Blocking."""
    if found := _of_make(list(dict.fromkeys(file.parent for file in files if file.name in MAKEFILES)), shut_in):
        return tuple(found)
    answered: list[Path] = []
    for file in files:
        ask, folder = _ASKED.get(file.name), file.parent
        if ask is None or any(folder.is_relative_to(one) for one in answered):
            continue
        if commands := ask(folder, scratch, shut_in):
            answered.append(folder)
            found += commands
    return tuple(found)


def build_files(root: Path) -> tuple[Path, ...]:
    """The files that say how the project is built: those in ``root``, then makefiles below it, the nearest first; where the
    root has none, the other build systems' files below it, too."""
    found = [root / name for name in _BUILD_FILES if (root / name).is_file()]
    names = MAKEFILES if found else _BUILD_FILES
    level = [root]
    for _ in range(_MAX_DEPTH):
        level = [folder for above in level for folder in _subfolders(above)][:_MAX_FOLDERS]
        found += (folder / name for folder in level for name in names if (folder / name).is_file())
    return tuple(found[:_MAX_FILES])


def build_stamp(files: Sequence[Path]) -> tuple[tuple[str, int, int], ...]:
    """What changes when one of ``files`` does."""
    found = []
    for path in files:
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(found)


def _of_make(folders: Sequence[Path], shut_in: ShutIn | None) -> list[CompileCommand]:
    """The recipes of the default goal in each folder that no recipe of an earlier one compiles in; those of the usual test
    goals come behind."""
    if shutil.which("make") is None:
        return []
    found: list[CompileCommand] = []
    ends = time.monotonic() + 2 * TIMEOUT
    for folder in folders:
        if any(Path(c.directory) == folder for c in found) or time.monotonic() > ends:
            continue
        text = _said(["make", "-n", "-B", "-k", "-w"], folder, shut_in)
        text += _said(["make", "-n", "-B", "-k", "-w", *_GOALS], folder, shut_in)
        found += recipe_commands(text, folder)
    return list(dict.fromkeys(found))


def _subfolders(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(
            p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and not p.name.startswith((".", "CMakeFiles"))
        )
    return []


def _of_ninja(root: Path, scratch: Path, shut_in: ShutIn | None) -> list[CompileCommand]:
    if shutil.which("ninja") is None:
        return []
    folder = Path(tempfile.mkdtemp(prefix="ninja-", dir=scratch))
    (folder / "compile_commands.json").write_text(_said(["ninja", "-t", "compdb"], root, shut_in), encoding="utf-8")
    return read_commands(folder)


def _of_cmake(root: Path, scratch: Path, shut_in: ShutIn | None) -> list[CompileCommand]:
    return _configured(["cmake", "-S", str(root), "-B", "{}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], root, scratch, shut_in)


def _of_meson(root: Path, scratch: Path, shut_in: ShutIn | None) -> list[CompileCommand]:
    return _configured(["meson", "setup", "{}", str(root)], root, scratch, shut_in)


_ASKED = {"build.ninja": _of_ninja, "CMakeLists.txt": _of_cmake, "meson.build": _of_meson}


def _configured(command: Sequence[str], root: Path, scratch: Path, shut_in: ShutIn | None) -> list[CompileCommand]:
    """What a tool writes into a database when it configures a new folder, ``{}`` in its command."""
    if shutil.which(command[0]) is None:
        return []
    place = Path(tempfile.mkdtemp(prefix="configured-", dir=scratch))
    _said([part.replace("{}", str(place / "build")) for part in command], root, shut_in, place)
    return read_commands(place / "build")


def _said(command: list[str], folder: Path, shut_in: ShutIn | None, scratch: Path | None = None) -> str:
    """The standard output of a command, "" when it cannot be run or takes too long."""
    if shut_in is not None:
        command = shut_in(command, scratch or folder)
    environment = {**child_environment(), "MAKEFLAGS": "", "MAKELEVEL": "0"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout[:MAX_OUTPUT].decode("utf-8", "replace")


def recipe_commands(text: str, folder: Path) -> list[CompileCommand]:
    """The compile commands in what ``make -n -w`` prints, each source file of a command on its own."""
    found: list[CompileCommand] = []
    folders = [folder]
    for line in text.replace("\\\n", " ").splitlines():
        if match := _ENTERS.match(line):
            folders.append(Path(match["folder"]))
        elif _LEAVES.match(line):
            folders = folders[:-1] or [folder]
        else:
            found += _line_commands(line, folders[-1])
    return found


def _line_commands(line: str, folder: Path) -> Iterator[CompileCommand]:
    """The compile commands in one line of a recipe; a ``cd`` in front of them counts."""
    if not any(word in line for word in ("cc", "clang", "icx", "c99", "c11", "c17")):
        return
    lexer = shlex.shlex(_BACKTICKS.sub(" ", line), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return
    here, command = folder, []
    loop: tuple[str, list[str]] = ("", [])
    for word in [*words, ";"]:
        if word not in _BREAKS:
            command.append(word)
            continue
        if command[:1] == ["cd"] and len(command) > 1:
            here = Path(os.path.normpath(here / command[1]))
        elif command[:1] == ["for"] and command[2:3] == ["in"]:
            loop = command[1], [one for value in command[3:] for one in _expanded(value, here)]
        else:
            for one in _in_loop(command, *loop):
                yield from _compiles(one, here)
        command = []
        loop = ("", []) if word == "done" else loop


def _in_loop(command: list[str], name: str, values: list[str]) -> Iterator[list[str]]:
    """A command of the shell, once for each value of the variable that a loop around it sets."""
    forms = (f"${name}", f"${{{name}}}")
    if not name or not any(form in word for word in command for form in forms):
        yield command
        return
    for value in values:
        yield [word.replace(forms[1], value).replace(forms[0], value) for word in command]


def _expanded(pattern: str, folder: Path) -> list[str]:
    """The files that a pattern of the shell means; the word itself where it is none."""
    if not any(sign in pattern for sign in "*?["):
        return [pattern]
    with contextlib.suppress(OSError, ValueError, NotImplementedError):
        return sorted(str(path.relative_to(folder)) for path in folder.glob(pattern.replace("**", "*")))
    return []


def _compiles(command: list[str], folder: Path) -> Iterator[CompileCommand]:
    """One command for each source file that a compiler is called for."""
    for place, word in enumerate(command):
        name = os.path.basename(word)
        if _COMPILER.fullmatch(name):
            arguments = tuple(command[place:])
            sources = [a for a in arguments[1:] if a.endswith(".c") and not a.startswith("-")]
            for source in sources:
                yield CompileCommand(os.path.normpath(folder / source), str(folder), arguments)
            return
        if "=" not in word and not word.startswith("-") and name not in _WRAPPERS:
            return
