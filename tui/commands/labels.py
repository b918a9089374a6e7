"""``cra labels`` and ``cra evaluate``: what the labels say, as training files, and as a measure of a model."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui import exit_codes

if TYPE_CHECKING:
    from agent.audit.reader import LogReader
    from agent.config.schema import Config
    from agent.labels.export import ExportReport
    from agent.learning.scores import StageScore

_REPO = click.option(
    "--repo", default=".", type=click.Path(file_okay=False, path_type=Path), help="Repository (default: here)."
)
_FORMATS = ("openai-chat", "trl-sft", "trl-dpo", "trl-kto", "systemone", "csv")


@click.group()
def labels() -> None:
    """Count labels, or write them as training files."""


@labels.command()
@_REPO
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stats(repo: Path, as_json: bool) -> None:
    """Labels by stage and model: how many, who gave them, how often the model agrees."""
    import msgspec

    from agent.labels.items import load_items
    from agent.labels.queue import agreement

    reader = _reader(repo)
    items = load_items(reader)
    reader.close()
    own = [item for item in items if item.own]
    sources = {name: sum(item.source == name for item in own) for name in ("person", "override", "outcome")}
    conflicts = len({item.judgment for item in own if item.contested})
    rows = agreement(items)
    if as_json:
        document = {"calls": len(items), "labels": sources, "conflicts": conflicts, "stages": rows}
        click.echo(msgspec.json.encode(document).decode())
        return
    given = ", ".join(f"{count} {name}" for name, count in sources.items())
    click.echo(f"{len(items)} yes/no calls, {len(own)} labelled ({given})")
    if conflicts:
        click.echo(f"{conflicts} prompts carry contradicting labels")
    if rows:
        table = [("stage", "model", "calls", "labelled", "agree", "unreadable", "kappa")]
        for row in rows:
            readable = row.labelled - row.unreadable
            agree = f"{row.agree}/{readable}" if readable else "-"
            kappa = "-" if row.kappa is None else f"{row.kappa:.2f}"
            counts = (str(row.calls), str(row.labelled), agree, str(row.unreadable), kappa)
            table.append((row.stage, row.model or "-", *counts))
        _print_table(table)


@labels.command("export")
@_REPO
@click.option("--format", "format_", type=click.Choice(_FORMATS), default="trl-sft", show_default=True)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write; made when missing.")
@click.option("--stage", "stages", multiple=True, help="Only this stage (may be repeated).")
@click.option("--run", "runs", multiple=True, help="Only this run (may be repeated).")
@click.option("--model", "models", multiple=True, help="Only calls that this model answered (may be repeated).")
@click.option("--source", "sources", multiple=True, type=click.Choice(("person", "override", "outcome")),
              help="Only labels from this source (may be repeated).")  # fmt: skip
@click.option("--on-conflict", type=click.Choice(("skip", "last")), default="skip", show_default=True,
              help="Contradicting labels on one prompt: leave out, or take the last.")  # fmt: skip
@click.option("--balance", is_flag=True, help="As many yes as no in every stage.")
@click.option("--test-fraction", type=click.FloatRange(0, 0.5), default=0.2, show_default=True,
              help="Held out for testing, by whole groups of runs; 0: nothing.")  # fmt: skip
@click.option("--seed", default=42, show_default=True, help="Decides who is held out and who is dropped to balance.")
@click.option("--per-stage", is_flag=True, help="A folder for each stage.")
@click.option("--strings", is_flag=True, help="TRL formats: plain strings instead of messages.")
@click.option("--natural-only", is_flag=True, help="trl-dpo: only prompts on which the model was wrong.")
@click.option("--force", is_flag=True, help="Replace an earlier export in the same folder.")
def export_(repo: Path, format_: Any, out: Path, on_conflict: Any, balance: bool, test_fraction: float, seed: int,
            per_stage: bool, strings: bool, natural_only: bool, force: bool, **chosen: Any) -> None:  # fmt: skip
    """Write labels as training pairs: prompt and right answer."""
    from agent.labels.export import ExportError, ExportOptions, export
    from agent.labels.pairs import Choice

    options = ExportOptions(
        format_, Choice(**chosen), on_conflict, balance, test_fraction, seed, per_stage, strings, not natural_only
    )
    reader = _reader(repo)
    try:
        report = export(reader, out, options, replace=force)
    except ExportError as error:
        click.echo(f"cra: {error}", err=True)
        sys.exit(exit_codes.USAGE)
    finally:
        reader.close()
    _print_report(report)


def _print_report(report: ExportReport) -> None:
    for name, count in report.files.items():
        click.echo(f"{report.out / name}  {count} rows")
    answers = ", ".join(f"{count} {name}" for name, count in report.labels.items())
    origins = ", ".join(f"{count} {name}" for name, count in report.sources.items())
    click.echo(f"{answers}; {origins}", err=True)
    for reason, count in report.left_out.items():
        click.echo(f"{count} left out: {reason}", err=True)
    for note in report.notes:
        click.echo(note, err=True)


@click.command()
@_REPO
@click.option("--model", default="", help="Model to ask (default: the configured one of each stage).")
@click.option("--provider", type=click.Choice(("embedded", "ollama", "openai", "systemone")), help="Protocol it speaks.")
@click.option("--base-url", default="", help="Address of its server.")
@click.option("--stage", "stages", multiple=True, help="Only this stage (may be repeated).")
@click.option("--concurrency", type=click.IntRange(1, 512), help="Questions in flight at once.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(
    repo: Path, model: str, provider: str | None, base_url: str, stages: tuple[str, ...], concurrency: int | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Ask every labelled question again of a model and measure its answers, beside what the log knows of others."""
    from agent.config.schema import load

    repo = repo.expanduser().resolve()
    _reader(repo).close()
    config = load(repo)
    config = _aimed(config, model, provider, base_url, concurrency)
    sys.exit(asyncio.run(_evaluate(repo, config, stages, as_json)))


def _aimed(config: Config, model: str, provider: str | None, base_url: str, concurrency: int | None) -> Config:
    """The configuration with every stage on the model that was named; its overrides would send some elsewhere."""
    import msgspec

    changes: dict[str, Any] = {}
    if model:
        changes |= {"coding": model, "reasoning": model}
    if provider:
        changes["provider"] = provider
    if base_url or provider:
        changes["base_url"] = base_url
    if changes:
        changes["overrides"] = {}
    if concurrency:
        changes["concurrency"] = concurrency
    return msgspec.structs.replace(config, models=msgspec.structs.replace(config.models, **changes))


async def _evaluate(repo: Path, config: Config, stages: Sequence[str], as_json: bool) -> int:
    import msgspec

    from agent.gate import Gate
    from agent.launch import new_run_id
    from agent.learning.evaluate import EvaluationError, run_evaluation
    from agent.verdict.in_force import thresholds_of

    gate, run_id = Gate(), new_run_id()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, gate.stop)
    try:
        finished, found = await run_evaluation(
            repo, run_id, config, thresholds=thresholds_of(repo, config), stages=stages, progress=_progress, gate=gate
        )
    except EvaluationError as error:
        click.echo(f"cra: {error}", err=True)
        return exit_codes.USAGE
    if as_json:
        document = {"run": run_id, "status": finished.status, "asked": found.asked, "others": found.others}
        click.echo(msgspec.json.encode(document).decode())
    else:
        _print_scores([*found.asked, *found.others], {(score.stage, score.model) for score in found.asked})
        click.echo(f"{finished.reason} They are run {run_id} in the history.", err=True)
    return exit_codes.OF_STATUS[finished.status]


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done}/{total}", err=True, nl=done == total)


def _print_scores(scores: Sequence[StageScore], asked: set[tuple[str, str]]) -> None:
    table: list[tuple[str, ...]] = [
        ("stage", "model", "n", "accuracy", "balanced", "precision", "recall", "unreadable", "ECE", "Brier", "ms")
    ]
    for score in sorted(scores, key=lambda score: (score.stage, (score.stage, score.model) not in asked, score.model)):
        counts = score.confusion
        shares = (counts.accuracy, counts.balanced, counts.precision, counts.recall)
        mark = "" if (score.stage, score.model) in asked else " (log)"
        table.append(
            (score.stage, f"{score.model or '-'}{mark}", str(counts.n), *map(_share, shares), str(score.unreadable),
             _share(score.ece), _share(score.brier), "-" if score.ms is None else f"{score.ms:.0f}")
        )  # fmt: skip
    _print_table(table)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[:2] = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        click.echo("  ".join(cells).rstrip())


def _reader(repo: Path) -> LogReader:
    from agent.audit.reader import LogReader

    return LogReader(repo.expanduser().resolve() / ".clean_room" / "raw.sqlite")
