"""Thresholds from labelled answers, and what they say about the model."""

from __future__ import annotations

import random
import tomllib

from agent.models.store import registry
from agent.stages import STAGES
from benchmarks.fitting import FittedStage, fit_stage, kept_share, toml_block
from benchmarks.worked_example import GOLD, worked_example


def points(model_knows: bool, changes: int = 12) -> list[tuple[str, bool, float, int]]:
    """Ten ranked items a change with one gold among them; the model's P(yes) tells it, or is noise."""
    dice = random.Random(7)
    found = []
    for number in range(changes):
        gold = dice.choice((1, 2, 3, 6))
        for rank in range(1, 11):
            p = 0.3 + 0.2 * dice.random() + (0.3 if model_knows and rank == gold else 0.0)
            found.append((f"c{number}", rank == gold, p, rank))
    return found


def test_a_model_that_knows_beats_as_many_best_ranked() -> None:
    fit = fit_stage("scope", points(True))
    share, found, alone = fit.left_out
    assert fit.auc_model == 1.0 and found > 0.8 and share < 0.3 and alone < found and not fit.leans_on_rank
    assert "leans_on_rank" not in toml_block(fit)


def test_a_model_that_guesses_leans_on_the_rank() -> None:
    fit = FittedStage("scope", 0.5, 2.0, 100, 0.5, 0.8, (0.5, 0.8, 0.8))
    block = tomllib.loads(toml_block(fit))["models"]["thresholds"]["scope"]
    assert block["leans_on_rank"] is True and block["n"] == 100 and "as many best-ranked 0.80" in block["note"]
    noise = fit_stage("scope", points(False))
    assert noise.auc_model < 0.7 < noise.auc_rank


def test_kept_is_compared_with_as_many_best_ranked() -> None:
    some = [("a", True, 0.9, 4), ("a", False, 0.1, 1), ("a", False, 0.2, 2), ("a", False, 0.1, 3)]
    assert kept_share(some, lambda p, rank: p > 0.5) == (0.25, 1.0, 0.0)


def test_the_worked_example_holds_what_it_says_yes_to(tmp_path) -> None:  # type: ignore[no-untyped-def]
    change, root = worked_example(tmp_path)
    assert all((root / name).is_file() for name in GOLD["scope"])
    assert set(change.gold_symbols) <= set(GOLD["precision_pass1"])


def test_shipped_thresholds_are_of_known_stages_and_say_what_they_rest_on() -> None:
    shipped = [(stage, one) for entry in registry() for stage, one in entry.thresholds.items()]
    assert shipped
    for stage, one in shipped:
        assert STAGES[stage].binary and 0 < one.threshold < 1 and one.n >= 100 and "left out" in one.note
