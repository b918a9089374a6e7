"""One step done by the implementer of its kind. What it changed stands in the worktree; nothing is committed here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Sequence

import msgspec

from agent.coding.open_items import OpenFunction, OpenType, find_open_functions, find_open_types
from agent.coding.writing.candidates import Candidate, CheckScore, Compiled, FunctionResult, compile_trouble
from agent.coding.writing.edit_step import StepOutcome, implement_step
from agent.coding.writing.functions import Kept, Waiting, implement_function
from agent.coding.writing.scaffold import Callers, scaffold
from agent.coding.writing.type_definition import implement_type
from agent.config.schema import user_config_path
from agent.context import RunContext
from agent.flow.checks import RunChecks
from agent.flow.compiling import RunCompiler
from agent.flow.survey import Survey
from agent.flow.symbol_trials import mend, wants_mending
from agent.flow.test_contract import TestContract, tested_interface
from agent.flow.worktree_files import WorkTree
from agent.knowledge.cards import cards_of, fitting
from agent.languages import is_compiled
from agent.planning.signals import as_shown
from agent.values import FailureCategory, PlanStep
from agent.workspace.first_failure import further, stopped_at
from agent.workspace.git import WorkspaceError
from agent.workspace.worktree import Workspace

REWORK_SAMPLES = 4
"""Candidates of a function that is written anew after a failing check: each sees what the checks say of the one before, and
the checks choose between them."""


class Work(msgspec.Struct, frozen=True):
    """What became of one step: ``reason`` is a sentence and ``kind`` the category when it failed, ``more`` the steps that
    it turned out to need."""

    ok: bool
    reason: str = ""
    more: tuple[PlanStep, ...] = ()
    kind: FailureCategory = "unknown"


class StepWorker:
    """Carries out single steps."""

    def __init__(self, ctx: RunContext, found: Survey, tree: WorkTree, compiler: RunCompiler, checks: RunChecks) -> None:
        self.ctx = ctx
        self.found = found
        self.tree = tree
        self.compiler = compiler
        self.checks = checks
        self.contract = TestContract(found)
        self.waiting = Waiting(lambda name: self.step_for(name) is not None)
        self.versions: dict[str, tuple[OpenFunction, list[Candidate]]] = {}
        """Every version of a C function that compiled in this run."""
        self._functions: dict[tuple[str, str], OpenFunction] = {}
        self._types: dict[tuple[str, str], OpenType] = {}
        self.remember_open()

    def remember_open(self) -> None:
        """Keep what is open now: a function that is written later can still be written anew."""
        for function in self.found.functions:
            self._functions.setdefault((function.path, function.name), function)
        for item in self.found.types:
            self._types.setdefault((item.path, item.name), item)

    async def recall(self, commits: Sequence[str], workspace: Workspace) -> None:
        """Remember what was open at earlier commits of the run, in the files that are changed now."""
        changed = await workspace.changed_files()
        paths = {path for one in changed for path in (one, self.found.index.pair_of(one) or one)}
        for commit in commits:
            sources: dict[str, bytes] = {}
            for path in sorted(paths):
                with contextlib.suppress(WorkspaceError):  # it came later
                    sources[path] = await workspace.content_at(commit, path)
            functions = await asyncio.to_thread(find_open_functions, sources)
            for function in functions:
                self._functions.setdefault((function.path, function.name), function)
            for item in await asyncio.to_thread(find_open_types, sources, functions):
                self._types.setdefault((item.path, item.name), item)

    def step_for(self, name: str, done: Collection[str] = ()) -> PlanStep | None:
        """A step that defines an open function or type of this name (its tag or a typedef), None when there is none."""
        for item in self._types.values():
            if name in (item.name, item.spelling, *item.typedefs) and item.name not in done:
                return PlanStep(
                    f"d.{item.name}", f"Define {item.spelling}", (item.path,), (item.name,), kind="type_definition"
                )
        for function in self._functions.values():
            if function.name == name and name not in done:
                return PlanStep(f"d.{name}", f"Implement {name}", (function.path,), (name,), kind="function_implement")
        return None

    async def do(
        self,
        step: PlanStep,
        failure: str = "",
        *,
        anew: bool = False,
        lock: asyncio.Lock | None = None,
        kept: Kept | None = None,
    ) -> Work:
        """Carry out ``step``. ``failure`` is what a check said; with ``anew`` the step was done before and is redone.
        ``lock`` guards the files when several steps are carried out at once; ``kept`` is awaited under it when a function
        stands.

        Raises:
            ModelError: if the model cannot answer.
        """
        if step.kind == "scaffold":
            return await self._scaffold(step)
        key = (step.target_files[0] if step.target_files else "", step.target_symbols[0] if step.target_symbols else "")
        if step.kind == "type_definition" and key in self._types:
            return _of_function(await self._type(self._types[key]))
        wanted = self._functions.get(key)
        if step.kind == "function_implement" and wanted is not None and is_compiled(wanted.path):
            written = await self._function(wanted, failure, anew, lock, kept)
            self.versions.setdefault(wanted.name, (wanted, []))[1].extend(written.versions)
            return _of_function(written)
        return await self._edit(step, failure, anew)

    async def _function(
        self, wanted: OpenFunction, failure: str, anew: bool, lock: asyncio.Lock | None, kept: Kept | None
    ) -> FunctionResult:
        samples = max(self.ctx.config.coding.samples, REWORK_SAMPLES if anew or self._tests_decide() else 1)
        examples = await asyncio.to_thread(self.contract.examples, wanted.name, wanted.language)
        return await implement_function(
            self.ctx,
            wanted,
            files=self.tree.files,
            compile=self.compiler,
            task=self.found.task,
            failure=failure,
            score=self._score if samples > 1 and self.checks.command else None,
            lock=lock,
            kept=kept,
            samples=samples,
            examples=examples,
            cards=self._cards(wanted, examples),
            waiting=self.waiting,
        )

    def _cards(self, wanted: OpenFunction, examples: Sequence[str]) -> tuple[str, ...]:
        """The cards of knowledge that fit a function, by the words of its contract, signature and examples."""
        if not self.ctx.config.coding.cards:
            return ()
        about = "\n".join([wanted.signature, wanted.doc or self.found.task, *examples])
        found = fitting(cards_of(wanted.language, user_config_path().parent / "knowledge"), about)
        if found:
            names = ", ".join(card.name for card in found)
            self.ctx.notice("info", f"Knowledge cards shown with {wanted.name}: {names}.", "function_implement")
        return tuple(card.text for card in found)

    def _tests_decide(self) -> bool:
        """Whether nothing else is open, so that the checks tell of every candidate whether it is right."""
        return len(self._functions) == 1 and self.checks.before is not None and not self.checks.before.ok

    async def _type(self, wanted: OpenType) -> FunctionResult:
        return await implement_type(self.ctx, wanted, files=self.tree.files, compile=self.compiler, task=self.found.task)

    async def _edit(self, step: PlanStep, failure: str, anew: bool) -> Work:
        if wants_mending(step, self.checks):
            kept, reason = await mend(step, lambda part: self._edited(part, failure), self.checks, self.tree)
            return Work(kept, reason, kind="test_failure")
        done = await self._edited(step, failure, anew and len(step.target_symbols) == 1)
        return Work(done.ok, done.reason, kind=done.kind)

    async def _edited(self, step: PlanStep, failure: str, anew: bool = False) -> StepOutcome:
        return await implement_step(
            self.ctx,
            step,
            files=self.tree.files,
            compile=self.compiler,
            task=self.found.task,
            context=self.found.package.text,
            failure=failure,
            examples=lambda name, language: self.contract.examples(name, language),
            protected=lambda path: not self.tree.writable(path),
            score=self._score if anew and self.checks.command else None,
            samples=REWORK_SAMPLES if anew and self.checks.command else 1,
        )

    async def _tested(self, step: PlanStep) -> Callers | None:
        """The tests that a header of the step is made for, where there are any."""
        tested = await asyncio.to_thread(tested_interface, self.found)
        if tested is None or tested.header not in step.target_files:
            return None
        build = await self.compiler.build()

        async def trouble() -> str:
            build.refresh()
            for path in tested.callers:
                done = await build.compile(path)
                if not done.ok:
                    return compile_trouble(Compiled(False, done.diagnostics), path, self.tree.files.read_bytes(path))
            return ""

        return Callers(tested.header, tested.usage, trouble)

    async def _scaffold(self, step: PlanStep) -> Work:
        laid = await scaffold(
            self.ctx,
            files=self.tree.files,
            compile=self.compiler,
            task=self.found.task,
            part=step.description,
            targets=step.target_files,
            context=self.found.package.text,
            added=step.target_symbols,
            tested=await self._tested(step),
        )
        if not laid.ok:
            return Work(False, laid.reason, kind=laid.kind)
        for function in laid.functions:
            self._functions[function.path, function.name] = function
        for item in laid.types:
            self._types[item.path, item.name] = item
        return Work(True, "", _steps_of(step, laid.functions, laid.types))

    async def _score(self, name: str) -> CheckScore | None:
        """How the checks do with a candidate in place, and why they fail."""
        now = await self.checks.measure()
        if now is None:
            return None
        if now.ok:
            return CheckScore(1.0)
        total = (now.passed or 0) + (now.failed or 0)
        points = (now.passed or 0) / total if total else 0.0
        points = min(points, 0.99)  # something failed, whatever was counted
        if not now.passed and (stop := stopped_at(now.output)) is not None:
            points = 1 - 1 / (1 + stop.line)  # tells the candidates apart: the further, the better
        why = await self.checks.explain(now, (name,))
        faulty = name in why.faulty
        mended = name in self.checks.faulty and not now.timed_out and not self.checks.regressed(now)
        if not faulty and (mended or (self.checks.best is not None and further(self.checks.best, now) > 0)):
            points = 1.0  # past what it was written anew for
        return CheckScore(points, as_shown(why.of(name)), faulty)


def _steps_of(step: PlanStep, functions: tuple[OpenFunction, ...], types: tuple[OpenType, ...]) -> tuple[PlanStep, ...]:
    """A step for each type, then for each function that a scaffold laid down."""
    first = tuple(
        PlanStep(
            f"{step.id}.{item.name}", f"Define {item.spelling}", (item.path,), (item.name,), (step.id,), step.part,
            "type_definition",
        )
        for item in types
    )  # fmt: skip
    after = (step.id, *(one.id for one in first))
    rest = tuple(
        PlanStep(
            f"{step.id}.{function.name}", f"Implement {function.name}", (function.path,), (function.name,), after,
            step.part, "function_implement",
        )
        for function in functions
    )  # fmt: skip
    return first + rest


def _of_function(result: FunctionResult) -> Work:
    return Work(result.ok, result.reason, kind=result.kind)
