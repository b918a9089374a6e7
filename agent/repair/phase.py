"""The phase: localize, search, have one of the edits that pass chosen, write it."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import msgspec

from agent.context import RunContext, StageReport
from agent.counts import plural
from agent.events import (
    CallFinished,
    CandidatePassed,
    CandidatesTried,
    RepairFinished,
    RepairStarted,
    SuspectFunction,
    SuspectJudged,
    SuspectsRanked,
)
from agent.judgment.binary import run_binary_judgment
from agent.prompts import fitting, suspect
from agent.regular_files import read_inside
from agent.repair.anew import Rewriter
from agent.repair.c_testbed import CommandBed
from agent.repair.choice import Choice
from agent.repair.cloze import Filler
from agent.repair.commands import read_command, usable_python
from agent.repair.edits import unified
from agent.repair.expected import expected_by
from agent.repair.functions import Function, functions_of, is_searched
from agent.repair.localize import Place, Suspect, Trace, clusters, line_scores, rank_functions
from agent.repair.operators import BY_WHAT_CHECKS_SAY, OPERATORS, Told
from agent.repair.passing import PassingEdit, edit_of
from agent.repair.search import Counts, EditSearch, Tried, candidates_of
from agent.repair.synthesis import FORCING, OPERATOR, guarded_changes, made_conditions
from agent.repair.testbed import CheckBed, NoBed, PythonBed
from agent.repair.workers import Workers
from agent.walking import files_below
from agent.workspace.sandbox import Limits
from agent.workspace.worktree import Workspace

SUSPECT = "suspect"
_WORTH_ASKING = 0.5
"""Suspects with at least this share of the first one's score are asked about; a clear first is not."""

_NOT_SUSPECTED = 0.6
_SHOWN_EVERY = 0.25
_MOST_SOURCES = 400
_MOST_PARTS = 4
PAIRS_SECONDS = 3.0
"""Seconds for pairs that hold a line of the model's, when filling lines has used up the budget."""

CONFIRM_SECONDS = 5.0
"""Seconds for running all checks with the edits that mend a part, when the budget is used up."""

MADE_SECONDS = 10.0
"""Seconds for conditions made from parts at least, when other edits have used up their share of the budget."""

_WRITTEN_SHARE = 0.5
"""Share of the budget that is kept for what the model writes while operators are tried."""

_LINES_SHARE = 0.5
"""Share of what is left then that single lines get before whole functions are written."""

_LOOK_FIRST = 6.0
"""Seconds in which edits are tried by the evidence alone, before suspects are asked about: many faults are found by then."""

_ABOUT = 500
"""Characters of the contract that stand above a file with a gap."""


class Task(msgspec.Struct, frozen=True):
    """What the phase works on: the task's words, the command of the checks, which paths a change may touch."""

    text: str
    command: str
    writable: Callable[[str], bool]
    limits: Limits
    env: dict[str, str] = {}
    with_model: bool = True
    blamed: frozenset[Place] = frozenset()
    """Places that sanitizers name."""

    findings: tuple[str, ...] = ()
    """What sanitizers found, in sentences."""

    before: Mapping[str, bytes] = {}
    """The files that the run itself wrote, as they were before, b"" for new ones. Where there are any, only functions that
    are new in them are searched, none is rewritten, which the run does by its own means, and an edit that mends a part of
    the failures, and more than it breaks, is told where none mends all."""

    budget_s: float | None = None
    """Seconds, where they are fewer than the configuration allows."""

    fills: bool = True
    """Whether lines and functions that the model writes are tried, too."""

    quick: bool = False
    """Whether only edits are tried that are read from what the checks say."""


class Mended(msgspec.Struct, frozen=True):
    """What the phase came to: ``chosen``, the edit that is written now, is None when there is none; ``edits`` are all that
    pass, by number. ``parts`` are edits that mend a part of the failures, the best first. None is written, and a trial that
    was ended early may not know what else one breaks."""

    ok: bool
    reason: str
    chosen: PassingEdit | None = None
    edits: dict[int, PassingEdit] = {}
    parts: tuple[PassingEdit, ...] = ()


class RepairPhase:
    """One search in one run's worktree."""

    def __init__(self, ctx: RunContext, workspace: Workspace, task: Task) -> None:
        self.ctx = ctx
        self.workspace = workspace
        self.task = task
        configured = ctx.config.repair
        budget = min(configured.budget_s, configured.budget_s if task.budget_s is None else math.ceil(task.budget_s))
        off = [name for name in OPERATORS if task.quick and name not in BY_WHAT_CHECKS_SAY]
        off += [OPERATOR] if task.quick else []
        self.config = msgspec.structs.replace(
            configured,
            budget_s=budget,
            anew=configured.anew and not task.before,
            operators_off=[*configured.operators_off, *off],
        )
        self._began = time.monotonic()
        self._told_at = 0.0
        self._source = "operators"
        self._messages: dict[str, str] = {}

    async def run(self) -> Mended:
        """Search, choose, write.

        Raises:
            ModelError: the model cannot answer. Stopped: the person stopped the run.
        """
        self._began = time.monotonic()
        async with self.ctx.stage("repair_search", title="repair: search") as report:
            return await self._search(report)

    async def _search(self, report: StageReport) -> Mended:
        bed = await self._bed()
        if bed is None:
            return Mended(False, "There is no interpreter that can run the tests of this repository.")
        try:
            try:
                await bed.open()
            except NoBed as error:
                self.ctx.notice("info", str(error), "repair")
                return Mended(False, str(error))
            done = await self._with_bed(bed)
            report.counts = {"tried": self._counts.tried, "passing": self._counts.passing}
            report.note = done.reason
            return done
        finally:
            await bed.close()

    _counts = Counts()
    _partial: Sequence[Tried] = ()

    async def _bed(self) -> CheckBed | None:
        check = await read_command(self.task.command, self.workspace.root)
        count = min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        workers = Workers(self.workspace.root, self.task.limits, self.task.env, count)
        life = 4.0 * self.config.budget_s + 600.0
        if check.kind == "command":
            return CommandBed(self.workspace.root, check, workers, life, to_end=bool(self.task.before))
        python = await usable_python(check, self.workspace.root)
        return PythonBed(self.workspace.root, check, python, workers, life) if python else None

    async def _with_bed(self, bed: CheckBed) -> Mended:
        base = bed.baseline
        self._messages = base.messages
        traces, blamed, note = await bed.traces()
        if note:
            self.ctx.notice("info", note, "repair")
        if base.flaky:
            names = ", ".join(base.flaky[:5])
            self.ctx.notice("warning", f"These checks failed once and passed once, so they are left out: {names}.", "repair")
        budget = float(self.config.budget_s)
        self.ctx.emit(RepairStarted(base.failing[:200], len(base.passing), budget, tuple(clusters(traces)), base.flaky))
        sources = await asyncio.to_thread(self._sources, traces)
        functions = [one for path, source in sources.items() for one in functions_of(path, source) if self._is_searched(one)]
        called = _called(base.messages.values(), functions)
        blamed |= self.task.blamed
        suspects = rank_functions(functions, line_scores(traces), task=self.task.text, blamed=blamed, called=called)
        suspects = suspects[: self.config.max_suspects]
        if not suspects:
            return self._finished(Mended(False, "No function of the repository is run by the failing checks."))
        self._tell_suspects(suspects)
        found = await self._find(bed, sources, suspects, functions)
        if not found:
            return self._finished(Mended(False, self._how_far(suspects), parts=self._best_parts(sources)))
        choice = Choice(
            self.ctx, dict(enumerate(found, 1)), sources, context=partial(self._fitting_context, suspects),
            with_model=self.task.with_model,
        )  # fmt: skip
        chosen, edits = await choice.made(bed)
        for path, text in chosen.texts.items():
            self.workspace.write_bytes(path, text)
        return self._finished(Mended(True, f"An edit in {chosen.function} makes all checks pass.", chosen, edits))

    def _best_parts(self, sources: Mapping[str, bytes]) -> tuple[PassingEdit, ...]:
        """The edits that mend most of the failures and break fewer, the best first."""
        if not self.task.before:
            return ()
        return tuple(edit_of(0, one.candidate, sources, 0) for one in self._partial[:_MOST_PARTS])

    def _sources(self, traces: Sequence[Trace]) -> dict[str, bytes]:
        """The files that may hold the fault: executed ones first; all that may be changed where nothing was traced."""
        executed = dict.fromkeys(path for trace in traces if not trace.passed for path, _ in sorted(trace.lines))
        root = self.workspace.root
        paths = list(executed) or [
            path.relative_to(root).as_posix()
            for path in sorted(files_below(root))[: 50 * _MOST_SOURCES]
            if is_searched(path.name) and ".clean_room" not in path.parts and ".git" not in path.parts
        ]
        found = {}
        for path in paths[:_MOST_SOURCES]:
            full = root / path
            if is_searched(path) and self.task.writable(path) and full.is_file() and not full.is_symlink():
                found[path] = full.read_bytes()
        return found

    def _is_searched(self, function: Function) -> bool:
        before = self.task.before
        return not before or function.text.encode("utf-8", "replace") not in before.get(function.path, b"")

    def _tell_suspects(self, suspects: Sequence[Suspect]) -> None:
        rows = [
            SuspectFunction(one.function.name, one.function.path, one.function.first, one.score, one.why) for one in suspects
        ]
        self.ctx.emit(SuspectsRanked(tuple(rows)))

    async def _judge_suspects(self, suspects: list[Suspect], messages: Mapping[str, str]) -> list[Suspect]:
        """A question for each where the evidence leaves several; its answer moves a function down, never out."""
        near = [one for one in suspects if one.score >= _WORTH_ASKING * suspects[0].score]
        if len(near) < 2 or not self.task.with_model or not self.config.ask_suspects:
            return suspects
        chances: dict[str, float] = {}

        def heard(one: Suspect, event: CallFinished) -> None:
            verdict = bool(event.verdict)
            share = event.score if event.score is not None else event.p_yes
            chances[_key(one)] = (1.0 if verdict else _NOT_SUSPECTED) + 0.2 * (share or 0.0)
            self.ctx.emit(SuspectJudged(one.function.name, one.function.path, verdict, event.p_yes))

        ranks = {_key(one): place for place, one in enumerate(near, 1)}
        await run_binary_judgment(
            near,
            system_prompt=suspect.SYSTEM,
            task_context=suspect.context(self.task.text, self._failure(messages)),
            llm=self.ctx.llm(SUSPECT),
            format_item=lambda one: suspect.item(one.function.path, one.function.text, one.function.contract),
            item_key=_key,
            label_item=_key,
            stage_name=SUSPECT,
            rank=lambda one: ranks[_key(one)],
            on_verdict=heard,
            default_action="kept where the evidence put it",
        )
        return sorted((_scaled(one, chances.get(_key(one), 1.0)) for one in suspects), key=lambda one: -one.score)

    async def _find(
        self, bed: CheckBed, sources: Mapping[str, bytes], suspects: Sequence[Suspect], functions: Sequence[Function]
    ) -> list[Tried]:
        others: dict[str, list[str]] = {}
        for one in functions:
            others.setdefault(one.path, []).append(one.name)
        wanted = f"{self.task.text}\n{self._contract(suspects[0].function)}"
        expected = await asyncio.to_thread(expected_by, self.workspace.root, bed.baseline.failing)
        told = Told(tuple(self._messages.values()), wanted, expected.exceptions, expected.texts)
        written = self.task.with_model and self.task.fills and (self.config.cloze or self.config.anew)
        end = self._began + self.config.budget_s
        first_end = end - _WRITTEN_SHARE * self.config.budget_s if written else end
        width = getattr(getattr(bed, "workers", None), "count", 1)
        search = EditSearch(bed, sources, first_end, self._tell, width)
        self._counts = search.counts
        self.ctx.emit(CandidatesTried(seconds_left=self._left()))
        candidates = await asyncio.to_thread(candidates_of, suspects, self.config.operators_off, others, told)
        search.deadline = min(first_end, time.monotonic() + _LOOK_FIRST)
        await search.run(candidates)
        search.deadline = first_end
        if not search.passing:
            suspects = await self._judge_suspects(list(suspects), self._messages)
            candidates = await asyncio.to_thread(candidates_of, suspects, self.config.operators_off, others, told)
        await search.run(candidates)
        await self.ctx.gate.pass_point()
        if not search.passing and search.partial:
            self._source = "pairs"
            await search.confirm_partial()
            await search.run(search.combined())
            if not search.passing:
                await search.run(search.on_top(candidates, len(bed.baseline.failing)))
        if not search.passing and OPERATOR not in self.config.operators_off:
            self._source = "conditions"
            search.deadline = max(first_end, min(end, time.monotonic() + MADE_SECONDS))
            await search.run(one for one in candidates if one.operator in FORCING)
            if not search.passing and search.forced:
                await search.run(await asyncio.to_thread(made_conditions, functions, search.forced))
            if not search.passing and search.mixed:
                search.deadline = max(first_end, min(end, time.monotonic() + MADE_SECONDS))
                await search.run(await asyncio.to_thread(guarded_changes, functions, search.mixed))
        if not search.passing:
            self._source = "pairs"
            await search.run(search.on_top(candidates) or search.on_near(candidates))
        if not search.passing and written:
            search.deadline = end
            await self._written(search, suspects[:3], end)
        if not search.passing and search.partial:
            self._source = "pairs"
            search.deadline = end + PAIRS_SECONDS
            await search.run(search.combined())
        if not search.passing:
            search.deadline = max(search.deadline, time.monotonic() + CONFIRM_SECONDS)
            await search.confirm_partial()
            if self.task.before:
                await search.confirm_traded()
        await search.completed()
        self._tell(search.counts, None, last=True)
        self._partial = search.parts
        return search.passing

    async def _written(self, search: EditSearch, suspects: Sequence[Suspect], end: float) -> None:
        """Edits that the model writes: single lines, then whole functions, then lines again as long as there is time."""
        contract = self._contract(suspects[0].function)
        filler = Filler(self.ctx, contract[:_ABOUT] or self.task.text[:_ABOUT])
        until = time.monotonic() + _LINES_SHARE * max(0.0, end - time.monotonic())
        gaps = filler.candidates(suspects, lambda: search.over or search.is_settled)

        async def lines(stop: float) -> None:
            self._source = "cloze"
            async for candidate in gaps:
                await search.run([candidate])
                self._tell(search.counts, None)
                if time.monotonic() >= stop:
                    break

        if self.config.cloze:
            await lines(until)
        if not search.over and not search.passing and self.config.anew:
            self._source = "anew"
            writer = Rewriter(self.ctx, self._contract, self._failure(self._messages))
            left = lambda: 0.0 if search.passing else end - time.monotonic()  # noqa: E731
            async for candidate in writer.candidates(suspects[:2], left):
                await search.run([candidate])
                self._tell(search.counts, None)
        if self.config.cloze and not search.over and not search.passing:
            await lines(end)
        await gaps.aclose()

    def _tell(self, counts: Counts, found: Tried | None, last: bool = False) -> None:
        now = time.monotonic()
        if found is not None and found.trial.ok:
            one = found.candidate
            self.ctx.emit(CandidatePassed(counts.passing, one.operator, one.source, one.path, one.function, one.line,
                                          self._diff_of(found), one.rank))  # fmt: skip
        elif not last and now - self._told_at < _SHOWN_EVERY:
            return
        self._told_at = now
        numbers = msgspec.structs.asdict(counts)
        self.ctx.emit(CandidatesTried(self._source, seconds_left=self._left(), **numbers))

    def _left(self) -> float:
        return round(max(0.0, self._began + self.config.budget_s - time.monotonic()), 1)

    def _diff_of(self, found: Tried) -> str:
        sources = {edit.path: (self.workspace.root / edit.path).read_bytes() for edit in found.candidate.edits}
        return unified(found.candidate, sources)

    def _fitting_context(self, suspects: Sequence[Suspect], changed: str) -> str:
        own = next((one.function for one in suspects if one.function.name == changed), suspects[0].function)
        return fitting.context(self.task.text, self._contract(own), self._failure(self._messages))

    def _contract(self, function: Function) -> str:
        """What the function is to do: the comment above it, else the project's README where that is short."""
        if function.contract:
            return function.contract
        for name in ("README.md", "README", "readme.md", "README.rst"):
            with contextlib.suppress(OSError):
                root = self.workspace.root
                return read_inside(root, root / name, 4 * fitting.CONTRACT_CAP).decode("utf-8", "replace")
        return ""

    def _failure(self, messages: Mapping[str, str], most: int = 3) -> str:
        lines = [*self.task.findings, *(f"{name}: {said}" for name, said in list(messages.items())[:most])]
        return "\n".join(lines)[:1500]

    def _how_far(self, suspects: Sequence[Suspect]) -> str:
        counts = self._counts
        where = ", ".join(one.function.name for one in suspects[:3])
        over = "The time is used up" if self._left() <= 0 else "No edit is left to try"
        partial = f" Some of the failing checks are mended by {counts.partial} of them." if counts.partial else ""
        return f"{over}: {plural(counts.tried, 'edit')} tried in {where}, none makes all checks pass.{partial}"

    def _finished(self, done: Mended) -> Mended:
        seconds = round(time.monotonic() - self._began, 1)
        self.ctx.emit(RepairFinished(done.ok, self._counts.tried, seconds, done.reason))
        return done


def _scaled(one: Suspect, factor: float) -> Suspect:
    lines = {line: score * factor for line, score in one.lines.items()}
    return msgspec.structs.replace(one, score=one.score * factor, lines=lines)


def _key(one: Suspect) -> str:
    return f"{one.function.path}:{one.function.name}"


def _called(messages: Collection[str], functions: Sequence[Function]) -> set[str]:
    text = "\n".join(messages)
    names = {one.name.rpartition(".")[2] for one in functions}
    return {name for name in names if f"{name}(" in text}
