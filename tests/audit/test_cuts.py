"""What is remembered, when the process is killed at any moment or the file that takes the writes is cut at any byte."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest

from agent.audit.history import delete_run
from agent.audit.log import AuditLog, log_path
from agent.audit.reader import LogReader
from agent.events import ChecksRun, Envelope, Notice, RunFinished
from agent.labels.book import LabelBook
from agent.labels.export import ExportError, ExportOptions
from agent.labels.export import export as export_labels
from agent.values import CheckResult
from agent.workspace import sweeping
from tests.fakes.cuts import every_moment
from tests.labels.filled import Filled

CHECKED = ChecksRun(CheckResult("make test", 1, False, 1, 2))
EVENTS = [Notice("info", "n" * 40), CHECKED, Notice("info", "m"), RunFinished("complete")]


def write_run(repo: Path) -> None:
    """A run of one call and a few events, committed one by one."""
    filled = Filled(repo)
    filled.run("r1")
    filled.label(filled.call("r1", "a.c", p=0.8), True)
    for seq, event in enumerate(EVENTS, 1):
        filled.log.append(Envelope("r1", seq, 0.1, event))
        filled.log.flush()
    filled.log.close()


def check(repo: Path) -> int:
    """The log opens, holds the first so many events with what belongs to them, and takes more; the number of events."""
    log = AuditLog(log_path(repo))
    try:
        db = log.db.conn
        seen = [row[0] for row in db.execute("select seq from events order by seq")]
        assert seen == list(range(1, len(seen) + 1))
        assert db.execute("select count(*) from checks").fetchone()[0] == (len(seen) >= 2)
        ended = db.execute("select count(*) from runs where status is not null").fetchone()[0]
        assert ended == (len(seen) == len(EVENTS))
        assert not db.execute("select 1 from calls where run_id not in (select id from runs)").fetchall()
        assert not db.execute("select 1 from labels where call_id not in (select id from calls)").fetchall()
        assert not db.execute("select 1 from calls where system_sha not in (select sha from prompts)").fetchall()
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        log.start_run("r9", task="t", repo=".")
        log.append(Envelope("r9", 1, 0.0, Notice("info", "on")))
        log.flush()
        if seen:
            assert log.reopen_run("r1").seq == len(seen)
        return len(seen)
    finally:
        log.close()


def test_a_log_killed_at_any_moment_holds_whole_events_and_goes_on(tmp_path: Path) -> None:
    repo = tmp_path / "repo"

    def fresh() -> None:
        shutil.rmtree(repo, ignore_errors=True)
        repo.mkdir()

    counts = [check(repo) for _ in every_moment(lambda: write_run(repo), fresh, 30)]
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] >= len(EVENTS) - 1


def test_a_log_whose_last_writes_are_cut_at_any_byte_holds_the_events_before(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    log = AuditLog(log_path(repo))
    log.db.conn.execute("pragma wal_autocheckpoint = 0")
    log.start_run("r1", task="t", repo=".")
    log.flush()
    log.db.conn.execute("pragma wal_checkpoint(truncate)")
    for seq, event in enumerate(EVENTS, 1):
        log.append(Envelope("r1", seq, 0.1, event))
        log.flush()
    main, writes = log.path.read_bytes(), Path(f"{log.path}-wal").read_bytes()
    frame = 24 + 4096
    cuts = {0, 1, 31, 32, len(writes)} | set(range(0, len(writes), 509))
    cuts |= {32 + n * frame + d for n in range(len(writes) // frame) for d in (-1, 0, 1, 23, 24, 25)}
    counts = []
    for number, cut in enumerate(sorted(cut for cut in cuts if 0 <= cut <= len(writes))):
        place = tmp_path / str(number)
        path = log_path(place)
        path.write_bytes(main)
        Path(f"{path}-wal").write_bytes(writes[:cut])
        counts.append(check(place))
        shutil.rmtree(place)
    log.close()
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] == len(EVENTS)


def test_a_run_half_deleted_is_whole_or_gone(tmp_path: Path) -> None:
    repo, kept = tmp_path / "repo", tmp_path / "kept"
    repo.mkdir()
    write_run(repo)
    shutil.copytree(repo, kept)

    def fresh() -> None:
        shutil.rmtree(repo, ignore_errors=True)
        shutil.copytree(kept, repo)

    def counts() -> list[int]:
        with sqlite3.connect(log_path(repo)) as db:
            tables = ("runs", "events", "calls", "labels", "checks", "prompts")
            return [db.execute(f"select count(*) from {table}").fetchone()[0] for table in tables]

    fresh()
    whole = counts()
    for _ in every_moment(lambda: asyncio.run(delete_run(repo, "r1")), fresh, 16):
        assert counts() in (whole, [0] * 6)


def test_a_label_is_written_whole(tmp_path: Path) -> None:
    repo, kept = tmp_path / "repo", tmp_path / "kept"
    repo.mkdir()
    write_run(repo)
    shutil.copytree(repo, kept)

    def fresh() -> None:
        shutil.rmtree(repo, ignore_errors=True)
        shutil.copytree(kept, repo)

    def label() -> None:
        book = LabelBook(log_path(repo))
        book.add(1, False, "person", "wrong")
        book.close()

    seen = []
    for _ in every_moment(label, fresh, 16):
        with sqlite3.connect(log_path(repo)) as db:
            seen.append(db.execute("select label, source, note from labels order by id").fetchall())
    first = [(1, "person", "")]
    assert all(rows in (first, [*first, (0, "person", "wrong")]) for rows in seen)


def write(log: Path, out: Path, replace: bool = False) -> None:
    """An export of the log's labels."""
    reader = LogReader(log)
    try:
        export_labels(reader, out, ExportOptions(), replace=replace)
    finally:
        reader.close()


@pytest.mark.parametrize("replace", [False, True])
def test_an_export_is_the_old_one_or_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replace: bool) -> None:
    filled = Filled(tmp_path / "repo")
    filled.run("r1")
    first = filled.call("r1", "a.c")
    filled.label(first, True)
    monkeypatch.setattr(sweeping, "OLD_SECONDS", -1.0)
    place = tmp_path / "place"
    out = place / "pairs"
    write(filled.path, tmp_path / "old")
    filled.label(filled.call("r1", "b.c"), False)
    filled.log.close()

    def contents(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def fresh() -> None:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if replace:
            shutil.copytree(tmp_path / "old", out)

    def export() -> None:
        write(filled.path, out, replace)

    fresh()
    export()
    old, new = contents(tmp_path / "old"), contents(out)
    for _ in every_moment(export, fresh, 30):
        if out.exists():
            assert contents(out)["ids.jsonl"] in (old["ids.jsonl"], new["ids.jsonl"])
            assert contents(out).keys() in (old.keys(), new.keys())
        elif replace:
            with pytest.raises(ExportError, match="holds an earlier export"):  # which is put back, so it is not lost
                write(filled.path, out)
            assert contents(out) == old
        write(filled.path, out, True)
        assert contents(out)["ids.jsonl"] == new["ids.jsonl"]
        assert [path.name for path in place.iterdir()] == ["pairs"]
