"""Which kind of worker can run the project's checks, read off the command that runs them."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Literal

import msgspec

from agent.workspace.sandbox import command_line, needs_shell, run_command

WorkerKind = Literal["pytest", "unittest", "command"]

_DRY_RUN_SECONDS = 20.0
_NOISE = re.compile(r"^(?:make(?:\[\d+\])?: |echo\b|@?:|true\b|cd \.\s*$|rm -r?f\b)")


class CheckCommand(msgspec.Struct, frozen=True):
    """``kind`` of worker; ``python`` the interpreter that it needs; ``arguments`` what it is handed."""

    kind: WorkerKind
    python: str
    arguments: tuple[str, ...]


async def read_command(command: str, root: Path) -> CheckCommand:
    """How to run ``command`` again and again. What ``make TARGET`` would run is asked of make itself: a recipe of one line
    that starts pytest or unittest is run by the warm worker, too."""
    found = _python_tests(command)
    if found is None and command.split()[:1] == ["make"] and not needs_shell(command):
        dry = await run_command([*shlex.split(command), "-n"], root, _DRY_RUN_SECONDS)
        lines = [line.strip() for line in dry.output.splitlines() if line.strip() and not _NOISE.match(line.strip())]
        if dry.ok and len(lines) == 1:
            found = _python_tests(lines[0])
    return found or CheckCommand("command", sys.executable, tuple(command_line(command)))


def _python_tests(line: str) -> CheckCommand | None:
    line = re.sub(r"^\s*(?:PYTHONPATH=\S*|PYTHONDONTWRITEBYTECODE=\S*)\s+", "", line)
    if needs_shell(line):
        return None
    words = shlex.split(line)
    while words and words[0] in ("uv", "poetry", "run", "env"):
        words = words[1:]
    if not words:
        return None
    name = Path(words[0]).name
    if name in ("pytest", "py.test"):
        return CheckCommand("pytest", _interpreter_of(words[0]), tuple(words[1:]))
    if re.fullmatch(r"python[\d.]*", name):
        rest = words[1:]
        while rest and rest[0] in ("-B", "-u", "-s", "-I", "-bb"):
            rest = rest[1:]
        if rest[:2] == ["-m", "pytest"]:
            return CheckCommand("pytest", words[0], tuple(rest[2:]))
        if rest[:2] == ["-m", "unittest"]:
            return CheckCommand("unittest", words[0], tuple(rest[2:]))
    return None


def _interpreter_of(program: str) -> str:
    """The interpreter that a console script names in its first line; this one where there is none."""
    path = shutil.which(program)
    if path is None:
        return sys.executable
    try:
        with open(path, "rb") as file:
            first = file.readline(300).decode("utf-8", "replace").strip()
    except OSError:
        return sys.executable
    interpreter = first[2:].split()[0] if first.startswith("#!") and len(first) > 2 else ""
    return interpreter if "python" in Path(interpreter).name else sys.executable


_HAS_PYTEST = "import importlib.util; raise SystemExit(importlib.util.find_spec('pytest') is None)"
"""Looks for it only: loading it, to be thrown away again, takes ten times as long."""


async def usable_python(check: CheckCommand, root: Path) -> str:
    """The interpreter to run the worker with: the command's own, or this one where that lacks pytest; "" for neither."""
    if check.kind != "pytest":
        return check.python if shutil.which(check.python) else sys.executable
    for python in dict.fromkeys((check.python, sys.executable)):
        if shutil.which(python) and (await run_command([python, "-c", _HAS_PYTEST], root, 30.0)).ok:
            return python
    return ""
