"""Compiling and linking one worktree: the compiler, its flags and what it knows, with the events that show each run."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from agent.c.preprocessor.directives import FEATURE_MACROS
from agent.c.preprocessor.includes import analyse
from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.child import run_child
from agent.compiling.compiler import CompileOutcome, Compiler, ShutIn, compile_object, link
from agent.compiling.flags import BuildFlags
from agent.compiling.generated import Generated, generated_file
from agent.compiling.system_headers import SystemHeaders, system_headers
from agent.events import CompileFinished, CompileStarted, Event, Notice
from agent.regular_files import read_regular
from agent.scratch import scratch_folder
from agent.values import Diagnostic

_POSITION_INDEPENDENT = ("-fPIC",)
"""Objects can then be linked into a library too, which is how a project without a ``main`` is checked for missing bodies."""

Emit = Callable[[Event], None]


class Build:
    """A worktree that can be compiled file by file. Objects go to a temporary directory, never into the tree.

    ``origin`` is the user's checkout that paths in a compilation database speak of. ``system`` is asked of the compiler
    when None, which takes about 50 ms once a compiler. ``shut_in`` is given each command and the folder of the objects, and
    returns the command that shuts the compiler in.
    """

    def __init__(
        self,
        root: Path,
        *,
        compiler: Compiler | None = None,
        extra_flags: Sequence[str] = (),
        origin: Path | None = None,
        timeout: float = 60.0,
        emit: Emit | None = None,
        system: SystemHeaders | None = None,
        shut_in: Callable[[list[str], Path], list[str]] | None = None,
    ) -> None:
        self.root = root
        self.compiler = compiler or Compiler.find()
        self._objects = tempfile.TemporaryDirectory(prefix="objects-", dir=scratch_folder())
        objects = Path(self._objects.name)
        self.flags = BuildFlags(root, extra_flags, origin, shut_in, objects)
        self._told_guess = False
        self.timeout = timeout
        self.emit = emit or (lambda _event: None)
        self.system = system or system_headers(self.compiler)
        self.project = ProjectFiles.at(root, self.system.macros or None)
        self._shut_in: ShutIn | None = (lambda command: shut_in(command, objects)) if shut_in else None

    def close(self) -> None:
        """Drop the objects and what configuring made."""
        self._objects.cleanup()

    def facts(self, path: str) -> BuildFacts:
        """What the flags of a file say about the standard, macros and include folders. The feature-test macros of headers
        that only a build makes count as well. Blocking the first time."""
        facts = BuildFacts.of(self.flags.for_file(path), self.compiler.path, guessed=self.flags.guessed)
        return replace(facts, defined=facts.defined | self._made_macros(path, facts.include_dirs))

    def _made_macros(self, path: str, folders: Sequence[str]) -> frozenset[str]:
        """The feature-test macros of the headers that ``path`` includes and that lie outside of the tree, where a build or
        configuring made them."""
        places = (Path(self._objects.name), self.flags.origin)
        outside = [Path(one) for one in folders if not Path(one).is_relative_to(self.root)]
        found: set[str] = set()
        for folder in (one for one in outside if any(one.is_relative_to(place) for place in places)):
            for include in self.project.shape(path).includes:
                with contextlib.suppress(OSError):
                    found |= analyse(read_regular(folder / include.name)).defined.keys() & FEATURE_MACROS
        return frozenset(found)

    def refresh(self) -> None:
        """Read the tree again: files came, went or changed behind the build's back."""
        self.project.rescan()
        self.flags.forget()

    def object_path(self, path: str) -> Path:
        """Where a source file's object goes: a name of its own for every path."""
        digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return Path(self._objects.name) / f"{digest}.o"

    async def compile(self, path: str, symbol: str = "") -> CompileOutcome:
        """Compile one file, relative to the root, as it is on disk. Emits CompileStarted and CompileFinished."""
        command = f"{Path(self.compiler.path).name} -c {path}"
        flags = await asyncio.to_thread(self.flags.for_file, path)
        self._tell_guess(flags)
        self.emit(CompileStarted(path, command, symbol=symbol))
        outcome = await compile_object(
            self.compiler,
            Path(path),
            cwd=self.root,
            flags=[*flags, *_POSITION_INDEPENDENT],
            output=self.object_path(path),
            timeout=self.timeout,
            shut_in=self._shut_in,
        )
        self.emit(CompileFinished(path, outcome.ok, outcome.diagnostics, round(outcome.ms, 1), symbol=symbol))
        return outcome

    def _tell_guess(self, flags: Sequence[str]) -> None:
        """Say once that the include folders are a guess."""
        if self._told_guess or not self.flags.guessed:
            return
        self._told_guess = True
        folders = ", ".join(os.path.relpath(f[2:], self.root) for f in flags if f.startswith("-I")) or "none"
        text = (
            "Nothing tells how this project is compiled (no compile_commands.json, makefile, CMakeLists.txt, meson.build or "
            f"build.ninja), so the include folders are a guess: {folders}. Set compile.extra_flags to name them."
        )
        self.emit(Notice("info", text, "compile"))

    async def compile_as(self, path: str, text: bytes, extra: Sequence[str] = ()) -> CompileOutcome:
        """Compile ``text`` in place of the file ``path``, whose object it becomes; the file is neither read nor written.
        Quoted includes are looked for beside ``path``. No events: it is not a file of the project."""
        source = self.object_path(path).with_suffix(".c")
        source.write_bytes(text)
        known = await asyncio.to_thread(self.flags.for_file, path)
        flags = [*known, *_POSITION_INDEPENDENT, "-iquote", str((self.root / path).parent), *extra]
        return await compile_object(
            self.compiler, source, cwd=self.root, flags=flags, output=self.object_path(path), promote=False,
            timeout=self.timeout, shut_in=self._shut_in,
        )  # fmt: skip

    def generated(self, path: str) -> Generated | None:
        """How a generated file is made, None for one that a person writes. Blocking."""
        return generated_file(self.project, path)

    async def make_again(self, generated: Generated) -> bool:
        """Make a generated file from its source again; whether that worked."""
        command = list(generated.command)
        folder = self.root / generated.folder
        try:
            done = await run_child(self._shut_in(command) if self._shut_in else command, cwd=folder, timeout=self.timeout)
        except OSError:
            return False
        self.project.forget(generated.output)
        return done.exit_code == 0

    async def link(
        self, paths: Sequence[str], libraries: Sequence[str] = (), *, shared: bool = False, output: Path | None = None
    ) -> CompileOutcome:
        """Link the objects of ``paths`` (compiled before). ``shared`` links a library without a ``main`` that may leave
        nothing undefined."""
        label = " ".join(paths)
        self.emit(CompileStarted(label, f"{Path(self.compiler.path).name} {label} {' '.join(libraries)}".strip(), link=True))
        outcome = await link(
            self.compiler,
            [self.object_path(p) for p in paths],
            cwd=self.root,
            libraries=libraries,
            shared=shared,
            output=output,
            timeout=self.timeout,
            shut_in=self._shut_in,
        )
        told = tuple(self._from_here(one) for one in outcome.diagnostics)
        self.emit(CompileFinished(label, outcome.ok, told, round(outcome.ms, 1), link=True))
        return outcome

    def _from_here(self, diagnostic: Diagnostic) -> Diagnostic:
        """With its file as the project calls it: a linker names the path that debug information holds."""
        path = Path(diagnostic.file)
        if not diagnostic.file or not path.is_relative_to(self.root):
            return diagnostic
        return msgspec.structs.replace(diagnostic, file=path.relative_to(self.root).as_posix())
