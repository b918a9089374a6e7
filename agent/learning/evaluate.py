"""Asking the labelled set of a model: which model answers a stage best is measured, not guessed.

The questions are asked in a run of their own. Its calls neither use nor feed the cache of verdicts, so that no answer is
taken over and no time measured that was not spent. Verdicts are reached as in a run: by the thresholds in force, with the
rank and the facts that the labelled call had.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from agent import __version__
from agent.audit.log import AuditLog
from agent.audit.reader import LogReader
from agent.config.schema import Config
from agent.context import RunContext
from agent.events import RunFinished, RunStarted
from agent.gate import Gate, Stopped
from agent.judgment.asking import Question
from agent.labels.items import load_items
from agent.labels.pairs import Choice, Pair, load_pairs
from agent.learning.scores import StageScore, score_models
from agent.models.router import Router
from agent.models.types import ModelError
from agent.values import RunStatus
from agent.verdict.decide import decide
from agent.verdict.threshold import Thresholds

Progress = Callable[[int, int], None]
"""(answered, of)."""


class EvaluationError(Exception):
    """There is nothing to evaluate on; the text says what to do."""


def labelled_set(reader: LogReader, stages: Sequence[str] = ()) -> list[Pair]:
    """The questions to ask: one a labelled prompt, contradicting labels left out.

    Raises:
        EvaluationError: if there are none.
    """
    pairs, _ = load_pairs(reader, Choice(stages=tuple(stages)))
    if not pairs:
        where = f" in {', '.join(stages)}" if stages else ""
        raise EvaluationError(f"No call{where} carries a label yet. Label some first: in the application, r on any call.")
    return pairs


async def evaluate(ctx: RunContext, pairs: Sequence[Pair], progress: Progress | None = None, repo: str = "") -> RunFinished:
    """Ask every question of ``pairs`` of the models that ``ctx`` routes to, as a run: all of it is in the log.

    The run's row must be there (``AuditLog.start_run``). Up to ``models.concurrency`` calls are in flight; an answer that a
    model cannot give for one item is unreadable, a model that cannot answer at all ends the run.

    Raises:
        ModelError: the model cannot be asked; the run has ended as failed.
    """
    model = ", ".join(sorted({ctx.router.target(pair.stage).model for pair in pairs}))
    ctx.emit(RunStarted(_title(model, len(pairs)), repo, model=model))
    done = 0

    async def one(pair: Pair) -> None:
        nonlocal done
        async with ctx.router.flight(ctx.router.target(pair.stage)).slot():
            await ctx.gate.pass_point()
            await _ask(ctx, pair)
        done += 1
        if progress is not None:
            progress(done, len(pairs))

    tasks = [asyncio.create_task(one(pair)) for pair in pairs]
    try:
        await asyncio.gather(*tasks)
    except (Stopped, asyncio.CancelledError):
        await _cancel(tasks)
        return await _finish(ctx, "stopped", f"Stopped after {done} of {len(pairs)} questions.")
    except ModelError as error:
        await _cancel(tasks)
        await _finish(ctx, "failed", f"{error} {error.hint}".strip())
        raise
    return await _finish(ctx, "complete", f"{done} questions were asked.")


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _finish(ctx: RunContext, status: RunStatus, reason: str) -> RunFinished:
    finished = RunFinished(status, reason, ctx.calls, ctx.cached_calls, round(ctx.seconds(), 1))
    ctx.emit(finished)
    await ctx.log.durable()
    return finished


async def _ask(ctx: RunContext, pair: Pair) -> None:
    llm = ctx.llm(pair.stage)
    asked = await llm.ask(
        Question(
            pair.system, pair.state, pair.question, pair.item, binary=True, rank=pair.rank, facts=pair.facts,
            examples=ctx.examples(pair.stage, pair.system),
        ),
        reuse=False,
    )
    rule = ctx.thresholds.get(pair.stage, llm.target.model)
    llm.finished(asked, pair.item, decide(asked.evidence, rule, "counted as no"))


class Comparison(msgspec.Struct, frozen=True):
    """Scores side by side: of the run that was just made, and of every model in the log on the same stages."""

    asked: tuple[StageScore, ...]
    others: tuple[StageScore, ...]


def compare(reader: LogReader, run_id: str) -> Comparison:
    """Scores of an evaluation run beside what the log knows of the other models on the same labelled prompts."""
    items = load_items(reader)
    asked = [item for item in items if item.run_id == run_id]
    prompts = {item.judgment for item in asked}
    pairs = {(item.stage, item.model) for item in asked}
    rest = [item for item in items if item.judgment in prompts and (item.stage, item.model) not in pairs]
    return Comparison(tuple(score_models(asked)), tuple(score_models(rest)))


async def run_evaluation(
    repo: Path,
    run_id: str,
    config: Config,
    *,
    thresholds: Thresholds,
    stages: Sequence[str] = (),
    progress: Progress | None = None,
    gate: Gate | None = None,
) -> tuple[RunFinished, Comparison]:
    """Ask the labelled set of the configured models, from opening the log to the scores.

    Not while a run goes on in this process: both would write to the log from one thread.

    Raises:
        EvaluationError: nothing is labelled.
        ModelError: the model cannot be asked.
        LogError: there is no log, or it cannot be written.
        ConfigError: the models section contradicts itself.
    """
    path = repo / ".clean_room" / "raw.sqlite"
    reader = LogReader(path)
    try:
        pairs = labelled_set(reader, stages)
        router = Router(config.models)
        log = AuditLog(path)
        try:
            model = ", ".join(sorted({router.target(pair.stage).model for pair in pairs}))
            log.start_run(
                run_id, task=_title(model, len(pairs)), repo=str(repo), model=model, version=__version__,
                config=msgspec.json.encode(config).decode(),
            )  # fmt: skip
            ctx = RunContext(run_id=run_id, config=config, log=log, router=router, gate=gate, thresholds=thresholds)
            finished = await evaluate(ctx, pairs, progress, repo=str(repo))
        finally:
            log.close()
            await router.aclose()
        return finished, compare(reader, run_id)
    finally:
        reader.close()


def _title(model: str, count: int) -> str:
    return f"Evaluation of {model} on {count} labelled calls"
