"""After a failure: the matrix of verdicts that decides which steps stay, and the plan before and after."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from itertools import zip_longest

from rich.cells import cell_len
from textual.content import Content

from agent.events import AdjustmentStarted, NewStepVerdict, PlanAdjusted, RootCauseVerdict, ViabilityVerdict
from agent.state.records import Adjustment, StepState
from agent.state.run_state import RunState
from agent.values import PlanStep
from screens.panes.base import Pane
from screens.text import ACCENT, BAD, GOOD, LABEL, MUTED, STRONG, WARN, fit, line, one_line, plural

_UNKNOWN = ("·", MUTED)
_MOST_TITLE = 32
"""Cells of a step's title in the matrix."""


def headline(adjustment: Adjustment) -> Content:
    """Such as ``✗ make test fails → plan adjusted, 2 changes``."""
    failures = adjustment.started.failures
    what = one_line(failures[0]) if failures else "a step failed"
    more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
    parts: list[tuple[str, str] | str] = [("✗ ", f"bold {BAD}"), what[:60], (more, MUTED), (" → ", MUTED)]
    if adjustment.adjusted is None:
        return line(*parts, ("looking for the cause", WARN))
    changes = adjustment.adjusted.changes
    changed = plural(len(changes), "change") if changes else "no change"
    return line(*parts, (f"plan adjusted, {changed}", STRONG))


class AdjustPane(Pane):
    """One section an adjustment round, the newest first."""

    name, title, short = "adjust", "Adjust", "Adj"
    about = "Failures against steps: which are still worth doing, which caused what, the plan after."
    look = "look at how the plan was changed"
    wishes = {AdjustmentStarted: 2, ViabilityVerdict: 2, RootCauseVerdict: 2, NewStepVerdict: 2, PlanAdjusted: 2}
    incident = Adjustment
    headline = staticmethod(headline)
    empty = (
        "The plan stands as it was made. This pane fills when a step fails, or when checks still fail after the last step:"
        " which steps stay, which one caused it, and what is done again."
    )

    def build(self, state: RunState, width: int) -> list[Content]:
        """Failure signals, then the rounds."""
        lines: list[Content] = []
        if state.signals and not state.adjustments:
            lines += [line(("failures", LABEL))]
            lines += [line(("  ✗ ", BAD), (s.category, STRONG), f"  {one_line(s.message)}") for s in state.signals]
        for adjustment in reversed(state.adjustments):
            rows, calls = round_lines(adjustment, width, state.steps)
            for place, call in calls.items():
                self.leads(len(lines) + place, ("call", call))
            lines += [*rows, Content("")]
        return lines or Content.styled(self.empty, MUTED).wrap(max(4, width))


def round_lines(adjustment: Adjustment, width: int, known: Mapping[str, StepState]) -> tuple[list[Content], dict[int, int]]:
    """One round: calls against the most there can be, the failures, the matrix, what became of the plan; ``known`` are the
    steps of the run by their ids. Besides the lines the calls that they lead to, by the line's place."""
    started = adjustment.started
    failures = plural(len(started.failures), "failure")
    steps = [f"{len(started.remaining)} to do" if started.remaining else "", f"{len(started.executed)} carried out"]
    told = ", ".join(step for step in steps if step)
    lines = [
        line((f"round {started.round_no}", LABEL), f"  {failures}; steps: {told}"),
        *_calls(adjustment),
        Content(""),
    ]
    for number, (text, category) in enumerate(zip_longest(started.failures, started.categories, fillvalue=""), 1):
        kind = f"  {category.replace('_', ' ')}" if category else ""
        lines.append(line((f"F{number} ", f"bold {BAD}"), one_line(text), (kind, MUTED)))
    calls: dict[int, int] = {}
    if started.remaining or started.executed:
        heads, rows, feet = _matrix(adjustment, width, known)
        lines += [Content(""), *heads]
        calls = {len(lines) + place: adjustment.calls[step] for place, step in enumerate(rows) if step in adjustment.calls}
        lines += [*rows.values(), *feet]
    lines.append(Content(""))
    if adjustment.adjusted is not None:
        lines += _before_after(adjustment.adjusted)
    return lines, calls


def _calls(adjustment: Adjustment) -> list[Content]:
    """How many questions were asked, and how the most there can be comes about."""
    started, adjusted = adjustment.started, adjustment.adjusted
    verdicts = len(adjustment.viability) + len(adjustment.root_causes) + len(adjustment.new_steps)
    asked = (adjusted.calls if adjusted else 0) or verdicts
    if not started.expected_calls:
        return [line(("calls ", MUTED), (str(asked), STRONG))] if asked else []
    failures, remaining, done = len(started.failures), len(started.remaining), len(started.executed)
    if remaining:
        parts = [(remaining, "still worth doing"), (failures * (remaining + done), "caused by"), (failures, "new step"),
                 (1, "the new plan")]  # fmt: skip
    else:
        parts = [(failures * done, "caused by")]
    adds_up = sum(count for count, _ in parts) == started.expected_calls
    how = ": " + " + ".join(f"{count} {name}" for count, name in parts if count) if adds_up else ""
    most = f"  of at most {started.expected_calls}{how}"
    return [line(("calls ", MUTED), (str(asked), STRONG), (most, MUTED))]


def _title(step: str, known: Mapping[str, StepState]) -> str:
    """A step's id and what it is about, on one line."""
    entry = known.get(step)
    about = (" ".join(entry.step.target_symbols) or entry.step.description) if entry is not None else ""
    return one_line(f"{step} {about}")


def _matrix(
    adjustment: Adjustment, width: int, known: Mapping[str, StepState]
) -> tuple[list[Content], dict[str, Content], list[Content]]:
    """A row for each step, to be done or done already, with a column for each failure; the lines above and below."""
    cell = 4
    failures, remaining = adjustment.started.failures, adjustment.started.remaining
    steps = [*remaining, *adjustment.started.executed]
    viable = 8 if remaining else 0
    room = max(8, width - 12 - viable - cell * len(failures))
    titles = {step: _title(step, known) for step in steps}
    name = min(max(9, *map(cell_len, titles.values())), room, _MOST_TITLE)
    asked = bool(adjustment.root_causes) or adjustment.adjusted is None
    heads = "".join(f"F{number}".rjust(cell) for number in range(1, len(failures) + 1)) if asked else ""
    above = " " * (name + 2 + viable) + "caused by" if asked else ""
    top = [line((above, MUTED))] if above else []
    rows: dict[str, Content] = {}
    top.append(line(("step".ljust(name + 2) + ("viable".ljust(viable) if viable else "") + heads, MUTED)))
    for step in steps:
        done = step not in remaining
        title = fit(Content(titles[step]), name)
        row: list[tuple[str, str]] = [(title.plain + " " * (name + 2 - title.cell_length), MUTED if done else STRONG)]
        if viable:
            failed = step in known and known[step].status == "failed"
            glyph, style = ("failed" if failed else "done", MUTED) if done else _mark(adjustment.viability.get(step))
            row.append((glyph.center(6).ljust(viable), style))
        for number in range(len(failures) if asked else 0):
            cause = adjustment.root_causes.get((number, step))
            given_up = adjustment.viability.get(step) is False or adjustment.adjusted is not None
            glyph, style = ("–", MUTED) if cause is None and given_up else _cause(cause)
            row.append((glyph.rjust(cell), style))
        rows[step] = line(*row)
    below: list[Content] = []
    if adjustment.new_steps:
        new = [_mark(adjustment.new_steps.get(number)) for number in range(len(failures))]
        cells = ((("–", MUTED) if n not in adjustment.new_steps else mark) for n, mark in enumerate(new))
        below.append(line(("new step?".ljust(name + 2 + viable), MUTED), *((g.rjust(cell), style) for g, style in cells)))
    return top, rows, [*below, line(("✓ yes  ✗ no  ● cause  ○ not  – not asked  · to come", MUTED))]


def _mark(verdict: bool | None) -> tuple[str, str]:
    if verdict is None:
        return _UNKNOWN
    return ("✓", GOOD) if verdict else ("✗", ACCENT)


def _cause(verdict: bool | None) -> tuple[str, str]:
    if verdict is None:
        return _UNKNOWN
    return ("●", WARN) if verdict else ("○", MUTED)


def _before_after(adjusted: PlanAdjusted) -> list[Content]:
    before = [_step(step) for step in adjusted.before]
    after = [_step(step) for step in adjusted.after]
    lines = [line(("plan", LABEL), (f"  {one_line(adjusted.rationale)}", MUTED))]
    for row in difflib.ndiff(before, after):
        mark, text = row[0], row[2:]
        if mark == "?":
            continue
        style = {"+": GOOD, "-": BAD}.get(mark, "")
        lines.append(line((f"  {mark} {text}", style)))
    return lines + [line(("  · ", MUTED), one_line(change)) for change in adjusted.changes]


def _step(step: PlanStep) -> str:
    return one_line(f"{step.id} {step.description}")
