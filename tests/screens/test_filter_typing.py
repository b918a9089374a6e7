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
