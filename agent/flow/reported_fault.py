"""A task that tells what a call should come to, where no check fails: a test that shows the fault is written first.

Only what the task itself says goes into the test, and it is kept only when it fails as the code is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agent.context import RunContext
from agent.events import ChecksRun, EditApplied
from agent.flow.checks import RunChecks
from agent.language.base import FilesOfTests
from agent.languages import is_module, is_unit, reader_of
from agent.planning.signals import signals_from_output
from agent.task.intent import read_intent
from agent.task.reported import reported_calls
from agent.values import CheckResult
from agent.walking import files_below
from agent.workspace.checks import compare
from agent.workspace.protected import is_hidden, is_test_file
from agent.workspace.worktree import Workspace

STAGE = "reported_fault"
_MOST_FILES = 2000
_LARGEST = 1 << 20


async def show_reported_fault(
    ctx: RunContext, workspace: Workspace, task: str, checks: RunChecks, hidden: tuple[str, ...] = ()
) -> bool:
    """Write, run and commit the test. False, with nothing changed, where the task tells of no such call, checks fail
    already, or the test passes. A person who steps sees it before it is used.

    Raises:
        Stopped: the person stopped the run.
    """
    before = checks.best
    wanted = ctx.config.orchestrator.decomposed_repair and read_intent(task).repairs
    if not wanted or before is None or not before.ok:
        return False
    calls = reported_calls(task)
    homes = await asyncio.to_thread(_homes, workspace.root, {one.name for one in calls}, hidden) if calls else {}
    calls = [one for one in calls if one.name in homes]
    reader = reader_of(homes[calls[0].name]) if calls else None
    if reader is None:
        return False
    path = await asyncio.to_thread(_free_path, workspace.root, calls[0].name, reader.tests)
    told = [(f"{one.name}{one.arguments}", one.wanted, one.raises) for one in calls]
    flavour = "unittest" if "unittest" in checks.command else ""
    text, old = reader.tests.reporting({one.name: homes[one.name] for one in calls}, told, flavour), ""
    if not text:
        home = homes[calls[0].name]
        path, old, text = await asyncio.to_thread(_in_a_file, workspace.root, home, told, reader.tests, hidden)
    if not text:
        return False
    async with ctx.stage(STAGE, title="a test that shows the fault") as report:
        workspace.write_bytes(path, text.encode())
        now = await checks.measure()
        if now is None or now.ok or not _shows(now, before, bool(old)):
            await workspace.rollback(await workspace.head())
            report.note = "what the task reports already works" if now is not None and now.ok else "it could not be run"
            ctx.notice("info", f"No test of the reported fault was kept: {report.note}.", STAGE)
            return False
        added = text.count("\n") - old.count("\n")
        ctx.emit(EditApplied(path, "region" if old else "new", added=added))
        assert checks.before is not None
        passing, failing = compare(checks.before, now)
        ctx.emit(ChecksRun(checks.before, now, passing, failing))
        checks.accept(now)
        await workspace.commit(f"Show by a test what the task reports of {calls[0].name}")
        report.counts = {"failing": len(set(now.failing) - set(before.failing)) or 1}
        ctx.notice("info", f"No check failed, so {path} was written: it checks what the task says, and fails.", STAGE)
    return True


def _homes(root: Path, names: set[str], hidden: Sequence[str]) -> dict[str, str]:
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
            if symbol.kind == "function" and symbol.name in names and not symbol.parent:
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
