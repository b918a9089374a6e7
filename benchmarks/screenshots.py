"""Pictures of the real application, from recorded runs: the same every time.

    python -m benchmarks.screenshots OUT

Writes one SVG a state into the folder OUT: 120 columns by 40 lines, and the run screen at 80 by 24 too. No model is asked;
what is shown was recorded event by event (``tests/screens/recorded.py``).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.pilot import Pilot

if TYPE_CHECKING:
    from tui.app import CraApp

WIDE, SMALL = (120, 40), (80, 24)
_HOME = "/home/ada/ring_buffer"
_UNIQUE = re.compile(r"terminal-\d+")


def _quiet_environment(folder: Path) -> None:
    """Nothing of this terminal or this person gets into a picture."""
    for name in ("NO_COLOR", "TEXTUAL_THEME"):
        os.environ.pop(name, None)
    for name in ("DATA", "CACHE"):
        os.environ[f"CRA_{name}_DIR"] = str(folder / name.lower())
    os.environ["CRA_CONFIG_DIR"] = "/home/ada/.config/cra"  # shown in a title; not there, and never written
    os.environ["TEXTUAL_ANIMATIONS"] = "none"


def stable(svg: str) -> str:
    """The picture without the number that tells two pictures on one page apart."""
    return _UNIQUE.sub("terminal-cra", svg)


Steps = Callable[[Pilot[int]], Awaitable[None]]


async def _take(
    out: Path, name: str, app_of: Callable[[], CraApp], size: tuple[int, int], steps: Steps | None = None
) -> None:
    app = app_of()
    async with app.run_test(size=size) as pilot:
        for _ in range(3):
            await pilot.pause()
        if steps is not None:
            await steps(pilot)
        for _ in range(2):
            await pilot.pause()
        out.joinpath(f"{name}.svg").write_text(stable(app.export_screenshot(title="Clean Room")), encoding="utf-8")
    print(out / f"{name}.svg", flush=True)


def _keys(*names: str) -> Steps:
    async def press(pilot: Pilot[int]) -> None:
        for name in names:
            await pilot.press(name)
            await pilot.pause()

    return press


async def _settings(pilot: Pilot[int]) -> None:
    from textual.widgets import Switch

    await pilot.press("f6")
    await pilot.pause()
    form = pilot.app.screen.form  # type: ignore[attr-defined]
    form.sections.highlighted = 2
    await pilot.pause()
    form.rows()[2].query_one(Switch).value = True
    await pilot.pause()


async def pictures(out: Path) -> None:
    """Take them all. Each is taken in an application of its own."""
    from tests.screens.driving import ReplayApp, home_services
    from tests.screens.recorded import failing, ring_buffer, worked_example
    from tui.app import CraApp

    def home() -> CraApp:
        return CraApp(home_services(), repo=Path(_HOME), task="Implement the functions declared in ring_buffer.h")

    await _take(out, "home", home, WIDE)
    await _take(out, "settings", home, WIDE, _settings)
    await _take(out, "cascade", lambda: ReplayApp(worked_example()), WIDE, _keys("1"))
    await _take(out, "run", lambda: ReplayApp(ring_buffer("compile")), WIDE)
    await _take(out, "compile", lambda: ReplayApp(ring_buffer("compile")), WIDE, _keys("2"))
    await _take(out, "decide", lambda: ReplayApp(ring_buffer("diff"), live=True), WIDE, _keys("5"))
    await _take(out, "finished", lambda: ReplayApp(ring_buffer()), WIDE)
    await _take(out, "adjust", lambda: ReplayApp(failing()), WIDE, _keys("4"))
    await _take(out, "run-80x24", lambda: ReplayApp(ring_buffer("compile")), SMALL)
    await _labelled(out)


async def _labelled(out: Path) -> None:
    """Relabelling over a log with a few labelled calls."""
    from screens.table import has_screen
    from tests.labels.filled import Filled
    from tests.screens.driving import services
    from tui.app import CraApp

    with tempfile.TemporaryDirectory(prefix="cra-pictures-") as folder:
        filled = Filled(Path(folder) / "ring_buffer")
        for run in ("r1", "r2"):
            filled.run(run)
            for number, item in enumerate(("ring_buffer.c", "log.h", "log.c", "tests/test_ring_buffer.c")):
                call = filled.call(run, item, number % 2 == 0, 0.25 + 0.15 * number)
                if run == "r1" and number < 2:
                    filled.label(call, number == 0, "person")
        filled.log.close()
        if has_screen("relabel"):
            await _take(out, "relabel", lambda: CraApp(services(), repo=filled.repo), WIDE, _opened("relabel"))


def _opened(name: str) -> Steps:
    async def open_it(pilot: Pilot[int]) -> None:
        pilot.app.action_open_screen(name)  # type: ignore[attr-defined]
        for _ in range(4):
            await pilot.pause()
        await pilot.app.workers.wait_for_complete()

    return open_it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cra-pictures-") as folder:
        _quiet_environment(Path(folder))
        asyncio.run(pictures(options.out))


if __name__ == "__main__":
    main()
