"""The table of bug tasks: what mended each, what passes and is wrong, and a measurement that goes on where it ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import repair


def row(task: str, **fields: Any) -> dict[str, Any]:
    """One task's row; solved by an operator where nothing else is said."""
    plain = {"solved": True, "by": "operator", "seconds": 4.0, "calls": 0, "status": "complete", "tried": 9, "passing": 1,
             "right_among": True, "wrong_but_passing": False}  # fmt: skip
    return {"task": task, **plain, **fields}


def test_tasks_that_are_saved_are_counted_and_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        row("one"), row("two", by="cloze", seconds=9.0, calls=6),
        row("three", solved=False, by="anew", seconds=80.0, calls=9, wrong_but_passing=True),
        row("four", solved=False, by="", right_among=False),
    ]  # fmt: skip
    for one in rows:
        (tmp_path / one["task"]).mkdir()
        (tmp_path / one["task"] / "meta.json").write_text("{}")
    saved = tmp_path / "rows.json"
    saved.write_text(json.dumps(rows))
    monkeypatch.setattr(sys, "argv", ["repair", str(tmp_path), "--save", str(saved), "--only", "t*", "one"])
    repair.main()
    told = capsys.readouterr().out
    assert "solved 2 of 3; median 9 s, 6 calls" in told and "four" not in told
    assert "operator  1 of 1 right" in told and "cloze     1 of 1 right" in told and "anew      0 of 1 right" in told
    assert "1 passed the visible tests and are wrong; of these 1 had a right edit among the candidates" in told
    assert [line.split()[1] for line in told.splitlines()[:3]] == ["solved", "wrong", "solved"]
    assert json.loads(saved.read_text()) == rows
