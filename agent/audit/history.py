"""Earlier runs: list them, open them again as events, compare two, delete one."""

from __future__ import annotations

import contextlib
import gc
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agent.audit.change_fate import Fate, fate_of
from agent.audit.log import LogError, log_path, open_database
from agent.audit.reader import LogReader
from agent.counts import plural
from agent.events import Envelope
from agent.state.run_state import RunState
from agent.values import CheckResult
from agent.workspace import record
from agent.workspace.git import WorkspaceError
from agent.workspace.lease import busy, held
from agent.workspace.worktree import Workspace

T = TypeVar("T")


class RunSummary(msgspec.Struct, frozen=True):
    """A run as the list shows it. ``status`` is empty while it goes on, or when it was killed; ``calls`` counts the calls
    that were asked, without reused answers. ``seconds`` of a run without an end are those of its last event. ``place``: its
    worktree still exists, so that it may be resumed. ``fate`` is what its change was and what became of it. ``busy``: a
    process works on the run right now."""

    run_id: str
    task: str
    repo: str
    status: str
    reason: str
    model: str
    branch: str
    started_at: str
    calls: int
    labels: int
    seconds: float
    place: bool = False
    fate: Fate = Fate()
    busy: bool = False

    @property
    def unfinished(self) -> bool:
        """Whether it has no end in the log."""
        return not self.status

    @property
    def undecided(self) -> bool:
        """Whether it has ended with a change that was neither applied nor kept nor discarded, and is still there."""
        return self.place and bool(self.status) and not self.fate.choice and self.fate.files > 0


_RUNS = (
    "select id, task, repo, coalesce(status, ''), coalesce(reason, ''), coalesce(model, ''), coalesce(branch, ''),"
    " started_at, calls, coalesce(seconds, 0) from runs order by started_at desc, rowid desc limit ?"
)


def list_runs(reader: LogReader, repo: Path | None = None, limit: int = 500) -> list[RunSummary]:
    """The newest runs first. ``repo`` is where worktrees are looked for.

    Raises:
        LogError: if the log cannot be read.
    """
    places = set(record.recorded(repo)) if repo is not None else set()
    labels = dict(
        reader.select(
            "select calls.run_id, count(*) from labels join calls on calls.id = labels.call_id"
            " where labels.id in (select max(id) from labels group by call_id) and labels.label is not null"
            " group by calls.run_id"
        )
    )
    at_work = {run_id for run_id in places if repo is not None and held(repo, run_id)}
    return [_summary(reader, row, labels, places, at_work) for row in reader.select(_RUNS, limit)]


def _summary(
    reader: LogReader, row: tuple[Any, ...], labels: dict[str, int], places: set[str], at_work: set[str]
) -> RunSummary:
    run_id, status, calls, seconds = row[0], row[3], row[8], row[9]
    if not status:
        calls = reader.select("select count(*) from calls where run_id = ? and cached = 0", run_id)[0][0]
        last = reader.select("select t from events where run_id = ? order by seq desc limit 1", run_id)
        seconds = last[0][0] if last else 0.0
    return RunSummary(
        run_id, row[1], row[2], status, row[4], row[5], row[6], row[7], calls, labels.get(run_id, 0), seconds,
        run_id in places, fate_of(reader, run_id), run_id in at_work,
    )  # fmt: skip


def events_of(reader: LogReader, run_id: str) -> list[Envelope]:
    """Everything a run emitted, in order, for replay."""
    with _no_collection():
        return list(reader.events(run_id))


def fold(envelopes: Iterable[Envelope], state: RunState | None = None) -> RunState:
    """The state that these events lead to, from the beginning or on from ``state``."""
    state = RunState() if state is None else state
    apply = state.apply
    with _no_collection():
        for envelope in envelopes:
            apply(envelope)
    return state


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Without garbage collection, which takes a quarter of the time among hundreds of thousands of events that are kept."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class VerdictChange(msgspec.Struct, frozen=True):
    """The same question, decided differently: ``before`` and ``after`` are None where a run did not ask it."""

    stage: str
    item: str
    before: bool | None
    after: bool | None
    before_p: float | None = None
    after_p: float | None = None


class RunDiff(msgspec.Struct, frozen=True):
    """Two runs side by side. ``changed`` are verdicts that differ, ``only_before`` and ``only_after`` those asked once;
    pairs are (before, after)."""

    before: str
    after: str
    changed: tuple[VerdictChange, ...]
    only_before: tuple[VerdictChange, ...]
    only_after: tuple[VerdictChange, ...]
    same: int
    status: tuple[str, str]
    reason: tuple[str, str]
    steps: tuple[tuple[str, ...], tuple[str, ...]]
    files: tuple[tuple[str, ...], tuple[str, ...]]
    checks: tuple[str, str]
    calls: tuple[int, int]
    seconds: tuple[float, float]
    models: tuple[str, str]


def diff_runs(reader: LogReader, before: str, after: str) -> RunDiff:
    """What differs between two runs: verdicts by stage and item (the last one counts), plan, files, checks, status."""
    left, right = (_verdicts(reader, run_id) for run_id in (before, after))
    states = [fold(reader.events(run_id)) for run_id in (before, after)]
    keys = list(dict.fromkeys([*left, *right]))
    both = [_change(key, left, right) for key in keys if key in left and key in right]
    changed = [change for change in both if change.before != change.after]
    return RunDiff(
        before, after, tuple(changed),
        tuple(_change(key, left, right) for key in keys if key not in right),
        tuple(_change(key, left, right) for key in keys if key not in left),
        len(both) - len(changed),
        _both(states, lambda s: s.finished.status if s.finished else "unfinished"),
        _both(states, lambda s: s.finished.reason if s.finished else ""),
        _both(states, _steps), _both(states, lambda s: s.diff.files if s.diff else ()),
        _both(states, lambda s: _checks(s.checks or s.baseline)),
        _both(states, lambda s: sum(not call.answer.cached for call in s.calls)),
        _both(states, lambda s: s.finished.seconds if s.finished else s.t),
        _both(states, lambda s: s.started.model),
    )  # fmt: skip


def _both(states: list[RunState], value: Callable[[RunState], T]) -> tuple[T, T]:
    return value(states[0]), value(states[1])


_Verdict = tuple[bool | None, float | None]


def _verdicts(reader: LogReader, run_id: str) -> dict[tuple[str, str], _Verdict]:
    sql = "select stage, item, verdict, p_yes from calls where run_id = ? and binary = 1 order by seq"
    rows = reader.select(sql, run_id)
    return {(row[0], row[1]): (None if row[2] is None else bool(row[2]), row[3]) for row in rows}


def _change(
    key: tuple[str, str], left: dict[tuple[str, str], _Verdict], right: dict[tuple[str, str], _Verdict]
) -> VerdictChange:
    none: tuple[None, None] = (None, None)
    before, after = left.get(key, none), right.get(key, none)
    return VerdictChange(*key, before[0], after[0], before[1], after[1])


def _steps(state: RunState) -> tuple[str, ...]:
    return tuple(f"{step.step.id} {step.status}: {step.step.description}" for step in state.steps.values())


def _checks(result: CheckResult | None) -> str:
    if result is None:
        return ""
    counts = ((result.passed, "passed"), (result.failed, "failed"))
    said = ", ".join(f"{count} {word}" for count, word in counts if count is not None and (result.passed or result.failed))
    return f"{'pass' if result.ok else 'fail'}{': ' if said else ''}{said} ({result.command})"


_TABLES = ("compile_attempts", "classifications", "adjustments", "checks", "events", "calls")


async def delete_run(repo: Path, run_id: str) -> str:
    """Delete a run: its worktree and branch if they are still there, its calls with their labels, its events, its row.

    The person's files are not touched; a change that was applied stays applied. Returns a sentence.

    Raises:
        LogError: the log cannot be written, or holds no such run.
        WorkspaceError: the run is going on, or its worktree or branch could not be removed; the rows are still there then.
    """
    said = ""
    if held(repo, run_id):
        raise WorkspaceError(busy(run_id))
    if run_id in record.recorded(repo):
        said = await (await Workspace.reopen(repo, run_id)).discard()
    counts = zip(_delete_rows(log_path(repo), run_id), ("call", "label", "event"), strict=True)
    return f"Run {run_id} was deleted: {', '.join(plural(count, noun) for count, noun in counts)}. {said}".strip()


def _delete_rows(path: Path, run_id: str) -> tuple[int, int, int]:
    if not path.is_file():
        raise LogError(f"There is no audit log at {path}, so there is no run to delete.")
    db = open_database(path)
    try:
        connection = db.conn
        connection.execute("begin immediate")
        try:
            if connection.execute("select 1 from runs where id = ?", (run_id,)).fetchone() is None:
                raise LogError(f"The log {path} holds no run {run_id}.")
            labels = connection.execute(
                "delete from labels where call_id in (select id from calls where run_id = ?)", (run_id,)
            ).rowcount
            gone = {name: connection.execute(f"delete from {name} where run_id = ?", (run_id,)).rowcount for name in _TABLES}
            connection.execute("delete from runs where id = ?", (run_id,))
            connection.execute(
                "delete from prompts where sha not in (select system_sha from calls union select task_context_sha from calls"
                " union select examples_sha from calls where examples_sha is not null)"
            )
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise
    except sqlite3.Error as error:
        raise LogError(f"The run could not be deleted from {path} ({error}). Nothing was changed; try again.") from error
    finally:
        db.close()
    return gone["calls"], labels, gone["events"]
