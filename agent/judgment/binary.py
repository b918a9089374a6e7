"""Independent yes/no judgments: one item, one call, one row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from agent.audit.rows import Question
from agent.events import CallFinished
from agent.gate import PendingVerdict
from agent.judgment.ahead import Ahead
from agent.judgment.asking import Asked, StageLlm
from agent.verdict.decide import Verdict, decide, overrule

T = TypeVar("T")


class AllOmitted(Exception):
    """No item of a stage got a readable answer, and the caller asked for an error in that case."""


async def run_binary_judgment(
    items: Sequence[T],
    *,
    system_prompt: str,
    task_context: str,
    llm: StageLlm,
    format_item: Callable[[T], str],
    item_key: Callable[[T], Hashable],
    stage_name: str,
    default_action: str = "excluded",
    label_item: Callable[[T], str] | None = None,
    rank: Callable[[T], int | None] | None = None,
    facts: Callable[[T], dict[str, float]] | None = None,
    on_verdict: Callable[[T, CallFinished], None] | None = None,
    fail_if_all_omitted: bool = False,
    ahead: Ahead | None = None,
) -> tuple[dict[Hashable, bool], set[Hashable]]:
    """One yes/no call per item; up to ``models.concurrency`` in flight; verdicts applied in item order.

    The prompt is ``task_context`` first, then ``format_item(item)``, so that all items share a byte-identical prefix.
    An unreadable answer gets the default (False), and its key is in the second value. ``label_item`` names an item in the
    log (its key by default), ``rank`` gives its place (from 1) in the search's order and ``facts`` numbers that are known
    of it, which a fitted threshold weighs; ``on_verdict`` is called with each verdict; ``ahead`` may already have answers to
    these questions.

    Returns:
        (verdicts by key, keys that were omitted)

    Raises:
        ModelError: if the model cannot be asked at all.
        Stopped: if the person stopped the run at the gate.
        AllOmitted: if nothing could be read and ``fail_if_all_omitted``.
    """
    questions = [
        yes_no_question(
            llm, system_prompt, task_context, format_item(item), str((label_item or item_key)(item)),
            rank(item) if rank else None, facts(item) if facts else {},
        )
        for item in items
    ]  # fmt: skip
    batch = _Batch(llm, questions, ahead)
    settled: dict[int, _Settled[T]] = {}
    used: set[int] = set()
    threshold = llm.ctx.thresholds.get(stage_name, llm.target.known_as)
    try:
        for place, item in enumerate(items):
            asked = await batch.answer(place)
            verdict = decide(asked.evidence, threshold, default_action)
            verdict, event = await _apply(llm, asked, verdict)
            batch.release(place)
            settled[event.call_id] = _Settled(item, asked, verdict, event)
            if on_verdict is not None and not llm.ctx.gate.reviews:
                on_verdict(item, event)
                used.add(event.call_id)
    finally:
        await batch.cancel()
    if llm.ctx.gate.reviews and settled:
        await llm.ctx.gate.review(stage_name, lambda call_id: call_id not in used and _revise(llm, settled, call_id))
    verdicts: dict[Hashable, bool] = {}
    omitted: set[Hashable] = set()
    for one in settled.values():
        verdicts[item_key(one.item)] = bool(one.event.verdict)
        if one.event.defaulted and not one.event.overruled:
            omitted.add(item_key(one.item))
        if on_verdict is not None and one.event.call_id not in used:
            on_verdict(one.item, one.event)
    if items and len(omitted) == len(set(verdicts)):
        _report_silence(llm, stage_name, len(omitted), default_action, fail_if_all_omitted)
    return verdicts, omitted


def yes_no_question(
    llm: StageLlm, system_prompt: str, task_context: str, text: str, label: str, rank: int | None, facts: dict[str, float]
) -> Question:
    """One item's question as :func:`run_binary_judgment` asks it; ``text`` is the formatted item, ``label`` its name."""
    examples = llm.ctx.examples(llm.stage, system_prompt)
    return Question(system_prompt, task_context, text, label, binary=True, rank=rank, facts=facts, examples=examples)


@dataclass
class _Settled(Generic[T]):
    """An item with its verdict. Where a person reviews the stage, the verdict is used only after that."""

    item: T
    asked: Asked
    verdict: Verdict
    event: CallFinished


def _revise(llm: StageLlm, settled: dict[int, _Settled[T]], call_id: int) -> bool:
    """A person reverses a verdict at the end of its stage: kept as a label, and used."""
    one = settled.get(call_id)
    if one is None:
        return False
    one.verdict = overrule(one.verdict)
    llm.ctx.log.add_label(call_id, one.verdict.verdict, "overrule")
    one.event = llm.finished(one.asked, one.verdict, revised=True)
    return True


async def _apply(llm: StageLlm, asked: Asked, verdict: Verdict) -> tuple[Verdict, CallFinished]:
    item, p_yes = asked.question.item, asked.completion.p_yes
    pending = PendingVerdict(asked.call_id, llm.stage, item, bool(verdict.verdict), p_yes, verdict.defaulted)
    if await llm.ctx.gate.verdict(pending) == "overrule":
        verdict = overrule(verdict)
        llm.ctx.log.add_label(asked.call_id, verdict.verdict, "overrule")
    return verdict, llm.finished(asked, verdict)


def _report_silence(llm: StageLlm, stage: str, count: int, default_action: str, loud: bool) -> None:
    text = (
        f"None of the {count} answers of {llm.target.model} in stage {stage} could be read as yes or no, so every item "
        f"is {default_action}. Look at the raw answers in the call list; another model or constrained answers may help."
    )
    if loud:
        raise AllOmitted(text)
    llm.ctx.notice("warning", text, stage)


class _Batch:
    """The calls of one batch in flight. Identical prompts are asked once; each item still has its row."""

    def __init__(self, llm: StageLlm, questions: list[Question], ahead: Ahead | None = None) -> None:
        self.llm = llm
        self._ahead = ahead
        loop = asyncio.get_running_loop()
        self._answers: list[asyncio.Future[Asked]] = [loop.create_future() for _ in questions]
        self._applied = [asyncio.Event() for _ in questions]
        self._tasks: list[asyncio.Task[None]] = []
        first: dict[str, int] = {}
        for place, question in enumerate(questions):
            twin = first.setdefault(question.question, place)
            self._tasks.append(asyncio.create_task(self._ask(place, question, twin)))

    async def answer(self, place: int) -> Asked:
        return await self._answers[place]

    def release(self, place: int) -> None:
        self._applied[place].set()

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for answer in self._answers:
            if answer.done() and not answer.cancelled():
                answer.exception()  # mark the exception of a second failure as retrieved

    async def _ask(self, place: int, question: Question, twin: int) -> None:
        if twin != place:
            await asyncio.wait([self._answers[twin]])  # its answer then comes from the log
        if self._ahead is not None and await self._taken(place, question, self._ahead):
            return
        async with self.llm.flight.slot():
            try:
                asked = await self.llm.ask(question)
            except Exception as error:
                self._answers[place].set_exception(error)
                return
            if self.llm.ctx.gate.stepping:
                await self._hand_out(place, asked)
                await self._applied[place].wait()  # hold the slot: calls are asked ahead only up to the limit
                return
        await self._hand_out(place, asked)  # the server answers the next meanwhile

    async def _taken(self, place: int, question: Question, ahead: Ahead) -> bool:
        """Whether the question was asked ahead; its answer, or what went wrong, is then handed out."""
        try:
            asked = await ahead.take(question)
        except Exception as error:
            self._answers[place].set_exception(error)
            return True
        if asked is not None:
            await self._hand_out(place, asked)
        return asked is not None

    async def _hand_out(self, place: int, asked: Asked) -> None:
        """An answer may be used once its row is on the disk."""
        try:
            await self.llm.ctx.log.durable()
        except Exception as error:
            self._answers[place].set_exception(error)
        else:
            self._answers[place].set_result(asked)
