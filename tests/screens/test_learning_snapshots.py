"""Relabelling, calibration and history in states worth looking at, pinned at the sizes people have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from agent.audit.log import known_log
from agent.audit.reader import LogReader
from agent.events import CallFinished, CallStarted, DiffReady, Envelope, Event, PlanMade, RunFinished, RunStarted
from agent.labels.items import load_items
from agent.learning.evaluate import Evaluation, compare
from agent.values import PlanStep
from screens.history.screen import HistoryScreen
from screens.learning.calibrate import CalibrateScreen
from screens.learning.evaluate import EvaluateScreen
from screens.learning.relabel import RelabelScreen
from tests.labels.filled import Filled
from tests.screens.test_learning import LearningApp, settle

Compare = Callable[..., bool]
SIZES = [(80, 24), (120, 36), (200, 50)]
NAMES = [f"{width}x{height}" for width, height in SIZES]
TASK = "Fix the off-by-one error in the token budget"
STATE = f"Task: {TASK}\nIntent: the last file must not be dropped\n\n"
SYMBOLS = ("BudgetTracker", "can_fit", "remaining", "estimate_tokens", "CHARS_PER_TOKEN", "assemble", "_refilter", "buf[i]")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of one task by two models, twelve labels, and a run that never ended; the clock stands still."""
    monkeypatch.setattr("agent.audit.log.now_text", lambda: "2026-11-27T18:42:10.120+00:00")
    filled = Filled(tmp_path / "token_budget")
    _run(filled, "20261127-184210-4f2a", "qwen2.5-coder-1.5b", 0.0)
    _run(filled, "20261127-190355-9c01", "qwen3-4b", 0.4)
    filled.run("20261127-191500-aa10", task="Implement ring_peek", repo=str(filled.repo), model="qwen2.5-coder-1.5b")
    filled.log.close()
    return filled.repo


def _run(filled: Filled, run_id: str, model: str, shift: float) -> None:
    filled.run(run_id, task=TASK, repo=str(filled.repo), model=model, branch=f"cra/{run_id}")
    events: list[Event] = [RunStarted(TASK, str(filled.repo), f"cra/{run_id}", model=model)]
    for number, name in enumerate(SYMBOLS * 2):
        right = number % 8 in (0, 1, 2, 5)
        p = round(0.28 + 0.02 * number + (0.12 + shift if right else 0.0), 2)
        item, verdict = f"budget.py:{name}{number // 8 or ''}", p >= 0.6
        text = f"Symbol: {item}\nsig: def {name}(self, tokens: list[int]) -> bool"
        call = filled.call(
            run_id, item, verdict, min(p, 0.97), stage="precision_pass1", model=model, task_context=STATE, question=text
        )
        events.append(CallStarted(call, "precision_pass1", item, model))
        events.append(CallFinished(call, "precision_pass1", item, verdict, p))
        if shift == 0.0 and number < 12:
            filled.label(call, right, "overrule" if number == 3 else "person")
    steps = (PlanStep("s1", "Count the last file in can_fit"), PlanStep("s2", "Add a test"))[: 2 if shift else 1]
    events += [PlanMade(steps), DiffReady("", ("budget.py", "tests/test_budget.py")[: len(steps)])]
    events.append(RunFinished("complete" if shift else "partial", "Every step is done.", calls=16, seconds=72.0))
    for seq, event in enumerate(events, 1):
        filled.log.append(Envelope(run_id, seq, float(seq), event))  # type: ignore[arg-type]
    filled.log.flush()


def _shown(snap: Compare, make: Callable[[Any], Screen[None]], size: tuple[int, int], *keys: str) -> bool:
    async def before(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)

    return snap(LearningApp(make), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", SIZES, ids=NAMES)
def test_relabel(snap_compare: Compare, repo: Path, size: tuple[int, int]) -> None:
    assert _shown(snap_compare, lambda made: RelabelScreen(made, repo=repo), size, "6", "down", "g")


@pytest.mark.parametrize("size", SIZES, ids=NAMES)
def test_calibrate(snap_compare: Compare, repo: Path, size: tuple[int, int]) -> None:
    assert _shown(snap_compare, lambda made: CalibrateScreen(made, repo=repo), size)


@pytest.mark.parametrize("size", SIZES, ids=NAMES)
def test_compared_runs(snap_compare: Compare, repo: Path, size: tuple[int, int]) -> None:
    assert _shown(snap_compare, lambda made: HistoryScreen(made, repo=repo), size, "down", "m", "down", "d")


def test_blind(snap_compare: Compare, repo: Path) -> None:
    assert _shown(snap_compare, lambda made: RelabelScreen(made, repo=repo), (120, 36), "2", "b", "y")


def test_export(snap_compare: Compare, repo: Path) -> None:
    assert _shown(snap_compare, lambda made: RelabelScreen(made, repo=repo), (80, 24), "e")


def test_replay(snap_compare: Compare, repo: Path) -> None:
    assert _shown(snap_compare, lambda made: HistoryScreen(made, repo=repo), (120, 36), "down", "enter", "comma", "comma")


@pytest.mark.parametrize("size", SIZES, ids=NAMES)
def test_evaluate(snap_compare: Compare, repo: Path, size: tuple[int, int]) -> None:
    """The choice in the list, and the scores of a run by another model that is in the log."""

    async def before(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, EvaluateScreen)
        reader = LogReader(known_log(repo))
        found = compare(load_items(reader), ["20261127-190355-9c01"])
        reader.close()
        ended = RunFinished("stopped", "Stopped after 12 of 16 questions.")
        screen.done = Evaluation(("20261127-190355-9c01",), ended, found)
        screen.show_facts()
        await pilot.press("down", "down")

    app = LearningApp(lambda made: EvaluateScreen(made, repo=repo))
    assert snap_compare(app, terminal_size=size, run_before=before)
