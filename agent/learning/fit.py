"""One fitter: a scoring rule and its threshold from labelled answers, and what it is worth on tasks it has not seen.

The score is a logistic regression on the log odds of P(yes), the reciprocal of the search's rank, and the facts known of an
item (``agent/verdict/threshold.py``). A filter's threshold keeps nine tenths of what matters in as few items as it can;
the others are cut where balanced accuracy is highest. Every figure is measured with whole tasks left out of the fit, since
items of one task are alike; intervals are percentiles of bootstrap samples of tasks (``agent/learning/bootstrap.py``).

There is no isotonic regression on top (Zadrozny and Elkan, *Transforming classifier scores into accurate multiclass
probability estimates*, 2002): it maps a score to a probability without changing the order, so a threshold on the score
gives the same verdicts.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

from agent.learning.bootstrap import Interval, bootstrap_interval
from agent.learning.logistic import fit_weights
from agent.stages import Aim
from agent.verdict.threshold import Threshold, logit

RECALL = 0.9
"""What a filter should keep of what matters."""

RECALL_WORTH = 3.0
"""A filter's worth is minus the share it keeps, minus this much for each point of recall it lacks to ``RECALL``."""

_AIMS = (0.9, 0.925, 0.95, 0.975, 1.0)
"""Recall asked of the labels at hand; the first that gives ``RECALL`` on the tasks left out is taken."""

_FREE, _KNOWN, _DOUBTED, _FIXED = 0.01, 0.2, 8.0, 1e6
"""Precisions of a prior that rests on no labels: of the bias, of the weights of P(yes) and rank, of the weights of facts,
and of a weight that is not used. Chosen on the development answers of ``benchmarks/learning.py``: facts did not help the
default model's stages there, so it takes many labels to give one a weight."""

_FOLDS = 20


class Point(msgspec.Struct, frozen=True, gc=False):
    """A labelled answer. ``now`` is the verdict under the rule in force."""

    task: str
    label: bool
    p: float
    rank: int | None = None
    facts: Mapping[str, float] = {}
    now: bool = False


class Measure(msgspec.Struct, frozen=True):
    """Verdicts against labels. For a filter ``kept`` and ``recall`` are means over tasks; ``balanced`` is over all."""

    kept: float
    recall: float | None
    balanced: float | None


class Estimate(msgspec.Struct, frozen=True):
    """What a fit is worth, on tasks left out of it.

    ``then`` is the new rule, ``now`` the one in force, ``rank`` as many best-ranked items as ``then`` keeps. ``within`` is
    the chance that a yes scores above a no of the same task, with its interval (0.5: inside a task the answers say nothing).
    ``gain`` is the interval of the new rule's worth less that of the one in force, ``over_rank`` that of the recall gained
    over rank alone, ``over_chance`` of recall less the share kept.
    """

    then: Measure
    now: Measure
    rank: Measure | None
    within: float | None
    within_interval: Interval | None
    gain: Interval
    over_rank: Interval | None
    over_chance: Interval | None
    scores: tuple[tuple[float, bool], ...] = ()


def fit_rule(points: Sequence[Point], aim: Aim, prior: Threshold, recall: float = RECALL) -> Threshold:
    """A rule and its threshold for some labelled answers. ``prior`` was fitted to other labels or uses P(yes) alone. Its
    weights and its share of yes count as much as its number of labels, so that few new labels change it little.

    Both labels must occur.
    """
    rule = _weighted(points, prior)
    return msgspec.structs.replace(rule, threshold=_cut(points, rule, aim, prior, recall))


def score_of(rule: Threshold, point: Point) -> float:
    """The score that a rule gives an answer; P(yes) where the rule cannot use it."""
    score = rule.score(point.p, point.rank, point.facts)
    return point.p if score is None else score


def _weighted(points: Sequence[Point], prior: Threshold) -> Threshold:
    """The weights, with an intercept for each task: tasks differ in their share of yes and in their general level of P(yes),
    and neither says how an item compares with others of its task. A slope below zero would read yes as no; it becomes zero,
    and the answers are then not used."""
    ranked = all(point.rank for point in points)
    names = sorted({name for point in points for name in point.facts})
    means = [prior.bias, prior.slope, prior.rank_weight, *(prior.facts.get(name, 0.0) for name in names)]
    labels = [point.label for point in points]

    def rows(use_p: bool) -> list[list[float]]:
        return [
            [1.0, logit(p.p) if use_p else 0.0, 1 / p.rank if ranked and p.rank else 0.0,
             *(p.facts.get(name, 0.0) for name in names)]
            for p in points
        ]  # fmt: skip

    tasks = [point.task for point in points]
    told = _information(rows(True), labels, prior.n)
    precisions = [_FREE, _KNOWN + told[1], _KNOWN + told[2] if ranked else _FIXED]
    precisions += [_DOUBTED + (known if name in prior.facts else 0.0) for name, known in zip(names, told[3:], strict=True)]
    weights = fit_weights(rows(True), labels, means, precisions, tasks)
    if weights[1] < 0:
        weights = fit_weights(rows(False), labels, [means[0], 0.0, *means[2:]], precisions, tasks)
    bias, slope, by_rank, *by_fact = (round(weight, 4) for weight in weights)
    facts = {name: weight for name, weight in zip(names, by_fact, strict=True) if weight}
    return msgspec.structs.replace(prior, slope=slope, bias=bias, rank_weight=by_rank if ranked else 0.0, facts=facts)


def _information(rows: Sequence[Sequence[float]], labels: Sequence[bool], n: int) -> list[float]:
    """How much ``n`` labelled answers like these say about each weight: the diagonal of Fisher's information, at the share
    of yes (Hastie, Tibshirani and Friedman, *The Elements of Statistical Learning*, 2009, section 4.4)."""
    share = sum(labels) / len(labels)
    return [n * share * (1 - share) * statistics.pvariance(column) for column in zip(*rows, strict=True)]


def _cut(points: Sequence[Point], rule: Threshold, aim: Aim, prior: Threshold, recall: float) -> float:
    """The threshold of a weighted rule. Its share of yes lies between that of the threshold which fits these labels best and
    that of the prior on the same answers, weighted by the number of labels that each rests on."""
    scored = [(point.task, point.label, score_of(rule, point)) for point in points]
    wanted = _recall_cut(scored, recall) if aim == "recall" else best_cut([(s, label) for _, label, s in scored])[0]
    if not prior.n:
        return wanted
    scores = sorted((score for _, _, score in scored), reverse=True)
    before = sum(score_of(prior, point) >= prior.threshold for point in points)
    now = sum(score >= wanted for score in scores)
    place = round((prior.n * before + len(points) * now) / (prior.n + len(points)))
    edges = [scores[0] + 1e-6, *((above + below) / 2 for above, below in pairwise(scores)), scores[-1] - 1e-6]
    return edges[place]


def _recall_cut(scored: Sequence[tuple[str, bool, float]], recall: float) -> float:
    """The highest cut with the wanted mean recall over the tasks that have something to find, half-way to the next score
    below it."""
    totals: dict[str, int] = {}
    for task, label, _ in scored:
        if label:
            totals[task] = totals.get(task, 0) + 1
    reached, cut, previous = 0.0, 0.5, None
    for task, label, score in sorted(scored, key=lambda row: -row[2]):
        if previous is not None and reached >= recall - 1e-9 and score < previous:
            return (previous + score) / 2
        if label:
            reached += 1 / totals[task] / len(totals)
        previous = cut = score
    return cut - 1e-6


def best_cut(known: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """The cut with the highest balanced accuracy, and that accuracy. Of several, the one in the widest gap between scores.

    A cut lies half-way between two neighbouring scores; ``score >= cut`` means yes. Both labels must occur.
    """
    ordered = sorted(known)
    yes = sum(label for _, label in ordered)
    no = len(ordered) - yes
    scores = sorted({score for score, _ in ordered})
    cuts = [(low + high) / 2 for low, high in pairwise(scores)]
    best, place, yes_below, no_below = (0.5, 0.0, scores[0] - 1e-6), 0, 0, 0
    for number, cut in enumerate(cuts):
        while place < len(ordered) and ordered[place][0] < cut:
            yes_below += ordered[place][1]
            no_below += not ordered[place][1]
            place += 1
        balanced = ((yes - yes_below) / yes + no_below / no) / 2
        best = max(best, (balanced, scores[number + 1] - scores[number], cut), key=lambda found: found[:2])
    return best[2], best[0]


def estimate(points: Sequence[Point], aim: Aim, prior: Threshold) -> tuple[Threshold, float, Estimate]:
    """(the prior to begin at, the recall to ask of all the labels, what the fit is worth on tasks left out of it).

    A prior is kept unless these labels alone do better on tasks left out, at the lower end of the interval: its labels are
    then unlike these, and the prior that is returned rests on none. Needs at least two tasks.
    """
    asked, tasks = _left_out(points, aim, prior)
    if prior.n:
        alone = msgspec.structs.replace(prior, n=0)
        asked_alone, tasks_alone = _left_out(points, aim, alone)
        better = bootstrap_interval(list(zip(tasks_alone, tasks, strict=True)), lambda some: _gain(some, aim))
        if better is not None and better[0] > 0:
            prior, asked, tasks = alone, asked_alone, tasks_alone
    return prior, asked, _estimated(tasks, aim)


def _gain(pairs: Sequence[tuple[_Task, _Task]], aim: Aim) -> float | None:
    worth = _worth if aim == "recall" else _balance
    one, other = ([pair[side] for pair in pairs] for side in (0, 1))
    return _less(worth(_measure(one, _THEN)), worth(_measure(other, _THEN)))


def _left_out(points: Sequence[Point], aim: Aim, prior: Threshold) -> tuple[float, list[_Task]]:
    """(the recall to ask of the labels, each task under a rule fitted to the others)."""
    by_task: dict[str, list[Point]] = {}
    for point in points:
        by_task.setdefault(point.task, []).append(point)
    rules = []
    for fold in _folds(points):
        rest = [point for point in points if point.task not in fold]
        if len({point.label for point in rest}) == 2:
            rules.append((fold, rest, _weighted(rest, prior)))
    best: tuple[float, list[_Task]] | None = None
    for asked in _AIMS if aim == "recall" else (RECALL,):
        cuts = [(fold, rule, _cut(rest, rule, aim, prior, asked)) for fold, rest, rule in rules]
        tasks = [task for fold, rule, cut in cuts for task in _under(by_task, fold, rule, cut)]
        if best is None or (_measure(tasks, _THEN).recall or 0.0) > (_measure(best[1], _THEN).recall or 0.0):
            best = (asked, tasks)
        if aim != "recall" or (_measure(tasks, _THEN).recall or 0.0) >= RECALL:
            break
    assert best is not None
    return best


def _folds(points: Sequence[Point]) -> list[set[str]]:
    """Whole tasks, one a fold; some at a time where there are many."""
    tasks = sorted({point.task for point in points})
    count = min(_FOLDS, len(tasks))
    return [set(tasks[number::count]) for number in range(count)]


_THEN, _NOW, _RANK = 0, 1, 2


class _Task(msgspec.Struct, frozen=True):
    """One left-out task: its labels and scores, and counts of them, since a bootstrap asks for these a thousand times.

    ``said`` is how often the new rule, the one in force and rank alone say yes (the last where all items have a rank),
    ``hits`` how often rightly. ``pairs`` are those of a yes and a no, ``wins`` those in which the yes scores above; a tie
    counts half.
    """

    labels: tuple[bool, ...]
    scores: tuple[float, ...]
    gold: int
    said: tuple[int, ...]
    hits: tuple[int, ...]
    wins: float
    pairs: int


def _counted(labels: Sequence[bool], scores: Sequence[float], verdicts: Sequence[Sequence[bool]]) -> _Task:
    good = [score for score, label in zip(scores, labels, strict=True) if label]
    bad = [score for score, label in zip(scores, labels, strict=True) if not label]
    hits = (sum(label and verdict for label, verdict in zip(labels, one, strict=True)) for one in verdicts)
    wins = sum((g > b) + 0.5 * (g == b) for g in good for b in bad)
    return _Task(
        tuple(labels), tuple(scores), len(good), tuple(map(sum, verdicts)), tuple(hits), wins, len(good) * len(bad)
    )


def _under(by_task: dict[str, list[Point]], fold: set[str], rule: Threshold, cut: float) -> list[_Task]:
    found = []
    for name in sorted(fold & by_task.keys()):
        inside = by_task[name]
        scores = tuple(score_of(rule, point) for point in inside)
        then = tuple(score >= cut for score in scores)
        verdicts = [then, tuple(point.now for point in inside)]
        if all(point.rank for point in inside):
            order = sorted(range(len(inside)), key=lambda place: inside[place].rank or 0)[: sum(then)]
            verdicts.append(tuple(place in order for place in range(len(inside))))
        found.append(_counted([point.label for point in inside], scores, verdicts))
    return found


def _estimated(tasks: list[_Task], aim: Aim) -> Estimate:
    ranked = all(len(task.said) > _RANK for task in tasks)
    worth = _worth if aim == "recall" else _balance
    gain = bootstrap_interval(tasks, lambda some: _less(worth(_measure(some, _THEN)), worth(_measure(some, _NOW))))
    over_rank = over_chance = None
    if aim == "recall":
        over_chance = bootstrap_interval(tasks, lambda some: _over_chance(_measure(some, _THEN)))
    if ranked and aim == "recall":
        over_rank = bootstrap_interval(tasks, lambda some: _less(_measure(some, _THEN).recall, _measure(some, _RANK).recall))
    return Estimate(
        _measure(tasks, _THEN), _measure(tasks, _NOW), _measure(tasks, _RANK) if ranked else None, _within(tasks),
        bootstrap_interval(tasks, _within), gain or (0.0, 0.0), over_rank, over_chance,
        tuple((s, label) for task in tasks for s, label in zip(task.scores, task.labels, strict=True)),
    )  # fmt: skip


def _measure(tasks: Sequence[_Task], who: int) -> Measure:
    kept, recalls = [], []
    yes = no = right_yes = right_no = 0
    for task in tasks:
        size, gold, said, hits = len(task.labels), task.gold, task.said[who], task.hits[who]
        kept.append(said / size)
        if gold:
            recalls.append(hits / gold)
        yes, no = yes + gold, no + size - gold
        right_yes, right_no = right_yes + hits, right_no + size - gold - (said - hits)
    balanced = (right_yes / yes + right_no / no) / 2 if yes and no else None
    return Measure(sum(kept) / len(kept), sum(recalls) / len(recalls) if recalls else None, balanced)


def _worth(measure: Measure) -> float | None:
    if measure.recall is None:
        return None
    return -measure.kept - RECALL_WORTH * max(0.0, RECALL - measure.recall)


def _over_chance(measure: Measure) -> float | None:
    return _less(measure.recall, measure.kept)


def _balance(measure: Measure) -> float | None:
    return measure.balanced


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _within(tasks: Sequence[_Task]) -> float | None:
    """The chance that a yes scores above a no of its own task, a tie counting half: each task by its number of pairs."""
    pairs = sum(task.pairs for task in tasks)
    return sum(task.wins for task in tasks) / pairs if pairs else None
