"""One item, one call, one row: order, defaults, sharing, thresholds, gate, cache, over real HTTP."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.events import CallFinished, CallStarted, Envelope, Notice
from agent.gate import Gate, Stopped
from agent.judgment.binary import AllOmitted, run_binary_judgment
from agent.models.types import ModelError
from agent.state.run_state import RunState
from agent.verdict.threshold import Threshold, Thresholds
from tests.fakes.context import Recorded, run_context
from tests.fakes.script import Answer, RecordedCall, slow, together
from tests.fakes.server import ScriptedServer

SMALL = {"context_window": 512, "max_tokens": 64}
CONTEXT = "Task: fix the budget\n\n"


async def judge(ctx: Recorded, items: list[str], **options: Any) -> tuple[dict[Any, bool], set[Any]]:
    return await run_binary_judgment(
        items,
        system_prompt="Answer yes or no.",
        task_context=CONTEXT,
        llm=ctx.llm("scope"),
        format_item=lambda item: f"File: {item}\nRelevant?",
        item_key=lambda item: item,
        stage_name="scope",
        **options,
    )


def by_name(**answers: str | Answer) -> Any:
    def script(call: RecordedCall) -> Answer:
        for name, answer in answers.items():
            if f"File: {name}\n" in call.prompt:
                return answer if isinstance(answer, Answer) else Answer(answer)
        return Answer("no")

    return script


async def test_each_item_is_one_call_and_one_row_with_a_shared_prefix(tmp_path: Path) -> None:
    async with ScriptedServer(by_name(a="yes", b="no", c="Yes.")) as server, run_context(tmp_path, server) as ctx:
        verdicts, omitted = await judge(ctx, ["a", "b", "c"])
        assert verdicts == {"a": True, "b": False, "c": True} and omitted == set()
        assert len(server.calls) == 3
        assert all(call.prompt.startswith(CONTEXT) and call.system == "Answer yes or no." for call in server.calls)
        assert all(call.body["max_tokens"] == 16 for call in server.calls)
        rows = list(ctx.log.db.query("select item, raw, verdict, p_yes, source from calls order by id"))
        assert [(r["item"], r["verdict"]) for r in rows] == [("a", 1), ("b", 0), ("c", 1)]
        assert all(r["p_yes"] is not None and r["source"] == "parsed" for r in rows)


async def test_what_is_no_answer_is_denied_marked_and_in_the_log(tmp_path: Path) -> None:
    script = by_name(a=Answer("perhaps", logprobs=False), b=Answer("not yes", logprobs=False), c="yes")
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        verdicts, omitted = await judge(ctx, ["a", "b", "c"])
        assert verdicts == {"a": False, "b": False, "c": True}
        assert omitted == {"a", "b"}
        rows = list(ctx.log.db.query("select item, raw, defaulted, source, explanation from calls order by id"))
        assert [(r["raw"], r["defaulted"]) for r in rows] == [("perhaps", 1), ("not yes", 1), ("yes", 0)]
        assert "excluded" in rows[0]["explanation"]


async def test_a_silent_stage_warns_or_fails_as_its_caller_says(tmp_path: Path) -> None:
    async with ScriptedServer(Answer("?", logprobs=False)) as server, run_context(tmp_path, server) as ctx:
        await judge(ctx, ["a", "b"])
        await ctx.log.durable()
        assert "None of the 2 answers" in ctx.of(Notice)[0].text
        with pytest.raises(AllOmitted):
            await judge(ctx, ["x"], fail_if_all_omitted=True)


async def test_results_are_in_item_order_whatever_order_they_return_in(tmp_path: Path) -> None:
    script = by_name(a=together(slow("yes", 0.1), 3), b=together(slow("yes", 0.05), 3), c=together("yes", 3))
    async with (
        ScriptedServer(script) as server,
        run_context(tmp_path, server, models={"concurrency": 3}) as ctx,
    ):
        verdicts, _ = await judge(ctx, ["a", "b", "c"])
        await ctx.log.durable()
        assert list(verdicts) == ["a", "b", "c"]
        assert [event.item for event in ctx.of(CallFinished)] == ["a", "b", "c"]
        assert server.max_in_flight == 3


async def test_concurrency_is_a_limit(tmp_path: Path) -> None:
    async with (
        ScriptedServer(together(slow("yes", 0.01), 2)) as server,
        run_context(tmp_path, server, models={"concurrency": 2}) as ctx,
    ):
        await judge(ctx, [str(n) for n in range(10)])
        assert server.max_in_flight == 2


async def test_identical_prompts_are_asked_once_but_each_has_its_row(tmp_path: Path) -> None:
    async with ScriptedServer("yes") as server, run_context(tmp_path, server, models={"concurrency": 4}) as ctx:
        llm = ctx.llm("scope")
        verdicts, _ = await run_binary_judgment(
            [1, 2, 3], system_prompt="s", task_context="t", llm=llm, format_item=lambda item: "same",
            item_key=lambda item: item, stage_name="scope",
        )  # fmt: skip
        assert verdicts == {1: True, 2: True, 3: True}
        assert len(server.calls) == 1
        rows = list(ctx.log.db.query("select item, cached, cached_from from calls order by id"))
        assert [r["cached"] for r in rows] == [0, 1, 1]
        assert rows[1]["cached_from"] == rows[2]["cached_from"] == 1


async def test_a_second_run_reuses_verdicts_and_says_so(tmp_path: Path) -> None:
    async with ScriptedServer("yes") as server:
        async with run_context(tmp_path, server) as ctx:
            await judge(ctx, ["a", "b"])
        async with run_context(tmp_path, server, run_id="r2") as ctx:
            verdicts, _ = await judge(ctx, ["a", "b", "c"])
            await ctx.log.durable()
            assert [event.cached for event in ctx.of(CallFinished)] == [True, True, False]
            assert (ctx.calls, ctx.cached_calls) == (1, 2)
    assert verdicts == {"a": True, "b": True, "c": True}
    assert len(server.calls) == 3


async def test_a_threshold_decides_over_the_text_and_rank_adds_evidence(tmp_path: Path) -> None:
    thresholds = Thresholds([Threshold("scope", "qwen2.5-coder-1.5b", 0.4, rank_weight=1.0)])
    script = by_name(a=Answer("no", p_yes=0.31), b=Answer("no", p_yes=0.31))
    async with ScriptedServer(script) as server, run_context(tmp_path, server, thresholds=thresholds) as ctx:
        verdicts, _ = await judge(ctx, ["a", "b"], rank=lambda item: 2 if item == "a" else 50)
        await ctx.log.durable()
        assert verdicts == {"a": True, "b": False}
        first, second = ctx.of(CallFinished)
        assert first.source == "threshold" and first.threshold == 0.4
        assert first.explanation == "P(yes) 0.31, rank 2 → 0.43 ≥ 0.40: yes"
        assert second.explanation.endswith("< 0.40: no")


async def test_overruling_at_the_gate_is_used_logged_and_remembered(tmp_path: Path) -> None:
    gate = Gate(mode="step")
    async with ScriptedServer("yes") as server:
        async with run_context(tmp_path, server, gate=gate) as ctx:
            task = asyncio.create_task(judge(ctx, ["a", "b"]))
            for action in ("overrule", "accept"):
                while not gate.waiting:
                    await asyncio.sleep(0.005)
                gate.resolve(action)
                await asyncio.sleep(0)
            verdicts, omitted = await task
            assert verdicts == {"a": False, "b": True} and omitted == set()
            (label,) = ctx.log.db.query("select label, source from labels")
            assert (label["label"], label["source"]) == (0, "overrule")
            await ctx.log.durable()
            assert ctx.of(CallFinished)[0].overruled
        async with run_context(tmp_path, server, run_id="r2") as ctx:
            verdicts, _ = await judge(ctx, ["a", "b"])
            assert verdicts == {"a": False, "b": True}


async def test_verdicts_turned_round_at_the_stage_s_end_are_used_logged_and_heard_once(tmp_path: Path) -> None:
    gate = Gate(mode="stage")
    async with ScriptedServer("yes") as server, run_context(tmp_path, server, gate=gate) as ctx:
        task = asyncio.create_task(judge(ctx, ["a", "b"]))
        while not gate.waiting:
            await asyncio.sleep(0.005)
        second = ctx.of(CallFinished)[1]
        assert gate.overrule(second.call_id) and not gate.overrule(99)
        await ctx.log.durable()
        await asyncio.sleep(0.02)
        assert ctx.of(CallFinished)[-1].revised and ctx.of(CallFinished)[-1].overruled
        gate.resolve("continue")
        verdicts, omitted = await task
        assert verdicts == {"a": True, "b": False} and omitted == set()
        assert not gate.overrule(second.call_id), "the stage is over"
        (label,) = ctx.log.db.query("select call_id, label, source from labels")
        assert (label["call_id"], label["label"], label["source"]) == (second.call_id, 0, "overrule")
        state = RunState()
        for seq, event in enumerate(ctx.events, 1):
            state.apply(Envelope("r", seq, seq, event))
        assert [call.verdict for call in state.calls] == [True, False] and ctx.calls == 2


async def test_with_the_gate_on_calls_are_asked_ahead_only_up_to_the_limit(tmp_path: Path) -> None:
    gate = Gate(mode="step")
    async with (
        ScriptedServer("yes") as server,
        run_context(tmp_path, server, gate=gate, models={"concurrency": 2}) as ctx,
    ):
        task = asyncio.create_task(judge(ctx, [str(n) for n in range(8)]))
        while len(server.calls) < 2 or not gate.waiting:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.1)  # time for a third to be asked, which must not be
        assert len(server.calls) == 2 and gate.waiting == "verdict"
        gate.resume()
        await task
        assert len(server.calls) == 8


async def test_stopping_at_the_gate_raises_and_leaves_no_call_running(tmp_path: Path) -> None:
    gate = Gate(mode="step")
    async with ScriptedServer("yes") as server, run_context(tmp_path, server, gate=gate) as ctx:
        task = asyncio.create_task(judge(ctx, ["a", "b", "c"]))
        while not gate.waiting:
            await asyncio.sleep(0.005)
        gate.stop()
        with pytest.raises(Stopped):
            await task
        assert len(asyncio.all_tasks()) == 1
        await ctx.log.durable()
        assert len(ctx.of(CallFinished)) == 0 and len(ctx.of(CallStarted)) >= 1


async def test_a_server_that_is_not_there_ends_the_judgment_with_its_address(tmp_path: Path) -> None:
    async with ScriptedServer("yes") as server:
        pass
    async with run_context(tmp_path, server) as ctx:
        with pytest.raises(ModelError) as caught:
            await judge(ctx, ["a"])
        assert caught.value.kind == "unreachable" and server.base_url in str(caught.value)
        (row,) = ctx.log.db.query("select error, raw from calls")
        assert row["raw"] is None and server.base_url in row["error"]


async def test_an_item_too_large_for_the_window_is_denied_alone(tmp_path: Path) -> None:
    async with ScriptedServer("yes") as server, run_context(tmp_path, server, models=SMALL) as ctx:
        verdicts, omitted = await judge(ctx, ["a", "x" * 9000])
        assert verdicts["a"] is True and verdicts["x" * 9000] is False and omitted == {"x" * 9000}
        assert len(server.calls) == 1
