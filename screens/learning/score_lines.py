"""Scores of models side by side, drawn: one question after the other, two lines a model."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from textual.content import Content

from agent.learning.evaluate import Comparison
from agent.learning.scores import Agreeing, StageScore
from screens.text import LABEL, MUTED, STRONG, clean, line, milliseconds, plural, short_count, stage_title

_WITH_INTERVALS = 70
"""Cells from which on the intervals stand beside the figures."""


def comparison_lines(found: Comparison, width: int) -> list[Content]:
    """Every question that was asked: the models just asked, then what the log knows of others on the same questions."""
    lines: list[Content] = []
    asked = {(score.stage, score.model) for score in found.asked}
    for stage in dict.fromkeys(score.stage for score in found.asked):
        scores = [score for score in (*found.asked, *found.others) if score.stage == stage]
        lines += [*_stage(stage, scores, asked, width), *_agreeing(stage, found.agreements), Content("")]
    return lines + [line((note, MUTED)) for note in found.notes]


def score_table(scores: Sequence[StageScore], width: int, asked: Collection[tuple[str, str]] = ()) -> list[Content]:
    """The models of one stage; a model that was just asked is marked."""
    wide = width >= _WITH_INTERVALS
    room = 13 if wide else 6
    name = max(11, min(30, width - 3 * room - 20))
    head = "".join(f"{cell:<{room}}" for cell in ("F1", "Brier", "ECE"))
    lines = [line((f"  {'model':<{name}}{head}{'kappa':<6}{'tokens':>6}{'ms':>6}", MUTED))]
    for score in scores:
        mine = (score.stage, score.model) in asked
        f1 = (score.confusion.f1, score.f1_interval)
        figures = (f1, (score.brier, score.brier_interval), (score.ece, score.ece_interval))
        told = "".join(_figure(value, interval if wide else None, room) for value, interval in figures)
        shown = clean(score.model or "-")
        shown = shown if len(shown) < name else shown[: name - 2] + "…"
        tokens = "-" if score.tokens is None else short_count(round(score.tokens))
        ms = "-" if score.ms is None else milliseconds(score.ms)
        first = f"{'▸' if mine else ' '} {shown:<{name}}"
        lines.append(line((first, STRONG if mine else ""), f"{told}{_short(score.kappa):<6}{tokens:>6}{ms:>6}"))
        lines.append(line((f"    {_rest(score)}", MUTED)))
    return lines


def _stage(
    stage: str, scores: Sequence[StageScore], asked: Collection[tuple[str, str]], width: int
) -> list[Content]:
    count, tasks = max(score.confusion.n for score in scores), max(score.tasks for score in scores)
    head = line((stage_title(stage), f"bold {LABEL}"), (f"  {plural(count, 'question')} of {plural(tasks, 'task')}", MUTED))
    return [head, *score_table(scores, width, asked)]


def _agreeing(stage: str, pairs: Sequence[Agreeing]) -> list[Content]:
    return [
        line((f"  {clean(two.one)} and {clean(two.other)}: kappa {_share(two.kappa)} ({plural(two.n, 'question')})", MUTED))
        for two in pairs
        if two.stage == stage
    ]


def _rest(score: StageScore) -> str:
    counts = score.confusion
    named = (("balanced", counts.balanced), ("precision", counts.precision), ("recall", counts.recall))
    told = [f"n {counts.n}", *(f"{name} {_share(value)}" for name, value in named)]
    return "  ".join([*told, f"unreadable {score.unreadable}"] if score.unreadable else told)


def _figure(value: float | None, interval: tuple[float, float] | None, room: int) -> str:
    told = _short(value)
    if interval is not None:
        told += f" {_short(interval[0])}–{_short(interval[1])}"
    return f"{told:<{room}}"


def _short(value: float | None) -> str:
    """``.92``, ``1.0``, ``-.04``."""
    text = _share(value)
    return text[:-1] if text == "1.00" else text.replace("0.", ".", 1)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
