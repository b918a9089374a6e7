"""Failure signals of real outputs: what compilers, build tools, runners and patch tools printed for small projects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.planning.signals import MESSAGE_CAP, signals_from_output

ROWS = [json.loads(line) for line in (Path(__file__).parent / "real_outputs.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_the_category_and_the_decisive_words(row: dict[str, Any]) -> None:
    signals = signals_from_output(row["text"], row["command"], row["exit_code"])
    assert (signals[0].category if signals else "none") == row["category"]
    assert all(0 < len(signal.message) <= MESSAGE_CAP for signal in signals)
    assert not row["says"] or any(row["says"] in signal.message for signal in signals)


def test_without_an_exit_code_the_text_alone_decides() -> None:
    rows = [row for row in ROWS if row["category"] not in ("unknown",) and row["text"].strip()]
    wrong = []
    for row in rows:
        signals = signals_from_output(row["text"], row["command"], None)
        if (signals[0].category if signals else "none") != row["category"]:
            wrong.append(row["name"])
    assert len(wrong) <= len(rows) // 20, wrong
