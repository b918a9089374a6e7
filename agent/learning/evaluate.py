"""Ask models the labelled questions again, to measure which model answers a stage best.

The questions are asked in a run of their own. Its calls do not use the cache of answers, so that every answer and every time
is measured. Verdicts are made as in a run: by the thresholds in force, with the rank and the facts of the labelled call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, product
from pathlib import Path

import msgspec

from agent import __version__
from agent.audit.log import AuditLog, known_log
from agent.audit.reader import LogReader
from agent.audit.recording import recording
from agent.audit.rows import Question
from agent.audit.run_name import new_run_id
from agent.config.schema import Config
from agent.context import RunContext
from agent.events import RunFinished, RunStarted
from agent.gate import Gate, Stopped
from agent.labels.items import Item, load_items
from agent.labels.pairs import BY_PERSONS, SOURCES, Choice, Pair, load_pairs
from agent.learning.examples import LabelledExamples
from agent.learning.scores import Agreeing, StageScore, agreements, score_models
from agent.models.router import Router
from agent.models.types import ModelError
from agent.values import RunStatus
from agent.verdict.decide import decide
from agent.verdict.in_force import thresholds_of
from agent.verdict.threshold import Thresholds

Progress = Callable[[int, int], None]
"""(questions answered, questions in all)."""


class EvaluationError(Exception):
    """There is nothing to evaluate on; the text says what to do."""


def labelled_set(
    reader: LogReader, stages: Sequence[str] = (), judgments: frozenset[str] = frozenset(), *, outcomes: bool = False
) -> list[Pair]:
    """The questions to ask, one for each labelled judgment (if given, only those in ``judgments``). Judgments with
    contradicting labels are left out.

    Labels from outcomes count only with ``outcomes``.

    Raises:
        EvaluationError: if there are none.
    """
    sources = SOURCES if outcomes else BY_PERSONS
    pairs, _ = load_pairs(reader, Choice(stages=tuple(stages), sources=sources, judgments=judgments))
    if not pairs and judgments:
        text = "None of the export's test rows is labelled in this log. Name the repository that it came from."
        raise EvaluationError(text)
    if not pairs:
        where = f" in {', '.join(stages)}" if stages else ""
        raise EvaluationError(f"No call{where} carries a label yet. Label some first: in the application, r on any call.")
    return pairs


async def evaluate(ctx: RunContext, pairs: Sequence[Pair], progress: Progress | None = None, repo: str = "") -> RunFinished:
    """Ask the models that ``ctx`` routes to every question of ``pairs``, as a run with all its calls in the log.

    The run must be in the log (``AuditLog.start_run``). Up to ``models.concurrency`` calls are in flight. An item that a
    model cannot answer counts as unreadable; a model that cannot answer at all ends the run.

    Raises:
        ModelError: the model cannot be asked; the run has ended as failed.
    """
    model = ", ".join(sorted({ctx.router.target(pair.stage).known_as for pair in pairs}))
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
            pair.system,
            pair.task_context,
            pair.question,
            pair.item,
            binary=True,
            rank=pair.rank,
            facts=pair.facts,
            examples=ctx.examples(pair.stage, pair.system),
        ),
        reuse=False,
    )
    rule = ctx.thresholds.get(pair.stage, llm.target.known_as)
    llm.finished(asked, decide(asked.evidence, rule, "counted as no"))


class Comparison(msgspec.Struct, frozen=True):
    """Scores side by side: of the models that were just asked, and of every other model in the log on the same judgments;
    how far they agree; and sentences about the limits of the figures."""

    asked: tuple[StageScore, ...]
    others: tuple[StageScore, ...]
    agreements: tuple[Agreeing, ...] = ()
    notes: tuple[str, ...] = ()


def compare(
    items: Sequence[Item], run_ids: Sequence[str], thresholds: Sequence[Thresholds] = (), *, held_out: bool = False
) -> Comparison:
    """The scores of evaluation runs. ``items`` are all calls of their logs, ``thresholds`` those that decided; ``held_out``:
    no threshold was fitted and no model trained on the questions."""
    asked = [item for item in items if item.run_id in run_ids]
    judgments = {item.judgment for item in asked}
    pairs = {(item.stage, item.model) for item in asked}
    rest = [item for item in items if item.judgment in judgments and (item.stage, item.model) not in pairs]
    scores = score_models(asked)
    notes = () if held_out else _in_sample(scores, thresholds)
    return Comparison(tuple(scores), tuple(score_models(rest)), tuple(agreements([*asked, *rest])), notes)


def _in_sample(scores: Sequence[StageScore], thresholds: Sequence[Thresholds]) -> tuple[str, ...]:
    rules = [some.get(score.stage, score.model) for score in scores for some in thresholds]
    named = (f"{rule.stage} ({rule.model})" for rule in rules if rule is not None and rule.origin == "labels")
    fitted, notes = list(dict.fromkeys(named)), []
    if fitted:
        notes.append(
            f"In-sample: the threshold of {', '.join(fitted)} was fitted to labels that are measured here. Calibration "
            "shows what to expect on new tasks: it measures on tasks left out of the fit."
        )
    notes.append(
        "A model that was trained on these labels is measured here on its own training rows. Ask only the rows that an "
        "export held out to measure it on others."
    )
    return tuple(notes)


async def run_evaluation(
    repo: Path,
    run_id: str,
    config: Config,
    *,
    thresholds: Thresholds,
    log: Path | None = None,
    stages: Sequence[str] = (),
    progress: Progress | None = None,
    gate: Gate | None = None,
    judgments: frozenset[str] = frozenset(),
    outcomes: bool = False,
) -> tuple[RunFinished, Comparison]:
    """Ask the configured models the labelled questions (or those in ``judgments``) of ``log``, by default the repository's,
    and score the answers.

    Not during a run in this process: both would write to the log from one thread.

    Raises:
        EvaluationError: nothing is labelled.
        ModelError: the model cannot be asked.
        LogError: there is no log, or it cannot be written.
        ConfigError: the models section contradicts itself.
    """
    path = log or known_log(repo)
    reader = LogReader(path)
    try:
        pairs = labelled_set(reader, stages, judgments, outcomes=outcomes)
        router = Router(config.models, lookup=recording(config.models.replay))
        audit = AuditLog(path)
        try:
            model = ", ".join(sorted({router.target(pair.stage).known_as for pair in pairs}))
            audit.start_run(
                run_id, task=_title(model, len(pairs)), repo=str(repo), model=model, version=__version__,
                config=msgspec.json.encode(config).decode(),
            )  # fmt: skip
            ctx = RunContext(
                run_id=run_id, config=config, log=audit, router=router, gate=gate, thresholds=thresholds,
                examples=LabelledExamples(path, config.judgment.examples, "", str(repo)),
            )  # fmt: skip
            finished = await evaluate(ctx, pairs, progress, repo=str(repo))
        finally:
            audit.close()
            await router.aclose()
        return finished, compare(load_items(reader), [run_id], [thresholds], held_out=bool(judgments))
    finally:
        reader.close()


class LabelledLog(msgspec.Struct, frozen=True):
    """A log with labels, and the repository whose thresholds decide on its calls."""

    repo: Path
    log: Path


class Evaluation(msgspec.Struct, frozen=True):
    """Evaluation runs, one a model and log, in the order asked; ``finished`` is how the last of them ended."""

    runs: tuple[str, ...]
    finished: RunFinished
    found: Comparison


async def evaluate_models(
    places: Sequence[LabelledLog], configs: Sequence[Config], *, stages: Sequence[str] = (),
    judgments: frozenset[str] = frozenset(), outcomes: bool = False,
    gate: Gate | None = None, progress: Callable[[int, int, int], None] | None = None,
) -> Evaluation:  # fmt: skip
    """Ask one model after another the labelled questions of all logs, and compare the models on all of them together. The
    questions of a log are asked as a run in that log, so that no prompt of one repository gets into another's log. After a
    run that does not complete no more are started; its answers are kept. ``progress`` is called with the place of the model
    (from 0), the number of questions answered and the number of all.

    Raises:
        ModelError: a model cannot be asked, and no question was answered before.
        EvaluationError: nothing is labelled in any of the logs.
        LogError, ConfigError: as :func:`run_evaluation`.
    """
    counts = await asyncio.to_thread(_counts, places, stages, judgments, outcomes=outcomes)
    asked_before = dict(zip(counts, accumulate(counts.values(), initial=0), strict=False))
    runs: list[str] = []
    finished, fault = RunFinished("complete", "Nothing was asked."), None
    for (number, config), place in product(enumerate(configs), counts):
        runs.append(new_run_id())
        hear = None
        if progress is not None:
            hear = partial(_forward, progress, number, asked_before[place], sum(counts.values()))
        try:
            finished, _ = await run_evaluation(
                place.repo, runs[-1], config, log=place.log, thresholds=thresholds_of(place.repo, config), stages=stages,
                gate=gate, progress=hear, judgments=judgments, outcomes=outcomes,
            )  # fmt: skip
        except ModelError as error:
            fault, finished = error, RunFinished("failed", f"{error} {error.hint}".strip())
        if finished.status != "complete":
            break
    found = await asyncio.to_thread(_compared, list(counts), runs, configs[0], bool(judgments))
    if fault is not None and not found.asked:
        raise fault
    return Evaluation(tuple(runs), finished, found)


def _counts(
    places: Sequence[LabelledLog], stages: Sequence[str], judgments: frozenset[str], *, outcomes: bool
) -> dict[LabelledLog, int]:
    """The logs with labelled questions, and the number of those in each."""
    counts: dict[LabelledLog, int] = {}
    missing: EvaluationError | None = None
    for place in places:
        reader = LogReader(place.log)
        try:
            counts[place] = len(labelled_set(reader, stages, judgments, outcomes=outcomes))
        except EvaluationError as error:
            missing = error
        finally:
            reader.close()
    if not counts and missing is not None:
        raise missing
    return counts


def _forward(progress: Callable[[int, int, int], None], place: int, before: int, total: int, done: int, of: int) -> None:
    progress(place, before + done, total)


def _compared(places: Sequence[LabelledLog], runs: Sequence[str], config: Config, held_out: bool) -> Comparison:
    items: list[Item] = []
    for place in places:
        reader = LogReader(place.log)
        try:
            items += load_items(reader)
        finally:
            reader.close()
    return compare(items, runs, [thresholds_of(place.repo, config) for place in places], held_out=held_out)


def _title(model: str, count: int) -> str:
    return f"Evaluation of {model} on {count} labelled calls"
