"""The queue behind the relabelling screen: quick while typing, and the same as the plain one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.labels.queue import ORDERS, Filter, in_order, passing
from screens.learning.label_model import LabelSession, parse_filter
from tests.labels.filled import Filled

TYPED = (
    "", "f1", "F1.C", "scope f1", "yes", "no", "defaulted", "disputed", "unlabelled", "labelled", "agrees", "disagrees",
    "person", "overrule", "run:r1", "run:r1 no f", "run:r2 unlabelled", "model:m1 yes", "stage:scope labelled", "nothing",
    "overruled", "cached",
)  # fmt: skip


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LabelSession]:
    """Two runs that ask the same of twelve files and disagree on some; a few labels, one overrule."""
    made = Filled(tmp_path / "repo")
    for run in ("r1", "r2"):
        made.run(run, task="t", repo=str(made.repo), model="m1")
        for number in range(12):
            yes = number < (5 if run == "r1" else 8)
            call = made.call(run, f"f{number}.c", yes, 0.05 + number / 13, question=f"Is f{number}.c relevant?")
            if number % 4 == 1:
                made.label(call, number < 6, "overrule" if number == 5 else "person")
    made.call("r2", "odd.c", False, raw="maybe", defaulted=True, source="default")
    made.log.flush()
    opened = LabelSession(made.repo, lambda: 0.0)
    opened.load()
    yield opened
    opened.close()
    made.log.close()


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_typed_gives_the_same_queue_as_looking_at_every_call(session: LabelSession, order: str) -> None:
    for text in TYPED:
        wanted = parse_filter(text)
        session.show(wanted, order)  # type: ignore[arg-type]
        plain = in_order(passing(session.items, wanted), order, session.seed)  # type: ignore[arg-type]
        assert [item.call_id for item in session.queue] == [item.call_id for item in plain], (text, order)
        kept = {item.judgment for item in session.items if wanted.passes(item)}
        assert {item.judgment for item in passing(session.items, wanted)} == kept == {item.judgment for item in plain}, text


def test_the_queues_hold_what_their_names_say(session: LabelSession) -> None:
    assert len(session.items) == 25
    assert session.counts["6"] == 16  # 13 judgments, three of which the runs answer differently
    assert session.counts["1"] + session.counts["5"] == 16
    assert session.counts["3"] == 1 and session.counts["2"] == sum(item.split for item in session.items) == 6
    wanted = session.items[7].call_id
    session.show(Filter(), "newest", wanted)
    assert session.item is not None and session.item.call_id == wanted
    session.show(Filter(text="f9"), "newest", wanted)
    assert session.place == 0 and session.progress().startswith("1 of 1 labelled")


def test_from_the_last_call_it_goes_on_with_the_first_that_has_no_label(session: LabelSession) -> None:
    session.show(Filter(), "oldest")
    last = len(session.queue) - 1
    open_ = [place for place, item in enumerate(session.queue) if item.label is None]
    session.place = last
    assert session.move_to_open() and session.place == open_[0] != last
    for place in open_[:-1]:
        session.label(session.queue[place], True)
    session.place = open_[-1]
    assert not session.move_to_open() and session.place == open_[-1], "it is the only one left"


def test_progress_follows_what_is_labelled_and_taken_back_wherever_the_queue_stands(session: LabelSession) -> None:
    def labelled() -> int:
        return sum(item.label is not None for item in session.queue)

    for text in ("", "f1", "unlabelled", "run:r1"):
        session.show(parse_filter(text), "least_certain")
        first = session.queue[0]
        for act in (lambda: session.label(first, True), session.undo, session.redo, session.undo):  # noqa: B023
            act()
            assert session.progress().startswith(f"{labelled()} of {len(session.queue)} labelled"), text


def test_the_numbers_of_a_sitting_are_those_of_what_was_not_taken_back(session: LabelSession) -> None:
    now = 0.0
    session.clock = lambda: now
    session.show(Filter(run_id="r1"), "oldest")
    told = [session.progress()]
    for item, right in zip(session.queue[2:6], (True, False, True, True), strict=True):
        now += 10
        session.label(item, right)
        told.append(session.progress())
    assert "4 in this session · model right 2 of 4 · 6 a minute" in told[-1]
    for before in reversed(told[:-1]):
        session.undo()
        assert session.progress() == before
    for after in told[1:]:
        session.redo()
        assert session.progress() == after
    session.label(session.queue[3], True)
    assert "4 in this session · model right 3 of 4" in session.progress(), "changing one's mind is no further label"
    now += 3600
    session.label(session.queue[7], True)
    assert "2 a minute" in session.progress(), "a break is not a labelling time"


def test_a_comment_leaves_an_overrule_an_overrule(session: LabelSession) -> None:
    item = next(item for item in session.items if item.own and item.source == "overrule")
    session.comment(item, "seen by the reviewer")
    assert (item.source, item.note) == ("overrule", "seen by the reviewer")
    assert "session" not in session.progress()
    session.undo()
    assert (item.source, item.note) == ("overrule", "")
