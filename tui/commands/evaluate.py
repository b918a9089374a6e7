"""``cra evaluate``: the labelled questions as a measure of models."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.config.schema import PROVIDERS
from tui import exit_codes
from tui.commands.places import REPOS
from tui.commands.tables import SHARED, STAGES, between, print_table, share
from tui.say import say, say_data, say_progress

if TYPE_CHECKING:
    from agent.config.schema import Config
    from agent.learning.evaluate import LabelledLog
    from agent.learning.scores import StageScore


@click.command()
@REPOS
@SHARED
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME[+ADAPTER]",
    help="Model to ask, an adapter after a plus (may be repeated; default: the configured ones).",
)
@click.option("--provider", type=click.Choice(PROVIDERS), help="Protocol it speaks.")
@click.option("--base-url", default="", help="Address of its server.")
@STAGES
@click.option(
    "--export",
    "export_dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Ask only the test rows of this export: what a model was not trained on.",
)
@click.option("--outcomes", is_flag=True, help="Also ask what is labelled by its outcome only.")
@click.option("--concurrency", type=click.IntRange(1, 512), help="Questions in flight at once.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(
    repos: tuple[Path, ...], shared: bool, models: tuple[str, ...], provider: str | None, base_url: str,
    stages: tuple[str, ...], export_dir: Path | None, outcomes: bool, concurrency: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Ask one or more models every labelled question again and measure their answers, beside those of other models in the
    logs. The questions of several repositories are measured together; each is asked as a run in its own repository."""
    from agent.audit.log import known_log
    from agent.audit.reader import LogReader
    from agent.config.schema import load
    from agent.labels.export import ExportError, held_out
    from agent.labels.store import store_path
    from agent.learning.evaluate import LabelledLog
    from agent.learning.subjects import aimed

    places = [LabelledLog(repos[0], store_path())] if shared else [LabelledLog(repo, known_log(repo)) for repo in repos]
    for place in places:
        LogReader(place.log).close()
    try:
        judgments = held_out(export_dir) if export_dir is not None else frozenset()
    except ExportError as error:
        say(f"cra: {error}", err=True)
        sys.exit(exit_codes.USAGE)
    config = load(repos[0])
    configs = [aimed(config, model, provider or "", base_url, concurrency or 0) for model in models or ("",)]
    sys.exit(asyncio.run(_evaluate(places, configs, stages, judgments, outcomes, as_json)))


async def _evaluate(
    places: Sequence[LabelledLog], configs: Sequence[Config], stages: Sequence[str], judgments: frozenset[str],
    outcomes: bool, as_json: bool,
) -> int:  # fmt: skip
    import msgspec

    from agent.gate import Gate
    from agent.learning.evaluate import EvaluationError, evaluate_models

    gate = Gate()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, gate.stop)
    try:
        done = await evaluate_models(
            places, configs, stages=stages, judgments=judgments, outcomes=outcomes, gate=gate, progress=_progress
        )
    except EvaluationError as error:
        say(f"cra: {error}", err=True)
        return exit_codes.USAGE
    found, status = done.found, done.finished.status
    if as_json:
        document = {
            "runs": done.runs, "status": status, "asked": found.asked, "others": found.others,
            "agreements": found.agreements, "notes": found.notes,
        }  # fmt: skip
        say_data(msgspec.json.encode(document).decode())
    else:
        _print_scores([*found.asked, *found.others], {(score.stage, score.model) for score in found.asked})
        for two in found.agreements:
            say(f"{two.stage}: {two.one} and {two.other} agree, kappa {share(two.kappa)} ({two.n} questions)")
        for note in found.notes:
            say(note, err=True)
        say(f"{done.finished.reason} In the history: {', '.join(done.runs)}.", err=True)
    return exit_codes.OF_STATUS[status]


def _progress(place: int, done: int, total: int) -> None:
    if sys.stderr.isatty():
        say_progress(f"{done}/{total}", last=done == total)


def _print_scores(scores: Sequence[StageScore], asked: set[tuple[str, str]]) -> None:
    table: list[tuple[str, ...]] = [
        ("stage", "model", "n", "balanced", "precision", "recall", "F1", "95 %", "kappa", "unreadable", "ECE", "95 %",
         "Brier", "95 %", "tokens", "ms")
    ]  # fmt: skip
    for score in sorted(scores, key=lambda score: (score.stage, (score.stage, score.model) not in asked, score.model)):
        counts = score.confusion
        mark = "" if (score.stage, score.model) in asked else " (log)"
        table.append(
            (score.stage, f"{score.model or '-'}{mark}", str(counts.n), share(counts.balanced), share(counts.precision),
             share(counts.recall), share(counts.f1), between(score.f1_interval), share(score.kappa),
             str(score.unreadable), share(score.ece), between(score.ece_interval), share(score.brier),
             between(score.brier_interval), _count(score.tokens), _count(score.ms))
        )  # fmt: skip
    print_table(table)


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"
