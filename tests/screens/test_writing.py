"""A text is seen while the model writes it: on its card, in the status line, and nowhere in the folded state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent import events as ev
from agent.audit.reader import CallTexts
from agent.state.run_state import RunState
from screens.panes.calls import CallStream
from screens.panes.card import CardView
from screens.run.card_screen import CardScreen
from screens.run.screen import RunScreen
from screens.run.status import StatusBar
from tests.screens.driving import ScriptedRun, services
from tui.app import CraApp

LINES = [f"    rb->data[{n}] = value;  // a[/b] {n}\n" for n in range(60)]


def progress(lines: int, seconds: float) -> ev.CallProgress:
    return ev.CallProgress(1, "int push(void)\n{\n" + "".join(LINES[:lines]), 4 * lines, seconds, 1.0)


def texts(raw: str | None) -> CallTexts:
    return CallTexts(1, "r", 1, "function_implement", "push", "Write C.", "", "Write push.", raw, binary=False)


class Story:
    """A run whose only call is written for as long as the test wants."""

    def __init__(self) -> None:
        self.answered = asyncio.Event()
        self.run: ScriptedRun | None = None
        self.texts = texts(None)

    async def __call__(self, run: ScriptedRun) -> None:
        self.run = run
        run.emit(ev.FunctionStarted("push", "ring.c"))
        run.emit(ev.CallStarted(1, "function_implement", "push", "model", binary=False))
        await self.answered.wait()
        run.emit(ev.CallFinished(1, "function_implement", "push", model="model", ms=9000, completion_tokens=240))

    def read(self, repo: Path, call_id: int) -> CallTexts:
        return self.texts


async def until(pilot: Pilot[int], holds: Callable[[], object]) -> None:
    for _ in range(200):
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it never held")


async def begin(pilot: Pilot[int], app: CraApp, story: Story) -> CardView:
    await pilot.pause()
    app.start_task("A task", Path("/home/ada/repo"))
    await until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen.query(CallStream))
    await until(pilot, lambda: app.screen.query_one(CallStream).count)
    assert isinstance(app.screen, RunScreen)
    return app.screen.card


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_card_of_the_running_call_shows_the_text_as_it_comes(size: tuple[int, int]) -> None:
    story = Story()
    app = CraApp(services(story, call_texts=story.read))
    async with app.run_test(size=size) as pilot:
        card = await begin(pilot, app, story)
        assert story.run is not None and app.session is not None
        await until(pilot, lambda: "no word yet" in str(card.border_subtitle))
        story.run.write(progress(3, 2.0))
        await until(pilot, lambda: "data[2]" in card.plain)
        assert "the model is writing" in card.plain and "a[/b] 2" in card.plain
        assert str(card.border_subtitle).startswith("12 tokens · 11.0 tokens/s")
        story.run.write(progress(60, 5.0))
        await until(pilot, lambda: "data[59]" in card.plain)
        assert card.scroll_offset.y == card.max_scroll_y > 0, "the end is in sight"
        await pilot.resize_terminal(size[0] - 7, size[1] - 3)
        story.run.write(progress(60, 5.5))
        await until(pilot, lambda: card.scroll_offset.y == card.max_scroll_y)
        bar = app.screen.query_one(StatusBar)
        assert "writing push 240 tokens" in bar.render().plain
        state = app.session.state
        assert "data[" not in repr(state), "what comes and goes is not part of what is folded"
        story.texts = texts("whole")
        story.answered.set()
        await until(pilot, lambda: "raw answer" in card.plain)
        assert "answer so far" not in card.plain and "whole" in card.plain
        assert (card.scroll_offset.y, str(card.border_subtitle)) == (0, "")
        folded = RunState()
        assert folded.t != state.t and app.session.writing.tokens == 0


async def test_who_scrolls_up_is_left_alone_and_the_whole_card_follows_too() -> None:
    story = Story()
    app = CraApp(services(story, call_texts=story.read))
    async with app.run_test(size=(120, 40)) as pilot:
        card = await begin(pilot, app, story)
        assert story.run is not None
        story.run.write(progress(40, 3.0))
        await until(pilot, lambda: "data[39]" in card.plain and card.scroll_offset.y == card.max_scroll_y > 0)
        card.scroll_to(y=0, animate=False, immediate=True)
        story.run.write(progress(60, 4.0))
        await until(pilot, lambda: "data[59]" in card.plain)
        assert card.scroll_offset.y == 0
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CardScreen) and "data[59]" in app.screen.card.plain)
        assert isinstance(app.screen, CardScreen)
        whole = app.screen.card
        await until(pilot, lambda: whole.scroll_offset.y == whole.max_scroll_y > 0)
        story.answered.set()
        await until(pilot, lambda: not app.screen.query_one(CardView).border_subtitle)


async def test_a_text_that_begins_anew_after_a_broken_connection_is_shown_anew() -> None:
    story = Story()
    app = CraApp(services(story, call_texts=story.read))
    async with app.run_test(size=(120, 40)) as pilot:
        card = await begin(pilot, app, story)
        assert story.run is not None
        story.run.write(progress(40, 3.0))
        await until(pilot, lambda: "data[39]" in card.plain)
        story.run.write(progress(1, 4.0))
        await until(pilot, lambda: "data[39]" not in card.plain)
        assert "data[0]" in card.plain
        story.answered.set()
