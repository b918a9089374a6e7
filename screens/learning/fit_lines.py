"""What the labels say about one stage and model, drawn: confusion matrices, the curve of thresholds, the estimate."""

from __future__ import annotations

from textual.content import Content

from agent.learning.bootstrap import Interval
from agent.learning.calibrate import Fit, curve
from agent.learning.scores import Confusion, StageScore
from agent.verdict.threshold import Threshold
from screens.learning.score_lines import score_table
from screens.text import GOOD, LABEL, MUTED, STRONG, WARN, clean, line, stage_short

_BLOCKS = " ▁▂▃▄▅▆▇█"
_LEVELS = 6
_AXIS = 5


def fit_lines(fit: Fit, scores: list[StageScore], width: int) -> list[Content]:
    """Everything about a fit; ``scores`` are those of all models on its stage."""
    lines = [*_verdict(fit), Content("")]
    if fit.known and fit.rule is not None:
        lines += [*_curve(fit, fit.rule, width), Content("")]
    lines += [line(("as it is used today", LABEL)), *_matrix(fit.now)]
    if fit.then is not None and fit.rule is not None:
        head = f"with the new threshold {fit.rule.threshold:.2f}, on the labels it was fitted to"
        lines += [Content(""), line((head, LABEL)), *_matrix(fit.then)]
    mine = [score for score in scores if score.stage == fit.stage]
    if mine:
        lines += [Content(""), line(("models on this question", LABEL)), *score_table(mine, width)]
        lines.append(line(("E asks the labelled questions of other models", MUTED)))
    return lines


def rule_words(rule: Threshold | None) -> str:
    """A rule in words: what is compared with what, and whose it is."""
    if rule is None:
        return "none: the answer's words decide"
    parts = [f"{rule.slope:g} · P(yes)" if rule.slope != 1.0 else "P(yes)"] if rule.slope else []
    parts += [f"rank ({rule.rank_weight:g})"] if rule.rank_weight else []
    parts += [f"{name} ({weight:+g})" for name, weight in rule.facts.items()]
    whose = {"shipped": "ships with the model", "labels": f"fitted to {rule.n} labels"}.get(rule.origin, f"{rule.n} labels")
    return f"{' with '.join(parts)} ≥ {rule.threshold:.2f}, {whose}"


def _verdict(fit: Fit) -> list[Content]:
    head = line((stage_short(fit.stage), STRONG), "  ", (clean(fit.model), MUTED), (f"  wording {fit.question}", MUTED))
    in_force = line(("in force  ", LABEL), (rule_words(fit.current), MUTED))
    if fit.current is not None and fit.current.question not in ("", fit.question):
        in_force = line(("in force  ", LABEL), ("fitted to another wording of the question, so it does not decide", WARN))
    if fit.rule is None or fit.worth is None:
        return [head, in_force, line((fit.problem, WARN))]
    worth = fit.worth
    aim = "keep 0.90 of what matters in as few as possible" if fit.aim == "recall" else "balanced accuracy"
    lines = [
        head, in_force,
        line(("fitted    ", LABEL), (rule_words(fit.rule), STRONG)),
        line((f"rests on {fit.n} labels of {fit.tasks} tasks, {fit.yes} yes; aim: {aim}", MUTED)),
        line(("on tasks left out of the fit", LABEL)),
    ]  # fmt: skip
    rows = (("fitted", worth.then), ("in force", worth.now), ("rank alone", worth.rank))
    for name, measure in rows:
        if measure is not None:
            recall = "-" if measure.recall is None else f"{measure.recall:.2f}"
            balanced = "-" if measure.balanced is None else f"{measure.balanced:.2f}"
            lines.append(line(f"  {name:<11} kept {measure.kept:.2f}   recall {recall}   balanced {balanced}"))
    lines.append(line(_figure("gain over what is in force", worth.gain)))
    if worth.over_rank is not None:
        lines.append(line(_figure("recall over rank alone", worth.over_rank)))
    if worth.within is not None and worth.within_interval is not None:
        lines.append(line(_figure(f"inside a task a yes scores above a no: {worth.within:.2f}", worth.within_interval)))
    if fit.refusal:
        lines.append(line((f"not offered: {fit.refusal}", WARN)))
    else:
        lines.append(line(("better than what is in force, at the lower end of the interval", GOOD)))
    return lines


def _figure(name: str, interval: Interval) -> tuple[str, str]:
    return f"  {name}  (95 %: {interval[0]:+.2f} to {interval[1]:+.2f})", MUTED


def _curve(fit: Fit, rule: Threshold, width: int) -> list[Content]:
    """Balanced accuracy over the threshold, from 0.5 at the bottom to 1.0 at the top; the marks are the labels."""
    columns = max(10, min(width - _AXIS - 2, 80))
    points = [value for _, value in curve(fit.known, columns)]
    lines = [line(("balanced accuracy by threshold", LABEL))]
    for level in range(_LEVELS - 1, -1, -1):
        cells = "".join(_cell(value, level) for value in points)
        mark = {_LEVELS - 1: "1.0", 0: "0.5"}.get(level, "")
        lines.append(line((f"{mark:>4} ", MUTED), (cells, GOOD)))
    lines.append(_marks("yes", [score for score, label in fit.known if label], columns))
    lines.append(_marks("no", [score for score, label in fit.known if not label], columns))
    place = min(columns - 1, round(max(0.0, min(1.0, rule.threshold)) * (columns - 1)))
    lines.append(line(" " * _AXIS, (" " * place + "▲", STRONG), f" {rule.threshold:.2f}"))
    return lines


def _cell(value: float, level: int) -> str:
    filled = max(0.0, (value - 0.5) * 2) * _LEVELS - level
    return _BLOCKS[max(0, min(8, round(filled * 8)))]


def _marks(name: str, scores: list[float], columns: int) -> Content:
    counts = [0] * columns
    for score in scores:
        counts[min(columns - 1, round(max(0.0, min(1.0, score)) * (columns - 1)))] += 1
    cells = "".join("·" if count == 0 else "o" if count == 1 else "O" for count in counts)
    return line((f"{name:>4} ", MUTED), (cells, MUTED))


def _matrix(table: Confusion) -> list[Content]:
    shares = {name: getattr(table, name) for name in ("accuracy", "precision", "recall", "balanced")}
    said = "   ".join(f"{name} {value:.2f}" if value is not None else f"{name} -" for name, value in shares.items())
    wide = max(5, len(str(table.n)) + 2)
    return [
        line((f"  {'':<12}{'said yes':>{wide + 6}}{'said no':>{wide + 6}}", MUTED)),
        line(f"  {'right: yes':<12}", (f"{table.true_yes:>{wide + 6}}", GOOD), (f"{table.false_no:>{wide + 6}}", WARN)),
        line(f"  {'right: no':<12}", (f"{table.false_yes:>{wide + 6}}", WARN), (f"{table.true_no:>{wide + 6}}", GOOD)),
        line((f"  {said}", MUTED)),
    ]
