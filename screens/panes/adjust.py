"""After a failure: the matrix of verdicts that decides which steps stay, and the plan before and after."""

from __future__ import annotations

import difflib

from textual.content import Content

from agent.state.records import Adjustment
from agent.state.run_state import RunState
from agent.values import PlanStep
from screens.panes.base import Pane
from screens.text import ACCENT, BAD, GOOD, LABEL, MUTED, STRONG, WARN, line, one_line, plural

_UNKNOWN = ("·", MUTED)


class Adjust(Pane):
    """One section an adjustment round, the newest first."""

    title = "Adjust"
    empty = "The plan was not adjusted. When a step fails, the questions about what to change appear here."

    def build(self, state: RunState, width: int) -> list[Content]:
        """Failure signals, then the rounds."""
        lines: list[Content] = []
        if state.signals and not state.adjustments:
            lines += [line(("failures", LABEL))]
            lines += [line(("  ✗ ", BAD), (s.category, STRONG), f"  {one_line(s.message)}") for s in state.signals]
        for adjustment in reversed(state.adjustments):
            lines += [*round_lines(adjustment, width), Content("")]
        return lines or [Content.styled(self.empty, MUTED)]


def round_lines(adjustment: Adjustment, width: int) -> list[Content]:
    """One round: calls used against the bound, the matrix, what became of the plan."""
    used = len(adjustment.viability) + len(adjustment.root_causes) + len(adjustment.new_steps)
    failures, steps = len(adjustment.failures), len(adjustment.remaining)
    bound = f"at most {adjustment.expected_calls}: {steps} + {failures}×{steps} + {failures} + 1"
    total = adjustment.calls or used
    lines = [
        line((f"round {adjustment.round_no}", LABEL), f"  {plural(failures, 'failure')}, {plural(steps, 'step')} left"),
        line(("calls ", MUTED), (str(total), STRONG), (f"  ({bound})" if adjustment.expected_calls else "", MUTED)),
        Content(""),
    ]
    lines += [
        line((f"F{number} ", f"bold {BAD}"), one_line(text)) for number, text in enumerate(adjustment.failures, 1)
    ]
    lines += [Content(""), *_matrix(adjustment, width), Content("")]
    if adjustment.after is not None:
        lines += _before_after(adjustment)
    return lines


def _matrix(adjustment: Adjustment, width: int) -> list[Content]:
    cell = 5
    name = max((len(step) for step in adjustment.remaining), default=4)
    name = min(max(name, 8), max(8, width - 10 - cell * len(adjustment.failures)))
    head = "step".ljust(name) + "  viable"
    heads = "".join(f"F{number}".rjust(cell) for number in range(1, len(adjustment.failures) + 1))
    lines = [line((head + heads, MUTED), ("   caused by", MUTED))]
    for step in adjustment.remaining:
        viable = _mark(adjustment.viability.get(step))
        row = [(one_line(step)[:name].ljust(name) + "  ", STRONG), (viable[0].center(6), viable[1])]
        for number in range(len(adjustment.failures)):
            cause = adjustment.root_causes.get((number, step))
            glyph, style = ("–", MUTED) if adjustment.viability.get(step) is False else _cause(cause)
            row.append((glyph.rjust(cell), style))
        lines.append(line(*row))
    new = [_mark(adjustment.new_steps.get(number)) for number in range(len(adjustment.failures))]
    if adjustment.new_steps:
        lines.append(line(("new step?".ljust(name + 8), MUTED), *((g.rjust(cell), style) for g, style in new)))
    return [*lines, line(("✓ yes  ✗ no  ● cause  ○ not  – not asked  · to come", MUTED))]


def _mark(verdict: bool | None) -> tuple[str, str]:
    if verdict is None:
        return _UNKNOWN
    return ("✓", GOOD) if verdict else ("✗", ACCENT)


def _cause(verdict: bool | None) -> tuple[str, str]:
    if verdict is None:
        return _UNKNOWN
    return ("●", WARN) if verdict else ("○", MUTED)


def _before_after(adjustment: Adjustment) -> list[Content]:
    before = [_step(step) for step in adjustment.before]
    after = [_step(step) for step in adjustment.after or ()]
    lines = [line(("plan", LABEL), (f"  {one_line(adjustment.rationale)}", MUTED))]
    for row in difflib.ndiff(before, after):
        mark, text = row[0], row[2:]
        if mark == "?":
            continue
        style = {"+": GOOD, "-": BAD}.get(mark, "")
        lines.append(line((f"  {mark} {text}", style)))
    return lines + [line(("  · ", MUTED), one_line(change)) for change in adjustment.changes]


def _step(step: PlanStep) -> str:
    return one_line(f"{step.id} {step.description}")
