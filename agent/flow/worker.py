"""One step done by the implementer of its kind. What it changed stands in the worktree; nothing is committed here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Sequence
from functools import partial

import msgspec

from agent.coding.files import LazyFiles
from agent.coding.open_items import OpenFunction, OpenType, find_open_functions, find_open_types, names_freeing
from agent.coding.replace import symbol_source
from agent.coding.writing.candidates import Candidate, CheckScore, Compiled, FunctionResult, Score, compile_trouble
from agent.coding.writing.edit_step import StepOutcome, implement_step
from agent.coding.writing.functions import Kept, Waiting, implement_function
from agent.coding.writing.scaffold import Callers, scaffold
from agent.coding.writing.type_definition import implement_type
from agent.config.schema import user_config_path
from agent.flow.class_parts import ClassParts
from agent.flow.planned_stubs import lay_stubs
from agent.flow.run_parts import RunParts
from agent.flow.search_repair import NEARLY, PARTLY, SLOWEST_VERSION, passes_partly, set_right
from agent.flow.stated_checks import StatedChecks
from agent.flow.symbol_trials import mend, wants_mending
from agent.flow.test_contract import TestContract, tested_interface
from agent.knowledge.cards import cards_of, fitting
from agent.language.copied_answers import copied_answers
from agent.language.test_names import test_function
from agent.languages import is_compiled, language_of, reader_of
from agent.planning.signals import as_shown, signals_from_output
from agent.task.documents import with_documents
from agent.values import CheckResult, FailureCategory, PlanStep
from agent.workspace.first_failure import further, stopped_at
from agent.workspace.git import WorkspaceError
from agent.workspace.testoutput import failures_said
from agent.workspace.worktree import Workspace

_NEARLY_RIGHT = 0.99
"""The most points of a version of which something is known to be wrong."""

_COPIED = NEARLY - 0.01
"""The points of a version that passes its checks since it repeats their answers: others are drawn, and one that works most
of them out is better."""

SLOWEST_JUDGE = 30.0
"""Seconds of the checks up to which they choose between first versions of a function."""


class Work(msgspec.Struct, frozen=True):
    """What became of one step: ``reason`` is a sentence and ``kind`` the category when it failed, ``more`` the steps that
    it turned out to need."""

    ok: bool
    reason: str = ""
    more: tuple[PlanStep, ...] = ()
    kind: FailureCategory = "unknown"


class StepWorker:
    """Carries out single steps."""

    def __init__(self, parts: RunParts) -> None:
        self.parts = parts
        self.ctx = parts.ctx
        self.found = found = parts.found
        self.workspace = parts.workspace
        self.tree = parts.tree
        self.compiler = parts.compiler
        self.checks = parts.checks
        self.budget = parts.budget
        self.tries: dict[str, int] = {}
        """How often each symbol was asked for: later versions are drawn with other seeds."""
        self.contract = TestContract(found)
        self.class_parts = ClassParts(self.contract)
        self.stated = StatedChecks(parts)
        self._shown_cards: set[str] = set()
        self.waiting = Waiting(lambda name: self.step_for(name) is not None)
        self.versions: dict[str, tuple[OpenFunction, list[Candidate]]] = {}
        """Every version of a C function that compiled in this run, and those of Python that were measured."""
        self._functions: dict[tuple[str, str], OpenFunction] = {}
        self._types: dict[tuple[str, str], OpenType] = {}
        self.remember_open()

    def remember_open(self) -> None:
        """Keep what is open now: a function that is written later can still be rewritten."""
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
        async with lock or contextlib.nullcontext():
            await lay_stubs(self.parts, wanted, self._functions.values())
        score = await self._stricter(wanted, await self._judge_of(wanted.name, anew))
        told = not wanted.only_frees  # tests say nothing of what frees: they only call it
        examples = await asyncio.to_thread(self._examples, wanted.name, wanted.language) if told else ()
        written = await implement_function(
            self.ctx,
            wanted,
            files=self.tree.files,
            compile=self.compiler,
            task=self.found.task,
            failure=failure,
            score=score,
            lock=lock,
            kept=kept,
            samples=self.ctx.config.coding.samples if score else 1,
            enough=1.0 if anew or not self._writes_only(wanted.name) else NEARLY,
            examples=examples,
            cards=self._cards(wanted.language, wanted.name, [wanted.signature, wanted.doc or self._stated(), *examples]),
            waiting=self.waiting,
            more=self.budget.allows,
            asked=self.tries.get(wanted.name, 0),
            helpers=self.helpers,
        )
        self.tries[wanted.name] = self.tries.get(wanted.name, 0) + len(written.calls)
        return written

    @property
    def helpers(self) -> frozenset[str]:
        """The functions that came along with the versions of this run, as they were written."""
        return frozenset(text for _, versions in self.versions.values() for one in versions for text in one.helpers)

    def _examples(self, name: str, language: str) -> tuple[str, ...]:
        return self.contract.examples(name, language) if self.ctx.config.coding.test_examples else ()

    def _stated(self) -> str:
        """The task with the documents that it names."""
        return with_documents(self.found.task, LazyFiles(self.tree.files))

    def _cards(self, language: str, name: str, about: Sequence[str]) -> tuple[str, ...]:
        """The cards of knowledge that fit a function, by the words ``about`` it: its contract, signature and examples."""
        if not self.ctx.config.coding.cards:
            return ()
        found = fitting(cards_of(language, user_config_path().parent / "knowledge"), "\n".join(about), name)
        if found and name not in self._shown_cards:
            self._shown_cards.add(name)
            names = ", ".join(card.name for card in found)
            self.ctx.notice("info", f"Knowledge cards shown with {name}: {names}.", "function_implement")
        return tuple(card.text for card in found)

    async def _judge_of(self, name: str, anew: bool) -> Score | None:
        """What tells right versions of a symbol from wrong ones: the checks, when they fail for it alone or when it is
        rewritten for what they say; None where nothing tells."""
        before = self.checks.before
        if not self.checks.command or before is None or before.ok or before.seconds > SLOWEST_JUDGE:
            return self._score if anew and self.checks.command else None
        if anew or self._writes_only(name):
            return self._score
        own = await asyncio.to_thread(self._own_tests, name)
        return partial(self._score, own=own) if own else None

    def _writes_only(self, name: str) -> bool:
        """Whether a function, or its class, is all that was open: what checks say is said of it. What only gives back what
        it made does not count."""
        open_then = {(one.path, _unit(one.name)) for one in self._functions.values() if not one.only_frees}
        return len(open_then) == 1 and all(unit in (name, _unit(name)) for _, unit in open_then)

    async def _stricter(self, wanted: OpenFunction, score: Score | None) -> Score | None:
        """``score``, with what is stated of the function where the checks have nothing against a version, and less for one
        that only repeats the checks' answers."""
        stated = await self.stated.known(wanted.name, wanted.path, wanted.doc)
        if not stated and score is None:
            return None

        async def both(name: str) -> CheckScore | None:
            by_checks = await score(name) if score is not None else None
            if by_checks is not None and by_checks.points == 1 and (copied := await asyncio.to_thread(self._copied, wanted)):
                some = ", ".join(copied[:3])
                text = f"A version of {wanted.name} only repeats answers of the tests ({some}), so it counts little."
                self.ctx.notice("info", text, "function_implement")
                return CheckScore(_COPIED, "It answers single values that the tests name. Write what works for every value.")
            if not stated or (by_checks is not None and by_checks.points < 1):
                return by_checks
            told = await self.stated.score(wanted.path, wanted.header, stated)
            if told is None or told.points == 1:
                return by_checks or told
            return told if by_checks is None else CheckScore(0.99, told.failure)  # the checks pass: it is nearly right

        return both

    def _copied(self, wanted: OpenFunction) -> tuple[str, ...]:
        """What the version that stands in its file repeats of the tests, value by value, and nothing besides. Blocking."""
        code = symbol_source(self.tree.files.read_bytes(wanted.path), wanted.language, wanted.name)
        return copied_answers(code, self.contract.examples(wanted.name, wanted.language))

    def _own_tests(self, name: str) -> frozenset[str]:
        """The tests that tell of ``name`` alone: they use nothing that is still open, and nothing written before whose own
        tests fail or, while more is open, do not exist. What only frees memory does not count: no result depends on it. As
        long as it is a stub, tests whose names speak of it tell nothing of others. Blocking."""
        self.found.refresh_open()
        freed = all(one.name == name or not one.only_frees for one in self.found.functions)
        known = [one for one in self.found.functions if not one.only_frees]
        other = [one.name for one in known if name not in (one.name, _unit(one.name))]
        still_open = {part for one in other for part in (one, _unit(one))}
        best = self.checks.best
        ran = best is not None and bool(best.passed or best.failed)
        failing = {test_function(one) for one in best.failing} if best is not None else set()

        def holds(one: str) -> bool:
            tests = self.contract.concerning(one, still_open | {name})
            # what no test tells of alone is judged with the last piece
            return ran and (not tests & failing if tests else not still_open)

        written = {_unit(one.name) for one in self._functions.values() if not one.only_frees} - still_open - {name}
        own = self.contract.concerning(name, still_open | {one for one in written if not holds(one)})
        return own if freed else frozenset(test for test in own if not names_freeing(test))

    async def _type(self, wanted: OpenType) -> FunctionResult:
        return await implement_type(self.ctx, wanted, files=self.tree.files, compile=self.compiler, task=self.found.task)

    async def _edit(self, step: PlanStep, failure: str, anew: bool) -> Work:
        if wants_mending(step, self.checks):
            kept, reason = await mend(step, lambda part: self._edited(part, failure), self.checks, self.tree)
            return Work(kept, reason, kind="test_failure")
        done = await self._edited(step, failure, anew and len(step.target_symbols) == 1)
        return Work(done.ok, done.reason, kind=done.kind)

    async def _edited(self, step: PlanStep, failure: str, anew: bool = False) -> StepOutcome:
        method = await self._method_to_blame(step) if anew else ""
        if method:
            step = msgspec.structs.replace(step, target_symbols=(method,))
        name = step.target_symbols[0] if len(step.target_symbols) == 1 else ""
        score = await self._judge_of(name, anew) if anew or (name and step.kind == "function_implement") else None
        known = self._functions.get((next(iter(step.target_files), ""), name))
        if known is not None and step.kind == "function_implement":
            score = await self._stricter(known, score)
        stated = () if known is not None and known.doc else (self._stated(),)
        done = await implement_step(
            self.ctx,
            step,
            files=self.tree.files,
            compile=self.compiler,
            task=self.found.task,
            context=self.found.package.text,
            failure=failure,
            examples=self.class_parts.examples if method else self._examples,
            protected=lambda path: not self.tree.writable(path),
            score=score,
            samples=self.ctx.config.coding.samples if score else 1,
            enough=1.0 if anew or not self._writes_only(name) else NEARLY,
            more=self.budget.allows,
            cards=lambda path, source, told: self._cards(language_of(path), name, [source, told, *stated]),
            asked=self.tries.get(name, 0),
            stub=await self._before_the_run(step, name) if step.kind == "function_implement" else "",
            callers=self.contract.sources(language_of(next(iter(step.target_files), ""))),
        )
        self.tries[name] = self.tries.get(name, 0) + len(done.calls)
        if done.versions:
            path = step.target_files[0]
            symbol = known or OpenFunction(name, path, "", "", "", "stub", language_of(path))
            self.versions.setdefault(name, (symbol, []))[1].extend(done.versions)
        return done

    async def _method_to_blame(self, step: PlanStep) -> str:
        """The method that is written anew in place of its class, the target of ``step``; "" for all of it."""
        best, path = self.checks.best, next(iter(step.target_files), "")
        if best is None or step.kind != "function_implement" or not passes_partly(best, PARTLY):
            return ""
        failing = [test_function(one) for one in best.failing]
        source = self.tree.files.read_bytes(path)
        return await asyncio.to_thread(self.class_parts.to_blame, path, source, step.target_symbols[0], failing)

    async def _before_the_run(self, step: PlanStep, name: str) -> str:
        """The text of a symbol as it was when the run began; of one that was not there its head, "" where that is not
        known."""
        path = next(iter(step.target_files), "")
        try:
            source = await self.workspace.content_at(self.workspace.base, path)
        except WorkspaceError:  # it is new
            source = b""
        reader, now = reader_of(path), self.tree.files.read_bytes(path) if self.tree.files.exists(path) else b""
        then = symbol_source(source, language_of(path), name)
        return then or (reader.without_body(symbol_source(now, language_of(path), name)) if reader is not None else "")

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

    async def _score(self, name: str, own: frozenset[str] = frozenset()) -> CheckScore | None:
        """How the checks do with a candidate in place, and why they fail. With ``own`` these tests alone count, as long as
        the others leave them to run."""
        now = await self.checks.measure()
        if now is None:
            return None
        if not own and await self._set_right(now):
            now = await self.checks.measure() or now
        if now.ok:
            found = await self.checks.faults() if self._is_faulty(name) else []
            said = [one.signal for one in found if one.function == name]
            return CheckScore(_NEARLY_RIGHT, as_shown(said), faulty=True) if said else CheckScore(1.0)
        if own:
            return await asyncio.to_thread(self._by_own_tests, name, now, own)
        total = (now.passed or 0) + (now.failed or 0)
        points = (now.passed or 0) / total if total else 0.0
        points = min(points, _NEARLY_RIGHT)  # something failed, whatever was counted
        if not now.passed and (stop := stopped_at(now.output)) is not None:
            points = 1 - 1 / (1 + stop.line)  # tells the candidates apart: the further, the better
        why = await self.checks.explain(now, (name,))
        faulty = name in why.faulty
        mended = self._is_faulty(name) and not now.timed_out and not self.checks.regressed(now)
        if not faulty and (mended or (self.checks.best is not None and further(self.checks.best, now) > 0)):
            points = 1.0  # past what it was rewritten for
        missed = await asyncio.to_thread(self.missed, (name,), now)
        told = f"{as_shown(why.faults_of(name))}\n{missed}".strip() if missed else as_shown(why.of(name))
        return CheckScore(points, told, faulty)

    def _is_faulty(self, name: str) -> bool:
        """Whether a function is written anew since sanitizers blame it."""
        return name in self.checks.faulty

    async def _set_right(self, now: CheckResult) -> bool:
        """Set a version right by what the checks say of it, where that is enough: a result of another form passes no check,
        however near the version is. Returns whether it was. Not done for a version that is compiled or does not end, nor for
        one that nearly passes, which is searched later."""
        if now.ok or now.timed_out or not now.failed or now.seconds > SLOWEST_VERSION or passes_partly(now, NEARLY):
            return False
        if not self.budget.allows() or any(map(is_compiled, await self.workspace.changed_files())):
            return False
        return await set_right(self.ctx, self.workspace, self.found.task, self.checks, now, self.found.hidden)

    def missed(self, names: Collection[str], now: CheckResult) -> str:
        """What functions should come to in the tests that fail, a line each; "" where these do not tell. Blocking."""
        failing = self._failing(now)
        return "\n".join(filter(None, (self.contract.missed(name, failing) for name in names)))

    @staticmethod
    def _failing(now: CheckResult) -> dict[str, str]:
        """The test functions that fail, with what they say."""
        said = failures_said(now.output)
        return {test: said.get(test, "") for test in map(test_function, now.failing)}

    def _by_own_tests(self, name: str, now: CheckResult, own: frozenset[str]) -> CheckScore | None:
        """The share of ``own`` tests that pass. A version with which checks break off that came to their end before is
        wrong; None when they never did, so that nobody knows. Blocking."""
        if now.timed_out:
            return CheckScore(0.0, "The checks do not finish with it.")
        if not now.failed:
            best = self.checks.best
            ended = best is not None and bool(best.passed or best.failed)
            return CheckScore(0.0, f"The checks stop early with it (exit code {now.exit_code}).") if ended else None
        bad = {test: said for test, said in self._failing(now).items() if test in own}
        if missed := self.contract.missed(name, bad):
            return CheckScore(1 - len(bad) / len(own), missed)
        signals = signals_from_output(now.output, now.command, now.exit_code)
        told = [one for one in signals if any(test in one.message for test in bad)]
        return CheckScore(1 - len(bad) / len(own), as_shown(told))


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


def _unit(name: str) -> str:
    """What is written as one piece with a function: its class, else itself."""
    return name.rpartition(".")[0] or name


def _of_function(result: FunctionResult) -> Work:
    return Work(result.ok, result.reason, kind=result.kind)
