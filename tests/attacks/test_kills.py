"""Some of the kills of the long form: at events spread over a run, and during what changes files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.long import SCENARIOS, kills, replies, resumes


def test_a_run_killed_at_an_event_ends_as_one_that_was_not(tmp_path: Path) -> None:
    """A run that only writes is killed in ``tests/flow/test_resume.py``."""
    for row in resumes(tmp_path, stride=83, first=9, scenarios=[one for one in SCENARIOS if one.name != "writing"]):
        assert row.tried >= 1 and row.held == row.tried, row.faults


def test_kills_while_files_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRA_STATE_DIR", str(tmp_path / "state"))
    for row in kills(tmp_path, 10):
        assert row.tried and row.held == row.tried, row.faults


def test_hostile_replies(tmp_path: Path) -> None:
    for row in replies(tmp_path, 300):
        assert row.held == row.tried, row.faults
