"""A task that tells what does not work, where no check fails: a test that shows the fault is written first.

What the task says of single calls goes into the test as it stands. Where it tells the fault in other words a model says it
as one call, which a person confirms at the gate. Unconfirmed it is a guess, made only with ``repair.guess`` and taken back
when no edit satisfies it: the default model wrote no right example in five runs. Either is kept only when it fails as the
code is.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agent.context import RunContext
from agent.events import ChecksRun, EditApplied
from agent.flow.checks import RunChecks
from agent.gate import PendingVerdict
from agent.language.base import FilesOfTests
from agent.languages import is_module, is_unit, reader_of
from agent.planning.signals import signals_from_output
from agent.repair.functions import Function, functions_of
from agent.repair.reported_check import MEANT, ReportedCheck
from agent.task.intent import read_intent
from agent.task.reported import ReportedCall, reported_calls
from agent.values import CheckResult
from agent.walking import files_below
from agent.workspace.checks import compare
from agent.workspace.protected import is_hidden, is_test_file
from agent.workspace.worktree import Workspace

STAGE = "reported_fault"
TRIES = 4
"""Replies of a model that are looked at, for all guesses together."""

GUESS_SECONDS = 40.0
"""Seconds for the search of an edit that satisfies a guess: a wrong one would use up the whole budget."""

_MOST_FILES = 2000
_MOST_FUNCTIONS = 4
"""Functions that a model is shown to say what is reported of them."""

_LARGEST = 1 << 20
_EXCEPTION = re.compile(r"\b([A-Z]\w*(?:Error|Exception))\b")


class Written(NamedTuple):
    """A test as it was tried: its file, what that held before, what it holds now, and what the checks came to."""

    path: str
    old: str
    text: str
    now: CheckResult | None
    trouble: str = ""
    """Why it shows nothing; "" when it fails as it should."""


class Guess(NamedTuple):
    """A test that nobody confirmed. ``shown`` is what it checks, ``commit`` and ``best`` are how things were before it."""

    shown: str
    commit: str
    best: CheckResult


class ReportedFault:
    """What a task reports, on its way to a test that fails."""

    def __init__(
        self, ctx: RunContext, workspace: Workspace, task: str, checks: RunChecks, hidden: tuple[str, ...] = ()
    ) -> None:
        self.ctx = ctx
        self.workspace = workspace
        self.task = task
        self.checks = checks
        self.hidden = hidden
        self.guess: Guess | None = None
        self._asking: ReportedCheck | None = None
        self._known: set[ReportedCall] = set()

    async def show(self, with_model: bool = False) -> None:
        """Write, run and commit the test. Nothing is changed where the task reports nothing that can be checked, checks fail
        already, or the test passes. A person who steps sees it before it is used.

        Raises:
            ModelError: the model cannot answer. Stopped: the person stopped the run.
        """
        before = self.checks.best
        wanted = self.ctx.config.orchestrator.decomposed_repair and read_intent(self.task).repairs
        if not wanted or before is None or not before.ok:
            return
        homes = await asyncio.to_thread(_homes, self.workspace.root, self.hidden)
        calls = [one for one in reported_calls(self.task) if one.name in homes]
        if calls:
            await self._from_the_task(before, homes, calls)
        elif with_model and self._may_ask() and (functions := await asyncio.to_thread(self._meant, homes)):
            await self._from_a_model(before, homes, functions)

    def _may_ask(self) -> bool:
        """Whether a check that the model writes is of use: a person confirms it, or guesses are wanted."""
        return self.ctx.config.repair.guess or self.ctx.gate.waits_for(PendingVerdict(0, MEANT, "", True))

    async def guess_again(self) -> bool:
        """Take a guess back, since without an edit that satisfies it nothing speaks for it, and make another one. Returns
        whether there is one.

        Raises:
            ModelError: the model cannot answer. Stopped: the person stopped the run.
        """
        if self.guess is None:
            return False
        await self._take_back(self.guess)
        await self.show(with_model=True)
        return self.guess is not None

    async def _take_back(self, guess: Guess) -> None:
        await self.workspace.rollback(guess.commit)
        self.checks.accept(guess.best)
        self._tell_checks(guess.best)
        text = f"No edit was found for the check that the model wrote ({guess.shown}), so it was taken out again."
        self.ctx.notice("info", text, STAGE)
        self.guess = None

    async def _from_the_task(self, before: CheckResult, homes: Mapping[str, str], calls: Sequence[ReportedCall]) -> None:
        async with self.ctx.stage(STAGE, title="a test that shows the fault") as report:
            written = await self._written(before, homes, calls)
            if written is None or written.trouble:
                report.note = written.trouble if written is not None else "there is no file of tests that it fits into"
                self.ctx.notice("info", f"No test of the reported fault was kept: {report.note}.", STAGE)
                return
            report.counts = {"failing": await self._keep(before, written, calls[0].name)}
            text = f"No check failed, so {written.path} was written: it checks what the task says, and fails."
            self.ctx.notice("info", text, STAGE)

    async def _from_a_model(self, before: CheckResult, homes: Mapping[str, str], functions: Sequence[Function]) -> None:
        async with self.ctx.stage(STAGE, title="a test that shows the fault") as report:
            asking = self._asking = self._asking or ReportedCheck(self.ctx, self.task, functions)
            trouble = ""
            while asking.tries < TRIES:
                call = await asking.ask(trouble)
                if call is None:
                    trouble = "it is no call with literal arguments and a literal result"
                    continue
                if call in self._known:
                    continue
                self._known.add(call)
                written = await self._written(before, homes, [call])
                if written is None:
                    trouble = "there is no file of tests that it fits into"
                    break
                trouble = written.trouble or self._other_reason(written)
                if not trouble and await asking.meant(call):
                    report.counts = {"failing": await self._take(before, written, call)}
                    return
                trouble = trouble or "it is not what the report speaks of"
                await self.workspace.rollback(await self.workspace.head())
            report.note = trouble or "there is no other example"
            self.ctx.notice("info", f"No test of the reported fault was kept: {report.note}.", STAGE)

    async def _take(self, before: CheckResult, written: Written, call: ReportedCall) -> int:
        """Keep what the person confirmed, or what nobody was there to confirm. Returns how many checks fail by it."""
        seen = self.ctx.gate.waits_for(PendingVerdict(0, MEANT, call.shown, True))
        head = await self.workspace.head()
        failing = await self._keep(before, written, call.name)
        if not seen:
            self.guess = Guess(call.shown, head, before)
        told = "You confirmed it." if seen else "Nobody confirmed it, so it is a guess."
        text = f"No check failed, so the model wrote one in {written.path}: {call.shown}. It fails. {told}"
        self.ctx.notice("info" if seen else "warning", text, STAGE)
        return failing

    async def _written(
        self, before: CheckResult, homes: Mapping[str, str], calls: Sequence[ReportedCall]
    ) -> Written | None:
        """The test, written and run; taken back where it shows nothing. None where it cannot be written."""
        home = homes[calls[0].name]
        reader = reader_of(home)
        if reader is None:
            return None
        told = [(f"{one.name}{one.arguments}", one.wanted, one.raises) for one in calls]
        path, old = await asyncio.to_thread(_free_path, self.workspace.root, calls[0].name, reader.tests), ""
        flavour = "unittest" if "unittest" in self.checks.command else ""
        text = reader.tests.reporting({one.name: homes[one.name] for one in calls}, told, flavour)
        if not text:
            arguments = self.workspace.root, home, told, reader.tests, self.hidden
            path, old, text = await asyncio.to_thread(_in_a_file, *arguments)
        if not text:
            return None
        self.workspace.write_bytes(path, text.encode())
        now = await self.checks.measure()
        if now is not None and not now.ok and _shows(now, before, bool(old)):
            return Written(path, old, text, now)
        await self.workspace.rollback(await self.workspace.head())
        why = "what the task reports already works" if now is not None and now.ok else "it could not be run"
        return Written(path, old, text, now, why)

    def _other_reason(self, written: Written) -> str:
        """Why the test that a model wrote fails for another reason than that a result is wrong: with an exception that the
        task does not name, its call may be the mistake."""
        output = written.now.output if written.now is not None else ""
        raised = set(_EXCEPTION.findall(output)) - {"AssertionError"} - set(_EXCEPTION.findall(self.task))
        return f"it raises {min(raised)}" if raised else ""

    async def _keep(self, before: CheckResult, written: Written, name: str) -> int:
        assert written.now is not None
        added = written.text.count("\n") - written.old.count("\n")
        self.ctx.emit(EditApplied(written.path, "region" if written.old else "new", added=added))
        self._tell_checks(written.now)
        self.checks.accept(written.now)
        await self.workspace.commit(f"Show by a test what the task reports of {name}")
        return len(set(written.now.failing) - set(before.failing)) or 1

    def _tell_checks(self, now: CheckResult) -> None:
        assert self.checks.before is not None
        passing, failing = compare(self.checks.before, now)
        self.ctx.emit(ChecksRun(self.checks.before, now, passing, failing))

    def _meant(self, homes: Mapping[str, str]) -> list[Function]:
        """The functions that the task names, or those of the files that it names; at most four."""
        places = {name: match.start() for name in homes if (match := re.search(rf"\b{re.escape(name)}\b", self.task))}
        names = sorted(places, key=lambda name: places[name])
        if not names:
            files = read_intent(self.task).source_files
            names = [name for name, home in homes.items() if any(f"/{home}".endswith(f"/{file}") for file in files)]
        found = []
        for name in names[:_MOST_FUNCTIONS]:
            source = (self.workspace.root / homes[name]).read_bytes()
            found += [one for one in functions_of(homes[name], source) if one.name == name]
        return found


def _homes(root: Path, hidden: Sequence[str]) -> dict[str, str]:
    """The file of each function that is defined once, in a source file or at the top of a module."""
    found: dict[str, list[str]] = {}
    for number, path in enumerate(files_below(root)):
        name = path.relative_to(root).as_posix()
        if number > _MOST_FILES:
            break
        if not (is_module(name) or is_unit(name)) or is_test_file(name) or is_hidden(name, hidden) or path.is_symlink():
            continue
        if any(part.startswith(".") for part in Path(name).parts) or path.stat().st_size > _LARGEST:
            continue
        reader = reader_of(name)
        for symbol in reader.parse(path.read_bytes()).symbols if reader is not None else ():
            if symbol.kind == "function" and not symbol.parent:
                found.setdefault(symbol.name, []).append(name)
    return {name: homes[0] for name, homes in found.items() if len(homes) == 1}


def _in_a_file(
    root: Path, home: str, told: Sequence[tuple[str, str, str]], tests: FilesOfTests, hidden: Sequence[str]
) -> tuple[str, str, str]:
    """(path, its text, its text with the tests) of a file of tests that already calls one of the functions, or names the
    file that they are in; three times "" for none."""
    stem = Path(home).stem
    for path in sorted(files_below(root)):
        name = path.relative_to(root).as_posix()
        if path.suffix != tests.suffix or not is_test_file(name) or is_hidden(name, hidden) or path.is_symlink():
            continue
        old = path.read_text(encoding="utf-8", errors="surrogateescape") if path.stat().st_size <= _LARGEST else ""
        if any(call.partition("(")[0] + "(" in old for call, _, _ in told) or f'{stem}.h"' in old:
            text = tests.reporting_in(old, told)
            if text:
                return name, old, text
    return "", "", ""


def _shows(now: CheckResult, before: CheckResult, in_a_file: bool) -> bool:
    """Whether what fails now is the new test, and not that it cannot be built. A file that held other tests passed before
    it, so that whatever fails of it now is what was added."""
    new = set(now.failing) - set(before.failing)
    if not in_a_file:
        return bool(new) and all("reported" in name for name in new)
    signals = signals_from_output(now.output, now.command, now.exit_code)
    return not now.timed_out and not any(one.category == "compile_error" for one in signals)


def _free_path(root: Path, name: str, tests: FilesOfTests) -> str:
    """Beside the tests that are there, under a name that is free."""
    there = [path for path in files_below(root) if path.suffix == tests.suffix and is_test_file(path.name)]
    folder = min((path.parent for path in there), key=lambda one: len(one.parts), default=root)
    style = tests.styles[0]
    names = (f"{style.format(f'reported_{name}{number or str()}')}{tests.suffix}" for number in range(100))
    free = next(one for one in names if not (folder / one).exists())
    return (folder / free).relative_to(root).as_posix()
