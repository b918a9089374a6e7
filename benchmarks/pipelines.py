"""Decomposed against monolithic on the demos: ``python -m benchmarks.pipelines --save FILE``, then ``--from FILE``.

Each run is what a person would type: ``cra demo NAME --headless`` on a fresh copy, in a process of its own with an empty
configuration, so that no verdict of an earlier run is reused; the two modes differ in the ``orchestrator.decomposed_*``
settings only, all on or all off. Facts come before models in both: what a plan can take from facts is asked in neither.
A row is written as soon as its run is over. With ``--save`` the runs that the file holds are skipped, so that a measurement
broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from agent.config import Models, Orchestrator
from agent.config_errors import ConfigError
from agent.config_set import settings_from
from agent.workspace.demo import list_demos
from benchmarks.pipeline_rows import Row, append_row, notes, read_rows, table

MODES = {"decomposed": True, "monolithic": False}
TOGGLES = tuple(f.name for f in msgspec.structs.fields(Orchestrator) if f.name.startswith("decomposed_"))
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
    settings: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        """As :attr:`Row.key`."""
        return self.demo, self.mode, self.seed

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


def plan_runs(
    demos: Sequence[str], modes: Sequence[str], repeat: int, offset: int, settings: Sequence[str]
) -> list[Planned]:
    """The runs in order: every demo in every mode once, before any is repeated with the next seed."""
    seeds = [Models().seed + offset + number for number in range(repeat)]
    return [Planned(demo, mode, seed, tuple(settings)) for seed in seeds for demo in demos for mode in modes]


def measure(planned: Planned, limit: float, copies: Path, commit: str) -> Row:
    """Make one run in a process of its own, stopped after ``limit`` seconds.

    Raises:
        CannotRun: if it was refused before it began.
    """
    words = [word for setting in planned.words() for word in ("--set", setting)]
    place = copies / f"{planned.demo}-{planned.mode}-{planned.seed}"
    command = [sys.executable, "-m", "tui", "demo", planned.demo, "--headless", "--json", "--into", str(place), *words]
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
    """End what is left of the process and of whatever it started."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _row(
    planned: Planned, heard: Heard, stopped: bool, limit: float, wall: float, commit: str, said: Sequence[str]
) -> Row:
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
    return Row(
        planned.demo, planned.mode, planned.seed, status, solved, reason,
        calls=heard.stages.total(), generations=heard.generations,
        tokens_in=heard.tokens_in, tokens_out=heard.tokens_out,
        seconds=end.get("seconds", round(wall, 1)), wall=round(wall, 1),
        passed_before=passed_before, total_before=total_before, passed_after=passed_after, total_after=total_after,
        cached_calls=heard.cached, stages=dict(heard.stages), plan=heard.plan, model=heard.model, commit=commit,
        settings=planned.settings,
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


def run_all(runs: Sequence[Planned], limit: float, save: Path | None) -> Iterator[Row]:
    """The rows of ``runs`` one by one, each kept in ``save`` before it is yielded.

    Raises:
        CannotRun: as :func:`measure`.
    """
    with tempfile.TemporaryDirectory(prefix="cra-pipelines-", ignore_cleanup_errors=True) as folder:
        for planned in runs:
            row = measure(planned, limit, Path(folder), commit_of_checkout())
            if save is not None:
                append_row(save, row)
            yield row


def _options() -> argparse.ArgumentParser:
    demos = [demo.name for demo in list_demos()]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demos", nargs="+", choices=demos, default=demos, metavar="NAME", help=f"of {', '.join(demos)}")
    parser.add_argument("--modes", nargs="+", choices=list(MODES), default=list(MODES), metavar="MODE", help="one or both")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each, every time with the next seed")
    parser.add_argument("--seed-offset", type=int, default=0, metavar="N", help="added to the default seed")
    parser.add_argument("--limit", type=float, default=900, metavar="SECONDS", help="a longer run is stopped and not solved")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="a setting for every run")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep rows here (JSONL); runs it holds are skipped")
    parser.add_argument("--from", type=Path, dest="source", metavar="FILE", help="print the table of kept rows, run nothing")
    parser.add_argument("--list", action="store_true", help="print what would run")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0 when every run was measured, 2 for a wrong call, 3 when runs cannot begin, 130 when broken off."""
    parser = _options()
    options = parser.parse_args(arguments)
    if options.source is not None:
        if not options.source.is_file():
            parser.error(f"there is no file {options.source}")
        return _print_table(read_rows(options.source))
    if options.repeat < 1 or options.limit <= 0:
        parser.error("--repeat and --limit need a number above zero")
    try:
        settings_from(options.set)
    except ConfigError as error:
        parser.error(str(error))
    runs = plan_runs(options.demos, options.modes, options.repeat, options.seed_offset, options.set)
    kept = read_rows(options.save) if options.save is not None and options.save.is_file() else []
    there = {row.key for row in kept}
    if options.list:
        for planned in runs:
            print(f"{planned.demo:<14}{planned.mode:<12}seed {planned.seed}{'  (saved already)' * (planned.key in there)}")
        return 0
    return _run(
        [planned for planned in runs if planned.key not in there],
        [row for row in kept if row.key in {planned.key for planned in runs}], options.limit, options.save,
    )  # fmt: skip


def _run(runs: Sequence[Planned], kept: Sequence[Row], limit: float, save: Path | None) -> int:
    rows, code = list(kept), 0
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        for row in run_all(runs, limit, save):
            rows.append(row)
            outcome = "solved" if row.solved else f"{row.status}: {row.reason}"
            print(f"{row.demo} {row.mode} seed {row.seed}: {outcome} ({row.calls} calls, {row.seconds:.0f} s)", flush=True)
    except CannotRun as error:
        print(f"The measurement ends here: {error}", file=sys.stderr)
        code = 3
    except KeyboardInterrupt:
        print("Broken off; the same command goes on from here with --save.", file=sys.stderr)
        code = 130
    finally:
        signal.signal(signal.SIGTERM, before)
    _print_table(rows)
    return code


def _print_table(rows: Sequence[Row]) -> int:
    print("\n".join([table(rows), "", notes(rows)]) if rows else "There are no rows.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
