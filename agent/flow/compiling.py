"""The compile of a run: one build of the worktree, with recoveries, as the coding room wants it."""

from __future__ import annotations

import asyncio

from agent.compiling.build import Build
from agent.compiling.classifying.questions import RunQuestions
from agent.compiling.compiler import Compiler
from agent.compiling.curing.recovery import LinkRecovered, Recovered, Recovery
from agent.context import RunContext
from agent.flow.limits import limits_of
from agent.workspace.compiler_walls import shutting_in
from agent.workspace.worktree import Workspace


class RunCompiler:
    """Compiles files of one run. The build is made at the first compile, so that a Python run needs no compiler."""

    def __init__(self, ctx: RunContext, workspace: Workspace) -> None:
        self.ctx = ctx
        self.workspace = workspace
        self._needs = ""
        self._recovery: Recovery | None = None

    async def __call__(self, path: str, symbol: str = "", signature: str = "") -> Recovered:
        """Compile ``path`` after ``symbol`` was changed in it; includes may be put in, heads rewritten."""
        recovery = await self._ready()
        done = await recovery.compile(path, symbol, signature)
        self._needs = done.needs
        return done

    def take_need(self) -> str:
        """The function that the last failed compile said must be defined first, "" when none; said once."""
        name, self._needs = self._needs, ""
        return name

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
