"""``cra labels`` and ``cra evaluate``: what the labels say, as training files, and as a measure of a model."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.config.schema import PROVIDERS
from agent.labels.export_formats import FORMATS
from tui import exit_codes

if TYPE_CHECKING:
    from agent.audit.reader import LogReader
    from agent.config.schema import Config
    from agent.labels.export import ExportReport
    from agent.learning.calibrate import Fit
    from agent.learning.scores import StageScore

_REPO = click.option(
    "--repo", default=".", type=click.Path(file_okay=False, path_type=Path), help="Repository (default: here)."
)

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
    sources = {name: sum(item.source == name for item in own) for name in ("person", "overrule", "outcome")}
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
@click.option("--format", "format_", type=click.Choice(FORMATS), default="trl-sft", show_default=True)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write; made when missing.")
@click.option("--stage", "stages", multiple=True, help="Only this stage (may be repeated).")
@click.option("--run", "runs", multiple=True, help="Only this run (may be repeated).")
@click.option("--model", "models", multiple=True, help="Only calls that this model answered (may be repeated).")
@click.option("--source", "sources", multiple=True, type=click.Choice(("person", "overrule", "outcome")),
              default=("person", "overrule"), show_default=True,
              help="Labels from this source (may be repeated).")  # fmt: skip
@click.option("--on-conflict", type=click.Choice(("skip", "last")), default="skip", show_default=True,
              help="Contradicting labels on one prompt: leave out, or take the last.")  # fmt: skip
@click.option("--balance", is_flag=True, help="As many yes as no in every stage.")
@click.option("--test-fraction", type=click.FloatRange(0, 0.5), default=0.2, show_default=True,
              help="Held out for testing, by whole groups of runs; 0: nothing.")  # fmt: skip
@click.option("--seed", default=42, show_default=True, help="Decides who is held out and who is dropped to balance.")
@click.option("--per-stage", is_flag=True, help="A folder for each stage.")
@click.option("--strings", is_flag=True, help="TRL formats: plain strings instead of messages.")
@click.option("--natural-only", is_flag=True, help="Preferences: only where the model itself gave the wrong answer.")
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


@labels.command("import")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_REPO
@click.option("--replace", is_flag=True, help="Where the log says otherwise, the file is right.")
def import_(file: Path, repo: Path, replace: bool) -> None:
    """Bring labels back from a CSV FILE with the columns id and label (a spreadsheet, Argilla)."""
    from agent.labels.imported import ImportFailure, import_labels

    try:
        report = import_labels(repo.expanduser().resolve(), file, replace=replace)
    except ImportFailure as error:
        click.echo(f"cra: {error}", err=True)
        sys.exit(exit_codes.USAGE)
    click.echo(f"{report.added} labels added, {report.same} were there already")
    for name, rows in (("in conflict", report.conflicts), ("not usable", report.unusable)):
        if rows:
            click.echo(f"{len(rows)} rows {name}, not written:", err=True)
        for row in rows:
            click.echo(f"  {row}", err=True)


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
@click.option("--model", "models", multiple=True, metavar="NAME[+ADAPTER]",
              help="Model to ask, an adapter after a plus (may be repeated; default: the configured ones).")
@click.option("--provider", type=click.Choice(PROVIDERS), help="Protocol it speaks.")
@click.option("--base-url", default="", help="Address of its server.")
@click.option("--stage", "stages", multiple=True, help="Only this stage (may be repeated).")
@click.option("--export", "export_dir", type=click.Path(file_okay=False, path_type=Path),
              help="Ask only the test rows of this export: what a model was not trained on.")
@click.option("--outcomes", is_flag=True, help="Also ask what is labelled by its outcome only.")
@click.option("--concurrency", type=click.IntRange(1, 512), help="Questions in flight at once.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(
    repo: Path, models: tuple[str, ...], provider: str | None, base_url: str, stages: tuple[str, ...],
    export_dir: Path | None, outcomes: bool, concurrency: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Ask one or more models every labelled question again and measure their answers, beside what the log knows of
    others."""
    from agent.config.schema import load
    from agent.labels.export import ExportError, held_out

    repo = repo.expanduser().resolve()
    _reader(repo).close()
    try:
        judgments = held_out(export_dir) if export_dir is not None else frozenset()
    except ExportError as error:
        click.echo(f"cra: {error}", err=True)
        sys.exit(exit_codes.USAGE)
    config = load(repo)
    configs = [_aimed(config, model, provider, base_url, concurrency) for model in models or ("",)]
    sys.exit(asyncio.run(_evaluate(repo, configs, stages, judgments, outcomes, as_json)))


def _aimed(config: Config, model: str, provider: str | None, base_url: str, concurrency: int | None) -> Config:
    """The configuration with every stage on the model that was named; its overrides would send some elsewhere."""
    import msgspec

    changes: dict[str, Any] = {}
    name, _, adapter = model.partition("+")
    if name:
        changes |= {"coding": name, "reasoning": name, "adapter": adapter}
    if provider:
        changes["provider"] = provider
    if base_url or provider:
        changes["base_url"] = base_url
    if changes:
        changes["overrides"] = {}
    if concurrency:
        changes["concurrency"] = concurrency
    return msgspec.structs.replace(config, models=msgspec.structs.replace(config.models, **changes))


async def _evaluate(
    repo: Path, configs: Sequence[Config], stages: Sequence[str], judgments: frozenset[str], outcomes: bool, as_json: bool
) -> int:
    import msgspec

    from agent.events import RunFinished
    from agent.gate import Gate
    from agent.launch import new_run_id
    from agent.learning.evaluate import EvaluationError, compare, run_evaluation
    from agent.verdict.in_force import thresholds_of

    gate = Gate()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, gate.stop)
    runs: list[str] = []
    ended: list[RunFinished] = []
    for config in configs:
        runs.append(new_run_id())
        try:
            finished, _ = await run_evaluation(
                repo, runs[-1], config, thresholds=thresholds_of(repo, config), stages=stages, progress=_progress,
                gate=gate, judgments=judgments, outcomes=outcomes,
            )  # fmt: skip
        except EvaluationError as error:
            click.echo(f"cra: {error}", err=True)
            return exit_codes.USAGE
        ended.append(finished)
        if finished.status != "complete":
            break
    reader = _reader(repo)
    found = compare(reader, runs, thresholds_of(repo, configs[0]), held_out=bool(judgments))
    reader.close()
    status = ended[-1].status
    if as_json:
        document = {
            "runs": runs, "status": status, "asked": found.asked, "others": found.others, "agreements": found.agreements,
            "notes": found.notes,
        }  # fmt: skip
        click.echo(msgspec.json.encode(document).decode())
    else:
        _print_scores([*found.asked, *found.others], {(score.stage, score.model) for score in found.asked})
        for two in found.agreements:
            click.echo(f"{two.stage}: {two.one} and {two.other} agree, kappa {_share(two.kappa)} ({two.n} questions)")
        for note in found.notes:
            click.echo(note, err=True)
        click.echo(f"{ended[-1].reason} In the history: {', '.join(runs)}.", err=True)
    return exit_codes.OF_STATUS[status]


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done}/{total}", err=True, nl=done == total)


def _print_scores(scores: Sequence[StageScore], asked: set[tuple[str, str]]) -> None:
    table: list[tuple[str, ...]] = [
        ("stage", "model", "n", "balanced", "precision", "recall", "F1", "95 %", "kappa", "unreadable", "ECE", "95 %",
         "Brier", "95 %", "tokens", "ms")
    ]  # fmt: skip
    for score in sorted(scores, key=lambda score: (score.stage, (score.stage, score.model) not in asked, score.model)):
        counts = score.confusion
        mark = "" if (score.stage, score.model) in asked else " (log)"
        table.append(
            (score.stage, f"{score.model or '-'}{mark}", str(counts.n), _share(counts.balanced), _share(counts.precision),
             _share(counts.recall), _share(counts.f1), _range(score.f1_interval), _share(score.kappa),
             str(score.unreadable), _share(score.ece), _range(score.ece_interval), _share(score.brier),
             _range(score.brier_interval), _count(score.tokens), _count(score.ms))
        )  # fmt: skip
    _print_table(table)


def _range(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"{interval[0]:.2f}-{interval[1]:.2f}"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


@click.command()
@click.option("--repo", "repos", multiple=True, type=click.Path(file_okay=False, path_type=Path),
              help="Repository with labels (may be repeated: their labels are pooled; default: here).")
@click.option("--stage", "stages", multiple=True, help="Only this stage (may be repeated).")
@click.option("--outcomes", is_flag=True, help="Also use labels that come from what became of a change.")
@click.option("--apply", "use", is_flag=True, help="Write what is offered to the thresholds of every repository named.")
@click.option("--everywhere", is_flag=True, help="With --apply: into your own thresholds, for all repositories.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def calibrate(
    repos: tuple[Path, ...], stages: tuple[str, ...], outcomes: bool, use: bool, everywhere: bool, as_json: bool
) -> None:
    """Fit thresholds to labels, say what they are worth on tasks left out of the fit, and use those that are better."""
    import msgspec

    from agent.config.schema import load
    from agent.learning.calibrate import apply_fits, fit_all
    from agent.learning.pool import pooled_items
    from agent.verdict.in_force import own_thresholds_path, thresholds_of
    from agent.verdict.threshold import thresholds_path

    folders = [repo.expanduser().resolve() for repo in repos or (Path(),)]
    items = [item for item in pooled_items(folders) if not stages or item.stage in stages]
    fits = fit_all(items, thresholds_of(folders[0], load(folders[0])), outcomes=outcomes)
    offered = [fit for fit in fits if fit.offered]
    paths = []
    if use and offered:
        targets = [own_thresholds_path()] if everywhere else [thresholds_path(folder) for folder in folders]
        paths = [str(apply_fits(path, offered)) for path in targets]
    if as_json:
        rows = [{**msgspec.to_builtins(fit), "offered": fit.offered} for fit in fits]
        click.echo(msgspec.json.encode({"fits": rows, "written": paths}).decode())
        return
    if not fits:
        click.echo("No label yet. Label some calls first: in the application, r on any call.")
    for fit in fits:
        click.echo("\n".join(_fit_lines(fit)))
    for path in paths:
        click.echo(f"written: {path}")
    if offered and not use:
        click.echo("--apply uses what is offered, from the next run on.")


def _fit_lines(fit: Fit) -> list[str]:
    head = f"{fit.stage}  {fit.model}  question {fit.question}: {fit.n} labels ({fit.yes} yes) of {fit.tasks} tasks"
    if fit.worth is None or fit.rule is None:
        return [head, f"  {fit.problem}"]
    worth, lines = fit.worth, [head]
    for name, measure in (("fitted", worth.then), ("in force", worth.now), ("rank alone", worth.rank)):
        if measure is not None:
            figures = f"kept {measure.kept:.2f}, recall {_share(measure.recall)}, balanced {_share(measure.balanced)}"
            lines.append(f"  {name:<11}{figures}, on tasks left out")
    lines.append(f"  gain over what is in force: 95 % {worth.gain[0]:+.2f} to {worth.gain[1]:+.2f}")
    if worth.within is not None:
        interval = _range(worth.within_interval)
        lines.append(f"  inside a task a yes scores above a no in {worth.within:.2f} of pairs, 95 % {interval}")
    lines.append(f"  not offered: {fit.refusal}" if fit.refusal else f"  offered: threshold {fit.rule.threshold:.3f}")
    return lines


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[:2] = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        click.echo("  ".join(cells).rstrip())


def _reader(repo: Path) -> LogReader:
    from agent.audit.log import known_log
    from agent.audit.reader import LogReader

    return LogReader(known_log(repo.expanduser().resolve()))
