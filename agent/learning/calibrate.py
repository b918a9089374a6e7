"""Thresholds from labels: for each stage, model and version of the question a fitted rule, what it is worth, and whether to
use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from agent.counts import plural
from agent.labels.items import Item
from agent.learning.fit import Estimate, Point, estimate, fit_rule, score_of
from agent.learning.scores import Confusion, confusion, labelled
from agent.stages import Aim, stage_of
from agent.verdict.threshold import Threshold, Thresholds, load_thresholds, save_thresholds

MIN_LABELS = 20
MIN_EACH = 4
MIN_TASKS = 5
"""What a fit needs: labels in all, labels of each answer, tasks they come from. With fewer tasks an interval over tasks
means nothing."""


class Fit(msgspec.Struct, frozen=True):
    """What the labels of one stage, model and question version say.

    ``rule`` is None while there are too few labels (``problem`` says what is missing). ``refusal`` says why a rule that was
    fitted should not be used, "" when it should. ``now`` are the verdicts by the rule in force, ``then`` those of the new
    rule on the labels it was fitted to; ``worth`` is measured on tasks left out of the fit.
    """

    stage: str
    model: str
    question: str
    n: int
    yes: int
    tasks: int
    now: Confusion
    current: Threshold | None = None
    rule: Threshold | None = None
    then: Confusion | None = None
    worth: Estimate | None = None
    known: tuple[tuple[float, bool], ...] = ()
    problem: str = ""
    refusal: str = ""
    missing: int = 0

    @property
    def offered(self) -> bool:
        """Whether the rule is better than what is in force, as far as the labels can tell."""
        return self.rule is not None and not self.refusal

    @property
    def aim(self) -> Aim:
        """What the threshold is fitted to."""
        return stage_of(self.stage).aim


def fit_all(items: Iterable[Item], in_force: Thresholds, *, outcomes: bool = False) -> list[Fit]:
    """One fit for each stage, model and question version with a person's labels, sorted; of several calls on a judgment the
    newest counts. ``outcomes`` also takes labels that come from what became of a change."""
    newest: dict[tuple[str, str, str], dict[str, Item]] = {}
    for item in labelled(items, outcomes=outcomes):
        newest.setdefault((item.stage, item.model, item.question), {})[item.judgment] = item
    fits = []
    for (stage, model, question), calls in sorted(newest.items()):
        current, shipped = in_force.get(stage, model), in_force.shipped(stage, model)
        prior = shipped if shipped is not None and shipped.question in ("", question) else Threshold(stage, model, 0.5)
        fits.append(_fit(stage, model, question, list(calls.values()), current, prior))
    return fits


def _fit(stage: str, model: str, question: str, items: list[Item], current: Threshold | None, prior: Threshold) -> Fit:
    """``prior`` ships with the model or is its bare answer. It is not the rule in force: where that was fitted to these
    labels, each would count twice, also in the tasks that the fit is measured on."""
    points = [
        Point(item.task, bool(item.label), item.p_yes, item.rank, item.facts, bool(item.decided(current).verdict))
        for item in items
        if item.p_yes is not None and (item.rank is not None or not prior.rank_weight)
    ]
    points = _alike(points)
    yes, tasks = sum(point.label for point in points), len({point.task for point in points})
    now = confusion((bool(item.label), bool(item.decided(current).verdict)) for item in items)
    aim = stage_of(stage).aim
    base = Fit(stage, model, question, len(points), yes, tasks, now, current)
    problem, missing = _problem(points, items)
    if problem:
        return msgspec.structs.replace(base, problem=problem, missing=missing, known=tuple((p.p, p.label) for p in points))
    prior, recall, worth = estimate(points, aim, prior)
    rule = fit_rule(points, aim, prior, recall)
    scored = [(score_of(rule, point), point.label) for point in points]
    then = confusion((label, score >= rule.threshold) for score, label in scored)
    rule = msgspec.structs.replace(
        rule, stage=stage, model=model, question=question, threshold=round(rule.threshold, 4), n=len(points), tasks=tasks,
        recall=_rounded(worth.then.recall), kept=_rounded(worth.then.kept), accuracy=_rounded(worth.then.balanced),
        gain=(round(worth.gain[0], 4), round(worth.gain[1], 4)), origin="labels", note="",
    )  # fmt: skip
    return msgspec.structs.replace(base, rule=rule, then=then, worth=worth, known=tuple(scored), refusal=refusal(worth, aim))


def _alike(points: list[Point]) -> list[Point]:
    """Points that can be fitted together: where some have a rank and some do not, those with one."""
    ranked = [point for point in points if point.rank is not None]
    return ranked if ranked and len(ranked) * 2 >= len(points) else [msgspec.structs.replace(p, rank=None) for p in points]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def refusal(worth: Estimate, aim: Aim) -> str:
    """Why a fitted rule should not be used; "" if its worth is above that of what is in force, of rank alone and of chance,
    each at the lower end of its interval, and a filter loses no recall."""
    if aim == "recall":
        if worth.over_chance is None or worth.over_chance[0] <= 0:
            return "inside a task it finds no more than chance would: the model does not know, whatever the threshold"
        if worth.over_rank is not None and worth.over_rank[0] <= 0:
            return "it finds no more than the search's best-ranked would, as far as these labels can tell"
        if (worth.then.recall or 0.0) < min(0.9, worth.now.recall or 0.0) - 1e-9:
            return "it would lose more of what matters than what is in force does"
    elif worth.within_interval is None or worth.within_interval[0] <= 0.5:
        return "inside a task a yes scores no higher than a no: the model does not know, whatever the threshold"
    if worth.gain[0] <= 0:
        return "it is no better than what is in force, as far as these labels can tell"
    return ""


def still_missing(items: Iterable[Item], stage: str, model: str, question: str) -> str:
    """How far the labels of a stage, model and question version are from a fit, in a line: what is missing, or that it can
    be made."""
    mine = [
        item for item in items
        if (item.stage, item.model, item.question) == (stage, model, question) and item.p_yes is not None
    ]  # fmt: skip
    known = {item.judgment: item for item in labelled(mine)}.values()
    name = stage_of(stage).short or stage
    yes, tasks = sum(bool(item.label) for item in known), len({item.task for item in known})
    few = "yes" if yes < MIN_EACH else "no" if len(known) - yes < MIN_EACH else ""
    if len(known) < MIN_LABELS:
        of = f" ({MIN_TASKS - tasks} more tasks)" if tasks < MIN_TASKS else ""
        return f"{MIN_LABELS - len(known)} more labels{of} and {name} can be fitted" if mine else ""
    if tasks < MIN_TASKS:
        return f"labels of {MIN_TASKS - tasks} more tasks and {name} can be fitted"
    if few:
        return f"{name} needs more labels that say {few} before it can be fitted"
    return f"{name} can be fitted: F10"


def _problem(points: Sequence[Point], items: Sequence[Item]) -> tuple[str, int]:
    """What is missing for a fit, in words, and how many labels more it takes at least."""
    if not points and any(item.p_yes is not None for item in items):
        why = "was kept with its place in the search's order, which the rule in force weighs. Label calls of newer runs."
        return f"None of the {len(items)} labelled answers {why}", 0
    if not points:
        return f"None of the {len(items)} labelled answers has a probability, so there is nothing to put a threshold on.", 0
    if len(points) < MIN_LABELS:
        missing = MIN_LABELS - len(points)
        return f"{plural(len(points), 'label')}; a fit needs {MIN_LABELS}. Label {missing} more.", missing
    yes = sum(point.label for point in points)
    few, word = min((yes, "yes"), (len(points) - yes, "no"))
    if few < MIN_EACH:
        text = f"Only {few} of {len(points)} labels say {word}; a fit needs {MIN_EACH} of each. Label more of those."
        return text, MIN_EACH - few
    tasks = len({point.task for point in points})
    if tasks < MIN_TASKS:
        text = f"The labels come from {tasks} tasks; a fit needs {MIN_TASKS}, to be tried on tasks it has not seen."
        return f"{text} Label calls of other runs.", MIN_TASKS - tasks
    return "", 0


def curve(known: Sequence[tuple[float, bool]], points: int = 101) -> list[tuple[float, float]]:
    """(threshold, balanced accuracy) at equally spaced thresholds from 0 to 1, for drawing. Empty without both labels."""
    yes = [score for score, label in known if label]
    no = [score for score, label in known if not label]
    if not yes or not no:
        return []
    cuts = [step / (points - 1) for step in range(points)]
    return [
        (cut, (sum(s >= cut for s in yes) / len(yes) + sum(s < cut for s in no) / len(no)) / 2) for cut in cuts
    ]  # fmt: skip


def apply_fits(path: Path, fits: Iterable[Fit]) -> Path:
    """Write the rules of ``fits`` into a thresholds file; its other entries stay. Returns the path.

    Raises:
        ValueError: one of them has no rule.
        ConfigError: the file that is there cannot be read.
    """
    entries = {(entry.stage, entry.model): entry for entry in load_thresholds(path)}
    for fit in fits:
        if fit.rule is None:
            raise ValueError(fit.problem)
        entries[fit.stage, fit.model] = fit.rule
    save_thresholds(path, [entries[key] for key in sorted(entries)])
    return path
