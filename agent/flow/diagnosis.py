"""Why checks crash: they are run once more with sanitizers, whose findings name the function to blame and the fault."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec

from agent.compiling.compiler import Compiler, CompilerMissing
from agent.context import RunContext
from agent.flow.limits import limits_of
from agent.planning.sanitizer_reports import SanitizerReport, findings
from agent.planning.signals import signals_from_output
from agent.regular_files import read_inside
from agent.values import CheckResult, FailureSignal
from agent.workspace.protected import is_protected
from agent.workspace.sanitized import can_be_sanitized, run_sanitized
from agent.workspace.worktree import Workspace

SOURCE = "sanitizer"
MOST = 3
"""Findings told at most: later ones often follow from the first."""


class Fault(msgspec.Struct, frozen=True):
    """What sanitizers found, with the ``function`` to blame ("" when not told) and its place; ``line`` counts from 1."""

    function: str
    signal: FailureSignal
    path: str = ""
    line: int = 0


async def diagnose(
    ctx: RunContext, workspace: Workspace, command: str, hidden: tuple[str, ...] = (), patience: float | None = None
) -> list[Fault]:
    """What sanitizers say about failing checks of C code, best first; [] when they find nothing or cannot be used.

    A finding is told of the innermost function that is not a test and not ``hidden``. ``patience``: seconds that the checks
    have, where these are fewer than the configuration allows.
    """
    if not can_be_sanitized(command):
        return []
    try:
        compiler = await asyncio.to_thread(Compiler.find, ctx.config.compile.compiler or None)
    except CompilerMissing:
        return []
    async with ctx.stage("diagnosis", title="checks with sanitizers") as report:
        timeout = min(patience or float("inf"), float(ctx.config.testing.timeout_seconds))
        output, place = await run_sanitized(
            workspace.root, command, compiler.path, timeout, limits=limits_of(ctx), written=workspace.written
        )
        found = findings(output, lambda path: _own_path(path, place, hidden))[:MOST]
        report.counts = {"found": len(found)}
        faults = [Fault(one.function, _signal(workspace.root, one), one.path, one.line) for one in found]
        report.note = faults[0].signal.message if faults else "nothing found"
    return faults


def crashed(result: CheckResult) -> bool:
    """Whether a program of the checks died, by its output."""
    signals = signals_from_output(result.output, result.command, result.exit_code)
    return any(one.category == "runtime_error" for one in signals)


def _own_path(path: str, place: str, hidden: tuple[str, ...]) -> str | None:
    """The project's name of a path of the copy; "" for a system file, None for a test."""
    name = os.path.normpath(path)
    if os.path.isabs(name):
        name = os.path.relpath(os.path.realpath(name), place)
    if name.startswith(".."):
        return ""
    return None if is_protected(name, hidden) else name


def _signal(root: Path, found: SanitizerReport) -> FailureSignal:
    try:
        lines = read_inside(root, root / found.path).decode("utf-8", "replace").split("\n")
    except OSError:
        lines = []
    code = lines[found.line - 1] if 0 < found.line <= len(lines) else ""
    return FailureSignal("runtime_error", found.sentence(code)[:500], SOURCE)
