"""One run of ``benchmarks.pipelines``: what is asked for, the process that does it, and what its events say."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from agent.config.schema import Orchestrator
from benchmarks.pipeline_rows import PipelineRow

MODES = {"decomposed": True, "monolithic": False}
TOGGLES = tuple(f.name for f in msgspec.structs.fields(Orchestrator) if f.name.startswith("decomposed_"))
OPEN = {
    "ring_buffer": "The ring buffer's operations do nothing yet; give each the behaviour that ring_buffer.h describes.",
    "weather_log": "Let a series hold its last day, too, and give each report the behaviour that report.h describes.",
    "token_budget": "Let a text that fills the token budget to the last token be accepted, so that the last file is no "
    "longer silently dropped from the context window",
    "hash_table": "Write a hash table with string keys and int values, as README.md specifies, in a new header and a new "
    "source file: insert, lookup, delete and resize, with separate chaining.",
}
"""The demos' tasks in words from which no rule of ``agent/planning`` makes a plan."""
_ROOT = Path(__file__).resolve().parent.parent
_GRACE = 30.0  # seconds a run has to end after it was told to
_REFUSED = (2, 3)  # exit codes of cra: usage or configuration, model or tool missing


class CannotRun(Exception):
    """A run could not begin, so nothing was measured; the text says why."""


@dataclass(frozen=True)
class Planned:
    """One run to be made. ``settings`` are words for ``--set``."""

    demo: str
    mode: str
    seed: int
    wording: str
    settings: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, int, str]:
        """As :attr:`Row.key`."""
        return self.demo, self.mode, self.seed, self.wording

    @property
    def task(self) -> str:
        """The words of the task, "" for the demo's own."""
        return OPEN[self.demo] if self.wording == "open" else ""

    def words(self) -> list[str]:
        """Every setting of the run."""
        toggles = [f"orchestrator.{name}={str(MODES[self.mode]).lower()}" for name in TOGGLES]
        return [*toggles, f"models.seed={self.seed}", *self.settings]


@dataclass
class Heard:
    """What the events of a run have said so far; ``finished`` is its RunFinished."""

    stages: Counter[str] = field(default_factory=Counter)
    generations: int = 0
    written: set[int] = field(default_factory=set)
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    doing: str = ""
    plan: str = ""
    model: str = ""
    baseline: dict[str, Any] = field(default_factory=dict)
    now: dict[str, Any] = field(default_factory=dict)
    finished: dict[str, Any] = field(default_factory=dict)

    def hear(self, event: dict[str, Any]) -> None:
        """Take in one event as ``cra --json`` prints it."""
        match event["type"]:
            case "RunStarted":
                self.model = event.get("model", "")
            case "CallStarted":
                self.doing = f"{event['stage']} {event['item']}"
                if not event.get("binary", True):
                    self.written.add(event["call_id"])
            case "CallFinished" if event.get("cached"):
                self.cached += 1
            case "CallFinished":
                self.stages[event["stage"]] += 1
                self.generations += event["call_id"] in self.written
                self.tokens_in += event.get("prompt_tokens", 0)
                self.tokens_out += event.get("completion_tokens", 0)
            case "PlanMade":
                self.plan = self.plan or event.get("how", "")
            case "StepStarted":
                self.doing = f"step {event['step_id']}"
            case "ChecksRun":
                self.baseline, self.now = event.get("baseline") or self.baseline, event.get("now") or self.now
            case "RunFinished":
                self.finished = event


def measure(planned: Planned, limit: float, copies: Path, commit: str) -> PipelineRow:
    """Make one run in a process of its own, stopped after ``limit`` seconds.

    Raises:
        CannotRun: if it was refused before it began.
    """
    words = [word for setting in planned.words() for word in ("--set", setting)]
    place = copies / "-".join(str(part) for part in planned.key)
    command = [sys.executable, "-m", "tui", "demo", planned.demo, "--headless", "--json", "--into", str(place), *words]
    command += ["--task", planned.task] if planned.task else []
    (copies / "configuration").mkdir(exist_ok=True)
    environment = {**os.environ, "CRA_CONFIG_DIR": str(copies / "configuration")}
    heard, began = Heard(), time.monotonic()
    with (copies / "narration").open("w+b") as narration:
        child = subprocess.Popen(
            command, cwd=_ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=narration,
            start_new_session=True,
        )  # fmt: skip
        stopped = _listen(child, heard, limit)
        wall = time.monotonic() - began
        narration.seek(0)
        said = narration.read().decode("utf-8", "replace").strip().splitlines()
    if child.returncode in _REFUSED and not heard.finished:
        raise CannotRun(said[-1] if said else f"cra ended with exit code {child.returncode} and said nothing.")
    return _row(planned, heard, stopped, limit, wall, commit, said)


def _listen(child: subprocess.Popen[bytes], heard: Heard, limit: float) -> bool:
    """Follow the events until the process ends. Whether it had to be stopped; whatever happens, nothing of it is left."""
    told = threading.Event()

    def tell() -> None:
        told.set()
        child.send_signal(signal.SIGTERM)

    watch = [threading.Timer(limit, tell), threading.Timer(limit + _GRACE, _kill, [child])]
    for timer in watch:
        timer.daemon = True
        timer.start()
    assert child.stdout is not None
    try:
        for line in child.stdout:
            if line.startswith(b"{"):
                heard.hear(json.loads(line))
            if heard.finished:
                break  # a process that the run left behind may hold the pipe open
        _wait(child)
    except BaseException:
        child.send_signal(signal.SIGTERM)
        _wait(child)
        raise
    finally:
        for timer in watch:
            timer.cancel()
        _kill(child)
        child.stdout.close()
    return told.is_set() and heard.finished.get("status", "stopped") == "stopped"


def _wait(child: subprocess.Popen[bytes]) -> None:
    """Give the process time to end, without reaping it: until then its group's number is its own."""
    until = time.monotonic() + _GRACE
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < until:
            if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
                return
            time.sleep(0.05)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _row(
    planned: Planned, heard: Heard, stopped: bool, limit: float, wall: float, commit: str, said: Sequence[str]
) -> PipelineRow:
    end = heard.finished
    status = end.get("status", "failed")
    before = end.get("tests_before") or heard.baseline
    after = end.get("tests_after") or heard.now
    solved = status == "complete" and bool(after.get("ok", False)) and not stopped
    if solved:
        reason = ""
    elif stopped:
        reason = f"It was stopped after {limit:.0f} s, at {heard.doing or 'its beginning'}."
    else:
        reason = end.get("reason") or (said[-1] if said else "It ended without a word.")
    passed_before, total_before = _counts(before)
    passed_after, total_after = _counts(after)
    return PipelineRow(
        planned.demo, planned.mode, planned.seed, status, solved, reason,
        calls=heard.stages.total(), generations=heard.generations,
        tokens_in=heard.tokens_in, tokens_out=heard.tokens_out,
        seconds=end.get("seconds", round(wall, 1)), wall=round(wall, 1),
        passed_before=passed_before, total_before=total_before, passed_after=passed_after, total_after=total_after,
        cached_calls=heard.cached, stages=dict(heard.stages), plan=heard.plan, model=heard.model, commit=commit,
        wording=planned.wording, settings=planned.settings,
    )  # fmt: skip


def _counts(check: dict[str, Any]) -> tuple[int | None, int | None]:
    passed, failed = check.get("passed"), check.get("failed")
    return (None, None) if passed is None and failed is None else (passed or 0, (passed or 0) + (failed or 0))


def commit_of_checkout() -> str:
    """The short commit that is measured, with ``+`` when files differ from it."""
    git = ["git", "-C", str(_ROOT)]
    found = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True).stdout.strip()
    return found.stdout.strip() + "+" * bool(changed)
