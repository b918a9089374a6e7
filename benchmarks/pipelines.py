"""Decomposed against monolithic on the demos: ``python -m benchmarks.pipelines --save FILE``, then ``--from FILE``.

Each run is what a person would type: ``cra demo NAME --headless`` on a fresh copy, in a process of its own with an empty
configuration, so that no verdict of an earlier run is reused; the two modes differ in the ``orchestrator.decomposed_*``
settings only, all on or all off. Facts come before models in both: what a plan can take from facts is asked in neither, and
for the demos' own tasks that is mostly all of it. ``--wording open`` says the same tasks in words that leave it to the
model. A row is written as soon as its run is over. With ``--save`` the runs that the file holds are skipped, so that a
measurement broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent.config.assignments import settings_from
from agent.config.errors import ConfigError
from agent.config.schema import Models
from agent.workspace.demo import list_demos
from benchmarks.pipeline_rows import PipelineRow, append_row, notes, read_rows, table
from benchmarks.pipeline_run import MODES, CannotRun, Planned, commit_of_checkout, measure


def plan_runs(
    demos: Sequence[str], modes: Sequence[str], repeat: int, offset: int, wording: str, settings: Sequence[str]
) -> list[Planned]:
    """The runs in order: every demo in every mode once, before any is repeated with the next seed."""
    seeds = [Models().seed + offset + number for number in range(repeat)]
    return [Planned(demo, mode, seed, wording, tuple(settings)) for seed in seeds for demo in demos for mode in modes]


def run_all(runs: Sequence[Planned], limit: float, save: Path | None) -> Iterator[PipelineRow]:
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
    parser.add_argument("--wording", choices=["plain", "open"], default="plain", help="the demos' own task, or one to plan")
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
    runs = plan_runs(options.demos, options.modes, options.repeat, options.seed_offset, options.wording, options.set)
    kept = read_rows(options.save) if options.save is not None and options.save.is_file() else []
    there = {row.key for row in kept}
    if options.list:
        for planned in runs:
            words = f"{planned.demo:<14}{planned.mode:<12}seed {planned.seed}  {planned.task or 'its own task'}"
            print(f"{words}{'  (saved already)' * (planned.key in there)}")
        return 0
    return _run(
        [planned for planned in runs if planned.key not in there],
        [row for row in kept if row.key in {planned.key for planned in runs}], options.limit, options.save,
    )  # fmt: skip


def _run(runs: Sequence[Planned], kept: Sequence[PipelineRow], limit: float, save: Path | None) -> int:
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


def _print_table(rows: Sequence[PipelineRow]) -> int:
    print("\n".join([table(rows), "", notes(rows)]) if rows else "There are no rows.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
