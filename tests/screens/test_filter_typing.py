"""What is typed right after the filter's key goes into the filter, however fast: no letter of it is taken for a command."""

from __future__ import annotations

from textual.widgets import Input

from screens.run.screen import RunScreen
from tests.screens.driving import ReplayApp
from tests.screens.recorded import ring_buffer


async def test_a_burst_of_keys_after_the_slash_is_the_filter() -> None:
    app = ReplayApp(ring_buffer("diff"))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause(0.1)
        app.run_screen().action_filter()
        assert app.focused is app.screen.query_one("#filter")
        await pilot.press(*"ring_p", "space", *"no")
        assert isinstance(app.screen, RunScreen)
        assert app.screen.query_one("#filter", Input).value == "ring_p no"


async def test_a_filter_that_hides_the_chosen_call_gives_it_back() -> None:
    app = ReplayApp(ring_buffer("diff"))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause(0.1)
        stream = app.run_screen().stream
        stream.action_cursor_home()
        stream.action_cursor(4)
        chosen = stream.selected
        for typed in ("no such call", "n", ""):
            stream.set_filter(typed)
        assert chosen is not None and stream.selected is chosen and stream.cursor == 4
