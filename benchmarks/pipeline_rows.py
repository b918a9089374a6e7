"""Rows of ``benchmarks.pipelines``: kept one a line as they come, read again, and put into a Markdown table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median

import msgspec


class PipelineRow(msgspec.Struct, frozen=True):
    """One run. ``generations`` are the calls that were no yes/no; tests are None when their runner told no numbers;
    ``seconds`` is the run's own clock, ``wall`` the whole process; ``reason`` says what stopped a run that is not solved."""

    demo: str
    mode: str
    seed: int
    status: str
    solved: bool
    reason: str
    calls: int
    generations: int
    tokens_in: int
    tokens_out: int
    seconds: float
    wall: float
    passed_before: int | None = None
    total_before: int | None = None
    passed_after: int | None = None
    total_after: int | None = None
    cached_calls: int = 0
    stages: dict[str, int] = {}
    plan: str = ""
    model: str = ""
    commit: str = ""
    wording: str = "plain"
    settings: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What makes a run the same run."""
        return self.demo, self.mode, self.seed, self.wording

    @property
    def title(self) -> str:
        """The demo as the table names it."""
        return self.demo if self.wording == "plain" else f"{self.demo} ({self.wording})"


def read_rows(path: Path) -> list[PipelineRow]:
    """The rows of a file. A line that cannot be read, such as the end of a broken-off write, is named and passed over."""
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append(msgspec.json.decode(line, type=PipelineRow))
        except msgspec.DecodeError as error:
            print(f"{path}: line {number} is passed over, it is not a row: {error}", file=sys.stderr)
    return rows


def append_row(path: Path, row: PipelineRow) -> None:
    """Add ``row`` on a line of its own, on the disk before this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            broken = file.read(1) != b"\n"
            file.write(b"\n" * broken)
        file.write(msgspec.json.encode(row) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def table(rows: Sequence[PipelineRow]) -> str:
    """The Markdown table: a line for each demo and mode, in the order in which they first come."""
    lines = [
        "| demo | mode | solved | tests after | calls | of them generations | tokens in / out | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (demo, mode), group in grouped(rows).items():
        cells = (
            demo,
            mode,
            f"{sum(row.solved for row in group)} of {len(group)}",
            ", ".join(dict.fromkeys(_of(row.passed_after, row.total_after) for row in group)),
            _median(group, lambda row: row.calls),
            _median(group, lambda row: row.generations),
            f"{_median(group, lambda row: row.tokens_in)} / {_median(group, lambda row: row.tokens_out)}",
            _median(group, lambda row: row.seconds),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def notes(rows: Sequence[PipelineRow]) -> str:
    """What the table cannot hold: where the calls went, what stopped the runs that were not solved, what was measured."""
    lines = ["Figures are medians. Calls by stage, the first run of each:", ""]
    for (demo, mode), group in grouped(rows).items():
        stages = ", ".join(f"{name} {count}" for name, count in group[0].stages.items()) or "none"
        lines.append(f"- {demo}, {mode} (plan: {group[0].plan or 'none'}): {stages}")
    unsolved = [row for row in rows if not row.solved]
    if unsolved:
        lines += ["", "Not solved:", ""]
        lines += [f"- {row.title}, {row.mode}, seed {row.seed} ({row.status}): {row.reason}" for row in unsolved]
    commits = _each(row.commit for row in rows)
    changed = " (+: and changes that were not committed)" if "+" in commits else ""
    lines += ["", f"Model: {_each(row.model for row in rows)}. Commit: {commits}{changed}."]
    extra = _each(" ".join(row.settings) for row in rows)
    return "\n".join(lines + ([f"Settings: {extra}."] if extra != "unknown" else []))


def grouped(rows: Iterable[PipelineRow]) -> dict[tuple[str, str], list[PipelineRow]]:
    """Rows by demo and mode."""
    groups: dict[tuple[str, str], list[PipelineRow]] = {}
    for row in rows:
        groups.setdefault((row.title, row.mode), []).append(row)
    return groups


def _of(passed: int | None, total: int | None) -> str:
    return "none ran" if passed is None or total is None else f"{passed} of {total}"


def _median(rows: Sequence[PipelineRow], what: Callable[[PipelineRow], float]) -> str:
    return f"{median(what(row) for row in rows):.0f}"


def _each(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(word for word in words if word)) or "unknown"
