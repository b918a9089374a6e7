"""Union-find, rank fusion, BM25, the call allowance: small parts with laws."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.graph import group
from agent.retrieval.call_budget import FIRST_WAVE, Allowance
from agent.retrieval.ranking import Bm25, best_first, fuse
from agent.retrieval.stemming import stem

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
    for words in (
        ["accept", "accepts", "accepting", "accepted"], ["nest", "nested", "nesting"], ["file", "files"],
        ["enter", "entering", "enters"], ["class", "classes"], ["process", "processes"], ["copy", "copies", "copied"],
    ):  # fmt: skip
        assert len({stem(word) for word in words}) == 1


def test_what_is_no_english_word_stays_as_it_is() -> None:
    assert [stem(word) for word in ("", "is", "utf8", "größen", "日本語")] == ["", "is", "utf8", "größen", "日本語"]


def test_an_abbreviation_answers_to_the_word_it_begins() -> None:
    documents = {
        "args": Counter({"arg": 2, "parse": 1}),
        "spelled": Counter({"argument": 2, "parse": 1}),
        "ar": Counter({"ar": 2, "parse": 1}),
        "other": Counter({"window": 2, "parse": 1}),
    }
    scores = Bm25(documents).loose_scores({"argument": 1.0})
    assert scores["spelled"] > scores["args"] > scores["ar"] == scores["other"] == 0
    assert Bm25(documents).related("argum") == ["arg", "argument"] and Bm25(documents).related("arguments") == ["arg"]
    assert Bm25({}).loose_scores({"x": 1.0}) == {}


def test_many_of_the_words_say_more_than_one_of_them_often() -> None:
    documents = {
        "both": Counter({"fold": 1, "text": 1, "a": 8}),
        "one": Counter({"fold": 8, "a": 2}),
        "more": Counter({"text": 3, "a": 7}),
        "else": Counter({"b": 10}),
    }
    query = {"fold": 1.0, "text": 1.0}
    bm25 = Bm25(documents)
    loose = bm25.loose_scores(query)
    assert loose["both"] == 2 * bm25.score("both", query) and loose["one"] == 1.5 * bm25.score("one", query)
    assert max(loose, key=lambda key: loose[key]) == "both"


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


class Pace:
    """A server whose every question takes so many seconds, on a clock of its own."""

    def __init__(self, each: float, at_once: int = 1) -> None:
        self.now, self.each, self.at_once = 0.0, each, at_once
        self.waves: list[int] = []

    async def ask(self, wave: list[int]) -> None:
        self.waves.append(len(wave))
        self.now += self.each * -(-len(wave) // self.at_once)


@given(st.integers(0, 40), st.lists(st.tuples(st.integers(0, 20), st.integers(1, 4)), max_size=6))
@settings(max_examples=60, deadline=None)
def test_the_allowance_is_never_overdrawn(calls: int, stages: list[tuple[int, int]]) -> None:
    pace = Pace(0.0)
    allowance = Allowance(10.0, calls, lambda: pace.now)
    taken = denied = 0
    for count, share in stages:
        items = list(range(count))
        asked = asyncio.run(allowance.ask(items, pace.ask, share))
        assert asked == items[: len(asked)]
        taken, denied = taken + len(asked), denied + count - len(asked)
    assert allowance.asked == taken == sum(pace.waves) and allowance.denied == denied
    assert not calls or taken <= calls


@pytest.mark.parametrize(
    ("pace", "asked"),
    [
        (Pace(0.01), 300),  # a fast server is asked about everything
        (Pace(1.0), 30),  # a slow one about what its third of the time allows
        (Pace(1.0, at_once=64), 300),  # one that answers dozens at once, again about everything
        (Pace(100.0), FIRST_WAVE),  # and never about nothing
    ],
)
def test_the_server_at_hand_decides_how_much_is_asked(pace: Pace, asked: int) -> None:
    allowance = Allowance(90.0, 0, lambda: pace.now)
    found = asyncio.run(allowance.ask(list(range(300)), pace.ask, 3))
    assert found == list(range(asked)) and allowance.denied == 300 - asked
    assert pace.waves[0] == FIRST_WAVE


def test_nothing_is_asked_when_the_time_is_up() -> None:
    pace = Pace(1.0)
    allowance = Allowance(8.0, 0, lambda: pace.now)
    assert len(asyncio.run(allowance.ask(list(range(9)), pace.ask))) == 8
    assert asyncio.run(allowance.ask([1, 2], pace.ask)) == [] and allowance.denied == 3
    assert "retrieval.seconds" in allowance.reason()
