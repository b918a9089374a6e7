"""The checks of one run: a baseline before the first change, then the same command after steps, always compared."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

import msgspec

from agent.context import RunContext
from agent.events import ChecksRun, ChecksStarted
from agent.flow.diagnosis import Fault, diagnose
from agent.flow.failing_lines import with_lines
from agent.flow.limits import limits_of
from agent.language.test_names import test_function
from agent.languages import is_unit
from agent.planning.signals import signals_from_output
from agent.values import CheckResult, FailureSignal
from agent.workspace.checks import compare, find_test_command, proven, run_checks, worse
from agent.workspace.isolated import broke_off, isolated_tests, run_isolated
from agent.workspace.isolation import isolation, shortfall
from agent.workspace.restoring import CheckoutGuard
from agent.workspace.worktree import Workspace

LEAST_PATIENCE = 15.0
"""Seconds that a candidate's checks have at least: the baseline may have ended early, with a build that broke."""

SOON = 5.0
"""Seconds, and four times those of the baseline, after which checks whose tests can be isolated are run so, to find the one
that does not end."""


FIRST = 30.0
"""Seconds of the first run, which builds everything."""


def functions_in(faults: Iterable[Fault]) -> frozenset[str]:
    """The functions that these blame."""
    return frozenset(fault.function for fault in faults if fault.function)


class Explained(msgspec.Struct, frozen=True):
    """Why checks fail: what sanitizers found (``faults``), which know the place, and what the output says (``told``)."""

    faults: tuple[Fault, ...] = ()
    told: tuple[FailureSignal, ...] = ()

    @property
    def signals(self) -> tuple[FailureSignal, ...]:
        """All of it, the faults first."""
        return (*(fault.signal for fault in self.faults), *self.told)

    @property
    def faulty(self) -> frozenset[str]:
        """The functions that sanitizers blame."""
        return functions_in(self.faults)

    def faults_of(self, function: str) -> tuple[FailureSignal, ...]:
        """What sanitizers found in one function."""
        return tuple(fault.signal for fault in self.faults if fault.function == function)

    def of(self, function: str) -> tuple[FailureSignal, ...]:
        """What concerns one function: its own faults, and what the output says."""
        return (*self.faults_of(function), *self.told)


class RunChecks:
    """Runs the checks of a worktree. ``best`` is the last result that was kept; ``command`` "" when there are none;
    ``libraries`` are flags that the linker wants and that make is handed as LDLIBS; ``hidden`` the paths
    that no model sees; ``faulty`` the functions that sanitizers blamed when a repair began."""

    def __init__(self, ctx: RunContext, workspace: Workspace, hidden: tuple[str, ...] = ()) -> None:
        self.ctx = ctx
        self.workspace = workspace
        self.hidden = hidden
        self.command = find_test_command(workspace.root, ctx.config.testing.test_command)
        self.before: CheckResult | None = None
        self.best: CheckResult | None = None
        self.libraries: tuple[str, ...] = ()
        self.faulty: frozenset[str] = frozenset()
        self._isolable: tuple[str, ...] | None = None
        self._breaks_off = False
        """Whether tests of an earlier version crashed or did not end, so that they are run by themselves at once."""

    def link_with(self, libraries: tuple[str, ...]) -> None:
        """Hand the checks these flags for the linker from now on."""
        self.libraries = libraries

    def blame(self, faulty: frozenset[str]) -> None:
        """Functions that sanitizers blame now; a step that is done again is better when fewer are."""
        self.faulty = faulty

    async def baseline(self, known: CheckResult | None = None) -> CheckResult | None:
        """The result before the first change; None, with a notice, when no checks are found. A resumed run has ``known`` it
        from its beginning, and measures where it is now besides."""
        if not self.command:
            self.ctx.notice(
                "warning",
                "No checks were found in this repository, so nothing but the compiler can measure the change. "
                "Name a command with testing.test_command.",
                "checks",
            )
            return None
        if missing := shortfall(await asyncio.to_thread(isolation)):
            self.ctx.notice("info", missing, "checks")
        async with self.ctx.stage("baseline", title="checks before") as report:
            now = await self._run("", baseline=True)
            self.before, self.best = known or now, now
            self.ctx.emit(ChecksRun(self.before, now if known else None))
            report.counts = _counts(self.before)
        return self.before

    async def after_step(self, step_id: str) -> CheckResult | None:
        """The result after a step, compared with the baseline."""
        if not self.command or self.before is None:
            return None
        now = await self._run(step_id)
        passing, failing = compare(self.before, now)
        self.ctx.emit(ChecksRun(self.before, now, passing, failing, step_id))
        return now

    async def final(self) -> CheckResult | None:
        """The result at the end, built from nothing: what earlier checks left might have been made by the code they ran."""
        if not self.command or self.before is None:
            return None
        async with self.ctx.stage("checks", title="checks") as report:
            await self.workspace.drop_leftovers()
            now = await self.after_step("")
            report.counts = _counts(now) if now else {}
        return now

    def regressed(self, now: CheckResult | None, of_stubs: Collection[str] = ()) -> bool:
        """Whether ``now`` lost something against the last result that was kept. Tests ``of_stubs`` (names of test functions)
        may fail now: that they passed with a stub says nothing."""
        return now is not None and worse(without_tests(self.best, of_stubs), now)

    def lost(self, now: CheckResult) -> bool:
        """Whether ``now`` lost something that passed before the run. What code that is new loses of its own checks may be
        worth what it gains."""
        return worse(self.before, now)

    def accept(self, now: CheckResult | None) -> None:
        """Make ``now`` what later steps are compared with."""
        if now is not None:
            self.best = now

    async def measure(self) -> CheckResult | None:
        """A result without an event, for choosing between candidates. It has ten times the seconds of the baseline, so that
        a candidate that does not end costs little."""
        return await self._trusted(self.patience()) if self.command else None

    def patience(self) -> float:
        """Seconds that a version's checks have: ten times the baseline's, at least :data:`LEAST_PATIENCE`."""
        limit = float(self.ctx.config.testing.timeout_seconds)
        known = self.before is not None and not self.before.timed_out
        return min(limit, max(LEAST_PATIENCE, 10 * self.before.seconds)) if known and self.before is not None else limit

    async def alone(self, command: str, timeout: float = 0.0, readable: tuple[str, ...] = ()) -> CheckResult:
        """What another command than the checks' comes to, with their limits and their care for the files, without an event.
        ``timeout`` in seconds; 0: the checks' own. ``readable`` are folders outside the run's place that it needs."""
        return await self._execute(command, timeout, readable)

    async def faults(self) -> list[Fault]:
        """What sanitizers find in the code as it stands, whatever the checks say of it."""
        return await diagnose(self.ctx, self.workspace, self.command, self.hidden, self.patience())

    async def faulty_in(self, now: CheckResult) -> frozenset[str]:
        """The functions that sanitizers blame in the code that came to ``now``."""
        faults = await self.faults() if now.ok else (await self.explain(now)).faults
        return functions_in(faults)

    async def explain(self, now: CheckResult, written: Collection[str] = ()) -> Explained:
        """Why a result fails. ``written`` are functions that the lines before a failing one may tell of."""
        if now.ok:
            return Explained()
        patience = self.patience()
        if now.endless:  # what hangs tells no more later
            patience = min(patience, self._soon(self._isolable or ()))
        faults = await diagnose(self.ctx, self.workspace, now.command, self.hidden, patience)
        signals = signals_from_output(now.output, now.command, now.exit_code)
        told = await asyncio.to_thread(with_lines, signals, self.workspace.root, written, self.hidden)
        return Explained(tuple(faults), told)

    async def _run(self, step_id: str, baseline: bool = False) -> CheckResult:
        self.ctx.emit(ChecksStarted(self.command, baseline, step_id))
        return await (self._told(0.0) if baseline else self._trusted(self.patience() if step_id else 0.0))

    async def _trusted(self, timeout: float) -> CheckResult:
        """A result; once more from nothing where no test reported though tests did before: what an earlier version left
        behind may stand in the way of this one."""
        now = await self._told(timeout)
        reported = self.best is not None and bool(self.best.passed or self.best.failed)
        if now.ok or now.timed_out or now.passed or now.failed or not reported:
            return now
        await self.workspace.drop_leftovers()
        return await self._execute(timeout=timeout)

    async def _told(self, timeout: float) -> CheckResult:
        """A result; where a crash or an endless loop hides what the tests say, that of each by itself."""
        limit = timeout or float(self.ctx.config.testing.timeout_seconds)
        isolable = await self._isolable_files()
        if not isolable:
            return await self._execute(timeout=limit)
        soon = min(limit, self._soon(isolable))
        now = await self._execute(timeout=soon) if not self._breaks_off else None
        if now is not None and not broke_off(now, isolable):
            return now
        self._breaks_off = True
        tests = await asyncio.to_thread(isolated_tests, self.workspace.root)
        each = await run_isolated(
            self.workspace.root, self.command, limit, tests, limits=limits_of(self.ctx), env=self._env(),
            written=self.workspace.written,
        )  # fmt: skip
        if each is not None and not each.ok:
            return proven(self.before, each)
        self._breaks_off = False
        return await self._execute(timeout=limit) if now is None or (now.timed_out and limit > soon) else now

    def _soon(self, isolable: Collection[str]) -> float:
        """Seconds after which tests are run by themselves. In the first run nobody knows how long the tests take; those that
        are compiled are mostly fast."""
        if self.before is not None:
            return max(SOON, 4 * self.before.seconds)
        return FIRST if any(map(is_unit, isolable)) else float("inf")

    async def _isolable_files(self) -> tuple[str, ...]:
        """The files of tests that can be isolated; looked up once."""
        if self._isolable is None:
            self._isolable = tuple(await asyncio.to_thread(isolated_tests, self.workspace.root))
        return self._isolable

    def _env(self) -> dict[str, str] | None:
        return {"LDLIBS": " ".join(self.libraries)} if self.libraries else None

    async def _execute(self, command: str = "", timeout: float = 0.0, readable: tuple[str, ...] = ()) -> CheckResult:
        timeout = timeout or float(self.ctx.config.testing.timeout_seconds)
        files = await asyncio.to_thread(CheckoutGuard, self.workspace)
        limits = limits_of(self.ctx, readable)
        result = await run_checks(self.workspace.root, command or self.command, timeout, limits=limits, env=self._env())
        changed = await asyncio.to_thread(files.restore)
        if changed:
            names = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
            self.ctx.notice("warning", f"The checks changed {names}; the earlier content was restored.", "checks")
        return result if command else proven(self.before, result)


def without_tests(result: CheckResult | None, tests: Collection[str]) -> CheckResult | None:
    """``result`` as if these tests (names of test functions) had not run."""
    if result is None or result.ok or not tests:
        return result
    kept = tuple(name for name in result.passing if test_function(name) not in tests)
    passed = None if result.passed is None else result.passed - (len(result.passing) - len(kept))
    return msgspec.structs.replace(result, passing=kept, passed=passed)


def _counts(result: CheckResult) -> dict[str, int]:
    """What to say of a result: counts of tests, unless nothing was counted that tells how it went (a build that broke)."""
    if (result.passed is None and result.failed is None) or not (result.ok or result.failed or result.passed):
        return {"exit code": result.exit_code}
    return {"passed": result.passed or 0, "failed": result.failed or 0}
