"""Thresholds from labels: where to cut a model's P(yes) in a stage, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from agent.labels.items import Item
from agent.learning.scores import Confusion, confusion, labelled
from agent.verdict.threshold import Threshold, Thresholds, load_thresholds, save_thresholds, thresholds_path

MIN_LABELS = 8
MIN_EACH = 2
"""Labels that a threshold needs: this many, and this many of each answer."""

_WORK = 200_000
"""Scores looked at for one leave-one-out estimate. From about 450 labels on, several are left out at a time."""

Known = Sequence[tuple[float, bool]]
"""(score, label)."""


class Fit(msgspec.Struct, frozen=True):
    """What the labels of one stage and model say.

    ``threshold`` is None while there are too few labels (``problem`` says what is missing). ``accuracy`` is balanced, on the
    labels themselves; ``estimate`` the same left-one-out, which is what to expect; ``auc`` the chance that a yes scores
    above a no. ``now`` and ``then`` are the verdicts as they are used today and with the new threshold.
    """

    stage: str
    model: str
    n: int
    yes: int
    threshold: float | None
    accuracy: float | None
    estimate: float | None
    auc: float | None
    now: Confusion
    then: Confusion | None
    current: Threshold | None = None
    problem: str = ""
    known: tuple[tuple[float, bool], ...] = ()

    @property
    def better_than_chance(self) -> bool:
        """Whether the left-one-out estimate says that the threshold is of use."""
        return self.estimate is not None and self.estimate > 0.5

    def entry(self) -> Threshold:
        """The line for ``thresholds.toml``; a rank weight that is in force stays.

        Raises:
            ValueError: there is no threshold yet.
        """
        if self.threshold is None:
            raise ValueError(self.problem)
        weight = self.current.rank_weight if self.current is not None else 0.0
        estimate = None if self.estimate is None else round(self.estimate, 4)
        return Threshold(self.stage, self.model, round(self.threshold, 4), weight, self.n, estimate, "fitted to labels")


def fit_all(items: Iterable[Item], current: Thresholds | None = None) -> list[Fit]:
    """One fit per stage and model with labelled answers, sorted by both; of several calls on a prompt the newest counts."""
    newest: dict[tuple[str, str], dict[str, Item]] = {}
    for item in labelled(items):
        newest.setdefault((item.stage, item.model), {})[item.prompt] = item
    in_force = current or Thresholds([])
    return [
        _fit(stage, model, list(calls.values()), in_force.get(stage, model))
        for (stage, model), calls in sorted(newest.items())
    ]


def _fit(stage: str, model: str, items: list[Item], current: Threshold | None) -> Fit:
    known = [(score, bool(item.label)) for item in items if (score := _score(item, current)) is not None]
    now = confusion((bool(item.label), bool(item.model_verdict)) for item in items)
    problem = _problem(known, len(items), current)
    yes = sum(label for _, label in known)
    if problem:
        return Fit(stage, model, len(known), yes, None, None, None, area(known), now, None, current, problem, tuple(known))
    threshold, accuracy = best_threshold(known)
    then = confusion((label, score >= threshold) for score, label in known)
    return Fit(
        stage, model, len(known), yes, threshold, accuracy, leave_one_out(known), area(known), now, then, current, "",
        tuple(known),
    )  # fmt: skip


def _score(item: Item, current: Threshold | None) -> float | None:
    """What a threshold is compared with: P(yes), or with a rank weight in force the score that holds the rank too."""
    if current is not None and current.rank_weight:
        return item.score if item.threshold is not None else None
    return item.p_yes


def _problem(known: Known, labels: int, current: Threshold | None) -> str:
    if not known:
        why = "scored together with their rank" if current is not None and current.rank_weight else "with a probability"
        return f"None of the {labels} labelled answers is {why}, so there is nothing to put a threshold on."
    yes = sum(label for _, label in known)
    if len(known) < MIN_LABELS:
        return f"{len(known)} labels; a threshold wants {MIN_LABELS}. Label {MIN_LABELS - len(known)} more."
    few, word = min((yes, "yes"), (len(known) - yes, "no"))
    if few < MIN_EACH:
        return f"Only {few} of {len(known)} labels say {word}; a threshold wants {MIN_EACH} of each. Label more of those."
    return ""


def best_threshold(known: Known) -> tuple[float, float]:
    """The cut with the highest balanced accuracy, and that accuracy. Of several, the one in the widest gap between scores.

    A cut lies half-way between two neighbouring scores; ``score >= cut`` means yes. Needs both labels.
    """
    ordered = sorted(known)
    total_yes = sum(label for _, label in ordered)
    total_no = len(ordered) - total_yes
    yes_below = no_below = 0
    edge = min(ordered[0][0], 0.0)
    best = ((0.5, ordered[0][0] - edge), (edge + ordered[0][0]) / 2)  # everything is a yes
    for place, (score, label) in enumerate(ordered):
        yes_below += label
        no_below += not label
        following = ordered[place + 1][0] if place + 1 < len(ordered) else max(1.0, score)
        if following <= score and place + 1 < len(ordered):
            continue
        balanced = ((total_yes - yes_below) / total_yes + no_below / total_no) / 2
        if place + 1 == len(ordered):
            following = score + max(following - score, 1e-6)
        candidate = ((balanced, following - score), (score + following) / 2)
        best = max(best, candidate, key=lambda found: found[0])
    return best[1], best[0][0]


def leave_one_out(known: Known) -> float | None:
    """Balanced accuracy of thresholds, each fitted without the labels it is tried on. None with too few of a kind."""
    if min(sum(label for _, label in known), sum(not label for _, label in known)) < MIN_EACH:
        return None
    ordered = sorted(known)
    folds = min(len(ordered), max(10, _WORK // len(ordered)))
    verdicts = []
    for fold in range(folds):
        rest = [pair for place, pair in enumerate(ordered) if place % folds != fold]
        threshold, _ = best_threshold(rest)
        verdicts += [(label, score >= threshold) for score, label in ordered[fold::folds]]
    return confusion(verdicts).balanced


def area(known: Known) -> float | None:
    """Area under the ROC curve: the chance that a random yes scores above a random no (a tie counts half)."""
    ordered = sorted(known)
    yes = sum(label for _, label in ordered)
    no = len(ordered) - yes
    if not yes or not no:
        return None
    total, place, no_below = 0.0, 0, 0
    while place < len(ordered):
        end = place
        while end < len(ordered) and ordered[end][0] == ordered[place][0]:
            end += 1
        tied_yes = sum(label for _, label in ordered[place:end])
        tied_no = end - place - tied_yes
        total += tied_yes * (no_below + tied_no / 2)
        no_below += tied_no
        place = end
    return total / (yes * no)


def curve(known: Known, points: int = 101) -> list[tuple[float, float]]:
    """(threshold, balanced accuracy) at equally spaced thresholds from 0 to 1, for drawing. Empty without both labels."""
    yes = sorted(score for score, label in known if label)
    no = sorted(score for score, label in known if not label)
    if not yes or not no:
        return []
    cuts = [step / (points - 1) for step in range(points)]
    return [
        (cut, (sum(s >= cut for s in yes) / len(yes) + sum(s < cut for s in no) / len(no)) / 2) for cut in cuts
    ]  # fmt: skip


def apply_fits(repo: Path, fits: Iterable[Fit]) -> Path:
    """Write the thresholds of ``fits`` into the repository's ``thresholds.toml``; other entries stay. Returns its path.

    Raises:
        ValueError: one of them has no threshold.
        ConfigError: the file that is there cannot be read.
    """
    path = thresholds_path(repo)
    entries = {(entry.stage, entry.model): entry for entry in load_thresholds(path)}
    for fit in fits:
        entries[fit.stage, fit.model] = fit.entry()
    save_thresholds(path, [entries[key] for key in sorted(entries)])
    return path
