"""A newcomer's walk through one run, by what the screen says, at 80 by 24: how many keys each part of it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.workspace.demo import load_demo
from screens.learning.export_dialog import ExportDialog
from screens.learning.relabel import RelabelScreen
from screens.run.screen import RunScreen
from screens.run.session import RunSession
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, Coder, small_ring
from tests.tui.journey import application, configure, ended, until
from tui.app import CraApp

pytestmark = pytest.mark.timeout(400)  # seconds on a quiet machine
TASK = load_demo("ring_buffer").task
WRONG, LEFT_OUT = "log.h", "examples/demo.c"
KEYS = {"start": 1, "see an include fixed": 0, "flip a wrong verdict": 4, "why a file was left out": 1, "stop": 2,
        "resume": 1, "apply": 1, "undo": 1, "export": 3}  # fmt: skip
"""The most keys that each part may take."""


class Walk:
    """Presses keys and counts them by the part of the walk."""

    def __init__(self, pilot: Pilot[int], app: CraApp) -> None:
        self.pilot, self.app = pilot, app
        self.used = dict.fromkeys(KEYS, 0)

    async def press(self, part: str, *keys: str) -> None:
        """Press keys for a part of the walk."""
        self.used[part] += len(keys)
        await self.pilot.press(*keys)

    async def sees(self, *words: str) -> None:
        """Until the screen shows all of these words."""
        await until(self.pilot, lambda: all(word in self.shown for word in words))

    @property
    def shown(self) -> str:
        """What is on the screen."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    async def session(self, but: RunSession | None = None) -> RunSession:
        """The session of the run in front, another one than ``but``."""
        await until(self.pilot, lambda: isinstance(self.app.screen, RunScreen) and self.app.session is not but)
        assert self.app.session is not None
        return self.app.session


class Model(Coder):
    """Is unsure of one file, which it takes for needless, and does not come to an end with the last function at first."""

    def __call__(self, call: RecordedCall) -> Answer:
        if call.body.get("max_tokens", 0) <= 16 and f"File: {WRONG}" in call.prompt:
            return Answer("no", p_yes=0.45)
        endless = not self.asked.count("ring_max") and "Write the function ring_max" in call.prompt
        answer = super().__call__(call)
        return Answer(answer.text, latency=600) if endless else answer


async def test_a_walk_takes_no_more_keys_than_the_screen_offers(tmp_path: Path) -> None:
    ring = small_ring(tmp_path / "ring", ("ring_push", "ring_max"))
    source = ring / "ring_buffer.c"
    before = source.read_text()
    model = Model((SOLUTIONS / "ring_buffer.c").read_bytes(), verdicts={f"File: {LEFT_OUT}": "no"})
    model.first["ring_push"] = model.functions["ring_push"].replace("{\n", "{\n    assert(rb != NULL);\n", 1)
    async with ScriptedServer(model, shut=True) as server:
        configure(ring, server)
        app = application(ring, TASK)
        async with app.run_test(size=(80, 24)) as pilot:
            walk = Walk(pilot, app)
            await walk.sees("Start", "enter starts")
            await walk.press("start", "enter")
            session = await walk.session()
            await walk.sees("S Stage")

            await walk.press("flip a wrong verdict", "S")
            server.open()
            await walk.sees("end of stage intent", "S next stage")
            await walk.press("flip a wrong verdict", "S")
            await walk.sees("end of stage file?", "≈  ")
            assert app.screen.stream.selected.item == WRONG  # type: ignore[attr-defined]
            await walk.press("flip a wrong verdict", "y")
            await walk.sees("✎ yes")
            await walk.press("flip a wrong verdict", "space")

            await walk.sees("assert undeclared → <assert.h> → ✓ recompiled")
            await until(pilot, lambda: model.asked == ["ring_push", "ring_max"])
            await walk.press("stop", "x")
            await walk.sees("Stop the run?")
            await walk.press("stop", "y")
            await walk.sees("■ stopped", "R go on")
            await walk.press("resume", "R")
            session = await walk.session(session)
            await ended(pilot, app)
            await walk.sees("✓ complete", "a apply")

            await walk.press("why a file was left out", "1")
            await walk.sees("files left out", LEFT_OUT, "<")
            await walk.press("apply", "a")
            await walk.sees("The change is in your files", "U undo")
            assert source.read_text() != before
            await walk.press("undo", "U")
            await walk.sees("The change was undone")
            assert source.read_text() == before

            await walk.press("export", "r")
            await until(pilot, lambda: isinstance(app.screen, RelabelScreen))
            await walk.press("export", "e")
            await until(pilot, lambda: isinstance(app.screen, ExportDialog))
            await walk.sees("would write", "enter writes")
            await walk.press("export", "enter")
            await walk.sees("✓ .clean_room/exports/pairs")
    assert walk.used == KEYS
