"""Thresholds from labels, and models measured on them over real HTTP."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.audit.reader import LogReader
from agent.labels.items import Item, load_items
from agent.learning.calibrate import MIN_LABELS, apply_fits, area, best_threshold, curve, fit_all, leave_one_out
from agent.learning.scores import calibration_error, confusion, score_models
from agent.verdict.threshold import Threshold, Thresholds, load_thresholds, save_thresholds, thresholds_path
from tests.labels.filled import Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path)
    made.run("r1")
    yield made
    made.log.close()


def items(filled: Filled) -> list[Item]:
    reader = LogReader(filled.path)
    try:
        return load_items(reader)
    finally:
        reader.close()


def fill(filled: Filled, scores: list[tuple[float, bool]], **fields: object) -> None:
    for number, (p, label) in enumerate(scores):
        call = filled.call("r1", f"f{number}", p >= 0.5, p, **fields)  # type: ignore[arg-type]
        filled.label(call, label)


SHIFTED = [(p, False) for p in (0.05, 0.08, 0.11, 0.15)] + [(p, True) for p in (0.31, 0.33, 0.36, 0.38)]
"""A shy model: right in order, all below 0.5."""


def test_a_shy_model_gets_a_lower_threshold(filled: Filled) -> None:
    fill(filled, SHIFTED)
    (fit,) = fit_all(items(filled))
    assert fit.threshold == pytest.approx(0.23)
    assert (fit.n, fit.yes, fit.accuracy, fit.estimate, fit.auc) == (8, 4, 1.0, 1.0, 1.0)
    assert fit.now.balanced == 0.5 and fit.now.recall == 0.0
    assert fit.then is not None and fit.then.accuracy == 1.0
    path = apply_fits(filled.repo, [fit])
    (entry,) = load_thresholds(path)
    assert (entry.stage, entry.model, entry.threshold, entry.n, entry.accuracy) == ("scope", "m1", 0.23, 8, 1.0)


def test_too_few_labels_is_a_sentence_not_a_threshold(filled: Filled) -> None:
    fill(filled, SHIFTED[:5])
    (fit,) = fit_all(items(filled))
    assert fit.threshold is None and "3 more" in fit.problem
    with pytest.raises(ValueError, match="Label 3 more"):
        apply_fits(filled.repo, [fit])
    assert not thresholds_path(filled.repo).exists()


def test_labels_of_one_kind_only(filled: Filled) -> None:
    fill(filled, [(p / 10, p == 9) for p in range(10)])
    (fit,) = fit_all(items(filled))
    assert fit.threshold is None and fit.problem.startswith("Only 1 of 10 labels say yes")


def test_answers_without_a_probability(filled: Filled) -> None:
    for number in range(10):
        filled.label(filled.call("r1", f"f{number}", True), number % 2 == 0)
    (fit,) = fit_all(items(filled))
    assert fit.threshold is None and "probability" in fit.problem
    assert fit.now.n == 10 and fit.now.precision == 0.5


def test_other_entries_and_the_rank_weight_stay(filled: Filled) -> None:
    path = thresholds_path(filled.repo)
    kept = Threshold("similarity", "m1", 0.6, note="by hand")
    ranked = Threshold("scope", "m1", 0.4, rank_weight=0.8)
    save_thresholds(path, [kept, ranked])
    for number, (p, label) in enumerate(SHIFTED):  # the score holds the rank; P(yes) alone would say another cut
        call = filled.call("r1", f"f{number}", True, p, threshold=0.4, score=min(0.99, p + 0.3))
        filled.label(call, label)
    (fit,) = fit_all(items(filled), Thresholds(load_thresholds(path)))
    assert fit.threshold == pytest.approx(0.53)
    apply_fits(filled.repo, [fit])
    after = {entry.stage: entry for entry in load_thresholds(path)}
    assert after["similarity"] == kept
    assert after["scope"].rank_weight == 0.8 and after["scope"].threshold == 0.53


def test_noise_is_not_better_than_chance(filled: Filled) -> None:
    rng = random.Random(5)
    known = [(rng.random(), rng.random() < 0.5) for _ in range(200)]
    estimate = leave_one_out(known)
    assert estimate is not None and estimate < 0.6 < best_threshold(known)[1] + 0.1
    assert area(known) == pytest.approx(0.5, abs=0.1)


def test_one_model_per_line_and_a_label_serves_every_model_on_its_prompt(filled: Filled) -> None:
    fill(filled, SHIFTED)
    for number, (p, label) in enumerate(SHIFTED):
        filled.call("r1", f"f{number}", label, 0.9 if label else 0.2 + p, model="m2")
    fits = {fit.model: fit for fit in fit_all(items(filled))}
    assert fits["m2"].n == 8 and fits["m2"].threshold is not None and fits["m2"].threshold > 0.5
    scores = {score.model: score for score in score_models(items(filled))}
    assert scores["m2"].confusion.accuracy == 1.0 and scores["m1"].confusion.accuracy == 0.5


_KNOWN = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=30).filter(
    lambda known: 0 < sum(label for _, label in known) < len(known)
)


@given(_KNOWN)
@settings(max_examples=80, deadline=None)
def test_no_threshold_is_better_than_the_best(known: list[tuple[float, bool]]) -> None:
    threshold, accuracy = best_threshold(known)
    assert confusion((label, score >= threshold) for score, label in known).balanced == pytest.approx(accuracy)
    for cut in [score for score, _ in known] + [2.0]:
        other = confusion((label, score >= cut) for score, label in known).balanced
        assert other is not None and other <= accuracy + 1e-9
    assert all(value <= accuracy + 1e-9 for _, value in curve(known))


@given(_KNOWN)
@settings(max_examples=50, deadline=None)
def test_area_is_the_chance_that_a_yes_is_above_a_no(known: list[tuple[float, bool]]) -> None:
    yes = [score for score, label in known if label]
    no = [score for score, label in known if not label]
    slow = sum((y > n) + (y == n) / 2 for y in yes for n in no) / (len(yes) * len(no))
    assert area(known) == pytest.approx(slow)


def test_many_labels_take_no_time() -> None:
    rng = random.Random(1)
    known = [(rng.random(), rng.random() < 0.3) for _ in range(3000)]
    assert leave_one_out(known) is not None


def test_calibration_error() -> None:
    assert calibration_error([(0.9, True)] * 9 + [(0.9, False)]) == pytest.approx(0.0)
    assert calibration_error([(0.9, False)] * 4) == pytest.approx(0.9)
    assert calibration_error([]) is None


def test_minimum_is_what_is_said() -> None:
    assert MIN_LABELS == 8
