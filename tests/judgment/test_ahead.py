"""Questions of the next stage, asked while the last answers of this one are awaited."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.audit.log import log_path
from agent.audit.reader import LogReader
from agent.events import CallFinished, Envelope, StageStarted
from agent.gate import Gate, PendingVerdict
from agent.judgment.ahead import UNUSED, Ahead
from agent.judgment.binary import yes_no_question
from agent.retrieval.call_budget import Allowance
from agent.retrieval.precision import classify_symbols
from agent.retrieval.types import ScopedSymbol, TaskFacts
from agent.state.run_state import RunState
from tests.fakes.context import Recorded, run_context
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.retrieval.scripts import asked, item_of, stage_of

NAMES = ("first", "second", "third", "last")
SYMBOLS = [ScopedSymbol("a.c", n, "function", 1, 4, f"int {n}(void)", rank=r) for r, n in enumerate(NAMES, 1)]
ONE, TWO, THREE = (f"precision_pass{number}" for number in (1, 2, 3))
MANY = 1000
"""More calls than there are: an answer that waits until so many are in flight waits for the script to say so."""


class Keeping:
    """Says yes to all but what ``no`` names; keeps the last answer of pass 1 back until a question of pass 2 is there."""

    def __init__(self, no: tuple[tuple[str, str], ...] = (), *, keeps: bool = True) -> None:
        self.no, self.keeps = no, keeps
        self.server: ScriptedServer | None = None

    def __call__(self, call: RecordedCall) -> Answer:
        assert self.server is not None
        stage, item = stage_of(call), item_of(call)
        kept = self.keeps and (stage, item) == (ONE, "last")
        if stage == TWO:
            self.server.max_in_flight = MANY
        return Answer("no" if (stage, item) in self.no else "yes", together=MANY if kept else 0)


Classified = tuple[Recorded, list[Any], dict[str, str]]


async def classify(folder: Path, script: Keeping, *, slots: int, gate: Gate | None = None) -> Classified:
    """(the context, the server's calls, name → detail level)."""
    models = {"concurrency": slots}
    async with ScriptedServer(script) as server, run_context(folder, server, gate=gate, models=models) as ctx:
        script.server = server
        ctx.envelopes = []  # type: ignore[attr-defined]
        ctx.listeners.append(ctx.envelopes.append)  # type: ignore[attr-defined]
        found = await classify_symbols(ctx, SYMBOLS, TaskFacts("fix it"), Allowance(60.0, 0, time.monotonic))
        await ctx.log.durable()
        return ctx, list(server.calls), {one.name: one.detail_level for one in found}


def stages(calls: list[Any]) -> list[str]:
    return [stage_of(call) for call in calls]


async def test_the_next_pass_is_asked_while_the_last_answer_is_awaited(tmp_path: Path) -> None:
    script = Keeping(no=((ONE, "second"), (TWO, "third")))
    ctx, calls, levels = await asyncio.wait_for(classify(tmp_path, script, slots=2), 60)
    assert levels == {"first": "primary", "second": "excluded", "third": "supporting", "last": "primary"}
    assert sorted(asked(calls, ONE)) == sorted(NAMES) and sorted(asked(calls, TWO)) == ["first", "last", "third"]
    assert asked(calls, THREE) == ["third"]
    finished = [(event.stage, event.item) for event in ctx.of(CallFinished)]
    assert finished == sorted(finished, key=lambda one: (one[0], [f"a.c:{n}" for n in NAMES].index(one[1])))
    assert [event.stage for event in ctx.of(StageStarted)] == [ONE, TWO, THREE]


async def test_with_one_slot_each_pass_waits_for_the_one_before(tmp_path: Path) -> None:
    _, calls, _ = await classify(tmp_path, Keeping(keeps=False), slots=1)
    assert stages(calls) == sorted(stages(calls))


async def test_a_replay_shows_what_the_run_showed(tmp_path: Path) -> None:
    ctx, _, _ = await asyncio.wait_for(classify(tmp_path, Keeping(no=((TWO, "third"),)), slots=4), 60)
    live, replayed = RunState(), RunState()
    for envelope in ctx.envelopes:  # type: ignore[attr-defined]
        live.apply(envelope)
    with closing(LogReader(log_path(tmp_path))) as reader:
        stored: list[Envelope] = list(reader.events("r1"))
    for envelope in stored:
        replayed.apply(envelope)
    assert live == replayed and all(call.done for call in live.calls)


async def test_what_an_overrule_made_void_is_not_asked_and_what_it_brought_is(tmp_path: Path) -> None:
    class Overruling(Gate):
        async def verdict(self, pending: PendingVerdict) -> Any:
            turned = pending.stage == ONE and pending.item in ("a.c:first", "a.c:second")
            return "overrule" if turned else "accept"

    script = Keeping(no=((ONE, "second"),))
    _, calls, levels = await asyncio.wait_for(classify(tmp_path, script, slots=2, gate=Overruling()), 60)
    assert sorted(asked(calls, TWO)) == ["last", "second", "third"] and levels["first"] == "excluded"


@pytest.mark.parametrize("mode", ["step", "stage"])
async def test_nothing_is_asked_ahead_of_a_person_who_looks_at_verdicts(tmp_path: Path, mode: Any) -> None:
    class Looking(Gate):
        async def _wait(self, kind: str) -> str:
            return "accept"

    gate = Looking()
    gate.mode = mode
    _, calls, _ = await classify(tmp_path, Keeping(keeps=False), slots=4, gate=gate)
    assert stages(calls) == sorted(stages(calls))


async def test_an_answer_that_nobody_took_stays_without_a_verdict_and_says_why(tmp_path: Path) -> None:
    async with ScriptedServer("yes") as server, run_context(tmp_path, server, models={"concurrency": 2}) as ctx:
        ahead = Ahead(ctx.llm(TWO))
        ahead.ask(yes_no_question(ctx.llm(TWO), "s", "t", "a question", "a.c:first", 1, {}))
        while not ctx.log.db.execute("select 1 from calls where raw = 'yes'").fetchone():
            await ctx.log.durable()
            await asyncio.sleep(0)
        await ahead.close()
        await ctx.log.durable()
        [told] = ctx.of(CallFinished)
        assert told.verdict is None and told.explanation == UNUSED
        assert list(ctx.log.db.query("select raw, verdict from calls")) == [{"raw": "yes", "verdict": None}]


async def test_a_question_that_never_got_a_slot_is_asked_by_its_own_stage(tmp_path: Path) -> None:
    async with ScriptedServer("yes") as server, run_context(tmp_path, server, models={"concurrency": 2}) as ctx:
        llm = ctx.llm(TWO)
        ahead, question = Ahead(llm), yes_no_question(llm, "s", "t", "a question", "a.c:first", 1, {})
        async with llm.flight.slot(), llm.flight.slot():
            ahead.ask(question)
            await asyncio.sleep(0)
            assert await ahead.take(question) is None
        await ahead.close()
        assert server.calls == [] and llm.flight.under_way == 0
