"""One call: budget, log row, question, raw answer. The raw answer is in the log before it is parsed."""

from __future__ import annotations

from typing import Any

import msgspec

from agent.audit.rows import CallDraft, Question
from agent.events import CallFinished, CallStarted
from agent.judgment.cache import cache_key, decoding_options
from agent.judgment.host import Host
from agent.models.budget import check_budget
from agent.models.types import Completion, CompletionRequest, ModelError, ModelTarget
from agent.verdict.decide import Evidence, Verdict
from agent.verdict.identity import question_version

_ONE_ITEM_ONLY = ("context", "cut")
"""Errors that say something about one item, not about the server: its judgment gets the default."""


GAP = "⟨the gap⟩"
"""Marks in the log the place that a fill-in-the-middle call fills."""


class Asked(msgspec.Struct, frozen=True):
    """An answered call: its row's id, the raw answer, whether that came from an earlier run, and a person's label on the
    same judgment."""

    call_id: int
    completion: Completion
    question: Question
    cached: bool = False
    label: bool | None = None

    @property
    def text(self) -> str:
        """The raw answer."""
        return self.completion.text

    @property
    def finish(self) -> str:
        """``stop``, ``length`` or ``context``."""
        return self.completion.finish

    @property
    def evidence(self) -> Evidence:
        """What the verdict rests on."""
        asked = self.question
        version = question_version(asked.system)
        return Evidence(self.text, self.completion.p_yes, asked.rank, asked.facts, version, self.label)


class StageLlm:
    """A stage's model within one run."""

    def __init__(self, ctx: Host, stage: str, target: ModelTarget) -> None:
        self.ctx = ctx
        self.stage = stage
        self.target = target
        self.provider = ctx.router.provider(target)
        self.flight = ctx.router.flight(target)

    async def generate(
        self,
        *,
        system: str,
        prompt: str,
        item: str,
        task_context: str = "",
        attempt: int = 1,
        temperature: float | None = None,
        max_tokens: int | None = None,
        schema: dict[str, Any] | None = None,
        stop: tuple[str, ...] = (),
        no_circles: bool = False,
    ) -> Asked:
        """Ask for text. ``task_context`` is the part shared with other calls; the user message is ``task_context + prompt``.
        With ``no_circles`` a text that repeats itself without end is cut off.

        Raises:
            ModelError: if the model cannot answer; the row and the event say so.
        """
        question = Question(
            system, task_context, prompt, item, False, schema, attempt, temperature, max_tokens, stop, no_circles=no_circles
        )
        asked = await self.ask(question)
        await self.ctx.log.durable()
        self.finished(asked)
        return asked

    async def fill(
        self,
        before: str,
        after: str,
        *,
        item: str,
        attempt: int = 1,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: tuple[str, ...] = (),
    ) -> Asked:
        """Fill the gap between two texts with the model's fill-in-the-middle tokens. The row shows both sides and the gap.

        Raises:
            ModelError: ``no_infill`` if the server or its model cannot do it; else as :meth:`generate`.
        """
        shown = f"{GAP}{after}"
        question = Question("", before, shown, item, False, None, attempt, temperature, max_tokens, stop, (before, after))
        asked = await self.ask(question)
        await self.ctx.log.durable()
        self.finished(asked)
        return asked

    async def ask(self, question: Question, *, reuse: bool = True) -> Asked:
        """Log, ask, log the raw answer. The caller settles the call and emits its CallFinished.

        Without ``reuse`` the call takes no earlier answer or label, and its own answer is not reused later: it is a
        measurement.

        Raises:
            ModelError: if the model cannot answer; then the call is settled already.
        """
        ctx, target = self.ctx, self._target(question)
        options = decoding_options(
            target,
            temperature=question.temperature,
            constrained=question.binary and ctx.config.models.constrain_answers,
            schema=question.schema is not None,
        )
        key = cache_key(self.stage, target, question.system, question.prompt, options) if question.binary and reuse else None
        run, number = ctx.run_id, ctx.next_call()
        draft = CallDraft(question, run, number, self.stage, target.model, target.provider, options, key, target.adapter)
        call_id = ctx.log.insert_call(draft)
        ctx.emit(CallStarted(call_id, self.stage, question.item, target.model, question.binary, question.attempt))
        label = ctx.log.label_of(draft.judgment) if draft.judgment and reuse else None
        earlier = ctx.log.find_cached(key) if key else None
        if earlier is not None:
            first, completion = earlier
            ctx.log.answer_call(call_id, completion, cached_from=first)
            return Asked(call_id, completion, question, True, label)
        completion = await self._complete(question, target, call_id)
        self.flight.answered()
        ctx.log.answer_call(call_id, completion)
        return Asked(call_id, completion, question, False, label)

    def finished(self, asked: Asked, verdict: Verdict | None = None, *, revised: bool = False) -> CallFinished:
        """Settle a call and emit its event, which is returned. ``revised``: it was settled before with another verdict."""
        got, question = asked.completion, asked.question
        verdict = verdict or Verdict(None)
        if verdict.verdict is not None:
            self.ctx.log.settle_call(asked.call_id, verdict)
        event = CallFinished(
            asked.call_id, self.stage, question.item, **msgspec.structs.asdict(verdict), p_yes=got.p_yes,
            cached=asked.cached, model=got.model or self.target.model, provider=got.provider or self.target.provider,
            ms=round(got.ms, 1), prompt_tokens=got.prompt_tokens, cached_tokens=got.cached_tokens,
            completion_tokens=got.completion_tokens, attempt=question.attempt, revised=revised,
        )  # fmt: skip
        self.ctx.emit(event)
        return event

    async def _complete(self, question: Question, target: ModelTarget, call_id: int) -> Completion:
        request = CompletionRequest(
            system=question.system, prompt=question.gap[0] if question.gap else question.prompt, stage=self.stage,
            target=target, suffix=question.gap[1] if question.gap else None,
            yes_no=question.binary and self.ctx.config.models.constrain_answers, schema=question.schema,
            temperature=question.temperature, seed=target.seed + question.attempt - 1,
            task_context=question.examples + question.task_context, question=question.question, stop=question.stop,
            progress=None if question.binary else self.ctx.live(call_id), no_circles=question.no_circles,
        )  # fmt: skip
        try:
            await check_budget(question.system, question.prompt, target, self._count, stage=self.stage)
            return await self.provider.complete(request)
        except ModelError as error:
            if question.binary and error.kind in _ONE_ITEM_ONLY:
                self.ctx.notice("warning", f"{question.item}: {error}", self.stage)
                return Completion("", model=target.model, provider=target.provider)
            self.ctx.log.answer_call(call_id, Completion(""), error=str(error))
            self.ctx.emit(CallFinished(call_id, self.stage, question.item, model=target.model, error=str(error)))
            raise

    async def _count(self, text: str) -> int | None:
        return await self.provider.count_tokens(text, self.target)

    def _target(self, question: Question) -> ModelTarget:
        limit = question.max_tokens
        return self.target if limit is None else msgspec.structs.replace(self.target, max_tokens=limit)
