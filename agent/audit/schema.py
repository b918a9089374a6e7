"""Tables of ``raw.sqlite``, as numbered migrations. Only a migration rewrites what a run has written."""

from __future__ import annotations

from typing import Any

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from agent.verdict.identity import judgment_of_digests

migrations = Migrations("cra")

_FIRST = """
create table runs (
  id text primary key, task text not null, repo text not null, started_at text not null, finished_at text,
  status text, reason text, model text, config text, branch text, base_commit text, worktree text, version text,
  calls integer not null default 0, seconds real, demo text
);
create table events (
  id integer primary key, run_id text not null references runs(id), seq integer not null, t real not null,
  type text not null, data text not null, unique (run_id, seq)
);
create table prompts (sha text primary key, text text not null);
create table calls (
  id integer primary key, run_id text not null references runs(id), seq integer not null,
  stage text not null, item text not null, binary integer not null, attempt integer not null default 1,
  system_sha text not null references prompts(sha), state_sha text not null references prompts(sha),
  question text not null, raw text, verdict integer, p_yes real, score real, threshold real, source text,
  defaulted integer not null default 0, cached integer not null default 0, cached_from integer,
  overridden integer not null default 0, explanation text, model text, provider text, options text, finish text,
  prompt_tokens integer, cached_tokens integer, completion_tokens integer, ms real, error text,
  cache_key text, created_at text not null
);
create index calls_run on calls(run_id, seq);
create index calls_cache on calls(cache_key) where cache_key is not null;
create index calls_stage on calls(stage, model);
create table labels (
  id integer primary key, call_id integer not null references calls(id), label integer, source text not null,
  note text not null default '', guideline text not null default '', created_at text not null
);
create index labels_call on labels(call_id, id);
create table compile_attempts (
  id integer primary key, run_id text not null, event_seq integer not null, symbol text, file text not null,
  ok integer not null, link integer not null, diagnostics text not null, ms real
);
create table classifications (
  id integer primary key, run_id text not null, event_seq integer not null, symbol text, file text not null,
  category text not null, how text not null, headers text not null, path text not null
);
create table adjustments (
  id integer primary key, run_id text not null, event_seq integer not null, before text not null,
  after text not null, rationale text, calls integer
);
create table checks (
  id integer primary key, run_id text not null, event_seq integer not null, step_id text, baseline text not null,
  now text
);
create view call_texts as
  select calls.*, s.text as system, st.text || calls.question as prompt, st.text as state
  from calls join prompts s on s.sha = calls.system_sha join prompts st on st.sha = calls.state_sha;
"""


@migrations()
def first(db: Database) -> None:
    """Runs, events, calls, content-addressed prompts, labels, and the tables projected from events."""
    for statement in _FIRST.strip().split(";"):
        if statement.strip():
            db.execute(statement)


_NEW_COLUMNS = {
    "rank": "integer", "facts": "text", "judgment": "text", "question_version": "text", "examples_sha": "text",
    "adapter": "text not null default ''",
}  # fmt: skip
"""The new columns of ``calls``: the place in the search's order (from 1), numbers known of the item (JSON), the identity of
the judgment and the version of its question (``agent/verdict/identity.py``), the labelled examples shown, the adapter."""

_TEXTS_VIEW = """
create view call_texts as
  select calls.*, s.text as system, coalesce(x.text, '') || st.text || calls.question as prompt, st.text as state,
    coalesce(x.text, '') as examples
  from calls join prompts s on s.sha = calls.system_sha join prompts st on st.sha = calls.state_sha
    left join prompts x on x.sha = calls.examples_sha;
"""


@migrations()
def evidence(db: Database) -> None:
    """What a verdict rests on, and which judgment a label belongs to; earlier rows get their judgment."""
    db.execute("drop view call_texts")
    for name, kind in _NEW_COLUMNS.items():
        db.execute(f"alter table calls add column {name} {kind}")
    db.execute("alter table calls rename column overridden to overruled")
    db.conn.create_function("judgment_of", 4, judgment_of_digests, deterministic=True)
    db.execute(
        "update calls set judgment = judgment_of(stage, system_sha, state_sha, question),"
        " question_version = substr(system_sha, 1, 10) where binary = 1"
    )
    db.execute("create index calls_judgment on calls(judgment) where judgment is not null")
    db.execute(_TEXTS_VIEW)


_TODAYS_TEXTS_VIEW = _TEXTS_VIEW.replace("state_sha", "task_context_sha").replace("as state,", "as task_context,")


@migrations()
def words(db: Database) -> None:
    """The words of the glossary: the task context was called state, an overrule an override."""
    db.execute("drop view call_texts")
    db.execute("alter table calls rename column state_sha to task_context_sha")
    db.execute("update calls set source = 'overrule' where source = 'override'")
    db.execute("update labels set source = 'overrule' where source = 'override'")
    db.execute(_TODAYS_TEXTS_VIEW)


_STANDING_IN = {
    "task_context_sha": "old.state_sha", "overruled": "old.overridden", "rank": "null", "facts": "null",
    "judgment": "case when old.binary then judgment_of(old.stage, old.system_sha, old.state_sha, old.question) end",
    "question_version": "substr(old.system_sha, 1, 10)", "examples_sha": "null", "adapter": "''",
}  # fmt: skip
"""The value of each column that an older table of calls lacks."""
_SOURCE = "replace(old.source, 'override', 'overrule')"


def older_columns(connection: Any) -> None:
    """Make a log of an older schema readable without changing it: temporary views have the columns that it lacks."""
    there = {row[1] for row in connection.execute("pragma table_info(calls)")}
    if "task_context_sha" in there:
        return
    connection.create_function("judgment_of", 4, judgment_of_digests, deterministic=True)
    columns = {name: f"old.{name}" for name in there} | {"source": _SOURCE}
    columns |= {name: value for name, value in _STANDING_IN.items() if name not in there}
    shown = ", ".join(f"{value} as {name}" for name, value in columns.items())
    connection.execute(f"create temp view calls as select {shown} from main.calls old")
    labels = f"id, call_id, label, {_SOURCE} as source, note, guideline, created_at"
    connection.execute(f"create temp view labels as select {labels} from main.labels old")
    connection.execute(_TODAYS_TEXTS_VIEW.replace("create view", "create temp view"))


def brought_up_to_date(connection: Any) -> bool:
    """Whether a log had an older schema when it was opened and another connection has migrated it since. The temporary views
    are then removed."""
    views = [row[0] for row in connection.execute("select name from temp.sqlite_master where type = 'view'")]
    for name in views:
        connection.execute(f"drop view temp.{name}")
    if views:
        older_columns(connection)
    return bool(views)
