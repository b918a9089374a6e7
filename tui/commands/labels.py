"""``cra labels``: what the labels say, as training files, brought back, and gathered over repositories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.counts import plural
from agent.labels.export_formats import FORMATS
from tui import exit_codes
from tui.commands.places import REPO, REPOS
from tui.commands.tables import SHARED, STAGES, print_table, share
from tui.say import say, say_data

if TYPE_CHECKING:
    from agent.labels.export import ExportReport
    from agent.labels.store import StoreFacts


@click.group()
def labels() -> None:
    """Count labels, write them as training files, gather them over repositories."""


@labels.command()
@REPOS
@SHARED
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stats(repos: tuple[Path, ...], shared: bool, as_json: bool) -> None:
    """Labels by stage and model: how many, who gave them, how often the model agrees."""
    import msgspec

    from agent.labels.items import load_items
    from agent.labels.queue import agreement
    from agent.labels.store import labelled_log, store_facts, store_path

    with labelled_log(repos, shared=shared) as reader:
        items = load_items(reader)
    store = store_facts(store_path())
    own = [item for item in items if item.own]
    sources = {name: sum(item.source == name for item in own) for name in ("person", "overrule", "outcome")}
    conflicts = len({item.judgment for item in own if item.contested})
    rows = agreement(items)
    if as_json:
        document = {"calls": len(items), "labels": sources, "conflicts": conflicts, "stages": rows, "store": store}
        say_data(msgspec.json.encode(document, enc_hook=str).decode())
        return
    given = ", ".join(f"{count} {name}" for name, count in sources.items())
    say(f"{plural(len(items), 'yes/no call')}, {len(own)} labelled ({given})")
    if conflicts:
        say(f"{plural(conflicts, 'prompt')} with contradicting labels")
    if rows:
        table = [("stage", "model", "calls", "labelled", "agree", "unreadable", "kappa")]
        for row in rows:
            readable = row.labelled - row.unreadable
            agree = f"{row.agree}/{readable}" if readable else "-"
            counts = (str(row.calls), str(row.labelled), agree, str(row.unreadable), share(row.kappa))
            table.append((row.stage, row.model or "-", *counts))
        print_table(table)
    if store.labelled:
        say(f"your own store: {_held(store)}, {store.path}")


@labels.command("export")
@REPOS
@SHARED
@click.option("--format", "format_", type=click.Choice(FORMATS), default="trl-sft", show_default=True)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write; made when missing.")
@STAGES
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
@click.option("--seed", default=42, show_default=True, help="Seed of the choice of held out and of dropped rows.")
@click.option("--per-stage", is_flag=True, help="A folder for each stage.")
@click.option("--strings", is_flag=True, help="TRL formats: plain strings instead of messages.")
@click.option("--natural-only", is_flag=True, help="Preferences: only where the model itself gave the wrong answer.")
@click.option("--force", is_flag=True, help="Replace an earlier export in the same folder.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written, with a sample row.")
def export_(
    repos: tuple[Path, ...], shared: bool, format_: Any, out: Path, on_conflict: Any, balance: bool, test_fraction: float,
    seed: int, per_stage: bool, strings: bool, natural_only: bool, force: bool, dry_run: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Write labels as training pairs: prompt and right answer."""
    from agent.labels.export import ExportError, ExportOptions, export, preview
    from agent.labels.pairs import Choice
    from agent.labels.store import labelled_log

    options = ExportOptions(
        format_, Choice(**chosen), on_conflict, balance, test_fraction, seed, per_stage, strings, not natural_only
    )
    try:
        with labelled_log(repos, shared=shared) as reader:
            report = preview(reader, out, options) if dry_run else export(reader, out, options, replace=force)
    except ExportError as error:
        say(f"cra: {error}", err=True)
        sys.exit(exit_codes.USAGE)
    say(f"a row of it: {_shortened(report.sample)}", err=True)
    _print_report(report)
    if dry_run:
        say("Nothing was written.", err=True)


def _shortened(row: str, most: int = 600) -> str:
    """The two ends of a long row: its prompt begins it, the answer ends it."""
    return row if len(row) <= most else f"{row[: most - 203]} … {row[-200:]}"


@labels.command("import")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@REPO
@click.option("--replace", is_flag=True, help="Where the log has another label, use the one of the file.")
def import_(file: Path, repo: Path, replace: bool) -> None:
    """Bring labels back from a CSV FILE with the columns id and label (a spreadsheet, Argilla)."""
    from agent.labels.imported import ImportFailure, import_labels

    try:
        report = import_labels(repo, file, replace=replace)
    except ImportFailure as error:
        say(f"cra: {error}", err=True)
        sys.exit(exit_codes.USAGE)
    say(f"{plural(report.added, 'label')} added, {report.same} there already")
    for name, rows in (("in conflict", report.conflicts), ("not usable", report.unusable)):
        if rows:
            say(f"{plural(len(rows), 'row')} {name}, not written:", err=True)
        for row in rows:
            say(f"  {row}", err=True)


@labels.command("gather")
@REPOS
def gather_(repos: tuple[Path, ...]) -> None:
    """Copy the labels of repositories, with their prompts, to a store of your own. Runs and Relabel do it by themselves
    where judgment.pool is on."""
    from agent.audit.log import known_log
    from agent.labels.store import gather, store_facts, store_path

    new = gather([known_log(repo) for repo in repos], store_path())
    store = store_facts(store_path())
    say(f"{plural(new, 'new label')}; {_held(store)} in {store.path}")
    for repository in store.repositories:
        say(f"  {repository}")


def _held(store: StoreFacts) -> str:
    return f"{plural(store.labelled, 'label')} of {plural(len(store.repositories), 'repository', 'repositories')}"


def _print_report(report: ExportReport) -> None:
    for name, count in report.files.items():
        say(f"{report.out / name}  {plural(count, 'row')}")
    answers = ", ".join(f"{count} {name}" for name, count in report.labels.items())
    origins = ", ".join(f"{count} {name}" for name, count in report.sources.items())
    say(f"{answers}; {origins}", err=True)
    for reason, count in report.left_out.items():
        say(f"{count} left out: {reason}", err=True)
    for note in report.notes:
        say(note, err=True)
