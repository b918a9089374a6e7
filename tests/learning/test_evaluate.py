"""The labelled set asked of another model, over HTTP, as a run of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.audit.history import events_of, fold, list_runs
from agent.audit.reader import LogReader
from agent.config.schema import Config, merge
from agent.gate import Gate
from agent.labels.items import load_items
from agent.learning.evaluate import EvaluationError, labelled_set, run_evaluation
from agent.models.types import ModelError
from agent.verdict.threshold import Threshold, Thresholds
from tests.fakes import Answer, RecordedCall, ScriptedServer
from tests.labels.filled import Filled


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """Six labelled files: f0, f2, f4 are relevant; the first model says yes to all."""
    made = Filled(tmp_path)
    made.run("r1")
    for number in range(6):
        made.label(made.call("r1", f"f{number}", True, 0.6), number % 2 == 0)
    yield made
    made.log.close()


def config(server: ScriptedServer, model: str = "m2", **models: object) -> Config:
    address = {"provider": "openai", "base_url": server.base_url, "coding": model, "reasoning": model}
    return merge({"models": {**address, **models}})


def answers(call: RecordedCall) -> Answer:
    """Right on all but f1, where it is sure and wrong; f5 gets no readable answer."""
    if "File: f5" in call.prompt:
        return Answer("perhaps", logprobs=False)
    yes = any(f"File: f{n}" in call.prompt for n in (0, 1, 2, 4))
    return Answer("yes" if yes else "no", p_yes=0.9 if yes else 0.2)


async def test_a_model_is_measured_beside_the_one_in_the_log(filled: Filled) -> None:
    seen: list[tuple[int, int]] = []
    async with ScriptedServer(answers, latency=0.02) as server:
        finished, found = await run_evaluation(
            filled.repo, "e1", config(server, concurrency=3), thresholds=Thresholds([]),
            progress=lambda done, of: seen.append((done, of)),
        )  # fmt: skip
        assert len(server.calls) == 6 and server.max_in_flight > 1
    assert finished.status == "complete" and seen[-1] == (6, 6)
    (mine,) = found.asked
    assert (mine.stage, mine.model, mine.unreadable) == ("scope", "m2", 1)
    assert (mine.confusion.true_yes, mine.confusion.false_yes, mine.confusion.true_no) == (3, 1, 2)
    assert mine.ms is not None and mine.ms > 0
    assert mine.brier == pytest.approx((3 * 0.01 + 0.81 + 0.04) / 5)
    (log,) = found.others
    assert log.model == "m1" and log.confusion.accuracy == 0.5


async def test_its_calls_are_rows_that_neither_use_nor_feed_the_cache(filled: Filled) -> None:
    async with ScriptedServer(answers) as server:
        for run_id in ("e1", "e2"):
            await run_evaluation(filled.repo, run_id, config(server), thresholds=Thresholds([]))
        assert len(server.calls) == 12, "asked again, not taken from the first time"
    reader = LogReader(filled.path)
    keys = reader.select("select distinct cache_key from calls where run_id in ('e1', 'e2')")
    runs = {run.run_id: run for run in list_runs(reader)}
    state = fold(events_of(reader, "e1"))
    mine = [item for item in load_items(reader) if item.run_id == "e1"]
    reader.close()
    assert keys == [(None,)]
    assert runs["e1"].status == "complete" and runs["e1"].calls == 6 and "m2" in runs["e1"].task
    assert len(state.calls) == 6 and state.finished is not None
    assert all(item.label is not None and not item.own for item in mine), "measured by the labels, no labels of its own"


async def test_a_threshold_of_the_model_is_used(filled: Filled) -> None:
    async with ScriptedServer(Answer("yes", p_yes=0.3)) as server:
        _, found = await run_evaluation(
            filled.repo, "e1", config(server), thresholds=Thresholds([Threshold("scope", "m2", 0.5)])
        )
    assert found.asked[0].confusion.true_no == 3 and found.asked[0].confusion.true_yes == 0


async def test_only_a_stage_and_nothing_labelled(filled: Filled) -> None:
    reader = LogReader(filled.path)
    assert len(labelled_set(reader, ["scope"])) == 6
    with pytest.raises(EvaluationError, match="No call in similarity carries a label"):
        labelled_set(reader, ["similarity"])
    reader.close()


async def test_a_server_that_cannot_answer_ends_the_run_as_failed(filled: Filled) -> None:
    async with ScriptedServer("yes", models=("another",)) as server:
        with pytest.raises(ModelError):
            await run_evaluation(filled.repo, "e1", config(server), thresholds=Thresholds([]))
    reader = LogReader(filled.path)
    (run,) = [run for run in list_runs(reader) if run.run_id == "e1"]
    reader.close()
    assert run.status == "failed" and run.reason


async def test_it_can_be_stopped(filled: Filled) -> None:
    gate = Gate()

    def stop_at_two(done: int, of: int) -> None:
        if done == 2:
            gate.stop()

    async with ScriptedServer(answers, latency=0.02) as server:
        finished, found = await run_evaluation(
            filled.repo, "e1", config(server), thresholds=Thresholds([]), progress=stop_at_two, gate=gate
        )
    assert finished.status == "stopped" and "after 2 of 6" in finished.reason
    assert found.asked[0].confusion.n == 2
