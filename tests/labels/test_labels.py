"""Labels, the queue, agreement, guidelines, and what the outcome of a run says about its judgments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.log import LogError
from agent.audit.reader import LogReader
from agent.events import (
    DiffReady,
    DiffResolved,
    EditApplied,
    Envelope,
    FunctionImplemented,
    StepFinished,
    StepStarted,
)
from agent.labels.book import LabelBook, label_outcomes, outcomes_wanted
from agent.labels.guidelines import guideline, guidelines_folder
from agent.labels.items import labelled_calls, load_items
from agent.labels.queue import ORDERS, Filter, agreement, in_order, passing, uncertainty
from agent.workspace.clean_room import claim
from tests.labels.filled import Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    made = Filled(tmp_path)
    made.run("r1")
    made.run("r2")
    yield made
    made.log.close()


def items(filled: Filled) -> list:
    reader = LogReader(filled.path)
    try:
        return load_items(reader)
    finally:
        reader.close()


def test_the_last_label_wins_and_undo_puts_the_earlier_one_back(filled: Filled) -> None:
    call = filled.call("r1", "a.c", True)
    filled.label(call, False, "overrule")
    book = LabelBook(filled.path)
    before = book.current(call)
    book.add(call, True, "person", "I looked", "v1")
    assert items(filled)[0].label is True and items(filled)[0].source == "person"
    book.restore(call, before)
    assert items(filled)[0].label is False and items(filled)[0].source == "overrule"
    book.restore(call, None)
    assert items(filled)[0].label is None
    assert [row.label for row in book.history(call)] == [False, True, False, None], "nothing is ever removed"
    book.close()


def test_labelling_a_call_that_is_not_there_says_so(filled: Filled) -> None:
    book = LabelBook(filled.path)
    with pytest.raises(LogError, match="no call 99"):
        book.add(99, True)
    call = filled.call("r1", "a.c")
    assert book.add(call, True) == 1, "the book still works"
    book.close()


def test_no_log_no_book(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="Run a task there first"):
        LabelBook(tmp_path / "raw.sqlite")
    assert not (tmp_path / "raw.sqlite").exists()


async def test_a_label_can_be_written_in_a_thread_while_a_run_writes_on_the_loop(filled: Filled) -> None:
    call = filled.call("r1", "a.c")
    book = LabelBook(filled.path)

    async def busy() -> None:
        for number in range(200):
            filled.log.append(Envelope("r1", number + 1, 0.0, StepStarted(f"s{number}")))
            await asyncio.sleep(0)

    writer = asyncio.create_task(busy())
    for _ in range(10):
        await asyncio.to_thread(book.add, call, True)
    await writer
    assert len(book.history(call)) == 10
    book.close()


def test_no_order_drops_an_item(filled: Filled) -> None:
    for number in range(20):
        filled.call("r1", f"f{number}.c", number % 3 == 0, p=number / 20, raw="" if number == 7 else None)
    found = items(filled)
    for order in ORDERS:
        queue = in_order(found, order, seed=3)
        assert sorted(item.call_id for item in queue) == [item.call_id for item in found]
    assert in_order(found, "random", seed=3) != in_order(found, "random", seed=4)
    assert in_order(found, "random", seed=3) == in_order(found, "random", seed=3)


def test_least_certain_is_measured_from_the_threshold_that_decided(filled: Filled) -> None:
    far = filled.call("r1", "far.c", True, p=0.5, threshold=0.1)
    near = filled.call("r1", "near.c", True, p=0.93, threshold=0.92)
    unreadable = filled.call("r1", "odd.c", False, raw="maybe", defaulted=True, source="default")
    plain = filled.call("r1", "plain.c", True)
    queue = in_order(items(filled))
    assert [item.call_id for item in queue] == [unreadable, near, far, plain]
    said = {item.call_id: uncertainty(item)[1] for item in queue}
    assert "could not be read" in said[unreadable]
    assert said[near] == "score 0.93 beside the threshold 0.92"
    assert "no probability" in said[plain]


def test_filters(filled: Filled) -> None:
    a = filled.call("r1", "a.c", True, model="m1")
    b = filled.call("r2", "a.c", False, model="m2")
    c = filled.call("r1", "b.c", False, stage="similarity")
    d = filled.call("r1", "c.c", False, raw="hm", defaulted=True, source="default")
    filled.label(c, True)
    found = items(filled)

    def ids(**wanted: object) -> list[int]:
        return sorted(item.call_id for item in passing(found, Filter(**wanted)))  # type: ignore[arg-type]

    assert ids(disputed=True) == [a, b]
    assert ids(stage="similarity") == [c]
    assert ids(run_id="r2") == [b]
    assert ids(model="m2") == [b]
    assert ids(verdict="yes") == [a]
    assert ids(answer="defaulted") == [d]
    assert ids(state="labelled") == [c] == ids(state="disagrees") == ids(state="person")
    assert ids(state="unlabelled") == [a, b, d]
    assert ids(text="C.C") == [d]


def test_a_label_holds_for_the_same_prompt_in_another_run_and_conflicts_are_seen(filled: Filled) -> None:
    first = filled.call("r1", "a.c", True)
    second = filled.call("r2", "a.c", True, model="m2")
    filled.label(first, False)
    [twin] = [item for item in items(filled) if item.run_id == "r2"]
    assert (twin.label, twin.own, twin.contested) == (False, False, False)
    filled.label(second, True)
    assert [item.label for item in items(filled)] == [False, True]
    assert all(item.contested for item in items(filled))


def test_what_the_model_said_survives_being_overruled(filled: Filled) -> None:
    filled.call("r1", "a.c", False, p=0.8, threshold=0.4, overruled=True, source="overrule")
    filled.call("r1", "b.c", True, raw="no", overruled=True, source="overrule")
    assert [item.model_verdict for item in items(filled)] == [True, False]


def test_agreement_counts_prompts_once_and_knows_kappa(filled: Filled) -> None:
    for number in range(4):
        call = filled.call("r1", f"f{number}", number < 2)
        filled.label(call, number in (0, 2))
    filled.call("r2", "f0", True)  # the same prompt once more
    filled.call("r2", "new", True)
    (row,) = agreement(items(filled))
    assert (row.calls, row.labelled, row.agree, row.unreadable) == (6, 4, 2, 0)
    assert row.kappa == pytest.approx(0.0)


def test_guidelines_have_a_version_that_follows_the_text(tmp_path: Path) -> None:
    ours = guideline(tmp_path, "scope")
    assert "read or change" in ours.text and not ours.own and len(ours.version) == 10
    folder = guidelines_folder(tmp_path)
    claim(tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scope.md").write_text("Only files that change.\n", encoding="utf-8")
    mine = guideline(tmp_path, "scope")
    assert mine.own and mine.version != ours.version
    assert guideline(tmp_path, "a_stage_of_tomorrow").text


def _emit(filled: Filled, run_id: str, *events: object) -> None:
    for seq, event in enumerate(events, 1):
        filled.log.append(Envelope(run_id, seq, 0.0, event))  # type: ignore[arg-type]
    filled.log.flush()


_WORK = (
    StepStarted("s1"), EditApplied("a.py", "symbol", "can_fit"), StepFinished("s1", True),
    StepStarted("s2"), EditApplied("a.py", "symbol", "bad_idea"), StepFinished("s2", False, rolled_back=True),
    StepStarted("s3"), FunctionImplemented("ring_push", "r.c"), StepFinished("s3", True),
    DiffReady("…", ("a.py", "r.c")),
)  # fmt: skip


def test_outcomes_label_only_what_the_applied_diff_changed(filled: Filled) -> None:
    changed = filled.call("r1", "a.py", False)
    other = filled.call("r1", "b.py", False)
    method = filled.call("r1", "a.py:Budget.can_fit", False, stage="precision_pass1")
    left_alone = filled.call("r1", "c.py", True)
    undone = filled.call("r1", "a.py:bad_idea", False, stage="precision_pass1")
    function = filled.call("r1", "r.c:ring_push", True, stage="precision_pass2")
    full_source = filled.call("r1", "r.c:ring_push", False, stage="precision_pass3")
    mine = filled.call("r1", "r.c", True)
    filled.label(mine, False)
    _emit(filled, "r1", *_WORK, DiffResolved("applied"))
    assert label_outcomes(filled.log, "r1") == 4
    found = {item.call_id: item for item in items(filled)}
    assert [found[c].label for c in (changed, method, function)] == [True, True, True]
    assert {found[c].source for c in (changed, method, function)} == {"outcome"}
    assert (found[left_alone].label, found[left_alone].source) == (False, "outcome"), "shown and untouched: a weak no"
    assert [found[c].label for c in (other, undone, full_source)] == [None, None, None]
    assert found[mine].label is False, "a person's word stands"
    assert label_outcomes(filled.log, "r1") == 0, "once is enough"


@pytest.mark.parametrize("choice", ["kept", "discarded", None])
def test_what_was_not_applied_labels_nothing(filled: Filled, choice: str | None) -> None:
    filled.call("r1", "a.py", False)
    _emit(filled, "r1", *_WORK, *([DiffResolved(choice)] if choice else []))  # type: ignore[arg-type]
    assert label_outcomes(filled.log, "r1") == 0


def test_outcomes_are_labelled_only_where_the_run_was_told_to(filled: Filled) -> None:
    filled.run("on", config='{"judgment": {"outcome_labels": true}}')
    filled.run("old", config='{"models": {}}')
    assert [outcomes_wanted(filled.log, run) for run in ("on", "old", "r1", "none")] == [True, False, False, False]


def test_labelled_rows_of_a_run_are_known_by_their_judgment(filled: Filled) -> None:
    first, again = filled.call("r1", "a.c"), filled.call("r2", "a.c")
    other, taken_back, weak = filled.call("r2", "b.c"), filled.call("r2", "c.c"), filled.call("r2", "d.c")
    filled.label(first, True)
    filled.label(taken_back, True)
    filled.label(taken_back, None)
    filled.label(weak, True, "outcome")
    reader = LogReader(filled.path)
    assert labelled_calls(reader, "r2") == {again} and labelled_calls(reader, "r1") == {first} and other
    reader.close()
