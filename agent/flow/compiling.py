"""The compile of a run: one build of the worktree, with recoveries, as the coding room wants it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from agent.compiling.build import Build
from agent.compiling.classifying.questions import RunQuestions
from agent.compiling.compiler import Compiler
from agent.compiling.curing.recovery import LinkRecovered, Recovered, Recovery
from agent.context import RunContext
from agent.flow.limits import limits_of
from agent.workspace.isolation import isolation, walls_for, wrap
from agent.workspace.sandbox import Limits, limited
from agent.workspace.worktree import Workspace

_DEFAULT_LIMITS = Limits()


class RunCompiler:
    """Compiles files of one run. The build is made at the first compile, so that a Python run needs no compiler.

    ``needs`` is the function that the last failed compile said must be defined first, "" when none.
    """

    def __init__(self, ctx: RunContext, workspace: Workspace) -> None:
        self.ctx = ctx
        self.workspace = workspace
        self.needs = ""
        self._recovery: Recovery | None = None

    async def __call__(self, path: str, symbol: str = "", signature: str = "") -> Recovered:
        """Compile ``path`` after ``symbol`` was changed in it; includes may be put in, heads rewritten."""
        recovery = await self._ready()
        done = await recovery.compile(path, symbol, signature)
        self.needs = done.needs
        return done

    async def link(self, paths: list[str]) -> LinkRecovered:
        """Compile and link the sources ``paths`` as one library in which nothing may be undefined."""
        recovery = await self._ready()
        for path in paths:
            await recovery.build.compile(path)
        return await recovery.link(paths, shared=True)

    async def build(self) -> Build:
        """The build itself."""
        return (await self._ready()).build

    async def program(self, paths: list[str]) -> LinkRecovered:
        """Link the objects of ``paths`` (compiled before, one of them with a ``main``) as a program, which is dropped."""
        return await (await self._ready()).link(paths)

    def close(self) -> None:
        """Drop the objects."""
        if self._recovery is not None:
            self._recovery.build.close()

    async def _ready(self) -> Recovery:
        if self._recovery is None:
            self._recovery = await asyncio.to_thread(self._make)
        return self._recovery

    def _make(self) -> Recovery:
        ctx, config = self.ctx, self.ctx.config
        build = Build(
            self.workspace.root,
            compiler=Compiler.find(config.compile.compiler or None),
            extra_flags=config.compile.extra_flags,
            origin=self.workspace.repo,
            timeout=float(config.compile.timeout_seconds),
            emit=ctx.emit,
            shut_in=shutting_in(self.workspace.root, limits_of(ctx), self.workspace.repo),
        )
        return Recovery(
            build,
            llm=RunQuestions(ctx),
            decomposed=config.orchestrator.decomposed_error_classification,
            signature_source=config.coding.signature_source,
            facts=config.compile.facts,
        )


def shutting_in(
    root: Path, limits: Limits = _DEFAULT_LIMITS, origin: Path | None = None
) -> Callable[[list[str], Path], list[str]]:
    """How the compiler is kept within walls and limits, as checks are: an ``#include`` that a model wrote would show the
    lines of any file in its errors, and one of ``/dev/zero`` takes all memory there is.

    Include folders of the person's own checkout ``origin`` that a command names can be read, since headers that a build
    made are only there. Costs some 25 ms a compile. Blocking the first time.
    """
    kind = isolation()
    settings = [f"AS={limits.memory}"] if limits.memory else []
    settings += [f"FSIZE={limits.file_size}", "CORE=0", *([f"CPU={limits.cpu}"] if limits.cpu else [])]

    def shut_in(command: list[str], objects: Path) -> list[str]:
        written = {objects, *(Path(after).parent for before, after in pairwise(command) if before == "-o")}
        readable = [*map(Path, limits.readable), *_include_folders(command, origin)]
        walls = walls_for(root, [place for place in written if place.is_absolute()], readable=readable)
        return wrap(kind, limited(command, settings), root, walls)

    return shut_in


def _include_folders(command: list[str], origin: Path | None) -> list[Path]:
    if origin is None:
        return []
    named = [word[2:] for word in command if word.startswith("-I") and len(word) > 2]
    named += [after for before, after in pairwise(command) if before in ("-I", "-isystem", "-iquote", "-include")]
    real = [Path(os.path.realpath(name)) for name in named if os.path.isabs(name)]
    return [place for place in real if place.is_relative_to(origin) and place != origin]
