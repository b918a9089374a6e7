"""Relabelling, calibration and history, driven by keys over a real log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.screen import Screen

from agent.audit.log import known_log
from agent.audit.reader import LogReader
from agent.config.schema import load, user_config_path
from agent.events import CallFinished, CallStarted, Envelope, Event, PlanMade, RunFinished, RunStarted, StageStarted
from agent.labels.items import load_items
from agent.labels.store import gather, store_facts, store_path
from agent.values import PlanStep
from agent.verdict.in_force import thresholds_of
from agent.verdict.threshold import load_thresholds, thresholds_path
from agent.workspace.clean_room import work_folder
from screens.history.replay import ReplayScreen
from screens.history.screen import HistoryScreen
from screens.learning.calibrate import CalibrateScreen
from screens.learning.evaluate import EvaluateScreen
from screens.learning.relabel import RelabelScreen
from tests.labels.filled import Filled
from tests.screens.driving import services
from tests.tui.journey import until
from tui.app import CraApp

HOSTILE = "buf[i] a[/b] [type=x, v={'a[0]'}] \x1b[31mred\x00 漢"


class LearningApp(CraApp):
    """Opens one screen over a log."""

    def __init__(self, make: Callable[[Any], Screen[None]], **extra: Any) -> None:
        self.now = 1000.0
        made = services(clock=lambda: self.now)
        made.extra.update(extra)
        super().__init__(made)
        self.make = make

    def on_mount(self) -> None:
        self.call_later(lambda: self.push_screen(self.make(self.services)))  # after the application's own


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """Two runs with ten calls each; f0 to f4 get a yes, f3 of the second run an unreadable answer."""
    made = Filled(tmp_path / "repo")
    for run in ("r1", "r2"):
        made.run(run, task=f"{run}: fix the budget", repo=str(made.repo), model="m1")
        for number in range(10):
            p = (0.05 + number / 11) if run == "r1" else None
            made.call(run, f"f{number}.c", number < 5, p, question=f"File {run} f{number}.c {HOSTILE}")
    made.call("r2", f"odd {HOSTILE}", False, raw="maybe", defaulted=True, source="default")
    yield made
    made.log.close()


def items(filled: Filled) -> list[Any]:
    reader = LogReader(filled.path)
    try:
        return load_items(reader)
    finally:
        reader.close()


def own(filled: Filled) -> int:
    """How many labels of a person the log holds."""
    return sum(item.own for item in items(filled))


async def settle(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def relabel(filled: Filled, **arguments: Any) -> LearningApp:
    return LearningApp(lambda made: RelabelScreen(made, repo=filled.repo, **arguments))


async def test_label_ten_undo_two_export(filled: Filled, tmp_path: Path) -> None:
    app = relabel(filled)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RelabelScreen)
        first = screen.item
        assert first is not None and first.defaulted, "the least certain first"
        await pilot.press("enter")
        assert "could not be read" in screen.said and screen.item is first, "there is nothing to agree with"
        for place, key in enumerate(("y", "n", "enter", "y", "n", "y", "n", "enter", "n", "y"), 1):
            app.now += 6
            await pilot.press(key)
            await until(pilot, lambda place=place: own(filled) == place)
        for key, left in (("u", 9), ("u", 8), ("U", 9)):
            await pilot.press(key)
            await until(pilot, lambda left=left: own(filled) == left)
        await settle(pilot)
        title = str(screen.query_one("#learn-title").render())
        assert "9 of 21 labelled" in title and "10 a minute" in title
        await pilot.press("e")
        await settle(pilot)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.screen.query_one("#write").region.bottom <= 24, "everything is in sight"
        field = app.screen.query_one("#out")
        field.value = str(tmp_path / "pairs")
        app.screen.query_one("#stages").action_change()
        await pilot.press("enter")
        await settle(pilot)
        assert "rows" in str(app.screen.query_one("#export-said").render())
        await pilot.press("escape")
        assert app.screen is screen
    rows = [json.loads(row) for row in (tmp_path / "pairs" / "ids.jsonl").read_text().splitlines()]
    assert {row["file"] for row in rows} == {"scope/train.jsonl", "scope/test.jsonl"}, "a folder a question"
    assert len(rows) == 9 and {row["source"] for row in rows} == {"person"} and all(row["guideline"] for row in rows)


async def test_open_at_a_call_shows_it_literally(filled: Filled) -> None:
    wanted = items(filled)[7].call_id
    app = relabel(filled, call_id=wanted)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RelabelScreen) and screen.item is not None
        assert screen.item.call_id == wanted and len(screen.labels.queue) == 10
        assert "buf[i] a[/b] [type=x, v={'a[0]'}] red 漢" in screen.card.plain
        assert "model said no" in screen.card.plain
        await pilot.press("left_square_bracket")
        assert screen.item.call_id == wanted - 1
        await pilot.press("right_square_bracket", "down")
        assert screen.item.call_id == wanted + 1


async def test_blind_mode_hides_everything_the_model_said(filled: Filled) -> None:
    overruled = items(filled)[1]
    filled.label(overruled.call_id, not overruled.model_verdict, "overrule")
    app = relabel(filled)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RelabelScreen)
        await pilot.press("h")
        assert "model said" not in screen.card.plain and "hidden" in screen.card.plain
        row = screen.rows.row_of(3, 60).plain
        assert "yes" not in row and "no" not in row.split()
        before = screen.item
        await pilot.press("enter")
        assert screen.item is before, "nothing to agree with"
        await pilot.press("y")
        assert "you yes, model" in screen.said, "said afterwards"
        await pilot.press("5")
        assert screen.item is not None
        while screen.item.call_id != overruled.call_id:
            await pilot.press("down")
        assert "no label of yours yet" in screen.card.plain and "overruled" not in screen.card.plain


async def test_skipping_and_filtering_drop_nothing(filled: Filled) -> None:
    app = relabel(filled)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RelabelScreen) and screen.labels is not None
        await pilot.press("space", "space")
        assert len(screen.labels.queue) == 21 and screen.labels.place == 2
        await pilot.press("3")
        assert len(screen.labels.queue) == 1
        await pilot.press("slash", *"run:r1 no")
        assert {(item.run_id, item.verdict) for item in screen.labels.queue} == {("r1", False)}
        await pilot.press("enter", "y")
        await until(pilot, lambda: own(filled) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: screen.labels and screen.queue_key == "3" and len(screen.labels.queue) == 1)
        await pilot.press("6")
        assert len(screen.labels.queue) == 21
        for _ in range(5):
            await pilot.press("o")
            assert len(screen.labels.queue) == 21


async def test_comment_and_guidelines(filled: Filled) -> None:
    app = relabel(filled)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RelabelScreen)
        await pilot.press("g")
        assert "read or change this file" in screen.query_one("#guidelines").plain
        item = screen.item
        await pilot.press("f", *"too far", "enter")
        await settle(pilot)
        assert "comment for your label: too far" in screen.card.plain
        await pilot.press("n")
        stored = next(one for one in items(filled) if one.call_id == item.call_id)
        assert (stored.label, stored.note, len(stored.guideline)) == (False, "too far", 10)


async def test_no_log_is_a_sentence(tmp_path: Path) -> None:
    for make in (
        lambda made: RelabelScreen(made, repo=tmp_path), lambda made: CalibrateScreen(made, repo=tmp_path),
        lambda made: HistoryScreen(made, repo=tmp_path),
    ):  # fmt: skip
        app = LearningApp(make)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            await pilot.press("y", "enter", "u", "e", "escape", "r", "d", "x", "a", "o", "slash", "question_mark")
            await settle(pilot)


async def test_calibrate_draws_and_applies(tmp_path: Path) -> None:
    """A shy model on six tasks: the words say no to everything, the order is right."""
    filled = Filled(tmp_path / "repo")
    for task in range(6):
        filled.run(f"r{task}", repo=str(filled.repo), model="m1")
        for number in range(5):
            call = filled.call(f"r{task}", f"f{number}.c", False, 0.05 + number / 12, task_context=f"Task: {task}\n\n")
            filled.label(call, number > 2)
    app = LearningApp(lambda made: CalibrateScreen(made, repo=filled.repo))
    async with app.run_test(size=(120, 50)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, CalibrateScreen)
        text = screen.query_one("#fit").plain
        drawn = ("balanced accuracy by threshold", "█", "▲", "right: yes", "ECE", "none: the answer's", "rank alone")
        for part in (*drawn[:-1], "rests on 30 labels of 6 tasks, 12 yes", "better than what is in force"):
            assert part in text, part
        await pilot.press("a")
        await pilot.press("n")
        assert not thresholds_path(filled.repo).exists()
        await pilot.press("a")
        await pilot.press("y")
        await settle(pilot)
        (entry,) = load_thresholds(thresholds_path(filled.repo))
        assert (entry.stage, entry.model, entry.n, entry.tasks) == ("scope", "m1", 30, 6)
        assert f"≥ {entry.threshold:.2f}, fitted to 30 labels" in screen.query_one("#fit").plain
        assert not screen.check_action("apply", ()), "what is in force already is not offered again"
    filled.log.close()


async def test_labels_of_all_repositories_make_a_threshold_for_all(tmp_path: Path) -> None:
    """Each has too few tasks for a fit. Where the person wants a store, Relabel adds to it, and Thresholds reads it."""
    user_config_path().parent.mkdir(parents=True, exist_ok=True)
    user_config_path().write_text("[judgment]\npool = true\n")
    places = []
    for name in ("one", "two"):
        filled = Filled(tmp_path / name)
        places.append(filled.repo)
        for task in range(3):
            filled.run(f"{name}{task}", repo=str(filled.repo), model="m1")
            for number in range(5):
                text = f"Task: {name}{task}\n\n"
                call = filled.call(f"{name}{task}", f"f{number}.c", False, 0.05 + number / 12, task_context=text)
                if (name, task, number) != ("two", 2, 4):
                    filled.label(call, number > 2)
        filled.log.close()
    gather([known_log(places[0])], store_path())
    app = LearningApp(lambda made: RelabelScreen(made, repo=places[1]))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("y")
        await until(pilot, lambda: "you yes" in app.screen.said)
        await pilot.press("q")
        await until(pilot, lambda: store_facts(store_path()).labelled == 30)
        app.push_screen(CalibrateScreen(app.services, repo=places[0]))
        await settle(pilot)
        assert "15 labels; a fit needs 20" in app.screen.query_one("#fit").plain
        await pilot.press("s")
        await settle(pilot)
        assert "rests on 30 labels of 6 tasks" in app.screen.query_one("#fit").plain
        assert str(store_path()) in str(app.screen.query_one("#learn-said").render())
        await pilot.press("a", "y")
        await settle(pilot)
    assert not thresholds_path(places[0]).exists()
    for place in places:
        rule = thresholds_of(place, load(place)).get("scope", "m1")
        assert rule is not None and rule.n == 30, "used in every repository"


async def test_an_export_is_shown_before_it_is_written(filled: Filled) -> None:
    for item in items(filled)[:8]:
        filled.label(item.call_id, item.item < "f3")
    app = relabel(filled)
    async with app.run_test(size=(120, 50)) as pilot:
        await settle(pilot)
        await pilot.press("e")
        await settle(pilot)
        shown = app.screen.query_one("#export-preview")
        assert "train.jsonl 8, yes 3, no 5" in str(shown.render()) and '"completion"' in str(shown.render())
        await pilot.press("down")
        await settle(pilot)
        assert '"rejected"' in str(shown.render())
        app.screen.query_one("#balance").action_change()
        await settle(pilot)
        assert "train.jsonl 6, yes 3, no 3" in str(shown.render())
        assert not (filled.repo / ".clean_room" / "exports").exists()


def record(filled: Filled, run_id: str, verdicts: dict[str, bool], *more: Event, end: bool = True) -> list[Envelope]:
    filled.run(run_id, task=f"task of {run_id}", repo=str(filled.repo))
    events: list[Event] = [RunStarted("t", str(filled.repo), model="m"), StageStarted("scope", len(verdicts))]
    for item, verdict in verdicts.items():
        call = filled.call(run_id, item, verdict, 0.6)
        events += [CallStarted(call, "scope", item, "m"), CallFinished(call, "scope", item, verdict, 0.6, model="m", ms=5)]
    events += [*more, *([RunFinished("complete", "Done.", calls=len(verdicts), seconds=9.0)] if end else [])]
    envelopes = [Envelope(run_id, seq, float(seq), event) for seq, event in enumerate(events, 1)]  # type: ignore[arg-type]
    for envelope in envelopes:
        filled.log.append(envelope)
    filled.log.flush()
    return envelopes


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path / "repo")
    record(made, "a1", {"x.c": True, "y.c": False}, PlanMade((PlanStep("s1", "write f[i]"),)))
    record(made, "a2", {"x.c": False, HOSTILE: True}, PlanMade((PlanStep("s1", "write f[i]"), PlanStep("s2", "write g"))))
    record(made, "a3", {"x.c": True}, end=False)
    yield made
    made.log.close()


def history(filled: Filled, **extra: Any) -> LearningApp:
    return LearningApp(lambda made: HistoryScreen(made, repo=filled.repo), **extra)


async def test_history_opens_plays_and_jumps(recorded: Filled) -> None:
    app = history(recorded)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert [run.run_id for run in app.screen.runs] == ["a3", "a2", "a1"]
        await pilot.press("end", "enter")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, ReplayScreen)
        end = screen.session.state
        assert end.finished is not None and screen.stream.count == 2
        await pilot.press("comma")
        await settle(pilot)
        assert screen.session.state.finished is None and screen.replay.position == 7
        await pilot.press("J", *"y.c", "enter")
        await settle(pilot)
        assert screen.replay.position == 5, "the next event that holds the word, from the start again"
        await pilot.press("J", *"3s", "enter")
        await settle(pilot)
        assert screen.replay.position == 3 and screen.stream.count == 1
        await pilot.press("full_stop")
        await settle(pilot)
        assert screen.replay.position == 4
        await pilot.press("minus", "space")  # 1x
        app.now += 2.5
        await pilot.pause(0.2)
        assert screen.replay.position == 6 and screen.replay.playing
        await pilot.press("plus", "plus", "plus")
        app.now += 0.1
        await pilot.pause(0.2)
        assert screen.replay.at_end and not screen.replay.playing
        assert screen.session.state == end, "played again, the same state"
        await pilot.press("r")
        await settle(pilot)
        assert isinstance(app.screen, RelabelScreen) and app.screen.item is not None


async def test_two_runs_are_compared(recorded: Filled) -> None:
    app = history(recorded)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("down", "m", "down", "equals_sign")
        await settle(pilot)
        text = app.screen.query_one("#run-facts").plain
        for part in ("before a1   after a2", "1 verdict changed", "yes .60 → no  .60", "asked only after", "buf[i] a[/b]",
                     "+ s2 pending: write g"):  # fmt: skip
            assert part in text, part
        await pilot.press("escape")
        assert "verdict changed" not in app.screen.query_one("#run-facts").plain
        await pilot.press("escape")
        assert not isinstance(app.screen, HistoryScreen)


async def test_delete_asks_and_deletes(recorded: Filled) -> None:
    app = history(recorded)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("down", "delete")
        await pilot.press("n")
        await settle(pilot)
        assert len(app.screen.runs) == 3
        await pilot.press("delete")
        await pilot.press("y")
        await settle(pilot)
        assert [run.run_id for run in app.screen.runs] == ["a3", "a1"]
        assert "was deleted: 2 calls" in str(app.screen.query_one("#learn-said").render())


async def test_resume_explains_or_starts_the_task_again(recorded: Filled) -> None:
    app = history(recorded)
    started: list[tuple[str, Path]] = []
    app.start_task = lambda task, repo, resume="": started.append((task, repo))  # type: ignore[method-assign]
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert app.screen.check_action("resume", ())
        await pilot.press("R")
        await pilot.pause()
        await pilot.press("y")
        await settle(pilot)
        assert started == [("task of a3", recorded.repo)]


async def test_resume_goes_on_where_the_worktree_is_still_there(recorded: Filled) -> None:
    app = history(recorded)
    asked: list[tuple[str, str]] = []
    app.start_task = lambda task, repo, resume="": asked.append((task, resume))  # type: ignore[method-assign]
    (work_folder(recorded.repo) / "a3.json").write_text("{}")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        assert app.screen.run.place and "worktree is still there" in app.screen.query_one("#run-facts").plain
        await pilot.press("R")
        await settle(pilot)
        assert asked == [("task of a3", "a3")]


async def test_a_complete_run_is_not_resumed(recorded: Filled) -> None:
    app = history(recorded)
    started: list[str] = []
    app.start_task = lambda task, repo, resume="": started.append(task)  # type: ignore[method-assign]
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        screen = app.screen
        screen.runs[0] = replace(screen.runs[0], status="complete", place=True)
        assert not screen.check_action("resume", ())
        await pilot.press("R")
        await settle(pilot)
        assert not started and app.screen is screen


async def test_f_keys_open_them_from_home(recorded: Filled) -> None:
    app = CraApp(services(), repo=recorded.repo)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        for key, kind in (("f9", HistoryScreen), ("f8", RelabelScreen), ("f10", CalibrateScreen)):
            await pilot.press(key)
            await settle(pilot)
            assert isinstance(app.screen, kind)
            await pilot.press("f1")
            await pilot.press("escape", "escape")
            await settle(pilot)


@pytest.mark.parametrize("which", ["relabel", "calibrate", "evaluate", "history", "replay"])
async def test_tiny_terminals_do_not_crash(filled: Filled, which: str) -> None:
    for item in items(filled):
        filled.label(item.call_id, item.item < "f3")
    record(filled, "a1", {f"x.c {HOSTILE}": True})
    makers: dict[str, Callable[[Any], Screen[None]]] = {
        "relabel": lambda made: RelabelScreen(made, repo=filled.repo),
        "calibrate": lambda made: CalibrateScreen(made, repo=filled.repo),
        "evaluate": lambda made: EvaluateScreen(made, repo=filled.repo),
        "history": lambda made: HistoryScreen(made, repo=filled.repo),
        "replay": lambda made: HistoryScreen(made, repo=filled.repo),
    }
    app = LearningApp(makers[which])
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot)
        if which == "replay":
            await pilot.press("enter")
            await settle(pilot)
        sizes = ((1, 1), (4, 3), (9, 5), (14, 30), (19, 2), (33, 8), (59, 12), (99, 4), (160, 3), (3, 60))
        for width, height in sizes[which in ("calibrate", "replay") :: 2]:  # each on two of the four
            await pilot.resize_terminal(width, height)
            await pilot.press("down", "g" if which == "relabel" else "up")
            await pilot.pause()
        await pilot.resize_terminal(120, 36)
        await settle(pilot)
