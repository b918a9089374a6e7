"""What providers say about their server reaches the run: its state as a status, what a person should read as a notice."""

from __future__ import annotations

from pathlib import Path

from agent.audit.log import AuditLog
from agent.config.schema import Config
from agent.context import RunContext
from agent.events import ModelStatus, Notice
from agent.launch import StatusRelay
from agent.models.router import Router


def test_a_status_and_a_notice_are_told_apart_and_nothing_is_said_before_there_is_a_run(tmp_path: Path) -> None:
    relay = StatusRelay()
    relay("loading", "too early")
    log = AuditLog(tmp_path / "raw.sqlite")
    log.start_run("r", task="t", repo=str(tmp_path), model="m", version="0", config="{}")
    ctx = RunContext(run_id="r", config=Config(), log=log, router=Router(Config().models))
    relay.report_to(ctx)
    heard: list[object] = []
    ctx.listeners.append(lambda envelope: heard.append(envelope.event))
    relay("loading", "small")
    relay("notice", "A second server is started.")
    log.close()
    assert heard == [ModelStatus("loading", text="small"), Notice("warning", "A second server is started.")]
