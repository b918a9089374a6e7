"""The C compiler as a child process: found and probed once, told what to promote, its answer read as diagnostics."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from agent.compiling.child import MAX_OUTPUT, child_environment, run_child
from agent.compiling.reading.diagnostics import ordered, parse_text, render
from agent.compiling.reading.structured import parse_gcc_json, parse_sarif
from agent.scratch import scratch_folder
from agent.values import Diagnostic

Family = Literal["gcc", "clang", "tcc", "other"]
Format = Literal["gcc-json", "sarif", "text"]

PROMOTED = (
    "-Wall",
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=return-type",
)
"""Older gcc only warns about these; a function that needs them is not implemented."""

ShutIn = Callable[[list[str]], list[str]]
"""Makes of a command the one that runs it shut in: what a model wrote may include any file that can be read."""

_SYSTEM_PLACES = ("/usr", "/opt", "/nix", "/gnu", "/lib", "/Library", "/Applications")
"""Where headers of the system and its compilers are. A ``#line`` may point at anything."""

MAX_LINES_READ = 200
"""Diagnostics whose source line is read from the file."""

_PROBE = "int probe(void) { return undeclared_name; }\n"
_CANDIDATES = ("gcc", "clang", "cc", "tcc")
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


class CompilerMissing(Exception):
    """There is no C compiler. ``str()`` says what was looked for and what to do."""


class CompileOutcome(NamedTuple):
    """What one compile or link said. ``diagnostics`` has errors first; ``stderr`` is readable text whatever the format;
    ``output`` is the object or program that was written, None when it failed; ``ms`` milliseconds."""

    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    stderr: str
    command: str
    ms: float
    output: Path | None = None
    timed_out: bool = False
    exit_code: int = 0


class Compiler(NamedTuple):
    """A C compiler on this machine. ``promoted`` are the flags of :data:`PROMOTED` that it knows."""

    path: str
    family: Family
    version: tuple[int, ...]
    banner: str
    format: Format
    promoted: tuple[str, ...]

    @classmethod
    def find(cls, name: str | None = None) -> Compiler:
        """The compiler called ``name`` (a name or a path), else ``$CC``, gcc, clang, cc or tcc, the first that works.

        Probing takes some 50 ms and happens once a process and compiler.

        Raises:
            CompilerMissing: if there is none.
        """
        wanted = (name,) if name else tuple(filter(None, (os.environ.get("CC", "").split(" ")[0], *_CANDIDATES)))
        for candidate in wanted:
            path = shutil.which(candidate)
            if path:
                with contextlib.suppress(OSError, subprocess.SubprocessError):
                    return _probe(path, os.stat(path).st_mtime_ns)
        looked = f"`{name}`" if name else "gcc, clang, cc and tcc"
        raise CompilerMissing(
            f"No C compiler was found (looked for {looked}). Install gcc or clang, or name yours with "
            "compile.compiler or the environment variable CC."
        )

    @property
    def key(self) -> str:
        """Names this compiler, its version included, for caches."""
        return re.sub(r"[^\w.-]+", "_", f"{self.path}-{'.'.join(map(str, self.version))}-{self.banner}")[:150]

    def diagnostic_flags(self) -> list[str]:
        """Flags that make the output readable: no colour, structured where that was found to work."""
        if self.family == "gcc":
            plain = ["-fdiagnostics-color=never"]
            formats = {
                "gcc-json": ["-fdiagnostics-format=json"],
                "sarif": ["-fdiagnostics-format=sarif-stderr"],
                "text": [],
            }
            return plain + formats[self.format]
        if self.family == "clang":
            plain = (
                ["-fno-color-diagnostics", "-fno-caret-diagnostics"]
                if self.format == "sarif"
                else ["-fno-color-diagnostics"]
            )
            return plain + (["-fdiagnostics-format=sarif", "-Wno-sarif-format-unstable"] if self.format == "sarif" else [])
        return []

    def read(self, stderr: str) -> tuple[Diagnostic, ...]:
        """The diagnostics in this compiler's output, errors first, whatever format it came in."""
        parsed = (
            parse_gcc_json(stderr) if self.format == "gcc-json" else parse_sarif(stderr) if self.format == "sarif" else None
        )
        return tuple(ordered(parse_text(stderr) if parsed is None else parsed))


@lru_cache(maxsize=32)
def _probe(path: str, _mtime: int) -> Compiler:
    banner = _run_probe([path, "--version"]).split("\n", 1)[0].strip() or _run_probe([path, "-v"]).split("\n", 1)[0].strip()
    lowered = banner.lower()
    family: Family = "clang" if "clang" in lowered else "tcc" if "tcc" in lowered else "other"
    if family == "other" and ("gcc" in lowered or "free software" in lowered or _is_gcc(path)):
        family = "gcc"
    match = _VERSION.search(banner)
    version = tuple(int(g) for g in match.groups() if g) if match else ()
    if family == "tcc":
        return Compiler(path, family, version, banner, "text", ())
    promoted = _known_flags(path)
    compiler = Compiler(path, family, version, banner, "text", promoted)
    for wanted, reader in (
        (("gcc-json", parse_gcc_json), ("sarif", parse_sarif)) if family == "gcc" else (("sarif", parse_sarif),)
    ):
        attempt = compiler._replace(format=wanted)  # type: ignore[arg-type]
        said = _run_probe([path, *attempt.diagnostic_flags(), "-fsyntax-only", "-x", "c", "-"], _PROBE)
        parsed = reader(said)
        if parsed and "undeclared_name" in parsed[0].message:
            return attempt
    return compiler


def _is_gcc(path: str) -> bool:
    return "__GNUC__" in _run_probe([path, "-dM", "-E", "-x", "c", "-"])


def _known_flags(path: str) -> tuple[str, ...]:
    said = _run_probe([path, *PROMOTED, "-fsyntax-only", "-x", "c", "-"])
    return tuple(f for f in PROMOTED if f.removeprefix("-Werror=") not in said and f not in said)


def _run_probe(command: list[str], source: str = "") -> str:
    done = subprocess.run(
        command, input=source.encode(), capture_output=True, timeout=20, env=child_environment(), check=False
    )
    return (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").strip("\n")


async def compile_object(
    compiler: Compiler,
    source: Path,
    *,
    cwd: Path,
    flags: Sequence[str] = (),
    output: Path | None = None,
    promote: bool = True,
    timeout: float = 60.0,
    shut_in: ShutIn | None = None,
) -> CompileOutcome:
    """Compile one C file to an object; nothing is written inside ``cwd`` (``output`` None: a temporary file is dropped).

    ``flags`` come before the promoted warnings and lose a ``-w``, which would hide a missing declaration.
    """
    with tempfile.TemporaryDirectory(prefix="object-", dir=scratch_folder()) as scratch:
        target = output or Path(scratch) / "out.o"
        kept = [f for f in flags if f != "-w"] if promote else flags
        command = [compiler.path, "-c", *kept]
        command += [
            *(compiler.promoted if promote else ()),
            *compiler.diagnostic_flags(),
            str(source),
            "-o",
            str(target),
        ]
        outcome = await _run(compiler, command, cwd, timeout, target, shut_in)
        return outcome if output else outcome._replace(output=None)


async def link(
    compiler: Compiler,
    objects: Sequence[Path],
    *,
    cwd: Path,
    output: Path | None = None,
    libraries: Sequence[str] = (),
    flags: Sequence[str] = (),
    shared: bool = False,
    timeout: float = 60.0,
    shut_in: ShutIn | None = None,
) -> CompileOutcome:
    """Link objects into a program (``shared``: into a library that may leave nothing undefined).

    ``libraries`` are flags such as ``-lm``; they go last, where a linker wants them.
    """
    with tempfile.TemporaryDirectory(prefix="link-", dir=scratch_folder()) as scratch:
        target = output or Path(scratch) / "program"
        kind = ["-shared", "-Wl,-z,defs"] if shared else []
        command = [compiler.path, *kind, *flags, *map(str, objects), "-o", str(target), *libraries]
        outcome = await _run(compiler, command, cwd, timeout, target, shut_in)
        return outcome if output else outcome._replace(output=None)


def _is_public(path: Path, inside: Path) -> bool:
    """Whether a file belongs to the project in ``inside`` or to the system, so that its lines may be shown to a model."""
    try:
        real = path.resolve()
    except (OSError, ValueError, RuntimeError):
        return False
    return real.is_relative_to(inside) or any(real.is_relative_to(place) for place in _SYSTEM_PLACES)


def without_private(diagnostics: Sequence[Diagnostic], cwd: Path) -> tuple[Diagnostic, ...]:
    """Diagnostics without the words of those in files that are neither the project's nor the system's: an ``#include`` that
    a model wrote can name any file, and the compiler quotes what it cannot read as C."""
    inside = cwd.resolve()

    def is_private(file: str) -> bool:
        return bool(file) and not file.startswith("<") and (cwd / file).exists() and not _is_public(cwd / file, inside)

    found = []
    for one in diagnostics:
        if is_private(one.file):
            one = msgspec.structs.replace(one, message=_NOT_SHOWN, source_line="", notes=(), includes=())
        elif one.notes:
            one = msgspec.structs.replace(one, notes=tuple(note for note in one.notes if not is_private(_file_of(note))))
        found.append(one)
    return tuple(found)


_NOT_SHOWN = "This file lies outside of the project, and what is in it is not shown."


def _file_of(note: str) -> str:
    match = re.match(r"(.+?):\d+", note)
    return match[1] if match else ""


def _lines_of(path: Path, inside: Path) -> list[str]:
    try:
        if not _is_public(path, inside):
            return []
        real = path.resolve()
        with real.open("rb") as handle:
            return handle.read(MAX_OUTPUT).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError, RuntimeError):
        return []


def with_source_lines(diagnostics: Sequence[Diagnostic], cwd: Path) -> tuple[Diagnostic, ...]:
    """Diagnostics with the source line that each points at, read from the file where the compiler did not print it. Outside
    ``cwd`` only sources and headers are read."""
    lines: dict[str, list[str]] = {}
    inside = cwd.resolve()
    out = []
    for d in diagnostics[:MAX_LINES_READ]:
        if d.line and d.file and not d.source_line:
            if d.file not in lines:
                lines[d.file] = _lines_of(cwd / d.file, inside)
            if d.line <= len(lines[d.file]):
                d = msgspec.structs.replace(d, source_line=lines[d.file][d.line - 1].rstrip("\r"))
        out.append(d)
    return (*out, *diagnostics[MAX_LINES_READ:])


async def _run(
    compiler: Compiler, command: list[str], cwd: Path, timeout: float, target: Path, shut_in: ShutIn | None
) -> CompileOutcome:
    shown = " ".join(command)
    try:
        done = await run_child(shut_in(command) if shut_in else command, cwd=cwd, timeout=timeout)
    except OSError as error:
        problem = Diagnostic("fatal", f"The compiler {compiler.path} cannot be started: {error.strerror or error}.")
        return CompileOutcome(False, (problem,), problem.message, shown, 0.0, exit_code=127)
    text = done.stderr.decode("utf-8", "replace")
    said = compiler.read(text)
    found = with_source_lines(without_private(said, cwd), cwd)
    if any(one.message != other.message or one.notes != other.notes for one, other in zip(found, said, strict=True)):
        text = render(found)
    if done.timed_out:
        problem = Diagnostic("fatal", f"The compiler took longer than {timeout:g} s and was stopped.")
        return CompileOutcome(
            False, (problem, *found), problem.message, shown, done.ms, timed_out=True, exit_code=done.exit_code
        )
    ok = done.exit_code == 0
    structured = compiler.format != "text" and text.lstrip()[:1] in ("[", "{")
    readable = render(found) if structured and found else "" if structured else text
    if not ok and not found:
        found = (Diagnostic("fatal", readable.strip()[:2000] or f"The compiler ended with exit code {done.exit_code}."),)
    return CompileOutcome(ok, found, readable, shown, done.ms, target if ok else None, exit_code=done.exit_code)
