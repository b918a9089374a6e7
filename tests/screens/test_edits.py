"""The edits that pass, at the end of a run: looked at, and another one taken."""

from __future__ import annotations

import asyncio

from textual.widgets import OptionList, Static

from agent import events as ev
from agent.events import Envelope
from screens.run.edit_dialog import EditDialog
from screens.run.prompt import Prompt, prompt_lines
from tests.screens.driving import ReplayApp
from tests.screens.recorded import Recorder

DIFF = "--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n def f(a):\n-    return a\n+    return {}\n"


def repaired(edits: int = 3) -> Recorder:
    """A run whose search found edits; the second does the same as the first."""
    r = Recorder("edits")
    r.add(ev.RunStarted("Fix f", "/home/ada/repo", "cra/x"))
    r.add(ev.RepairStarted(("t::one",), 1, 60.0))
    for number in range(1, edits + 1):
        r.add(ev.CandidatePassed(number, "constant", "operator", "f.py", "f", 2, DIFF.format(number)))
    r.add(ev.CandidatesCompared(((1, 2), (3,)), 12))
    r.add(ev.RepairChosen(1, "No edit was said to fit.", True, "f(0): edit 1 gives 1, edit 3 gives 3"))
    r.add(ev.RepairFinished(True, 9, 2.0, "An edit in f makes all checks pass."))
    r.add(ev.DiffReady(DIFF.format(1), ("f.py",), 1, 1, "cra/x"))
    r.add(ev.RunFinished("complete", calls=0, seconds=3.0, branch="cra/x"))
    return r


async def test_another_edit_is_taken_with_a_key() -> None:
    app = ReplayApp(repaired(), live=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert app.session is not None
        app.session._prompted_at = float("-inf")  # the test's clock stands still; a person's does not
        assert any("all 3 edits" in row.plain for row in app.run_screen().query_one(Prompt).shown)
        await pilot.press("e")
        await pilot.pause()
        assert isinstance(app.screen, EditDialog)
        shown = app.screen.query_one("#points", OptionList)
        assert "does as 1" in str(shown.get_option_at_index(1).prompt)
        assert "f(0): edit 1 gives 1" in str(app.screen.query_one("#differing", Static).render())
        await pilot.press("down", "down")
        await pilot.pause()
        assert "return 3" in str(app.screen.query_one("#edit-diff", Static).render())
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.session.handle is not None
        assert app.session.handle.choices == ["pick 3"]  # type: ignore[attr-defined]


async def test_the_edit_that_is_written_is_left_as_it_is() -> None:
    app = ReplayApp(repaired(), live=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.session is not None
        app.session._prompted_at = float("-inf")
        for keys in (("enter",), ("down", "escape")):
            await pilot.press("e")
            await pilot.pause()
            assert isinstance(app.screen, EditDialog)
            await pilot.press(*keys)
            await pilot.pause()
        assert app.session is not None and app.session.handle is not None
        assert app.session.handle.choices == []  # type: ignore[attr-defined]


async def test_another_edit_is_taken_before_one_is_written() -> None:
    recorder = repaired()
    del recorder.envelopes[-3:]  # up to the choice
    app = ReplayApp(recorder, live=True)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        session = app.session
        assert session is not None
        session.gate.report_to(lambda event: session.receive(Envelope("edits", 99, 9.0, event)))  # type: ignore[arg-type]
        session.gate.pause()
        choice = asyncio.create_task(session.gate.choice("fitting", "1 constant, f.py:2", 1))
        await pilot.pause()
        session.flush()
        session._prompted_at = float("-inf")
        await pilot.pause()
        assert any("1 constant, f.py:2" in row.plain for row in prompt_lines(session, 96))
        await pilot.press("e")
        await pilot.pause()
        assert isinstance(app.screen, EditDialog)
        await pilot.press("down", "down", "enter")
        await app.workers.wait_for_complete()
        assert await choice == 3
        assert session.handle is not None and session.handle.choices == []  # type: ignore[attr-defined]


async def test_nothing_is_offered_where_there_is_no_choice() -> None:
    for recorder, live in ((repaired(1), True), (repaired(), False)):
        app = ReplayApp(recorder, live=live)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("e")
            await pilot.pause()
            assert not isinstance(app.screen, EditDialog)
