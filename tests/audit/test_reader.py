"""Reading the log on a second connection while its writer goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.history import list_runs
from agent.audit.log import AuditLog, LogError
from agent.audit.reader import LogReader
from agent.audit.rows import CallDraft, Question
from agent.events import CallStarted, Envelope, RunStarted
from agent.models.types import Completion
from agent.verdict.decide import Verdict


def _log(path: Path) -> AuditLog:
    log = AuditLog(path)
    log.start_run("r1", task="a [task]", repo="/repo", model="m")
    log.append(Envelope("r1", 1, 0.0, RunStarted("a [task]", "/repo")))
    log.flush()
    return log


def _draft(number: int) -> CallDraft:
    question = Question("sys", "state\n", f"question {number}", f"f{number}.c", True)
    return CallDraft(question, "r1", number, "scope", "m", "openai", "{}")


def test_a_call_is_seen_as_soon_as_it_is_committed(tmp_path: Path) -> None:
    log = _log(tmp_path / "raw.sqlite")
    reader = LogReader(tmp_path / "raw.sqlite")
    call_id = log.insert_call(_draft(1))
    assert reader.call_texts(call_id) is None
    log.flush()
    asked = reader.call_texts(call_id)
    assert asked is not None and (asked.system, asked.task_context, asked.question) == ("sys", "state\n", "question 1")
    assert asked.raw is None and asked.verdict is None and asked.p_yes is None and asked.binary
    log.answer_call(call_id, Completion("Yes.", 0.8, prompt_tokens=10, cached_tokens=4, completion_tokens=1, ms=12.5))
    log.settle_call(call_id, Verdict(True, 0.8, 0.4, "threshold", explanation="0.8 ≥ 0.4"))
    log.flush()
    done = reader.call_texts(call_id)
    assert done is not None
    assert (done.raw, done.verdict, done.p_yes, done.source, done.cached_tokens) == ("Yes.", True, 0.8, "threshold", 4)
    assert done.defaulted is False
    reader.close()
    log.close()


def test_events_calls_and_runs(tmp_path: Path) -> None:
    log = _log(tmp_path / "raw.sqlite")
    for number in (1, 2, 3):
        log.insert_call(_draft(number))
        log.append(Envelope("r1", number + 1, number / 10, CallStarted(number, "scope", f"f{number}.c")))
    log.db.execute("insert into events (run_id, seq, t, type, data) values ('r1', 9, 1, 'Odd', '{\"type\": \"Odd\"}')")
    log.flush()
    reader = LogReader(tmp_path / "raw.sqlite")
    assert [envelope.seq for envelope in reader.events("r1")] == [1, 2, 3, 4], "an event of another version is left out"
    assert [envelope.seq for envelope in reader.events("r1", after=2)] == [3, 4]
    assert [call.item for call in reader.calls("r1")] == ["f1.c", "f2.c", "f3.c"]
    (run,) = list_runs(reader)
    assert (run.run_id, run.task, run.status, run.calls) == ("r1", "a [task]", "", 3), "counted while the run goes on"
    reader.close()
    log.close()


def test_reading_never_makes_a_file_and_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="There is no audit log"):
        LogReader(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "bad.sqlite").write_text("no database at all, only words", encoding="utf-8")
    with pytest.raises(LogError):
        LogReader(tmp_path / "bad.sqlite")
