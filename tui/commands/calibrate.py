"""``cra calibrate``: thresholds from labels, and what they are worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.counts import counted
from tui.commands.places import REPOS
from tui.commands.tables import SHARED, STAGES, between, share
from tui.say import say, say_data

if TYPE_CHECKING:
    from agent.learning.calibrate import Fit


@click.command()
@REPOS
@SHARED
@STAGES
@click.option("--outcomes", is_flag=True, help="Also use labels from outcomes: from what an applied change touched.")
@click.option("--apply", "use", is_flag=True, help="Write what is offered to the thresholds of every repository named.")
@click.option("--everywhere", is_flag=True, help="With --apply: into your own thresholds, as with --shared.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def calibrate(
    repos: tuple[Path, ...], shared: bool, stages: tuple[str, ...], outcomes: bool, use: bool, everywhere: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Fit thresholds to labels, measure them on tasks left out of the fit, and use those that are better."""
    import msgspec

    from agent.config.schema import load
    from agent.labels.items import load_items
    from agent.labels.store import labelled_log
    from agent.learning.calibrate import apply_fits, fit_all
    from agent.verdict.in_force import own_thresholds_path, thresholds_of
    from agent.verdict.threshold import thresholds_path

    with labelled_log(repos, shared=shared) as reader:
        items = [item for item in load_items(reader) if not stages or item.stage in stages]
    fits = fit_all(items, thresholds_of(repos[0], load(repos[0])), outcomes=outcomes)
    offered = [fit for fit in fits if fit.offered]
    paths = []
    if use and offered:
        own = everywhere or shared
        targets = [own_thresholds_path()] if own else [thresholds_path(place) for place in repos]
        paths = [str(apply_fits(path, offered)) for path in targets]
    if as_json:
        rows = [{**msgspec.to_builtins(fit), "offered": fit.offered} for fit in fits]
        say_data(msgspec.json.encode({"fits": rows, "written": paths}).decode())
        return
    if not fits:
        say("No label yet. Label some calls first: in the application, r on any call.")
    for fit in fits:
        say("\n".join(_fit_lines(fit)))
    for path in paths:
        say(f"written: {path}")
    if offered and not use:
        say("--apply uses what is offered, from the next run on.")


def _fit_lines(fit: Fit) -> list[str]:
    labels, tasks = counted(fit.n, "labels"), counted(fit.tasks, "tasks")
    head = f"{fit.stage}  {fit.model}  question {fit.question}: {labels} ({fit.yes} yes) of {tasks}"
    if fit.worth is None or fit.rule is None:
        return [head, f"  {fit.problem}"]
    worth, lines = fit.worth, [head]
    for name, measure in (("fitted", worth.then), ("in force", worth.now), ("rank alone", worth.rank)):
        if measure is not None:
            figures = f"kept {measure.kept:.2f}, recall {share(measure.recall)}, balanced {share(measure.balanced)}"
            lines.append(f"  {name:<11}{figures}, on tasks left out")
    lines.append(f"  gain over what is in force: 95 % {worth.gain[0]:+.2f} to {worth.gain[1]:+.2f}")
    if worth.within is not None:
        interval = between(worth.within_interval)
        lines.append(f"  inside a task a yes scores above a no in {worth.within:.2f} of pairs, 95 % {interval}")
    lines.append(f"  not offered: {fit.refusal}" if fit.refusal else f"  offered: threshold {fit.rule.threshold:.3f}")
    return lines
