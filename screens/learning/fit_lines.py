"""What the labels say about one stage and model, drawn: confusion matrices, the curve of thresholds, the estimate."""

from __future__ import annotations

from textual.content import Content

from agent.learning.calibrate import MIN_LABELS, Fit, curve
from agent.learning.scores import Confusion, StageScore
from screens.text import GOOD, LABEL, MUTED, STRONG, WARN, clean, line

_BLOCKS = " ▁▂▃▄▅▆▇█"
_LEVELS = 6
_AXIS = 5


def fit_lines(fit: Fit, scores: list[StageScore], width: int) -> list[Content]:
    """Everything about a fit; ``scores`` are those of all models on its stage."""
    lines = [*_verdict(fit), Content("")]
    if fit.known and fit.threshold is not None:
        lines += [*_curve(fit, width), Content("")]
    lines += [line(("as it is used today", LABEL)), *_matrix(fit.now)]
    if fit.then is not None:
        lines += [Content(""), line((f"with the threshold {fit.threshold:.2f}", LABEL)), *_matrix(fit.then)]
    mine = [score for score in scores if score.stage == fit.stage]
    if mine:
        lines += [Content(""), line(("models on this stage", LABEL)), *model_table(mine)]
        lines.append(line(("cra evaluate --model NAME asks the labelled questions of another model", MUTED)))
    return lines


def _verdict(fit: Fit) -> list[Content]:
    head = line((fit.stage, STRONG), "  ", (clean(fit.model), MUTED))
    if fit.threshold is None:
        return [head, line((fit.problem, WARN))]
    in_force = "none, the words decide" if fit.current is None else f"{fit.current.threshold:.2f}"
    estimate = "unknown" if fit.estimate is None else f"{fit.estimate:.2f}"
    lines = [
        head,
        line(("threshold ", LABEL), (f"{fit.threshold:.2f}", STRONG), (f"   in force: {in_force}", MUTED)),
        line(("to expect ", LABEL), (estimate, STRONG),
             (f"  balanced accuracy, each label left out in turn ({fit.accuracy:.2f} on the labels themselves)", MUTED)),
        line((f"rests on {fit.n} labels, {fit.yes} yes and {fit.n - fit.yes} no;"
              f" a yes scores above a no in {100 * (fit.auc or 0):.0f} % of pairs", MUTED)),
    ]  # fmt: skip
    if not fit.better_than_chance:
        lines.append(line(("no better than chance: this model does not know, whatever the threshold", WARN)))
    elif fit.n < 3 * MIN_LABELS:
        lines.append(line(("few labels: the estimate may be far off", WARN)))
    if fit.current is not None and fit.current.rank_weight:
        lines.append(line((f"scores hold the search's rank (weight {fit.current.rank_weight:g}, kept)", MUTED)))
    return lines


def _curve(fit: Fit, width: int) -> list[Content]:
    """Balanced accuracy over the threshold, from 0.5 at the bottom to 1.0 at the top; the marks are the labels."""
    assert fit.threshold is not None
    columns = max(10, min(width - _AXIS - 2, 80))
    points = [value for _, value in curve(fit.known, columns)]
    lines = [line(("balanced accuracy by threshold", LABEL))]
    for level in range(_LEVELS - 1, -1, -1):
        cells = "".join(_cell(value, level) for value in points)
        mark = {_LEVELS - 1: "1.0", 0: "0.5"}.get(level, "")
        lines.append(line((f"{mark:>4} ", MUTED), (cells, GOOD)))
    lines.append(_marks("yes", [score for score, label in fit.known if label], columns))
    lines.append(_marks("no", [score for score, label in fit.known if not label], columns))
    place = min(columns - 1, round(max(0.0, min(1.0, fit.threshold)) * (columns - 1)))
    lines.append(line(" " * _AXIS, (" " * place + "▲", STRONG), f" {fit.threshold:.2f}"))
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


def model_table(scores: list[StageScore]) -> list[Content]:
    """Models side by side on one stage."""
    lines = [line((f"  {'model':<24}{'n':>5}{'bal.':>7}{'prec.':>7}{'recall':>7}{'ECE':>6}{'ms':>7}", MUTED))]
    for score in scores:
        table = score.confusion
        values = (table.balanced, table.precision, table.recall, score.ece)
        cells = "".join(("-" if v is None else f"{v:.2f}").rjust(w) for v, w in zip(values, (7, 7, 7, 6), strict=True))
        ms = "-" if score.ms is None else f"{score.ms:.0f}"
        lines.append(line(f"  {clean(score.model or '-')[:23]:<24}{table.n:>5}{cells}{ms:>7}"))
    return lines
