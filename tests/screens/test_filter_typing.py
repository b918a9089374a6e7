"""What is typed right after the filter's key goes into the filter, however fast: no letter of it is taken for a command."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Input

from screens.finding import FilterBox
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


async def test_a_letter_lays_nothing_out_anew_and_a_long_text_is_scrolled_as_in_any_box() -> None:
    class Boxes(App[None]):
        def compose(self) -> ComposeResult:
            yield FilterBox(compact=True)
            yield Input(compact=True)

    app = Boxes()
    async with app.run_test(size=(30, 6)) as pilot:
        filter_box, plain = app.query_one(FilterBox), app.query(Input).last()
        laid_out = 0

        def count() -> None:
            nonlocal laid_out
            laid_out += 1

        app.screen.screen_layout_refresh_signal.subscribe(app.screen, lambda _: count(), immediate=True)
        for box in (filter_box, plain):
            box.focus()
            await pilot.pause()
            before = laid_out
            await pilot.press(*"a text that is longer than the box is wide")
            await pilot.pause()
            assert (laid_out == before) is (box is filter_box)
        assert filter_box.scroll_x == plain.scroll_x > 0
        for box in (plain, filter_box):
            box.focus()
            await pilot.press("home", *["delete"] * 30)
        await pilot.pause()
        assert (filter_box.value, filter_box.scroll_x) == (plain.value, plain.scroll_x)
