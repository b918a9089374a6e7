"""The log: what is shown has been committed; calls, labels and the tables projected from events can be read back."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agent.audit.log import AuditLog, LogError, log_path, open_database
from agent.audit.rows import CallDraft, Question
from agent.events import ChecksRun, CompileFinished, Envelope, Notice, RunFinished, decode_event
from agent.models.types import Completion
from agent.values import CheckResult, Diagnostic
from agent.verdict.decide import Verdict


def draft(key: str | None = "k") -> CallDraft:
    return CallDraft(Question("system", "shared ", "item", "a.c", True), "r1", 1, "scope", "m", "openai", "{}", key)


async def test_a_listener_sees_only_what_another_connection_can_read(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=str(tmp_path))
    other = sqlite3.connect(log.path)
    seen: list[int] = []

    def listener(envelope: Envelope) -> None:
        (count,) = other.execute("select count(*) from events where seq = ?", (envelope.seq,)).fetchone()
        seen.append(count)

    for seq in range(1, 51):
        log.append(Envelope("r1", seq, 0.1, Notice("info", f"n{seq}")), (listener,))
    assert seen == []
    await log.durable()
    await asyncio.sleep(0)
    assert seen == [1] * 50
    log.close()


async def test_raw_answer_verdict_and_texts_are_on_the_row(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=".")
    call = log.insert_call(draft())
    log.answer_call(call, Completion("yes", 0.8, prompt_tokens=10, cached_tokens=5, completion_tokens=1, ms=12.5))
    log.settle_call(call, Verdict(True, 0.8, 0.5, "threshold", explanation="because"))
    await log.durable()
    row = next(iter(log.db.query("select * from call_texts where id = ?", [call])))
    assert (row["system"], row["prompt"], row["task_context"]) == ("system", "shared item", "shared ")
    assert (row["raw"], row["p_yes"], row["verdict"], row["source"]) == ("yes", 0.8, 1, "threshold")
    log.close()


async def test_the_last_label_wins_and_taking_back_is_a_row(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=".")
    call = log.insert_call(draft())
    log.answer_call(call, Completion("yes", 0.8))
    log.add_label(call, False, "person", "wrong")
    judgment = draft().judgment or ""
    assert log.find_cached("k") == (call, Completion("yes", 0.8, "m", "openai")) and log.label_of(judgment) is False
    log.add_label(call, None, "person")
    assert log.label_of(judgment) is None
    assert log.db.table("labels").count == 2
    log.close()


async def test_an_unanswered_or_failed_call_is_no_cache(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=".")
    call = log.insert_call(draft())
    assert log.find_cached("k") is None
    log.answer_call(call, Completion(""), error="no server")
    assert log.find_cached("k") is None
    log.close()


async def test_events_project_into_their_tables(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=".")
    compiled = CompileFinished("a.c", False, (Diagnostic("error", "x[i] undeclared", "a.c", 3),), 4.0, symbol="f")
    before = CheckResult("make test", 1, False, 1, 2)
    events = [compiled, ChecksRun(before, CheckResult("make test", 0, True, 3, 0)), RunFinished("complete", calls=7)]
    for seq, event in enumerate(events, 1):
        log.append(Envelope("r1", seq, 0.0, event))
    log.flush()
    assert log.db.table("compile_attempts").count == 1
    assert log.db.table("checks").count == 1
    (run,) = log.db.table("runs").rows
    assert (run["status"], run["calls"]) == ("complete", 7)
    stored = [decode_event(row["data"]) for row in log.db.query("select data from events order by seq")]
    assert stored == events
    log.close()


async def test_half_a_character_costs_no_row(tmp_path: Path) -> None:
    """A model's JSON or a file's name may hold a lone surrogate, which neither SQLite nor JSON takes."""
    log = AuditLog(log_path(tmp_path))
    half = "buf\ud800 \udcff"
    log.start_run("r1", task=half, repo=half)
    call = log.insert_call(CallDraft(Question(half, half, half, half, True), "r1", 1, "scope", half, "openai", "{}"))
    log.answer_call(call, Completion(half), error=half)
    log.add_label(call, True, "person", half)
    events = [Notice("error", half), CompileFinished(half, False, (Diagnostic("error", half, half, 3),), symbol=half)]
    for seq, event in enumerate(events, 1):
        log.append(Envelope("r1", seq, 0.0, event))
    log.flush()
    (row,) = log.db.table("calls").rows
    assert (row["item"], row["question"], row["raw"], row["error"]) == ("buf? ?",) * 4
    stored = [decode_event(row["data"]) for row in log.db.query("select data from events order by seq")]
    assert stored[0] == Notice("error", "buf? ?") and stored[1].diagnostics[0].message == "buf? ?"
    assert log.db.table("compile_attempts").count == 1
    log.close()


def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "raw.sqlite"
    path.write_bytes(b"this is not a database at all, but long enough to be taken for one" * 20)
    with pytest.raises(LogError, match=r"raw\.sqlite cannot be opened"):
        open_database(path)
    assert path.read_bytes().startswith(b"this is not")


_WRITER = """
import asyncio, sys
from pathlib import Path
from agent.audit.log import AuditLog, log_path
from agent.events import Envelope, Notice

async def main():
    log = AuditLog(log_path(Path(sys.argv[1])))
    log.start_run("r1", task="t", repo=".")
    show = lambda envelope: print(envelope.seq, flush=True)
    seq = 0
    while True:
        seq += 1
        log.append(Envelope("r1", seq, 0.0, Notice("info", "x" * 50)), (show,))
        await asyncio.sleep(0)

asyncio.run(main())
"""


def test_a_killed_process_loses_nothing_that_was_shown(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    shown = [int(process.stdout.readline()) for _ in range(200)]
    os.kill(process.pid, signal.SIGKILL)
    shown += [int(line) for line in process.stdout.read().split("\n") if line.strip().isdigit()]
    process.stdout.close()
    process.wait()
    with sqlite3.connect(tmp_path / ".clean_room" / "raw.sqlite") as db:
        (last,) = db.execute("select max(seq) from events").fetchone()
    assert last >= max(shown[:-1])


def test_the_folder_ignores_itself(tmp_path: Path) -> None:
    log_path(tmp_path)
    assert (tmp_path / ".clean_room" / ".gitignore").read_text() == "*\n"


async def test_a_full_disk_ends_the_waiting_with_a_sentence(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=".")
    await log.durable()
    (size,) = log.db.conn.execute("pragma page_count").fetchone()
    log.db.conn.execute(f"pragma max_page_count = {size + 2}")
    seen: list[int] = []
    with pytest.raises(LogError, match=r"raw\.sqlite cannot be written"):
        for seq in range(1, 200):
            log.append(Envelope("r1", seq, 0.0, Notice("info", "x" * 3000)), (lambda envelope: seen.append(envelope.seq),))
            await log.durable()
    with pytest.raises(LogError):
        await log.durable()
    (count,) = log.db.conn.execute("select count(*) from events").fetchone()
    assert count == len(seen)
    log.close()


async def test_a_listener_that_fails_costs_the_others_nothing(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=".")
    told: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
    seen: list[int] = []

    def broken(envelope: Envelope) -> None:
        raise ValueError("no")

    for seq in (1, 2):
        log.append(Envelope("r1", seq, 0.0, Notice("info", "x")), (broken, lambda envelope: seen.append(envelope.seq)))
    await log.durable()
    await asyncio.sleep(0)
    assert seen == [1, 2] and len(told) == 2
    log.close()
