"""A log written before the glossary's words (state, override, flip) is read, and brought up to date, in today's words."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent.audit.log import log_path, open_database
from agent.audit.reader import LogReader
from agent.audit.schema import migrations
from agent.events import CallFinished, GateResolved, decode_event
from agent.labels.items import load_items


@pytest.fixture(params=["evidence", "words"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A log of the version before the migration named, with one call that a person overruled."""
    path = log_path(tmp_path)
    db = Database(sqlite3.connect(path, isolation_level=None))
    migrations.apply(db, stop_before=request.param)
    db.execute("insert into prompts values ('s', 'Judge.'), ('t', 'Task: x')")
    db.execute("insert into runs (id, task, repo, started_at) values ('r', 'x', '.', '2026-01-01')")
    overruled = "overridden" if request.param == "evidence" else "overruled"
    db.execute(
        f"insert into calls (id, run_id, seq, stage, item, binary, system_sha, state_sha, question, verdict, source,"
        f" raw, {overruled}, created_at)"
        " values (1, 'r', 1, 'scope', 'a.c', 1, 's', 't', 'File: a.c', 0, 'override', 'yes', 1, '')"
    )
    if request.param == "words":
        db.execute("update calls set judgment = 'j', question_version = 's'")
    db.execute("insert into labels values (1, 1, 0, 'override', '', '', '')")
    db.close()
    return path


def shown(path: Path) -> tuple[object, ...]:
    """What the reader says of the call and of its label."""
    reader = LogReader(path)
    call = reader.call_texts(1)
    (item,) = load_items(reader)
    reader.close()
    assert call is not None
    return call.system, call.task_context, call.question, call.source, call.overruled, item.source, item.label


def test_it_is_read_as_it_is(older: Path) -> None:
    before = older.read_bytes()
    assert shown(older) == ("Judge.", "Task: x", "File: a.c", "overrule", True, "overrule", False)
    assert older.read_bytes() == before


def test_it_is_brought_up_to_date(older: Path) -> None:
    then = shown(older)
    open_database(older).close()
    assert shown(older) == then


def test_events_come_in_todays_words() -> None:
    call = decode_event(b'{"type":"CallFinished","call_id":1,"stage":"scope","item":"a.c","source":"override"}')
    assert isinstance(call, CallFinished) and (call.source, call.overruled) == ("overrule", True)
    gate = decode_event(b'{"type":"GateResolved","kind":"verdict","action":"flip"}')
    assert isinstance(gate, GateResolved) and gate.action == "overrule"
