"""An application over a recording, or over a scripted run that uses a real gate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agent import events as ev
from agent.config.schema import Config
from agent.events import Envelope, RunFinished
from agent.gate import Gate, PendingVerdict, Stopped
from screens.run.screen import RunScreen
from screens.run.session import RunSession
from screens.runner import DemoTask, ModelState, RecentRun, Services
from tests.screens.recorded import Recorder, texts_of
from tui.app import CraApp


def fixed_clock() -> float:
    """Time stands still."""
    return 1000.0


class ScriptedRun:
    """A run whose work is a coroutine function ``script(run)``; events go to the listeners as they are emitted."""

    def __init__(self, gate: Gate, script: Callable[[ScriptedRun], Awaitable[None]]) -> None:
        self.gate = gate
        self.script = script
        self.verdicts: dict[str, bool] = {}
        self.labels: list[tuple[str, bool]] = []
        self._listeners: list[Callable[[Envelope], None]] = []
        self._onlookers: list[Callable[[ev.CallProgress], None]] = []
        self._seq = 0
        self.closed = False
        self.choices: list[str] = []
        self.refuses = ""
        gate.emit = self.emit

    def listen(self, listener: Callable[[Envelope], None]) -> None:
        self._listeners.append(listener)

    def watch(self, onlooker: Callable[[ev.CallProgress], None]) -> None:
        self._onlookers.append(onlooker)

    def write(self, progress: ev.CallProgress) -> None:
        """A text has come further."""
        for onlooker in self._onlookers:
            onlooker(progress)

    def emit(self, event: ev.Event) -> None:
        self._seq += 1
        envelope = Envelope("scripted", self._seq, self._seq / 10, event)  # type: ignore[arg-type]
        for listener in self._listeners:
            listener(envelope)

    async def ask(self, call_id: int, stage: str, item: str, verdict: bool, p: float = 0.6) -> bool:
        """One judgment through the gate, as the engine does it."""
        self.emit(ev.CallStarted(call_id, stage, item, "model"))
        flip = await self.gate.verdict(PendingVerdict(call_id, stage, item, verdict, p)) == "overrule"
        used = verdict != flip
        if flip:
            self.labels.append((item, used))
        self.verdicts[item] = used
        source = "overrule" if flip else "parsed"
        self.emit(ev.CallFinished(call_id, stage, item, used, p, source=source, overruled=flip, model="model", ms=5))
        await asyncio.sleep(0)
        return used

    async def execute(self) -> RunFinished:
        self.emit(ev.RunStarted("A scripted task", "/home/ada/repo", "cra/x", model="model"))
        try:
            await self.script(self)
            end = RunFinished("complete", calls=len(self.verdicts), seconds=2.0)
        except Stopped:
            end = RunFinished("stopped", calls=len(self.verdicts), seconds=2.0, branch="cra/x")
        self.emit(end)
        return end

    def stop(self, why: str = "") -> None:
        self.gate.stop()

    async def apply(self) -> tuple[bool, str]:
        self.choices.append("apply")
        if self.refuses:
            return False, self.refuses
        self.emit(ev.DiffResolved("applied"))
        return True, "Applied."

    async def keep(self) -> str:
        self.choices.append("keep")
        self.emit(ev.DiffResolved("kept"))
        return "Kept."

    async def discard(self) -> str:
        self.choices.append("discard")
        self.emit(ev.DiffResolved("discarded"))
        return "Discarded."

    async def pick(self, number: int) -> tuple[bool, str]:
        self.choices.append(f"pick {number}")
        self.emit(ev.RepairChosen(number, "You took it.", picked=True))
        return True, f"Edit {number} is written now."

    async def aclose(self) -> None:
        self.closed = True


DEMOS = [
    DemoTask("ring_buffer", "Ring buffer (C)", "Implement the functions declared in ring_buffer.h", "c"),
    DemoTask("token_budget", "Token budget (Python)", "Fix the off-by-one error in the token budget", "python"),
    DemoTask("hash_table", "Hash table (C)", "Write hash_table.c from its header", "c"),
]


async def _model_ready() -> ModelState:
    return ModelState(True, "qwen2.5-coder-1.5b is ready (embedded, 1.1 GB).")


async def _forty(task: str, repo: Path) -> int:
    return 41


def services(script: Callable[[ScriptedRun], Awaitable[None]] | None = None, **changes: Any) -> Services:
    """Services of a test; ``runs`` made are kept in ``extra``."""
    made: list[ScriptedRun] = []

    async def start_run(task: str, repo: Path, config: Config, *, gate: Gate, resume: str = "") -> ScriptedRun:
        assert script is not None
        made.append(ScriptedRun(gate, script))
        return made[-1]

    result = Services(start_run, clock=fixed_clock, extra={"runs": made})
    for name, value in changes.items():
        setattr(result, name, value)
    return result


def home_services(script: Callable[[ScriptedRun], Awaitable[None]] | None = None) -> Services:
    """Services with demos, a ready model and a few earlier runs."""
    recent = [
        RecentRun("r2", "Implement the functions declared in ring_buffer.h", "/home/ada/ring_buffer", "complete",
                  "2026-11-27T18:42:10.120+00:00", 41, 132.0),
        RecentRun("r1", "Make ring_peek check its index", "/home/ada/ring_buffer", "partial", "2026-11-26T09:12:00+00:00",
                  23, 61.5),
    ]  # fmt: skip
    return services(
        script, model_state=_model_ready, demos=lambda: DEMOS, recent_runs=lambda repo: recent, predicted_calls=_forty
    )


async def _nothing(run: ScriptedRun) -> None:
    return None


class ReplayApp(CraApp):
    """Opens a recording at once, folded whole; ``live`` as if its run were still there to be decided on."""

    def __init__(self, recorder: Recorder, live: bool = False, **options: Any) -> None:
        super().__init__(services(call_texts=texts_of(recorder)), **options)
        self.recorder, self.live = recorder, live

    def on_mount(self) -> None:
        self.call_later(self._open)  # after the application's own on_mount

    def _open(self) -> None:
        handle = ScriptedRun(Gate(), _nothing) if self.live else None
        session = RunSession(clock=fixed_clock, repo=Path("/home/ada/repo"), handle=handle)
        for envelope in self.recorder.envelopes:
            session.receive(envelope)
        session.flush()
        self.session = session
        self.show_session(session)

    def run_screen(self) -> RunScreen:
        """The screen in front."""
        assert isinstance(self.screen, RunScreen)
        return self.screen
