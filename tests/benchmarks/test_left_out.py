"""Weights are fitted to what tells, and never to the repository that they are judged on."""

from __future__ import annotations

from benchmarks.left_out import Ranked, fit, left_out, order

CUTS = {1: 1.0}


def change(repo: str, telling: str) -> Ranked:
    """Two of five files share each kind of evidence; only ``telling`` points at the one that was touched."""
    evidence = {f"other{n}": {"words": 1.0 - n / 10, "edges": 1.0 - n / 10} for n in range(4)}
    evidence["gold"] = {telling: 1.0}
    return Ranked(repo, evidence, ("gold",))


def test_the_kind_that_tells_gets_the_larger_weight() -> None:
    weights = fit([change("a", "words"), change("b", "words")], ["words", "edges"], CUTS)
    assert weights["words"] > weights["edges"] >= 0.0


def test_a_repository_is_judged_by_the_others() -> None:
    changes = [change("a", "words"), change("b", "edges"), change("c", "edges")]
    places = [ranked.index("gold") for ranked in left_out(changes, ["words", "edges"], CUTS)]
    alone = fit([changes[0]], ["words", "edges"], CUTS)
    assert places[0] >= order(changes[0], alone).index("gold")
    assert left_out(changes, ["words", "edges"], CUTS)[0] == order(changes[0], fit(changes[1:], ["words", "edges"], CUTS))


def test_what_the_task_names_comes_first() -> None:
    one = change("a", "words")
    named = Ranked("a", one.evidence, one.gold, first=("other3",))
    assert order(named, {"words": 1.0, "edges": 1.0})[0] == "other3"
