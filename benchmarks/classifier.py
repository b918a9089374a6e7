"""Classify recorded compiler failures: share decided without a model, microseconds each, and the score against the gold.

usage: python -m benchmarks.classifier CORPUS.jsonl [--verify] [--facts-off [--limit N]] [--rounds N] [--no-index]

``--facts-off`` asks the default model the three questions of every row, as ``compile.facts = false`` does, and counts calls.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

from agent.compiling.classifying.classification import CompilerErrorClassification
from agent.compiling.classifying.findings import SystemNames
from agent.compiling.classifying.questions import RunQuestions
from agent.compiling.compiler import Compiler, CompilerMissing
from agent.compiling.rows import CompileRow, classify_row, model_calls
from agent.compiling.system_headers import system_headers
from agent.config.schema import load
from agent.directories import data_directory
from agent.session import asking_session


def fits(header: str, slot: list[str]) -> bool:
    """Whether a header is one of a slot's acceptable ones, by name or as the tail of a path."""
    return any(header == s or ("/" not in s and header.rsplit("/", 1)[-1] == s) for s in slot)


def judge(gold: dict[str, Any], said: CompilerErrorClassification) -> tuple[bool, bool]:
    """(the category is accepted, every needed header is there)."""
    right = said.category in gold.get("accept", [gold.get("gold_category")])
    slots = gold.get("gold_headers") or []
    return right, right and all(any(fits(h, slot) for h in said.headers) for slot in slots)


async def measure(rows: list[CompileRow], rounds: int, system: SystemNames | None) -> tuple[list[float], list[float]]:
    """The best of ``rounds`` timings of each row, text only, in microseconds: elapsed, and of the processor (which other
    programs on the machine disturb less)."""
    elapsed, busy = [float("inf")] * len(rows), [float("inf")] * len(rows)
    for _ in range(rounds):
        for place, row in enumerate(rows):
            started, began = time.perf_counter(), time.thread_time()
            await classify_row(row, system=system)
            busy[place] = min(busy[place], (time.thread_time() - began) * 1e6)
            elapsed[place] = min(elapsed[place], (time.perf_counter() - started) * 1e6)
    return elapsed, busy


async def main() -> None:
    """Read the corpus, classify it, print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--verify", action="store_true", help="recompile as well")
    parser.add_argument("--facts-off", action="store_true", help="by the default model's questions alone")
    parser.add_argument("--limit", type=int, default=0, help="rows asked with --facts-off (0: all)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-index", action="store_true", help="the header table only, no question to a compiler")
    options = parser.parse_args()
    system: SystemNames | None = None
    if not options.no_index:
        try:
            system = system_headers(Compiler.find())
        except CompilerMissing as missing:
            print(missing)
    gold = [json.loads(line) for line in options.corpus.read_text("utf-8").splitlines() if line.strip()]
    rows = [CompileRow(g) for g in gold]
    said = [await classify_row(r, system=system) for r in rows]
    print(f"{len(rows)} failures from {options.corpus.name}")
    report("text only", gold, said)
    if options.verify:
        started = time.perf_counter()
        verified = [await classify_row(r, verify=True, system=system) for r in rows]
        seconds = time.perf_counter() - started
        report("recompiled", gold, verified)
        print(f"{'recompiled':12s} {seconds / len(rows) * 1000:8.1f} ms each")
    if options.facts_off:
        count = options.limit or len(rows)
        started = time.perf_counter()
        answered = await by_questions(rows[:count], system)
        seconds = time.perf_counter() - started
        report("facts off", gold[:count], answered)
        calls = sum(model_calls(one) for one in answered)
        print(f"{'facts off':12s} {calls} calls, {calls / count:.1f} a row, {seconds / count:.1f} s each")
    for name, times in zip(("elapsed", "processor"), await measure(rows, options.rounds, system), strict=True):
        ordered = sorted(times)
        print(
            f"{name:12s} {statistics.median(times):8.1f} µs median  {ordered[int(len(ordered) * 0.9)]:8.1f} µs p90  "
            f"{ordered[-1]:8.1f} µs worst  (text only, best of {options.rounds} rounds)"
        )


async def by_questions(rows: list[CompileRow], system: SystemNames | None) -> list[CompilerErrorClassification]:
    """The classifications by the configured model's questions alone."""
    folder = data_directory() / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    async with asking_session("classify", folder, load(Path("."))) as ctx:
        return [await classify_row(r, llm=RunQuestions(ctx), system=system, use_facts=False) for r in rows]


def report(title: str, gold: list[dict[str, Any]], said: list[CompilerErrorClassification]) -> None:
    """One line: right categories, all headers, decided without a model."""
    judged = [judge(g, s) for g, s in zip(gold, said, strict=True)]
    missing = [j for g, j in zip(gold, judged, strict=True) if g.get("gold_category") == "missing_include"]
    decided = sum(s.how in ("deterministic", "recompile") for s in said)
    count = len(said)
    print(
        f"{title:12s} categories {sum(r for r, _ in judged)}/{count}  missing_include with all headers "
        f"{sum(a for _, a in missing)}/{len(missing)}  decided without a model {decided}/{count} = {decided / count:.3f}"
    )


if __name__ == "__main__":
    asyncio.run(main())
