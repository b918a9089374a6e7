"""Versions of functions that a run wrote: put in place together, and kept where the checks are better with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agent.coding.files import LazyFiles
from agent.coding.open_items import OpenFunction
from agent.coding.replace import replace_symbol
from agent.coding.writing.candidates import Candidate
from agent.coding.writing.compiled_candidate import CandidateTrial
from agent.events import StepFinished
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.languages import is_compiled, reader_of
from agent.values import CheckResult


async def placed(
    parts: RunParts, runner: StepRunner, symbols: Sequence[OpenFunction], versions: Sequence[Candidate]
) -> dict[str, bytes] | None:
    """The files with these versions in place, where they compile together; else None."""
    files = parts.tree.files
    for wanted, version in zip(symbols, versions, strict=True):
        if is_compiled(wanted.path):
            trial = CandidateTrial(parts.ctx, wanted, files, parts.compiler, runner.helpers)
            before = trial.snapshot()
            trial.put(version.extracted)
            if not await trial.compiles(before):
                return None
            continue
        data = _replaced(files.read_bytes(wanted.path), wanted, version, runner.callers(wanted.language))
        if data is None:
            return None
        files.write_bytes(wanted.path, data)
    known = LazyFiles(files)
    return {path: known[path] for path in dict.fromkeys(wanted.path for wanted in symbols)}


def _replaced(source: bytes, wanted: OpenFunction, version: Candidate, callers: Collection[bytes]) -> bytes | None:
    """A file with a version in place as its reply gave it, with the slips in it set right; None where it does not fit."""
    done, reader = replace_symbol(source, wanted.language, wanted.name, version.reply), reader_of(wanted.path)
    if reader is None or not (done.ok or done.unchanged):
        return None
    data, _ = reader.without_slips(done.data, wanted.name, callers)
    data, _ = reader.with_imports(data, reader.undefined_names(data) - reader.undefined_names(source))
    return None if reader.syntax_problem(data) else data


def is_better(now: CheckResult, best: CheckResult) -> bool:
    """Whether all checks pass where they did not, or more of them."""
    return (now.ok and not best.ok) or (now.passed or 0) > (best.passed or 0)


async def keep_versions(
    parts: RunParts, runner: StepRunner, functions: Sequence[OpenFunction], now: CheckResult, start: str, what: str
) -> None:
    """Commit what stands in place, ``what`` in a few words; ``start`` is the commit before, ``now`` what the checks say."""
    parts.checks.accept(now)
    commit = await parts.workspace.commit(what[:200])
    changed = tuple(await parts.workspace.changed_files(start))
    for step in runner.executed:
        if {wanted.name for wanted in functions} & set(step.target_symbols):
            runner.note(step, ok=True)
            parts.ctx.emit(StepFinished(step.id, True, what, commit, changed))
