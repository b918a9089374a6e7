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
from agent.retrieval import without_model
from agent.retrieval.pipeline import ask_intent
from agent.retrieval.precision import format_symbol
from agent.retrieval.scope import format_file
from agent.retrieval.symbolrank import TRACED, rank_symbols
from agent.retrieval.types import Reason, ScopedFile, ScopedSymbol, TaskFacts
from benchmarks.commits import Commit, checkout, committed
from benchmarks.fitting import FittedStage, fit_stage, kept_share, toml_block
from benchmarks.worked_example import GOLD, ID, worked_example

STAGES = ("scope", "precision_pass1", "precision_pass2")
_SYSTEM = {"scope": scope.SYSTEM, "precision_pass1": precision_pass1.SYSTEM, "precision_pass2": precision_pass2.SYSTEM}


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call. ``gold`` is whether the real change touched the item; ``said`` is the verdict without any threshold;
    ``facts`` are what the search knows of the item, as :func:`file_evidence` and :func:`symbol_evidence` give it;
    ``examples`` is how many labelled ones the prompt began with; ``at`` is when the change's parent was committed, in
    seconds since 1970."""

    stage: str
    change: str
    language: str
    item: str
    rank: int
    gold: bool
    said: bool
    p_yes: float | None
    model: str
    ms: float = 0.0
    repo: str = ""
    facts: dict[str, float] = {}
    examples: int = 0
    at: int = 0


class Candidate(msgspec.Struct, frozen=True):
    """An item of one change as it is asked about, without its answer."""

    stage: str
    text: str
    item: str
    rank: int
    facts: dict[str, float]


async def judge_all(
    rows: Sequence[Commit], clones: Path, files: int, symbols: int, save: Path | None = None, *,
    example: bool = True, stages: Sequence[str] = STAGES, minutes: float = 0.0, only_found: bool = False,
) -> list[Answer]:  # fmt: skip
    """Ask about the ``files`` and ``symbols`` best-ranked candidates of each change; seeds are not asked about.

    Changes whose answers ``save`` holds already are not asked again. ``example`` adds the worked example. After ``minutes``
    no further change is begun, if given. ``only_found`` passes over changes none of whose items would be asked about.
    """
    config = load_config()
    router = Router(config.models)
    answers = read_answers(save) if save is not None and save.is_file() else []
    done = {answer.change for answer in answers}
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tasks = [worked_example(Path(folder))[0]] if example else []
        log = AuditLog(log_path(Path(folder)))
        try:
            for number, row in enumerate([*tasks, *rows], 1):
                if row.id in done:
                    continue
                if minutes and time.perf_counter() - began > minutes * 60:
                    break
                root = Path(folder) / ID if row.id == ID else checkout(clones, row)
                log.start_run(row.id, task=row.task, repo=row.repo)
                ctx = RunContext(run_id=row.id, config=config, log=log, router=router)
                started = time.perf_counter()
                fresh = await _judge(ctx, row, root, files, symbols, stages, only_found=only_found)
                answers += fresh
                if save is not None:
                    save.write_text("".join(json.dumps(msgspec.to_builtins(a)) + "\n" for a in answers))
                seconds = time.perf_counter() - started
                print(f"{number}/{len(tasks) + len(rows)} {row.id}: {len(fresh)} calls, {seconds:.0f} s", flush=True)
        finally:
            await router.aclose()
            log.close()
    return answers


async def _judge(
    ctx: RunContext, row: Commit, root: Path, files: int, symbols: int, stages: Sequence[str], *, only_found: bool
) -> list[Answer]:
    index = Index.open(root)
    try:
        index.refresh()
        found = without_model.rank(index, row.task, ctx.config.retrieval)
        plain = [one for one in candidates(index, found, found.facts, files, symbols) if one.stage in stages]
        if only_found and not any(one.item in _gold(row, one.stage) for one in plain):
            return []
        facts = msgspec.structs.replace(found.facts, intent=await ask_intent(ctx, found.facts))
        listed = candidates(index, found, facts, files, symbols)
    finally:
        index.close()
    context, at, answers = task_context(facts.text, facts.intent), committed(root), []
    for stage in stages:
        answers += await _ask(ctx, row, stage, context, [one for one in listed if one.stage == stage], at)
    return answers


def _gold(row: Commit, stage: str) -> set[str]:
    return set(GOLD[stage] if row.id == ID else row.gold_files if stage == "scope" else row.gold_symbols)


def candidates(index: Index, found: without_model.Ranking, facts: TaskFacts, files: int, symbols: int) -> list[Candidate]:
    """The items of a change that are asked about, stage by stage, best-ranked first; the intent in ``facts`` counts in the
    ranking of symbols."""
    ordered = found.candidates.files
    listed = [
        Candidate("scope", format_file(file), file.path, file.rank, file_evidence(file, ordered))
        for file in [file for file in ordered if not file.seed][:files]
    ]
    best = rank_symbols(index, facts, {file.path: file.score for file in ordered[: without_model.SYMBOL_FILES]})[:symbols]
    for stage, edges in (("precision_pass1", True), ("precision_pass2", False)):
        for symbol in (without_model.with_edges(index, symbol) for symbol in best):
            evidence = symbol_evidence(symbol, best, ordered)
            listed.append(Candidate(stage, format_symbol(symbol, edges=edges), symbol.key, symbol.rank, evidence))
    return listed


def file_evidence(file: ScopedFile, all_files: Sequence[ScopedFile]) -> dict[str, float]:
    """All that the search knows of a file as numbers: its tier, its score as a share of the best one's, and the part of it
    that each kind of evidence gives."""
    best = max((other.score for other in all_files if not other.seed), default=0.0) or 1.0
    return {"tier": file.tier, **_shares(file.score / best, file.reasons)}


def symbol_evidence(
    symbol: ScopedSymbol, all_symbols: Sequence[ScopedSymbol], files: Sequence[ScopedFile]
) -> dict[str, float]:
    """The same of a symbol, with its kind, length, edges, and the place and score of its file."""
    best = max((other.score for other in all_symbols if other.score < TRACED), default=0.0) or 1.0
    most = max((file.score for file in files if not file.seed), default=0.0) or 1.0
    home = next((file for file in files if file.path == symbol.path), None)
    return {
        f"kind_{symbol.kind}": 1, "lines": symbol.end_line - symbol.line + 1, "calls": len(symbol.calls),
        "called_by": len(symbol.called_by), "documented": float(bool(symbol.doc)),
        "file_rank": home.rank if home is not None else len(files) + 1,
        "file_score": round(home.score / most, 4) if home is not None else 0.0,
        "file_seed": float(home is not None and home.seed), **_shares(symbol.score / best, symbol.reasons),
    }  # fmt: skip


def _shares(score: float, reasons: Sequence[Reason]) -> dict[str, float]:
    return {"score": round(score, 4)} | {f"by_{one.kind}": round(one.share * score, 4) for one in reasons}


async def _ask(ctx: RunContext, row: Commit, stage: str, context: str, items: Sequence[Candidate], at: int) -> list[Answer]:
    answers: list[Answer] = []
    gold = _gold(row, stage)
    await run_binary_judgment(
        items,
        system_prompt=_SYSTEM[stage],
        task_context=context,
        llm=ctx.llm(stage),
        format_item=lambda one: one.text,
        item_key=lambda one: one.item,
        stage_name=stage,
        on_verdict=lambda one, event: answers.append(
            Answer(
                stage,
                row.id,
                row.language,
                one.item,
                one.rank,
                one.item in gold,
                bool(event.verdict),
                event.p_yes,
                event.model,
                event.ms,
                row.repo,
                one.facts,
                at=at,
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
