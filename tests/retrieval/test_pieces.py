"""Union-find, rank fusion, BM25, the call allowance: small parts with laws."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.graph import group
from agent.retrieval.allowance import Allowance
from agent.retrieval.ranking import Bm25, best_first, fuse, stem

pairs = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30)


@given(pairs)
@settings(max_examples=60, deadline=None)
def test_groups_are_the_connected_components(edges: list[tuple[int, int]]) -> None:
    groups = group(range(12), [(a, b, None) for a, b in edges]).groups
    reach = {n: {n} for n in range(12)}
    for _ in range(12):
        for a, b in edges:
            joined = reach[a] | reach[b]
            for n in joined:
                reach[n] = reach[n] | joined
    assert {frozenset(members) for members in groups} == {frozenset(members) for members in reach.values()}
    assert [members[0] for members in groups] == sorted(min(members) for members in groups)


@given(st.lists(st.permutations(list("abcdef")), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_fusion_respects_agreement(rankings: list[list[str]]) -> None:
    scores = fuse([(1.0, ranking) for ranking in rankings])
    for a in "abcdef":
        for b in "abcdef":
            if all(ranking.index(a) < ranking.index(b) for ranking in rankings):
                assert scores[a] > scores[b]
    assert sorted(best_first(scores)) == list("abcdef")


def test_word_forms_meet_at_one_stem() -> None:
    for words in (["accept", "accepts", "accepting", "accepted"], ["nest", "nested", "nesting"], ["file", "files"]):
        assert len({stem(word) for word in words}) == 1


def test_bm25_prefers_the_rare_word_in_the_short_document() -> None:
    documents = {
        "short": Counter({"fold": 1, "text": 1}),
        "long": Counter({"fold": 1, "text": 20, "other": 60}),
        "none": Counter({"text": 5}),
    }
    bm25 = Bm25(documents)
    scores = {key: bm25.score(key, {"fold": 1.0, "text": 1.0}) for key in documents}
    assert scores["short"] > scores["long"] > 0 and scores["none"] < scores["short"]
    assert Bm25({}).idf("x") >= 0


@given(st.integers(0, 40), st.lists(st.tuples(st.integers(0, 20), st.integers(1, 4)), max_size=6))
@settings(max_examples=60, deadline=None)
def test_the_allowance_is_never_overdrawn(calls: int, stages: list[tuple[int, int]]) -> None:
    allowance = Allowance(calls)
    taken = denied = 0
    for count, share in stages:
        items = list(range(count))
        allowed = allowance.take(items, share)
        assert allowed == items[: len(allowed)]
        taken, denied = taken + len(allowed), denied + count - len(allowed)
    assert taken <= calls and allowance.left == calls - taken and allowance.denied == denied
