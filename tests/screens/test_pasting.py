"""Pasting into the boxes: terminal codes and control bytes stay out, huge texts are cut with a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, TextArea

from screens.pasting import MOST, MOST_IN_LINE, pasted
from tests.screens.driving import home_services
from tui.app import CraApp

DIRTY = "Fix \x1b[31mbuf[i]\x1b[0m\x00 in a[/b]\x07\x1b]0;title\x07\r\nthen\x9b2J test\u202e it\ttoo"
CLEAN = "Fix buf[i] in a[/b]\nthen test it    too"


@pytest.mark.parametrize(
    ("text", "one_line", "kept", "said"),
    [
        (DIRTY, False, CLEAN, ""),
        (DIRTY, True, "Fix buf[i] in a[/b]", "first of 2 lines"),
        ("\n\n  src/a.c\n", True, "  src/a.c", ""),
        ("\x1b\x00\n", True, "", ""),
        ("", True, "", ""),
        ("é漢👩\u200d👧 \ud800", False, "é漢👩\u200d👧 ?", ""),
        ("x" * (MOST + 1), False, "x" * MOST, "100,001 characters"),
        ("x" * (MOST_IN_LINE + 5), True, "x" * MOST_IN_LINE, "first 10,000"),
    ],
)
def test_what_goes_into_a_box(text: str, one_line: bool, kept: str, said: str) -> None:
    got, told = pasted(text, one_line)
    assert got == kept and said in told and bool(told) is bool(said)


async def _paste(pilot: Pilot[int], text: str) -> None:
    pilot.app.post_message(Paste(text))
    await pilot.pause()


async def test_into_task_folder_and_where_nothing_can_be_typed(tmp_path: Path, toasts: list[str]) -> None:
    app = CraApp(home_services(), repo=tmp_path, task="\x1b[1mGiven\x00")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        task, repo = app.screen.query_one("#task", TextArea), app.screen.query_one("#repo", Input)
        assert task.text == "Given"
        task.focus()
        task.text = ""
        await _paste(pilot, DIRTY)
        assert task.text == CLEAN, "once, though the box lets the event go on"
        repo.focus()
        repo.value = ""
        await _paste(pilot, "/srv/\x1b[32mcode\x1b[0m\nmore\n")
        assert repo.value == "/srv/code" and any("first of 2 lines" in text for text in toasts)
        app.screen.query_one("#demos", OptionList).focus()
        task.text = ""
        await _paste(pilot, "Write it")
        assert task.text == "Write it" and task.has_focus
        await _paste(pilot, "y" * 1_000_000)
        assert len(task.text) == MOST + len("Write it") and any("1,000,000 characters" in text for text in toasts)
