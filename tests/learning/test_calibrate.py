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
from agent.learning.calibrate import Fit, apply_fits, curve, fit_all, still_missing
from agent.learning.fit import best_cut
from agent.learning.scores import calibration_error, confusion, score_models
from agent.verdict.identity import question_version
from agent.verdict.threshold import Threshold, Thresholds, load_thresholds, save_thresholds, thresholds_path
from tests.labels.filled import SYSTEM, Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path)
    yield made
    made.log.close()


def items(filled: Filled) -> list[Item]:
    reader = LogReader(filled.path)
    try:
        return load_items(reader)
    finally:
        reader.close()


def fits(filled: Filled, *entries: Threshold, outcomes: bool = False) -> list[Fit]:
    return fit_all(items(filled), Thresholds(entries), outcomes=outcomes)


def fill(
    filled: Filled, tasks: int = 6, answers: list[tuple[float, bool]] | None = None, source: str = "person", **fields: object
) -> None:
    """The same answers in each of several tasks, all labelled."""
    for task in range(tasks):
        if not items(filled) or f"r{task}" not in {item.run_id for item in items(filled)}:
            filled.run(f"r{task}")
        for number, (p, label) in enumerate(answers or SHIFTED):
            call = filled.call(
                f"r{task}", f"f{number}", p >= 0.5, p, task_context=f"Task: {task}\n\n",
                rank=1 + (number * 3) % len(answers or SHIFTED), **fields,
            )  # type: ignore[arg-type]  # fmt: skip
            filled.label(call, label, source)


SHIFTED = [(p, False) for p in (0.05, 0.08, 0.11, 0.15)] + [(p, True) for p in (0.31, 0.36)]
"""A shy model: right in order, all below 0.5. The rank that :func:`fill` gives tells nothing."""


def test_a_shy_model_gets_a_lower_threshold(filled: Filled) -> None:
    fill(filled)
    (fit,) = fits(filled)
    assert fit.offered, fit.refusal
    assert (fit.n, fit.yes, fit.tasks, fit.now.recall) == (36, 12, 6, 0.0)
    assert fit.rule is not None and fit.then is not None and fit.then.accuracy == 1.0
    assert fit.rule.question == question_version(SYSTEM) and fit.rule.origin == "labels"
    assert (fit.rule.n, fit.rule.tasks, fit.rule.recall) == (36, 6, 1.0) and fit.rule.gain is not None
    (entry,) = load_thresholds(apply_fits(thresholds_path(filled.repo), [fit]))
    assert entry == fit.rule
    decided = [item.decided(entry) for item in items(filled)]
    assert all(verdict.verdict is item.label for verdict, item in zip(decided, items(filled), strict=True))
    assert "fitted to 36 labels" in decided[0].explanation


def test_what_ships_with_the_model_is_what_is_in_force(filled: Filled) -> None:
    """A rank weight in force is known to the fit, judged with the stored ranks, and not thrown away."""
    shipped = Threshold("scope", "m1", 0.3, rank_weight=0.5, origin="shipped", question=question_version(SYSTEM))
    fill(filled)
    (fit,) = fits(filled, shipped)
    assert fit.current == shipped and fit.rule is not None and fit.rule.rank_weight != 0.0
    by_rule = [bool(item.decided(shipped).verdict) for item in items(filled)]
    assert fit.now == confusion(zip([bool(item.label) for item in items(filled)], by_rule, strict=True))


def test_a_shipped_rule_that_the_labels_refute_gives_way(filled: Filled) -> None:
    """It rests on five times as many labels as there are here, and would say no to everything."""
    shipped = Threshold("scope", "m1", 0.579, rank_weight=0.5, n=197, origin="shipped", question=question_version(SYSTEM))
    fill(filled)
    (fit,) = fits(filled, shipped)
    assert fit.now.recall == 0.0 and fit.offered, fit.refusal
    assert fit.then is not None and fit.then.recall == 1.0


def test_labels_count_once_when_their_own_rule_is_in_force(filled: Filled) -> None:
    """The same labels give the same rule again, and it is no longer better than what is in force."""
    shipped = Threshold("scope", "m1", 0.3, rank_weight=0.5, n=150, origin="shipped", question=question_version(SYSTEM))
    fill(filled)
    (first,) = fits(filled, shipped)
    assert first.rule is not None and first.rule.origin == "labels"
    (again,) = fits(filled, shipped, first.rule)
    assert again.current == first.rule and again.rule is not None and not again.offered
    assert (again.rule.slope, again.rule.rank_weight, again.rule.threshold) == (
        first.rule.slope, first.rule.rank_weight, first.rule.threshold
    )  # fmt: skip


def test_another_wording_of_the_question_voids_a_threshold(filled: Filled) -> None:
    old = Threshold("scope", "m1", 0.2, question="0123456789")
    fill(filled)
    (fit,) = fits(filled, old)
    assert fit.now.recall == 0.0
    verdict = items(filled)[5].decided(old)
    assert (verdict.verdict, verdict.source) == (False, "parsed") and "another wording" in verdict.explanation


def test_too_few_labels_is_a_sentence_not_a_threshold(filled: Filled) -> None:
    fill(filled, 2)
    (fit,) = fits(filled)
    assert fit.rule is None and "8 more" in fit.problem and fit.missing == 8
    with pytest.raises(ValueError, match="Label 8 more"):
        apply_fits(thresholds_path(filled.repo), [fit])
    assert not thresholds_path(filled.repo).exists()


def test_labels_of_one_task_are_not_enough(filled: Filled) -> None:
    fill(filled, 1, [(n / 40, n > 20) for n in range(40)])
    (fit,) = fits(filled)
    assert fit.rule is None and "come from 1 tasks" in fit.problem


@pytest.mark.parametrize(
    ("tasks", "answers", "said"),
    [
        (1, 6, "14 more labels (4 more tasks) and relevant? can be fitted"),
        (4, 6, "labels of 1 more tasks and relevant? can be fitted"),
        (5, 2, "10 more labels and relevant? can be fitted"),
        (5, 5, "relevant? can be fitted: F10"),
    ],
)
def test_what_labels_are_worth_so_far_names_all_that_is_missing(filled: Filled, tasks: int, answers: int, said: str) -> None:
    fill(filled, tasks, [(n / 10, n % 2 == 0) for n in range(answers)], stage="precision_pass1")
    known = items(filled)
    assert still_missing(known, "precision_pass1", "m1", known[0].question) == said


def test_labels_of_one_kind_only(filled: Filled) -> None:
    fill(filled, 6, [(p / 10, False) for p in range(6)])
    (fit,) = fits(filled)
    assert fit.rule is None and fit.problem.startswith("Only 0 of 36 labels say yes")


def test_answers_without_a_probability(filled: Filled) -> None:
    filled.run("r1")
    for number in range(10):
        filled.label(filled.call("r1", f"f{number}", True), number % 2 == 0)
    (fit,) = fits(filled)
    assert fit.rule is None and "probability" in fit.problem
    assert fit.now.n == 10 and fit.now.precision == 0.5


def test_outcomes_count_only_when_asked_for(filled: Filled) -> None:
    fill(filled, source="outcome")
    assert fits(filled) == [] and len(fits(filled, outcomes=True)) == 1
    assert score_models(items(filled)) == []


def test_other_entries_stay(filled: Filled) -> None:
    path = thresholds_path(filled.repo)
    kept = Threshold("similarity", "m1", 0.6, note="by hand")
    save_thresholds(path, [kept])
    fill(filled)
    apply_fits(path, fits(filled))
    assert {entry.stage: entry for entry in load_thresholds(path)}["similarity"] == kept


def test_noise_is_not_offered(filled: Filled) -> None:
    dice = random.Random(5)
    for task in range(8):
        filled.run(f"r{task}")
        for number in range(10):
            shared = f"Task: {task}\n\n"
            call = filled.call(f"r{task}", f"f{number}", True, dice.random(), task_context=shared, rank=number + 1)
            filled.label(call, dice.random() < 0.4)
    (fit,) = fits(filled)
    assert fit.rule is not None and not fit.offered and fit.refusal


def test_one_model_per_line_and_a_label_serves_every_model_on_its_judgment(filled: Filled) -> None:
    fill(filled)
    for task in range(6):
        for number, (p, label) in enumerate(SHIFTED):
            filled.call(
                f"r{task}", f"f{number}", label, 0.9 if label else 0.2 + p, model="m2", task_context=f"Task: {task}\n\n"
            )
    by_model = {fit.model: fit for fit in fits(filled)}
    assert by_model["m2"].n == 36 and by_model["m2"].rule is not None
    scores = {score.model: score for score in score_models(items(filled))}
    assert scores["m2"].confusion.accuracy == 1.0 and scores["m1"].confusion.recall == 0.0


_KNOWN = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=30).filter(
    lambda known: 0 < sum(label for _, label in known) < len(known)
)


@given(_KNOWN)
@settings(max_examples=80, deadline=None)
def test_no_threshold_is_better_than_the_best(known: list[tuple[float, bool]]) -> None:
    threshold, accuracy = best_cut(known)
    assert confusion((label, score >= threshold) for score, label in known).balanced == pytest.approx(accuracy)
    for cut in [score for score, _ in known] + [2.0]:
        other = confusion((label, score >= cut) for score, label in known).balanced
        assert other is not None and other <= accuracy + 1e-9
    assert all(value <= accuracy + 1e-9 for _, value in curve(known))


def test_calibration_error() -> None:
    assert calibration_error([(0.9, True)] * 9 + [(0.9, False)]) == pytest.approx(0.0)
    assert calibration_error([(0.9, False)] * 4) == pytest.approx(0.9)
    assert calibration_error([]) is None
