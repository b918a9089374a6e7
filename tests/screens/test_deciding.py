"""The history on a change that waits: it says so, applies, keeps or discards it, and does not delete it without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.audit.history import RunSummary
from agent.workspace.lease import RunLease
from screens.dialogs import Confirm
from screens.history.run_facts import run_facts
from screens.history.screen import HistoryScreen
from tests.flow.ended import AFTER, BEFORE, ended_run, has_branch, repository
from tests.screens.test_keys import fits, shown
from tests.screens.test_learning import LearningApp, settle
from tui.services import engine_services


@pytest.fixture
async def repo(tmp_path: Path) -> Path:
    made = repository(tmp_path / "repo")
    await ended_run(made)
    return made


def history(repo: Path) -> LearningApp:
    return LearningApp(lambda made: HistoryScreen(made, repo=repo))


def facts(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#run-facts").plain)  # type: ignore[attr-defined]


def question(pilot: Pilot[int]) -> str:
    assert isinstance(pilot.app.screen, Confirm)
    return f"{pilot.app.screen.question} {pilot.app.screen.text}"


async def test_applying_asks_and_then_the_files_hold_it(repo: Path, toasts: list[str]) -> None:
    app = history(repo)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        assert "waits for your decision" in facts(pilot) and "1 file, +1 −0" in facts(pilot)
        assert fits(pilot) and {"a", "w", "d"} <= set(shown(pilot)), shown(pilot)
        await pilot.press("a")
        assert "1 file, +1 −0 go into" in question(pilot)
        await pilot.press("n")
        await settle(pilot)
        assert (repo / "a.c").read_text() == BEFORE
        await pilot.press("a", "y")
        await settle(pilot)
        assert (repo / "a.c").read_text() == AFTER and "applied to your files" in facts(pilot)
        assert not {"a", "w", "d"} & set(shown(pilot)) and toasts


async def test_keeping_and_discarding(repo: Path) -> None:
    await ended_run(repo, "r2")
    app = history(repo)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("w")
        await settle(pilot)
        assert app.screen.run.run_id == "r2" and "git merge cra/r2" in facts(pilot) and has_branch(repo, "r2")
        await pilot.press("down", "d")
        assert "are lost" in question(pilot)
        await pilot.press("escape")
        assert has_branch(repo)
        await pilot.press("d", "y")
        await settle(pilot)
        assert not has_branch(repo) and "discarded" in facts(pilot) and (repo / "a.c").read_text() == BEFORE


async def test_deleting_says_what_is_lost(repo: Path) -> None:
    app = history(repo)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("delete")
        assert "You have not decided on its change yet: 1 file, +1 −0 would be lost" in question(pilot)
        assert app.focused is app.screen.query_one("#no")
        await pilot.press("n", "w")
        await settle(pilot)
        await pilot.press("delete")
        assert "not decided" not in question(pilot) and "cra/r1 that was kept stays" in question(pilot)
        await pilot.press("y")
        await settle(pilot)
        assert app.screen.runs == [] and has_branch(repo)


async def test_a_run_that_goes_on_elsewhere_is_left_alone(repo: Path, toasts: list[str]) -> None:
    lease = RunLease(repo, "r1")
    app = history(repo)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        assert "running, here or in another window" in facts(pilot)
        await pilot.press("a", "w", "d", "R", "delete")
        await settle(pilot)
        assert isinstance(app.screen, HistoryScreen) and any("Stop it first" in text for text in toasts)
        assert len(app.screen.runs) == 1 and has_branch(repo)
    lease.release()


async def test_what_does_not_fit_is_said(repo: Path, toasts: list[str]) -> None:
    (repo / "a.c").write_text("int z;\n")
    app = history(repo)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("a", "y")
        await settle(pilot)
        assert any("a.c" in text for text in toasts) and "waits for your decision" in facts(pilot)
    assert (repo / "a.c").read_text() == "int z;\n"


async def test_home_names_it_in_its_list(repo: Path) -> None:
    (run,) = engine_services(repo).recent_runs(repo)
    assert run.undecided and run.status == "complete"


def test_the_facts_of_a_run_that_can_be_gone_on_with() -> None:
    stopped = RunSummary("r1", "task", ".", "stopped", "", "m", "cra/r1", "2026-01-01T00:00:00", 3, 0, 1.0, place=True)
    text = "\n".join(row.plain for row in run_facts(stopped))
    assert "R continues it" in text and "git merge" not in text
