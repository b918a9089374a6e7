"""Where candidates are tried: the project's checks, run again and again in copies of the worktree.

:class:`PythonBed` knows each test by name and traces the lines that it executes. The C side is in ``c_testbed``; both answer
to :class:`CheckBed`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from agent.languages import is_module
from agent.repair.commands import CheckCommand
from agent.repair.edits import Candidate
from agent.repair.inputs import Input, near_arguments
from agent.repair.localize import Place, Trace
from agent.repair.nearness import nearer
from agent.repair.workers import Reply, WorkerLost, Workers
from agent.walking import files_below
from agent.workspace.protected import is_test_file

BASE_SECONDS = 120.0
FIRST_CPU = 2.0
"""Processor seconds of one test in the first run."""

SHORTEST_CPU = 0.3
"""Processor seconds that a test gets at least later on."""

MOST_HANGING = 2
HANGING_SECONDS = 2.5
"""Tests that do not end and are traced, and for how long: they go round in a few lines."""

MOST_FAILING = 12
QUICK = 0.15
"""Seconds of failing tests that are always run."""

MOST_TRACED = 40
PROBE_SECONDS = 6.0
"""Seconds for all inputs on which a candidate is compared with others."""


_TIMEOUT = re.compile(r"(?i)time(?:d\s*)?[- ]?out")


class NoBed(Exception):
    """The checks cannot be repeated in a copy; the text is a sentence that says why."""


class Baseline(msgspec.Struct):
    """The checks before any edit. ``messages`` hold what each failing check said."""

    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    messages: dict[str, str] = {}
    flaky: tuple[str, ...] = ()
    seconds: float = 0.0


class Trial(msgspec.Struct, frozen=True):
    """What became of one candidate. ``fixed`` are failing checks that pass now, ``broken`` passing ones that fail; ``built``
    is False when it does not compile or cannot be loaded, ``cut`` True when it ran out of time; ``nearer`` says by how
    much what failing checks got is nearer to what they expect (see ``nearness``)."""

    ok: bool
    fixed: frozenset[str] = frozenset()
    broken: int = 0
    built: bool = True
    cut: bool = False
    seconds: float = 0.0
    nearer: float = 0.0


class Probe(msgspec.Struct, frozen=True):
    """One input and what comes of it: ``results`` of the code as it is, then of each candidate, in words; "" for unknown.
    ``seen``: a check uses this input, so that whatever passes does the right thing with it. ``origin`` is the place of the
    input of a check that this one is a neighbour of."""

    input: str
    results: tuple[str, ...]
    seen: bool = False
    origin: int = 0


class CheckBed(Protocol):
    """Runs the checks of one project with candidates in place."""

    baseline: Baseline
    batch: int

    async def open(self) -> None:
        """Make ready and take the baseline. Raises NoBed."""
        ...

    async def traces(self) -> tuple[list[Trace], set[Place], str]:
        """(what each check executes, places that failures name, a sentence when coverage is missing)."""
        ...

    async def attempts(self, candidates: Sequence[tuple[Candidate, Mapping[str, str]]]) -> list[Trial]:
        """Try candidates, each with path to whole new text; at most ``batch`` of one function at once."""
        ...

    async def whole(self, files: Mapping[str, str]) -> Trial:
        """Try one candidate by all checks, whatever fails: what it breaks is told too."""
        ...

    async def probe(self, candidates: Sequence[tuple[Candidate, Mapping[str, str]]]) -> list[Probe]:
        """What the code as it is and each candidate do with inputs near those of the checks; nothing where that cannot be
        found out. The candidates are told by the function that the first one changes."""
        ...

    async def close(self) -> None:
        """Remove everything."""
        ...


class PythonBed:
    """pytest or unittest, in warm workers."""

    def __init__(self, root: Path, check: CheckCommand, python: str, workers: Workers, budget: float) -> None:
        self.root = root
        self.check = check
        self.python = python
        self.workers = workers
        self.budget = budget
        self.baseline = Baseline()
        self.batch = 1
        self._cpu = FIRST_CPU
        self._limit = BASE_SECONDS
        self._quick = 1
        self._hanging: frozenset[str] = frozenset()
        modules = (path for path in files_below(root) if is_module(path.name))
        self._skip = sorted(path.relative_to(root).as_posix() for path in modules if _is_test(root, path))

    async def open(self) -> None:
        """Start the workers and run all tests once.

        Raises:
            NoBed: nothing can be collected, or no test fails here.
        """
        try:
            await self.workers.open(self.check, self.python, self.budget)
            await self._measure()
        except WorkerLost as error:
            raise NoBed(
                f"The tests cannot be run in a copy of the repository: {str(error).splitlines()[-1][:300]}"
            ) from None

    async def _measure(self) -> None:
        first = await self._everything()
        results: dict[str, tuple[str, float, str]] = {}
        names = first.collected
        reply = first
        while True:
            results |= {name: (outcome, seconds, said) for name, outcome, seconds, said in reply.results}
            left = [name for name in names if name not in results]
            if not left or not reply.results:
                break
            reply = await self._some(left)
        failing = tuple(
            name for name, (outcome, _, _) in results.items() if outcome in ("failed", "error", "timeout", "crash")
        )
        passing = tuple(name for name, (outcome, _, _) in results.items() if outcome == "passed")
        messages = {name: said or _said(outcome) for name, (outcome, _, said) in results.items() if name in failing}
        if not failing:
            why = f"nothing could be collected: {first.broken[-200:]}" if first.broken else "no test fails in a copy"
            raise NoBed(f"The search for an edit does not begin: {why}.")
        seconds = {name: took for name, (_, took, _) in results.items()}
        slow = (name for name in failing if results[name][0] == "timeout" or _TIMEOUT.search(messages[name]))
        self._hanging = frozenset(slow)
        twice = [name for name in failing if name not in self._hanging][:MOST_FAILING]
        again = await self._some(twice) if twice else Reply()
        flaky = tuple(name for name, outcome, _, _ in again.results if outcome == "passed")
        failing = tuple(name for name in failing if name not in flaky)
        if not failing:
            raise NoBed(f"The failing tests pass when they are run again, so they are flaky: {', '.join(flaky[:5])}.")
        failing = tuple(sorted(failing, key=lambda name: (name in self._hanging, seconds[name])))
        slowest = max((seconds[name] for name in passing), default=0.0)
        ended = max((seconds[name] for name in failing if name not in self._hanging), default=0.0)
        total = sum(seconds[name] for name in passing)
        self._cpu = max(SHORTEST_CPU, 8 * slowest, min(2 * ended, FIRST_CPU))
        self._limit = max(3.0, 4 * total + 4 * self._cpu)
        self._quick = 1
        while self._quick < min(MOST_FAILING, len(failing)) and sum(map(seconds.get, failing[: self._quick + 1])) <= QUICK:  # type: ignore[arg-type]
            self._quick += 1
        self.baseline = Baseline(failing, passing, messages, flaky, total)

    async def _some(self, names: list[str]) -> Reply:
        """Run tests, shared out among the workers."""
        count = len(self.workers.all)
        shares = [share for share in (names[start::count] for start in range(count)) if share]
        limits = {"limit": BASE_SECONDS, "each": 4 * FIRST_CPU, "cpu": FIRST_CPU}
        replies = await asyncio.gather(*(self.workers.ask(tests=share, **limits) for share in shares))
        return Reply(results=[row for reply in replies for row in reply.results])

    async def _everything(self) -> Reply:
        replies = await asyncio.gather(
            *(
                worker.ask(tests=None, limit=BASE_SECONDS, each=4 * FIRST_CPU, cpu=FIRST_CPU, compile=True)
                for worker in self.workers.all
            )
        )
        return max(replies, key=lambda reply: len(reply.results))

    async def traces(self) -> tuple[list[Trace], set[Place], str]:
        """Failing tests one by one, since one that hangs ends its process; passing ones together."""
        base = self.baseline
        ending = [name for name in base.failing if name not in self._hanging]
        hanging = [name for name in base.failing if name in self._hanging]
        jobs = [self._trace([name]) for name in ending[:MOST_FAILING]]
        jobs += [self._trace([name], HANGING_SECONDS) for name in hanging[:MOST_HANGING]]
        near = _nearest(base)
        jobs += [self._trace(near[start : start + 10]) for start in range(0, len(near), 10)]
        found: list[Trace] = []
        passing = set(base.passing)
        for reply in await asyncio.gather(*jobs):
            for name, hits in reply.hits.items():
                lines = frozenset((path, line) for path, all_lines in hits.items() for line in all_lines)
                found.append(Trace(name, name in passing, lines))
        note = "" if found else "No line of the project could be traced, so functions are ranked by names and tracebacks."
        return found, self._blamed(), note

    async def _trace(self, tests: list[str], each: float = 0.0) -> Reply:
        each = each or max(2.0, 20 * self._cpu)
        return await self.workers.ask(tests=tests, trace=True, live=True, skip=self._skip, limit=30.0, each=each)

    def _blamed(self) -> set[Place]:
        places = set()
        for said in self.baseline.messages.values():
            path, _, rest = said.removeprefix("error: ").partition(":")
            line = rest.partition(":")[0]
            if line.isdigit() and not _is_test(self.root, self.root / path):
                places.add((path, int(line)))
        return places

    async def attempts(self, candidates: Sequence[tuple[Candidate, Mapping[str, str]]]) -> list[Trial]:
        """One after the other: a fork each."""
        return [await self.attempt(files) for _, files in candidates]

    async def attempt(self, files: Mapping[str, str]) -> Trial:
        """The quick ones of the failing tests first, all of them, since an edit that mends some may be half of the repair;
        then the others and the passing ones, up to the first that fails."""
        base = self.baseline
        quick = self._quick
        failing = list(base.failing[:quick])
        slow = [name for name in base.failing[quick:] if name in self._hanging]  # what hangs once more is waited for last
        rest = [*(name for name in base.failing[quick:] if name not in slow), *base.passing, *slow]
        request = {"files": dict(files), "tests": [*failing, *rest], "first": len(failing), "limit": self._limit,
                   "each": 4 * self._cpu, "cpu": self._cpu}  # fmt: skip
        try:
            trial = self._trial(await self.workers.ask(live=True, **request))
            return self._trial(await self.workers.ask(**request)) if trial.ok else trial  # loaded anew, to be sure
        except WorkerLost:
            return Trial(False, built=False)

    async def whole(self, files: Mapping[str, str]) -> Trial:
        """All tests, in processes that load the files anew."""
        tests = [*self.baseline.passing, *self.baseline.failing]
        try:
            reply = await self.workers.ask(
                files=dict(files), tests=tests, first=len(tests), limit=2 * self._limit, each=4 * self._cpu, cpu=self._cpu
            )
            return self._trial(reply)
        except WorkerLost:
            return Trial(False, built=False)

    def _trial(self, reply: Reply) -> Trial:
        base = self.baseline
        outcomes = {name: outcome for name, outcome, _, _ in reply.results}
        fixed = frozenset(name for name in base.failing if outcomes.get(name) == "passed")
        broken = sum(outcomes.get(name, "passed") not in ("passed", "skipped") for name in base.passing)
        whole = all(outcomes.get(name) in ("passed", "skipped") for name in (*base.failing, *base.passing))
        cut = bool(reply.cut)
        said = {name: message for name, outcome, _, message in reply.results if outcome == "failed"}
        near = nearer(base.messages, said) if not (whole or cut or broken or reply.broken) else 0.0
        return Trial(whole and not reply.broken, fixed, broken, not reply.broken, cut, reply.seconds, near)

    async def probe(self, candidates: Sequence[tuple[Candidate, Mapping[str, str]]]) -> list[Probe]:
        """The function is called with the arguments that tests hand to it, and with neighbours of them, if all are plain."""
        watched = (candidates[0][0].path, candidates[0][0].function)
        base = self.baseline
        tests = [*base.failing[:MOST_FAILING], *_nearest(base)]
        try:
            heard = await self.workers.ask(
                live=True, watched=watched, tests=tests, limit=self._limit, each=4 * self._cpu, cpu=self._cpu
            )
            inputs = near_arguments(heard.calls)
            if not inputs:
                return []
            texts = [one.text for one in inputs]
            request = {"live": True, "watched": watched, "inputs": texts, "tests": [], "limit": PROBE_SECONDS}
            versions = [{}, *(dict(files) for _, files in candidates)]
            told = await asyncio.gather(*(self.workers.ask(files=files, **request) for files in versions))
        except WorkerLost:
            return []
        name = watched[1]
        shown = [f"{name}{text[:-2] + ')' if text.endswith(',)') else text}" for text in texts]
        return probes_of(inputs, shown, [reply.calls for reply in told])

    async def close(self) -> None:
        """End the workers."""
        await self.workers.close()


def probes_of(inputs: Sequence[Input], shown: Sequence[str], told: Sequence[Sequence[str]]) -> list[Probe]:
    """``shown`` tells each input in words; ``told`` holds the results of each version, fewer of one that ended early."""
    return [
        Probe(text, tuple(one[place] if place < len(one) else "" for one in told), place == inputs[place].origin,
              inputs[place].origin)
        for place, text in enumerate(shown)
    ]  # fmt: skip


def _said(outcome: str) -> str:
    return {"timeout": "It did not end.", "crash": "It crashed."}.get(outcome, outcome)


def _is_test(root: Path, path: Path) -> bool:
    try:
        return is_test_file(path.relative_to(root).as_posix())
    except ValueError:
        return True


def _nearest(base: Baseline) -> list[str]:
    """Passing tests of the files that failing ones are in, then others, at most MOST_TRACED."""
    files = {name.partition("::")[0] for name in base.failing}
    return sorted(base.passing, key=lambda name: name.partition("::")[0] not in files)[:MOST_TRACED]
