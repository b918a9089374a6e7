"""The measurement of what labels are worth, on answers that can be counted by hand."""

from __future__ import annotations

import pytest

from agent.verdict.threshold import Threshold
from benchmarks.judged import Answer
from benchmarks.learning import (
    Figures,
    averaged,
    by_rank,
    by_words,
    figures,
    interval,
    measured,
    with_earlier,
    with_others,
    worth,
)

START = Threshold("precision_pass2", "m", 0.5)


def task(repo: str, at: int, *answers: tuple[bool, float]) -> list[Answer]:
    """A task whose answers are (whether the item mattered, P(yes)), best-ranked first."""
    return [
        Answer("precision_pass2", f"{repo}-{at}", "c", f"f{rank}", rank, gold, p >= 0.5, p, "m", repo=repo, at=at,
               facts={"kind_function": 1.0, "lines": 9.0})
        for rank, (gold, p) in enumerate(answers, 1)
    ]  # fmt: skip


def test_one_task_by_hand() -> None:
    answers = task("a", 1, (False, 0.9), (True, 0.8), (False, 0.2), (True, 0.4), (False, 0.1))
    assert figures([by_words(answer) for answer in answers], 0.4) == Figures(0.5, pytest.approx(4 / 6), 0.4, 0.5)
    assert figures([by_rank(answer) for answer in answers], 0.4) == Figures(0.5, pytest.approx(3 / 6), None, None)
    nothing = task("a", 2, (False, 0.9), (False, 0.1))
    assert figures([by_words(answer) for answer in nothing], 0.4) == Figures(kept=0.5)
    both = measured([*answers, *nothing], by_words, 0.4)
    assert worth(both.values()) == pytest.approx(-0.45 - 3 * (0.9 - 0.5))


def test_a_difference_is_paired_by_task() -> None:
    better = {f"t{n}": Figures(recall=0.5 + 0.1 * (n % 3)) for n in range(9)}
    worse = {name: Figures(recall=(one.recall or 0.0) - 0.2) for name, one in better.items()}
    less, low, high = interval(better, worse, lambda some: sum(one.recall or 0.0 for one in some) / len(some))
    assert [less, low, high] == pytest.approx([0.2, 0.2, 0.2]), "how the tasks differ does not widen it"
    assert averaged([better, worse])["t0"] == Figures(recall=pytest.approx(0.4))


def test_a_repository_never_sees_its_own_labels_nor_a_task_later_ones() -> None:
    """In one repository P(yes) says what matters, in the other its opposite: each is judged by the other's."""
    told = [(True, 0.9), (False, 0.2), (True, 0.8), (False, 0.1)]
    lied = [(gold, 1 - p) for gold, p in told]
    answers = [one for at in range(1, 7) for one in (*task("told", at, *told), *task("lied", at, *lied))]
    others = with_others(answers, 16, START, 0.5, 2)
    assert len(others) == 12
    assert all(figure.order is not None and figure.order < 1.0 for name, figure in others.items() if "told" in name)
    assert all(figure.order == 0.0 for name, figure in others.items() if "lied" in name)
    earlier = with_earlier(answers, 8, START, 0.5)
    assert sorted(earlier) == sorted(f"{repo}-{at}" for repo in ("told", "lied") for at in range(3, 7))
    assert all(figure.order == 1.0 for name, figure in earlier.items() if "told" in name)
