"""What is said for a moment covers nothing that must be read or pressed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Button, Input

from screens.dialogs import Confirm
from screens.keyed import KeyFooter
from screens.run.breakpoint_dialog import BreakpointDialog
from screens.run.prompt import Prompt
from screens.run.screen import RunScreen
from screens.run.status import StatusBar
from tests.screens.driving import ReplayApp
from tests.screens.recorded import ring_buffer

SIZES = [(80, 24), (120, 40), (200, 60)]
SAID = (
    "The change could not be applied: ring_buffer.c has been changed since the run began, in lines 12 to 19. Commit or undo"
    " that first, or keep the work on its branch and merge it there.",
    "Overruled: no for ring_buffer.c:ring_push. It is kept as a label.",
)


async def _until(pilot: Pilot[int], holds: Callable[[], object]) -> None:
    for _ in range(300):
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it never held")


async def _say(pilot: Pilot[int], app: ReplayApp) -> list[Widget]:
    for text in SAID:
        app.notify(text, timeout=60)
    for _ in range(100):
        await pilot.pause(0.02)
        toasts = list(app.screen.query("Toast"))
        if len(toasts) == len(SAID) and all(toast.region.height for toast in toasts):
            return toasts
    raise AssertionError("nothing was said")


def _covered(toasts: list[Widget], things: list[Widget]) -> list[tuple[Widget, Widget]]:
    return [(toast, thing) for toast in toasts for thing in things if toast.region.overlaps(thing.region)]


@pytest.mark.parametrize("size", SIZES)
async def test_the_banner_the_choices_and_the_keys_stay_free(size: tuple[int, int]) -> None:
    app = ReplayApp(ring_buffer("diff"), live=True)
    async with app.run_test(size=size, notifications=True) as pilot:
        await _until(pilot, lambda: isinstance(app.screen, RunScreen) and app.screen.query(Prompt))
        screen = app.run_screen()
        prompt = screen.query_one(Prompt)
        await _until(pilot, lambda: prompt.region.height >= 3)
        toasts = await _say(pilot, app)
        parts: list[Widget] = [prompt, screen.query_one(KeyFooter), screen.query_one(StatusBar)]
        await _until(pilot, lambda: not _covered(toasts, parts))
        await pilot.resize_terminal(size[0] - 10, size[1] - 2)
        await _until(pilot, lambda: screen.size.width == size[0] - 10)
        await _until(pilot, lambda: not _covered(list(screen.query("Toast")), parts))


@pytest.mark.parametrize("size", SIZES)
async def test_the_question_and_its_buttons_stay_free(size: tuple[int, int]) -> None:
    app = ReplayApp(ring_buffer("diff"), live=True)
    async with app.run_test(size=size, notifications=True) as pilot:
        await _until(pilot, lambda: isinstance(app.screen, RunScreen))
        text = "cra/ring is deleted. Your own files stay as they are."
        app.push_screen(Confirm("Discard the work?", text, "Discard", "Not now"))
        await _until(pilot, lambda: isinstance(app.screen, Confirm) and len(app.screen.query(Button)) == 2)
        toasts = await _say(pilot, app)
        parts: list[Widget] = [*app.screen.query(Button), *app.screen.query(".question"), *app.screen.query(".explanation")]
        assert len(parts) == 4 and not _covered(toasts, parts)


@pytest.mark.parametrize("size", SIZES)
async def test_the_breakpoints_buttons_stay_free(size: tuple[int, int]) -> None:
    app = ReplayApp(ring_buffer("compile"), live=True)
    async with app.run_test(size=size, notifications=True) as pilot:
        await _until(pilot, lambda: isinstance(app.screen, RunScreen))
        await pilot.press("b")
        await _until(pilot, lambda: isinstance(app.screen, BreakpointDialog) and len(app.screen.query(Input)) > 0)
        toasts = await _say(pilot, app)
        assert not _covered(toasts, list(app.screen.query("Button, Input")))
