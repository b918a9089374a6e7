"""Cards of knowledge: short, whole, and chosen by facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.knowledge.cards import LONGEST, MOST, cards_of, fitting, read_card
from agent.models.budget import estimate_tokens

ALL = [(language, card) for language in ("c", "python") for card in cards_of(language)]


@pytest.mark.parametrize(("language", "card"), ALL, ids=lambda one: getattr(one, "name", one))
def test_a_card_is_short_and_not_cut(language: str, card) -> None:  # type: ignore[no-untyped-def]
    assert estimate_tokens(card.text) <= 150 and len(card.text) < LONGEST
    assert card.needs and card.text.rstrip().endswith(".")


@pytest.mark.parametrize(
    ("language", "about", "name"),
    [
        ("c", "/* The oldest element of the ring buffer. */ bool ring_pop(ring_t *r, int *out)", "ring-arithmetic"),
        ("c", "int compare; sorts the items in ascending order with qsort", "sorting"),
        ("c", "the entries are sorted by year, entries of one year alphabetically", "insert-in-order"),
        ("c", "Reads a number; uses strtol", "parsing-numbers"),
        ("c", "a table with separate chaining; a key's bucket is its hash modulo the number of buckets", "hash-buckets"),
        ("c", "the set bits of the bitset's last word", "bit-masks"),
        ("python", "f(-1) raises ValueError: invalid input, an error", "errors-with-messages"),
        ("python", "counts the occurrences of each word; the count of duplicates", "counting"),
        ("python", "Pays an amount with the fewest stamps", "fewest-items"),
        ("python", "All pairs and subsets of the values", "choices"),
        ("python", "Marks the adjacent cells of the board", "grids"),
        ("c", "The weekday of a date in the month", "dates"),
        ("c", "Walks the rows and columns of the matrix", "grids"),
    ],
)
def test_the_words_of_a_contract_choose(language: str, about: str, name: str) -> None:
    assert name in [card.name for card in fitting(cards_of(language), about)]


@pytest.mark.parametrize("about", ["", "int add(int a, int b)", "The list of things"])
def test_one_word_by_chance_chooses_none(about: str) -> None:
    assert fitting(cards_of("c"), about) == ()


def test_the_words_of_a_name_count_most() -> None:
    about = "The rows and columns of the board"
    assert fitting(cards_of("python"), about, "all_subsets")[0].name == "choices"
    assert "choices" not in [card.name for card in fitting(cards_of("python"), about)]


@pytest.mark.parametrize(
    ("name", "about", "card"),
    [
        ("prime", "Given a number n, determine what the nth prime is. The sixth prime is 13.", "primes"),
        ("factors", "Compute the prime factors of a number. A prime is divisible by 1 and itself.", "prime-factors"),
        ("classify", "A number is perfect if it equals the sum of its divisors, its factors but itself.", "divisors"),
    ],
)
@pytest.mark.parametrize("language", ["c", "python"])
def test_of_cards_on_one_subject_the_technique_decides(language: str, name: str, about: str, card: str) -> None:
    assert fitting(cards_of(language), about, name)[0].name == card


def test_what_stands_in_a_long_text_by_chance_chooses_none() -> None:
    about = "The letters of a word. " + "It is about something else. " * 50
    assert fitting(cards_of("python"), about) == ()
    assert fitting(cards_of("python"), about[:200])


def test_one_word_and_its_plural_are_one_word() -> None:
    assert fitting(cards_of("c"), "The word and the words") == ()


def test_at_most_a_few_are_shown() -> None:
    everything = " ".join(word for card in cards_of("c") for word in card.needs)
    assert len(fitting(cards_of("c"), everything)) == MOST


def test_a_persons_own_cards_come_first_and_take_the_place_of_ours(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "sorting.md").write_text("# Mine\nneeds: sort, order\n\nUse our_sort().\n")
    (tmp_path / "c" / "broken.md").write_text("no needs here")
    cards = cards_of("c", tmp_path)
    assert cards[0].text == "Use our_sort()." and [card.name for card in cards].count("sorting") == 1
    assert "broken" not in [card.name for card in cards]


@pytest.mark.parametrize("text", ["", "# Title", "needs: a", "needs:\n\ntext"])
def test_a_file_without_words_or_text_is_no_card(text: str) -> None:
    assert read_card("x", text) is None
