"""What the configured model says about the candidates of real changes, and whether it beats rank alone.

Every candidate is asked about in every stage, whatever an earlier stage said, so that each stage can be measured and
fitted by itself. The files and symbols that a change touched are the yes examples; the worked example comes
as one more task, with its own verdicts. Prompts are those of a run, the model's sentence of intent included: it moves the
probabilities of a whole task.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agent.audit.log import AuditLog, log_path
from agent.config.schema import load as load_config
from agent.context import RunContext
from agent.index import Index
from agent.judgment.binary import run_binary_judgment
from agent.models.router import Router
from agent.prompts import precision_pass1, precision_pass2, scope
from agent.prompts.task_context import task_context
from agent.retrieval import ranked
from agent.retrieval.pipeline import ask_intent
from agent.retrieval.precision import format_symbol
from agent.retrieval.scope import format_file
from agent.retrieval.symbolrank import rank_symbols
from benchmarks.commits import Commit, checkout
from benchmarks.fitting import FittedStage, fit_stage, kept_share, toml_block
from benchmarks.worked_example import GOLD, ID, worked_example

STAGES = ("scope", "precision_pass1", "precision_pass2")


class Answer(msgspec.Struct, frozen=True):
    """One call. ``gold`` is whether the real change touched the item; ``said`` is the verdict without any threshold."""

    stage: str
    change: str
    language: str
    item: str
    rank: int
    gold: bool
    said: bool
    p_yes: float | None
    model: str
    ms: float


async def judge_all(
    rows: Sequence[Commit], clones: Path, files: int, symbols: int, save: Path | None = None, *, example: bool = True
) -> list[Answer]:
    """Ask about the ``files`` and ``symbols`` best-ranked candidates of each change; seeds are not asked about.

    Changes whose answers ``save`` holds already are not asked again. ``example`` adds the worked example.
    """
    config = load_config()
    router = Router(config.models)
    answers = read_answers(save) if save is not None and save.is_file() else []
    done = {answer.change for answer in answers}
    with tempfile.TemporaryDirectory() as folder:
        tasks = [worked_example(Path(folder))] if example else []
        tasks += [(row, checkout(clones, row)) for row in rows]
        log = AuditLog(log_path(Path(folder)))
        try:
            for number, (row, root) in enumerate(tasks, 1):
                if row.id in done:
                    continue
                log.start_run(row.id, task=row.task, repo=row.repo)
                ctx = RunContext(run_id=row.id, config=config, log=log, router=router)
                began = time.perf_counter()
                fresh = await _judge(ctx, row, root, files, symbols)
                answers += fresh
                if save is not None:
                    save.write_text("".join(json.dumps(msgspec.to_builtins(a)) + "\n" for a in answers))
                print(f"{number}/{len(tasks)} {row.id}: {len(fresh)} calls, {time.perf_counter() - began:.0f} s", flush=True)
        finally:
            await router.aclose()
            log.close()
    return answers


async def _judge(ctx: RunContext, row: Commit, root: Path, files: int, symbols: int) -> list[Answer]:
    index = Index.open(root)
    try:
        index.refresh()
        found = ranked.rank(index, row.task, ctx.config.retrieval)
        facts = msgspec.structs.replace(found.facts, intent=await ask_intent(ctx, found.facts))
        candidates = [file for file in found.candidates.files if not file.seed][:files]
        strengths = {file.path: file.score for file in found.candidates.files[: ranked.SYMBOL_FILES]}
        best = rank_symbols(index, facts, strengths)[:symbols]
        listed = [ranked.with_edges(index, symbol) for symbol in best]
    finally:
        index.close()
    context = task_context(facts.text, facts.intent)
    answers = await _ask(ctx, row, "scope", scope.SYSTEM, context, [(format_file(f), f.path, f.rank) for f in candidates])
    for stage, system, edges in (
        ("precision_pass1", precision_pass1.SYSTEM, True),
        ("precision_pass2", precision_pass2.SYSTEM, False),
    ):
        items = [(format_symbol(s, edges=edges), s.key, s.rank) for s in listed]
        answers += await _ask(ctx, row, stage, system, context, items)
    return answers


async def _ask(
    ctx: RunContext, row: Commit, stage: str, system: str, context: str, items: list[tuple[str, str, int]]
) -> list[Answer]:
    answers: list[Answer] = []
    gold = set(GOLD[stage] if row.id == ID else row.gold_files if stage == "scope" else row.gold_symbols)
    await run_binary_judgment(
        items,
        system_prompt=system,
        task_context=context,
        llm=ctx.llm(stage),
        format_item=lambda item: item[0],
        item_key=lambda item: item[1],
        stage_name=stage,
        on_verdict=lambda item, event: answers.append(
            Answer(
                stage, row.id, row.language, item[1], item[2], item[1] in gold, bool(event.verdict), event.p_yes,
                event.model, event.ms,
            )
        ),
    )
    return answers


def read_answers(path: Path) -> list[Answer]:
    """Answers that ``--save`` kept."""
    return [msgspec.json.decode(line, type=Answer) for line in path.read_bytes().splitlines() if line.strip()]


def report(answers: Sequence[Answer], *, fit: bool) -> None:
    """Per stage: how well the model orders, what it keeps, and the same number of best-ranked beside it."""
    fits: list[FittedStage] = []
    head = f"{'stage':<18}{'asked':>6}{'gold':>6}{'AUC model':>11}{'AUC rank':>10}"
    print(f"{head}{'kept':>8}{'recall':>8}{'rank alone':>12}{'ms':>7}")
    for stage in STAGES:
        rows = [answer for answer in answers if answer.stage == stage and answer.p_yes is not None]
        if not any(answer.gold for answer in rows):
            continue
        points = [(a.change, a.gold, a.p_yes or 0.0, a.rank) for a in rows]
        best = fit_stage(stage, points)
        fits.append(best)
        said = [(a.change, a.gold, float(a.said), a.rank) for a in rows]
        _line(stage, "as answered", rows, best, kept_share(said, lambda p, rank: p >= 0.5))
        _line("", "fitted (left out)", rows, best, best.left_out)
        for language in ("c", "python"):
            mine = {answer.change for answer in rows if answer.language == language}
            _line("", f"  of it {language}, {len(mine & best.parts.keys())} changes", rows, best, best.average(mine))
    if fit:
        model = next((answer.model for answer in answers), "")
        print(f"\n# thresholds for {model}: after its [[models]] entry in agent/models/registry.toml")
        print("\n".join(toml_block(best) for best in fits))


def _line(stage: str, how: str, rows: Sequence[Answer], best: FittedStage, kept: tuple[float, float, float]) -> None:
    if stage:
        gold = sum(answer.gold for answer in rows)
        ms = sum(answer.ms for answer in rows) / len(rows)
        head = f"{stage:<18}{len(rows):>6}{gold:>6}{best.auc_model:>11.3f}{best.auc_rank:>10.3f}"
        tail = f"{ms:>7.0f}"
    else:
        head, tail = f"{'':<51}", ""
    share, found, alone = kept
    print(f"{head}{share:>8.2f}{found:>8.2f}{alone:>12.2f}{tail}   {how}")
