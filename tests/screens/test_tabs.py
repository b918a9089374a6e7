"""The tabs on the right: their names can be read at every size, and each is reached by key and by mouse."""

from __future__ import annotations

from collections.abc import Callable

from textual.pilot import Pilot

from screens.panes.order import BY_NAME
from screens.panes.repair import short_test
from screens.panes.tabs import TabPanel, squeezed
from screens.text import line
from tests.screens.driving import ReplayApp
from tests.screens.recorded import failing, ring_buffer


async def _until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    for _ in range(200):
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it never held")


def _title(panel: TabPanel, width: int) -> str:
    return panel.tab_titles(width).plain


async def test_every_name_stands_whole_and_every_tab_is_reached() -> None:
    app = ReplayApp(ring_buffer("diff"))
    async with app.run_test(size=(80, 36)) as pilot:
        await pilot.pause(0.1)
        panel = app.run_screen().panel
        for width in (80, 100, 120, 160, 200):
            await pilot.resize_terminal(width, 36)
            await _until(pilot, lambda width=width: app.screen.size.width == width)  # type: ignore[misc]
            await _every_tab(app, pilot, panel, width)


async def _every_tab(app: ReplayApp, pilot: Pilot[int], panel: TabPanel, width: int) -> None:
    for number, name in enumerate(BY_NAME, 1):
        await pilot.press(str(number))
        await _until(pilot, lambda name=name: panel.current == name)  # type: ignore[misc]
        assert panel.pane.display
        row = app.screen._compositor.render_strips()[panel.region.y].text
        if width != 100:  # there the panel is 44 cells wide, and eight names take 50
            assert all(pane.title() in row for pane in BY_NAME), row
        assert all(pane.short in row or pane.title in row for pane in BY_NAME.values()), row
        assert "…" not in row
    for name in ("plan", "log", "cascade"):
        start, end, _ = next(span for span in panel._spans if span[2] == name)
        await pilot.click(panel, offset=(2 + (start + end) // 2, 0))
        await _until(pilot, lambda name=name: panel.current == name)  # type: ignore[misc]


async def test_keys_go_before_names_are_shortened() -> None:
    panel = TabPanel(id="panel")
    assert _title(panel, 73).startswith("1 Cascade  2 Compile  3 Plan")
    assert _title(panel, 66).startswith("1 Cascade 2 Compile 3 Plan")
    assert _title(panel, 58) == "1Cascade 2Compile 3Plan 4Adjust 5Diff 6Checks 7Log 8Repair"
    assert _title(panel, 50) == "Cascade Compile Plan Adjust Diff Checks Log Repair"
    assert _title(panel, 47).startswith("1Cascade 2Comp 3Plan 4Adj")
    assert _title(panel, 41).startswith("Cascade Comp Plan Adj")
    assert _title(panel, 30).startswith("1Cascade 2 3")


async def test_steps_that_were_dropped_are_not_counted_as_done_or_to_be_done() -> None:
    app = ReplayApp(failing())
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause(0.1)
        screen = app.run_screen()
        assert "steps 1/4, 1 dropped" in screen.phases.plain
        await pilot.press("3")
        await _until(pilot, lambda: "1 of 4 steps done, 1 dropped" in screen.panel.pane.plain)


def test_a_headline_gives_up_its_cause_before_its_outcome() -> None:
    told = line(("✗ ", "bold"), "test_the_last_file_that_fills_the_budget fails", " → ", "70 edits tried", " → ", "✓ mended")
    assert squeezed(told, 200).plain == told.plain
    assert squeezed(told, 48).plain == "✗ test_the_last_fil… → 70 edits tried → ✓ mended"
    assert squeezed(told, 20).cell_length <= 20
    assert short_test("tests.test_budget.Budget.test_last") == short_test("tests/a.py::test_last") == "test_last"
