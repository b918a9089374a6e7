"""Pictures of the real application, from recorded runs: the same every time.

    python -m benchmarks.screenshots OUT [NAME ...]

Writes one SVG a state into the folder OUT, or only those named: 120 columns by 40 lines, the run screen at 80 by 24 and
200 by 50 too, and a run as a moving picture (``run-moving.svg``). No model is asked: the runs were recorded with the default
model (``benchmarks/recordings``, made by ``benchmarks.recorded_run``); only the run whose plan is adjusted,
which none of the others needed, is that of a scripted model (``tests/flow/planner.py``).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from textual.pilot import Pilot

if TYPE_CHECKING:
    from tests.screens.recorded import Recorder
    from tui.app import CraApp

WIDE, SMALL, LARGE = (120, 40), (80, 24), (200, 50)
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


async def pictures(out: Path, names: Collection[str] = ()) -> None:
    """Take them all, or those of these names. Each is taken in an application of its own."""
    from benchmarks.recorded_run import load
    from tests.screens.driving import ReplayApp, home_services
    from tui.app import CraApp

    def home() -> CraApp:
        return CraApp(home_services(), repo=Path(_HOME), task="Implement the functions declared in ring_buffer.h")

    def ring(until: str = "", live: bool = False) -> Callable[[], CraApp]:
        return lambda: ReplayApp(_up_to(load("ring_buffer"), until), live=live)

    states: dict[str, tuple[Callable[[], CraApp], tuple[int, int], Steps | None]] = {
        "home": (home, WIDE, None),
        "settings": (home, WIDE, _settings),
        "cascade": (lambda: ReplayApp(_up_to(load("weather_log"), "PlanMade")), WIDE, _keys("1")),
        "run": (ring("RecoveryDone"), WIDE, None),
        "compile": (ring("RecoveryDone"), WIDE, _keys("2")),
        "repair": (lambda: ReplayApp(load("mended")), WIDE, _keys("8")),
        "decide": (ring(live=True), WIDE, _keys("5")),
        "finished": (ring(), WIDE, None),
        "adjust": (lambda: ReplayApp(load("adjusted")), WIDE, _keys("4")),
        "run-80x24": (ring("RecoveryDone"), SMALL, None),
        "run-200x50": (ring("RecoveryDone"), LARGE, None),
    }
    for name, (app_of, size, steps) in states.items():
        if not names or name in names:
            await _take(out, name, app_of, size, steps)
    if not names or "run-moving" in names:
        await _moving(out / "run-moving.svg", load("ring_buffer"))
    if not names or "relabel" in names:
        await _labelled(out)


def _up_to(recorder: Recorder, kind: str) -> Recorder:
    """The recording up to the last event of a kind but one: in the middle of the work; whole without a kind."""
    places = [place for place, each in enumerate(recorder.envelopes, 1) if type(each.event).__name__ == kind]
    if places:
        del recorder.envelopes[places[max(0, len(places) - 2)] :]
    return recorder


_FRAMES, _FRAME_SECONDS = 28, 1.1


async def _moving(out: Path, recorder: Recorder) -> None:
    """A run from its first event to its end, as one SVG whose frames are shown in turn."""
    from agent.state.run_state import RunState
    from tests.screens.driving import ReplayApp

    whole, recorder.envelopes = recorder.envelopes, recorder.envelopes[:1]
    app = ReplayApp(recorder)
    frames: list[str] = []
    async with app.run_test(size=(110, 32)) as pilot:
        session = app.session
        while session is None:
            await pilot.pause()
            session = app.session
        now, done = 1000.0, 1
        session._clock = lambda: now
        session.state = RunState()
        for number in range(1, _FRAMES + 1):
            now += 2.6  # of a moving picture every frame is looked at long enough
            until = len(whole) * number // _FRAMES
            for envelope in whole[done - 1 : until]:
                session.receive(envelope)
            done = until + 1
            session.flush()
            for _ in range(4):
                await pilot.pause(0.03)
            svg = app.export_screenshot(title="Clean Room", simplify=True)
            frames.append(_UNIQUE.sub(f"f{number}", svg))
    out.write_text(_shown_in_turn(frames), encoding="utf-8")
    print(out, flush=True)


def _shown_in_turn(frames: list[str]) -> str:
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', frames[0])
    assert size is not None
    length = len(frames) * _FRAME_SECONDS + 3
    parts = []
    for number, frame in enumerate(frames):
        start, end = number * _FRAME_SECONDS / length, (number + 1) * _FRAME_SECONDS / length
        times = f"0;{start:.4f};{end if number + 1 < len(frames) else 1:.4f}"
        values = "hidden;visible;hidden" if number else "visible;visible;hidden"
        turn = (f'<animate attributeName="visibility" calcMode="discrete" dur="{length}s" repeatCount="indefinite"'
                f' keyTimes="{times}" values="{values}"/>')  # fmt: skip
        inner = re.sub(r"^<svg[^>]*>", "", frame.strip()).removesuffix("</svg>")
        parts.append(f'<g visibility="hidden">{turn}{inner}</g>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="rich-terminal" viewBox="0 0 {size[1]} {size[2]}">'
    return head + "".join(parts) + "</svg>\n"


_LABELLED = 12
"""Calls of the recorded run that carry a label in the picture."""


async def _labelled(out: Path) -> None:
    """Relabelling over the calls of a recorded run, some of them labelled."""
    from benchmarks.recorded_run import load
    from tests.labels.filled import Filled
    from tests.screens.driving import services
    from tui.app import CraApp

    recorder = load("weather_log")
    asked = [text for text in recorder.texts.values() if text.binary and text.verdict is not None]
    with tempfile.TemporaryDirectory(prefix="cra-pictures-") as folder:
        filled = Filled(Path(folder) / "weather_log")
        filled.run(recorder.run_id, "Fix series_between", _HOME)
        for number, text in enumerate(asked):
            call = filled.call(
                recorder.run_id, text.item, bool(text.verdict), text.p_yes, stage=text.stage, model=text.model,
                raw=text.raw, question=text.question, task_context=text.task_context, system=text.system,
            )  # fmt: skip
            if number < _LABELLED:
                filled.label(call, bool(text.verdict), "person")
        filled.log.close()
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
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cra-pictures-") as folder:
        _quiet_environment(Path(folder))
        asyncio.run(pictures(options.out, options.names))


if __name__ == "__main__":
    main()
