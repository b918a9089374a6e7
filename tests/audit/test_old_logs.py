"""Logs that version 0.1.0 wrote (two runs with the default model) open, replay and export as they did then."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agent import events as ev
from agent.audit.history import list_runs
from agent.audit.log import log_path
from agent.audit.reader import LogReader
from agent.labels.book import LabelBook
from agent.labels.export import ExportOptions, export
from agent.labels.items import load_items
from agent.labels.pairs import Choice
from agent.state.records import CompileEvent
from agent.state.run_state import RunState

OLD = Path(__file__).with_name("old_logs")


@pytest.fixture(params=["ring_buffer", "token_budget"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[LogReader, dict[str, Any]]:
    """An old log, opened, and what its own version showed and exported of it."""
    path = log_path(tmp_path)
    path.write_bytes(gzip.decompress((OLD / f"{request.param}.sqlite.gz").read_bytes()))
    return LogReader(path), json.loads((OLD / f"{request.param}.json").read_text(encoding="utf-8"))


def shown(state: RunState) -> dict[str, Any]:
    """What a person sees of a run at its end, in plain values."""
    assert state.finished and state.baseline and state.checks and state.diff
    return {
        "task": state.task,
        "model": state.started.model,
        "status": state.status,
        "reason": state.finished.reason,
        "calls": [[call.stage, call.item, call.verdict, call.answer.p_yes, call.answer.explanation] for call in state.calls],
        "files": {path: file.included for path, file in state.files.items()},
        "symbols": {name: symbol.classified and symbol.classified.detail_level for name, symbol in state.symbols.items()},
        "steps": {name: step.status for name, step in state.steps.items()},
        "functions": {name: [function.status, function.attempt] for name, function in state.functions.items()},
        "compiles": [told(event) for event in state.compiles],
        "checks": [state.baseline.passed, state.baseline.failed, state.checks.passed, state.checks.failed],
        "diff": state.diff.diff,
    }


def told(event: CompileEvent) -> list[Any]:
    """Kind, file, whether it is good, category and text of an event of the Compile pane."""
    match event:
        case ev.CompileFinished():
            return ["compile", event.file, event.ok, "", ""]
        case ev.ErrorClassified():
            return ["classified", event.file, None, event.category, event.context]
        case ev.IncludeAdded():
            return ["include", event.file, event.kept, "", event.spelling]
        case ev.RecoveryDone():
            return ["recovery", event.file, event.ok, event.category, event.action]


def test_it_replays_as_it_did(old: tuple[LogReader, dict[str, Any]]) -> None:
    reader, expected = old
    (run,) = list_runs(reader)
    state = RunState()
    for envelope in reader.events(run.run_id):
        state.apply(envelope)
    assert shown(state) == expected["shown"]


def test_its_labels_are_exported_as_they_were(old: tuple[LogReader, dict[str, Any]], tmp_path: Path) -> None:
    reader, expected = old
    options = ExportOptions("openai-chat", Choice(sources=()), test_fraction=0.0)  # outcomes have to be asked for now
    export(reader, tmp_path / "out", options)
    assert (tmp_path / "out" / "train.jsonl").read_text(encoding="utf-8").splitlines() == expected["export"]


def test_a_reader_follows_when_a_run_brings_the_log_up_to_date(old: tuple[LogReader, dict[str, Any]]) -> None:
    """Home and History keep theirs open; so does an evaluation, which then writes to the same log."""
    reader, _ = old
    run = list_runs(reader)[0].run_id
    before = [len(load_items(reader)), len(list(reader.calls(run))), len(list(reader.events(run)))]
    LabelBook(reader.path).close()
    assert [len(load_items(reader)), len(list(reader.calls(run))), len(list(reader.events(run)))] == before
    assert reader.call_texts(1) is not None
    reader.close()
