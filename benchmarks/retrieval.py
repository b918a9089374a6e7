"""How well retrieval finds what real changes touched: recall beside plain BM25, C and Python each.

    python -m benchmarks.retrieval --commits FILE --clones DIR [--also FILE] [--judge [--fit]] [--save FILE | --from FILE]

``FILE`` holds one change a line (see ``benchmarks/commits.py``), ``DIR`` the clones of their repositories. Beside the
figures with the weights in force stand those with weights fitted without the repository at hand, on the other changes of
the file and on those of ``--also`` (``python -m benchmarks.mined`` makes such).

Without ``--judge`` no model is asked. ``--judge`` asks the configured model about every candidate and compares what it picks
with the same number of best-ranked; ``--fit`` finds thresholds and rank weights from those answers and prints them as TOML
for the model registry. ``--save`` keeps the answers and goes on where it left off, ``--from`` reads them back instead.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from agent.config.schema import Config
from agent.index import Index
from agent.index.words import query_words, split_identifier
from agent.retrieval import filerank, symbolrank
from agent.retrieval.pipeline import retrieve_unjudged
from agent.retrieval.ranking import Bm25, best_first
from agent.retrieval.stemming import stem
from agent.retrieval.task import analyse
from agent.retrieval.without_model import SYMBOL_FILES
from benchmarks.commits import Commit, checkout, load, mean, recall
from benchmarks.left_out import Ranked, left_out

JUDGED = ("scope", "precision_pass1", "precision_pass2")
FILE_CUTS, SYMBOL_CUTS = (5, 10, 20), (20, 50)
FILE_SHARES, SYMBOL_SHARES = {5: 0.25, 10: 0.5, 20: 0.25}, {20: 0.6, 50: 0.4}
"""How much each cut counts in a fit."""

GOALS = {"files@10": 0.93, "files@20": 1.0, "symbols@20": 0.75, "symbols@50": 0.88}
"""What is aimed at with weights fitted without the repository at hand."""


class FoundAt(msgspec.Struct):
    """What was found for one change."""

    row: Commit
    files: list[str]
    symbols: list[str]
    plain_files: list[str]
    plain_symbols: list[str]
    index_seconds: float
    rank_seconds: float
    file_evidence: Ranked
    symbol_evidence: Ranked
    files_left_out: list[str] = []
    symbols_left_out: list[str] = []


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--also", type=Path, help="more changes to fit on")
    parser.add_argument("--only", nargs="*", default=[], help="only changes whose id or repository contains a word")
    parser.add_argument("--judge", action="store_true", help="ask the configured model too")
    parser.add_argument("--fit", action="store_true", help="fit thresholds from the answers")
    parser.add_argument("--save", type=Path, help="keep the answers (JSONL)")
    parser.add_argument("--from", dest="read", type=Path, help="answers kept earlier, instead of asking")
    parser.add_argument("--rows", action="store_true", help="print the place of every gold file and symbol")
    parser.add_argument("--files", type=int, default=20, help="candidate files judged per change")
    parser.add_argument("--symbols", type=int, default=24, help="candidate symbols judged per change")
    parser.add_argument("--stages", nargs="*", default=JUDGED, help="stages that are asked")
    parser.add_argument("--no-example", action="store_true", help="without the worked example")
    parser.add_argument("--only-found", action="store_true", help="only changes with something to find among the candidates")
    parser.add_argument("--minutes", type=float, default=0.0, help="begin no further change after so many; 0: no limit")
    options = parser.parse_args()
    if options.judge or options.read:
        from benchmarks.judged import judge_all, read_answers, report

        if options.read:
            answers = read_answers(options.read)
        else:
            rows = load(options.commits, options.only)
            more = {"stages": options.stages, "minutes": options.minutes, "only_found": options.only_found}
            work = judge_all(
                rows, options.clones, options.files, options.symbols, options.save, example=not options.no_example, **more
            )
            answers = asyncio.run(work)
        report(answers, fit=options.fit)
        return
    found = [look(row, options.clones) for row in load(options.commits, options.only)]
    others = [look(row, options.clones) for row in load(options.also, options.only)] if options.also else []
    leave_out([*found, *others])
    if options.rows:
        for one in found:
            print(one.row.id, places(one.row.gold_files, one.files), places(one.row.gold_symbols, one.symbols))
    table(found)
    if others:
        print(f"with the {len(others)} changes that were only fitted on:")
        table([*found, *others])


def look(row: Commit, clones: Path) -> FoundAt:
    """Index the parent commit, rank, and rank again by plain BM25."""
    began = time.perf_counter()
    index = Index.open(checkout(clones, row))
    try:
        index.refresh()
        ready = time.perf_counter()
        answer = retrieve_unjudged(index, row.task, Config())
        done = time.perf_counter()
        plain_files, plain_symbols = plain_bm25(index, row.task)
        return FoundAt(
            row, answer["files"], answer["symbols"], plain_files, plain_symbols, ready - began, done - ready,
            *evidence(index, row),
        )  # fmt: skip
    finally:
        index.close()


def evidence(index: Index, row: Commit) -> tuple[Ranked, Ranked]:
    """What is known of the files and of the symbols of the best files, without weights."""
    facts = analyse(row.task, index)
    parts = filerank.shares_of(filerank.evidence_of(index, facts).scores)
    files = Ranked(row.repo, _unweighted(parts, filerank.STRENGTH), row.gold_files, facts.mentioned_files)
    scores = filerank.rank_files(index, facts).scores
    best = {path: scores[path] for path in best_first(scores)[:SYMBOL_FILES]}
    of_symbols = symbolrank.parts_of(index, symbolrank.documents_in(index, best), best, facts)
    symbols = Ranked(row.repo, _unweighted(of_symbols, symbolrank.STRENGTH), row.gold_symbols, facts.mentioned_symbols)
    return files, symbols


def _unweighted(parts: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> dict[str, dict[str, float]]:
    return {item: {kind: value / weights[kind] for kind, value in kinds.items()} for item, kinds in parts.items()}


def leave_out(found: Sequence[FoundAt]) -> None:
    """Ranks files and symbols of each change by weights that have not seen its repository. One repository has none."""
    if len({one.row.repo for one in found}) < 2:
        return
    files = left_out([one.file_evidence for one in found], list(filerank.STRENGTH), FILE_SHARES)
    symbols = left_out([one.symbol_evidence for one in found], list(symbolrank.STRENGTH), SYMBOL_SHARES)
    for one, ranked_files, ranked_symbols in zip(found, files, symbols, strict=True):
        one.files_left_out, one.symbols_left_out = ranked_files, ranked_symbols


def plain_bm25(index: Index, task: str) -> tuple[list[str], list[str]]:
    """BM25 over the full text of source files without tests, and over the text of every symbol: the yardstick."""
    sources = {e.path: index.source(e.path) for e in index.files() if not e.is_test and e.language in ("c", "python")}
    query = dict.fromkeys((stem(word) for word in query_words(task)), 1.0)
    files = {path: _words(data.decode("utf-8", "replace")) for path, data in sources.items()}
    symbols = {
        symbol.key: _words(sources[path][symbol.start : symbol.end].decode("utf-8", "replace"))
        for path in sources
        for symbol in index.symbols(path)
        if symbol.kind not in ("prototype", "enumerator")
    }
    return _ranked(files, query), _ranked(symbols, query)


def _ranked(documents: dict[str, Counter[str]], query: dict[str, float]) -> list[str]:
    bm25 = Bm25(documents)
    return best_first({key: bm25.score(key, query) for key in documents})


def _words(text: str) -> Counter[str]:
    parts = (part for word in re.findall(r"\w+", text) for part in split_identifier(word))
    return Counter(stem(part) for part in parts if len(part) > 1)


def table(found: Sequence[FoundAt]) -> None:
    """Recall per language and for all, ours beside plain BM25."""
    groups: list[tuple[str, Callable[[FoundAt], bool]]] = [
        ("all", lambda _: True), ("c", lambda f: f.row.language == "c"), ("python", lambda f: f.row.language == "python"),
    ]  # fmt: skip
    columns = [f"files@{k}" for k in FILE_CUTS] + ["candidates", "recall"] + [f"symbols@{k}" for k in SYMBOL_CUTS]
    print(f"{'':<16}{'n':>4}" + "".join(f"{name:>12}" for name in columns))
    for name, belongs in groups:
        chosen = [one for one in found if belongs(one)]
        if chosen:
            _line(f"{name} ranked", chosen, lambda f: f.files, lambda f: f.symbols)
            if chosen[0].files_left_out:
                _line(f"{name} left out", chosen, lambda f: f.files_left_out, lambda f: f.symbols_left_out)
            _line(f"{name} plain BM25", chosen, lambda f: f.plain_files, lambda f: f.plain_symbols)
    print("goals           " + "    " + "".join(f"{GOALS.get(name, ''):>12}" for name in columns))
    slowest = max(found, key=lambda f: f.rank_seconds)
    print(
        f"index {mean([f.index_seconds for f in found]):.1f} s, ranking {mean([f.rank_seconds for f in found]):.2f} s on "
        f"average; slowest ranking {slowest.rank_seconds:.2f} s ({slowest.row.id})"
    )


def _line(
    name: str, found: Sequence[FoundAt], files: Callable[[FoundAt], list[str]], symbols: Callable[[FoundAt], list[str]]
) -> None:
    with_symbols = [one for one in found if one.row.gold_symbols]
    cells = [f"{mean([recall(f.row.gold_files, files(f), k) for f in found]):.3f}" for k in FILE_CUTS]
    cells.append(f"{mean([float(len(files(f))) for f in found]):.1f}")
    cells.append(f"{mean([recall(f.row.gold_files, files(f)) for f in found]):.3f}")
    cells += [f"{mean([recall(f.row.gold_symbols, symbols(f), k) for f in with_symbols]):.3f}" for k in SYMBOL_CUTS]
    print(f"{name:<16}{len(found):>4}" + "".join(f"{cell:>12}" for cell in cells))


def places(gold: Sequence[str], found: Sequence[str]) -> str:
    """Where the gold entries stand, from 1; "-" for one that is missing."""
    return " ".join(str(found.index(key) + 1) if key in found else "-" for key in gold) or "none"


if __name__ == "__main__":
    main()
