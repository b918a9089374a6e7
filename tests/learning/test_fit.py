"""The fitter on made-up judges: what it finds, and what it must not claim."""

from __future__ import annotations

import math
import random

import msgspec
import pytest

from agent.learning.calibrate import refusal
from agent.learning.fit import Point, best_cut, estimate, fit_rule
from agent.learning.logistic import fit_weights
from agent.verdict.threshold import Threshold, sigmoid

NONE = Threshold("scope", "m", 0.5)


def judge(
    seed: int, *, tasks: int = 8, items: int = 12, knows: float = 0.0, task_knows: float = 0.0, ranked: float = 0.0,
    shy: float = 0.0,
) -> list[Point]:  # fmt: skip
    """Labelled answers. ``knows`` is what a label adds to the log odds of P(yes), ``task_knows`` what the share of yes
    in its task does, ``ranked`` how much better than chance the search's order is, ``shy`` how far P(yes) lies too low."""
    dice = random.Random(seed)
    points = []
    for task in range(tasks):
        share = dice.choice((0.1, 0.25, 0.5))
        labels = [dice.random() < share for _ in range(items)]
        order = sorted(range(items), key=lambda n: -(ranked * labels[n] + dice.gauss(0, 1)))
        for n, label in enumerate(labels):
            x = dice.gauss(0, 1) + knows * label + task_knows * (share - 0.3) * 10 - shy
            p = sigmoid(x)
            points.append(Point(f"t{task}", label, p, order.index(n) + 1 if ranked or seed % 2 else None, {}, p >= 0.5))
    if len({point.rank is None for point in points}) == 2:
        raise AssertionError
    return points


def verdict_on(points: list[Point], aim: str) -> str:
    prior = Threshold("s", "m", 0.5)
    _, _, worth = estimate(points, aim, prior)  # type: ignore[arg-type]
    return refusal(worth, aim)  # type: ignore[arg-type]


@pytest.mark.parametrize("aim", ["recall", "balance"])
def test_noise_is_offered_in_at_most_one_fit_of_twenty(aim: str) -> None:
    offered = sum(not verdict_on(judge(seed), aim) for seed in range(40))
    assert offered <= 2


@pytest.mark.parametrize("aim", ["recall", "balance"])
def test_noise_beside_a_useful_rank_is_not_offered(aim: str) -> None:
    if aim == "balance":
        pytest.skip("stages without the aim of a filter have no rank")
    assert sum(not verdict_on(judge(seed, ranked=2.0), aim) for seed in range(20)) <= 1


@pytest.mark.parametrize("aim", ["recall", "balance"])
def test_a_judge_that_knows_only_the_task_is_told_from_one_that_knows_the_item(aim: str) -> None:
    knows_task = [verdict_on(judge(seed * 2, task_knows=2.0, shy=1.0), aim) for seed in range(12)]
    knows_item = [verdict_on(judge(seed * 2, knows=3.0, shy=3.0, tasks=14), aim) for seed in range(10)]
    assert sum(not said for said in knows_task) <= 1 and any("inside a task" in said for said in knows_task)
    assert sum(not said for said in knows_item) >= 8


def test_pooled_the_task_looks_like_knowledge_and_within_tasks_it_does_not() -> None:
    points = judge(12, tasks=20, items=20, task_knows=2.0)
    _, _, worth = estimate(points, "balance", NONE)
    assert worth.then.balanced is not None and worth.then.balanced > 0.6
    assert worth.within is not None and abs(worth.within - 0.5) < 0.1


def test_recall_of_a_filter_is_not_lowered_by_calibration() -> None:
    """Where the new rule is offered, it keeps nine tenths of what matters in new tasks, or as much as before."""
    for seed in range(0, 24, 2):
        points = judge(seed, knows=2.5, shy=2.0, tasks=10)
        _, recall, worth = estimate(points, "recall", NONE)
        if refusal(worth, "recall"):
            continue
        rule = fit_rule(points, "recall", NONE, recall)
        fresh = [point for other in range(300, 308) for point in judge(other * 2, knows=2.5, shy=2.0)]
        gold = [point for point in fresh if point.label]
        found = sum((rule.score(p.p, p.rank, p.facts) or 0) >= rule.threshold for p in gold) / len(gold)
        before = sum(point.now for point in gold) / len(gold)
        assert found >= min(0.8, before)


def test_facts_that_tell_are_weighed_and_others_are_not() -> None:
    dice = random.Random(3)
    points = []
    for n in range(240):
        label = dice.random() < 0.4
        facts = {"near": float(dice.random() < (0.8 if label else 0.2)), "odd": float(dice.random() < 0.5)}
        points.append(Point(f"t{n // 12}", label, sigmoid(dice.gauss(0, 1) + label), n % 12 + 1, facts, False))
    rule = fit_rule(points, "recall", NONE)
    assert rule.facts["near"] > 1.0 > abs(rule.facts.get("odd", 0.0)) + 0.3


def test_a_rule_counts_as_much_as_the_labels_it_rests_on() -> None:
    """Labels that say the rank tells nothing, against a rule that leans on it: the weight falls with the labels at hand, and
    the more of them the rule rests on, the less."""

    def rank_weight(rests_on: int, tasks: int) -> float:
        prior = Threshold("scope", "m", 0.58, rank_weight=3.0, n=rests_on)
        points = judge(5, tasks=tasks, knows=1.0)
        ranked = [msgspec.structs.replace(point, rank=n % 12 + 1) for n, point in enumerate(points)]
        return fit_rule(ranked, "recall", prior).rank_weight

    assert 3.0 > rank_weight(150, 2) > rank_weight(150, 12) > rank_weight(0, 12)
    assert rank_weight(150, 2) > 2.5 and rank_weight(150, 40) < 1.0


@pytest.mark.parametrize(("shy", "kept"), [(0.0, True), (6.0, False)])
def test_a_rule_that_the_labels_refute_counts_for_nothing(shy: float, kept: bool) -> None:
    """A rule that rests on many labels, and a judge like the one it was fitted to, or one that never says yes."""
    shipped = Threshold("scope", "m", 0.8, n=200)
    points = judge(6, tasks=10, knows=4.0, shy=shy)
    now = [msgspec.structs.replace(point, rank=None, now=point.p >= 0.8) for point in points]
    prior, recall, worth = estimate(now, "recall", shipped)
    assert (prior.n == 200) is kept
    assert worth.then.recall is not None and worth.then.recall >= 0.85
    if not kept:
        assert worth.now.recall == 0.0 and not refusal(worth, "recall")
        assert fit_rule(now, "recall", prior, recall).threshold < 0.8


def test_few_labels_move_the_share_of_yes_little() -> None:
    """Twenty labels in which all that matters scores highest, against a rule that keeps half."""
    points = [Point(f"t{n % 5}", n >= 17, 0.02 + 0.048 * n, n + 1, {}, False) for n in range(20)]

    def kept(rests_on: int) -> int:
        rule = fit_rule(points, "recall", Threshold("scope", "m", 0.5, n=rests_on))
        return sum((rule.score(p.p, p.rank, p.facts) or 0.0) >= rule.threshold for p in points)

    assert (kept(0), kept(20), kept(2000)) == (3, 6, 10)


def test_the_regression_finds_the_weights_that_made_the_labels() -> None:
    dice = random.Random(1)
    rows = [[1.0, dice.gauss(0, 1), dice.gauss(0, 1)] for _ in range(4000)]
    labels = [dice.random() < sigmoid(0.5 + 1.5 * row[1] - 0.7 * row[2]) for row in rows]
    found = fit_weights(rows, labels, [0.0, 0.0, 0.0], [0.01, 0.01, 0.01])
    assert all(abs(a - b) < 0.15 for a, b in zip(found, (0.5, 1.5, -0.7), strict=True))
    separable = fit_weights([[1.0, float(n)] for n in (-2, -1, 1, 2)], [False, False, True, True], [0.0, 0.0], [0.1, 0.1])
    assert all(math.isfinite(weight) for weight in separable) and separable[1] > 0


def test_of_equal_cuts_the_one_in_the_widest_gap_is_taken() -> None:
    assert best_cut([(0.1, False), (0.2, False), (0.6, True), (0.7, True)]) == (pytest.approx(0.4), 1.0)
    cut, balanced = best_cut([(0.3, True), (0.3, False)])
    assert cut < 0.3 and balanced == 0.5
