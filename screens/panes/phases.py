"""The phases of the run and the steps of its plan: as a column where there is room, as one line where there is not."""

from __future__ import annotations

from textual.content import Content

from agent.stages import stage_of
from agent.state.records import ShownStage, StepState
from agent.state.run_state import RunState
from agent.values import CheckResult
from screens.panes.base import Pane
from screens.text import BAD, GOOD, MUTED, STRONG, WARN, line, one_line, plural

STEP_MARKS = {
    "pending": ("·", MUTED), "running": ("▸", WARN), "done": ("✓", GOOD), "failed": ("✗", BAD), "dropped": ("–", MUTED),
}  # fmt: skip
"""Glyph and style of a step's status."""


def step_mark(entry: StepState, state: RunState) -> tuple[str, str]:
    """Glyph and style of a step; none is under way when the run is over."""
    if entry.status == "running" and state.finished is not None:
        return "■", WARN
    return STEP_MARKS[entry.status]


def stage_name(stage: ShownStage) -> str:
    """What a phase is called: its question in the short form where it asks one."""
    declared = stage_of(stage.name)
    return declared.short if declared.binary else one_line(stage.title or stage.name.replace("_", " "))


_CASCADE = ("precision_pass1", "precision_pass2", "precision_pass3")
_ORDER = ("index", "task_analysis", "stage_routing", "scope", "similarity", "precision", "assembly", "plan")


def phase_count(stage: ShownStage, state: RunState) -> str:
    """How far a phase is, in a few characters: ``12 files``, ``2 of 3 yes``, ``4 of 7``, ``5/18 pass``."""
    if stage.name == "index" and state.index is not None:
        return plural(state.index.files, "file")
    if stage.name == "precision":
        passes = [str(p.asked) for p in state.passes.values()]
        if passes and stage.done:
            return " → ".join(passes)
    if not stage.done and stage.total:
        return f"{stage.asked} of {stage.total}"
    if stage.asked and stage.done and stage_of(stage.name).binary:
        return f"{stage.yes} of {stage.asked} yes"
    measured = _measured(stage, state)
    if stage.done and measured is not None and (measured.passed or measured.failed):
        passed, failed = measured.passed or 0, measured.failed or 0
        return f"{passed}/{passed + failed} pass" if failed else f"{passed} pass"
    if stage.finished is not None and stage.finished.counts:
        name, count = next(iter(stage.finished.counts.items()))
        if name == "exit code":
            return f"{name} {count}"
        one = count == 1 and name.endswith("s") and not name.endswith("ss")
        return f"{count:,} {name[:-1] if one else name}"
    return str(stage.asked) if stage.asked else ""


def _measured(stage: ShownStage, state: RunState) -> CheckResult | None:
    """What the checks said in a phase that ran them."""
    return {"baseline": state.baseline, "checks": state.checks}.get(stage.name)


def stage_mark(stage: ShownStage, state: RunState) -> tuple[str, str]:
    """Glyph and style of a phase; one that ran the checks is marked by what they said."""
    measured = _measured(stage, state)
    if stage.done and measured is not None and not measured.ok:
        return "✗", BAD
    if stage.done:
        return "✓", GOOD
    if state.finished is not None:
        return "–", MUTED
    return "▸", WARN


class PhasesPane(Pane):
    """The column on the left: phases, then steps."""

    empty = "The run has not begun."

    def build(self, state: RunState, width: int) -> list[Content]:
        """One line a phase, one line a step."""
        lines = [self._phase(stage, state, width) for stage in shown_stages(state)]
        if state.steps:
            lines += [Content(""), line((steps_done(state), MUTED))]
            lines += [self._step(name, entry, state, width) for name, entry in state.steps.items()]
        if state.baseline is not None:
            lines += [Content(""), *self._checks(state)]
        return lines or [Content.styled(self.empty, MUTED)]

    def _phase(self, stage: ShownStage, state: RunState, width: int) -> Content:
        glyph, style = stage_mark(stage, state)
        current = stage.name == state.current_stage and not stage.done
        count = phase_count(stage, state)
        room = max(4, width - 3 - len(count))
        title = Content(stage_name(stage)).truncate(room, ellipsis=True)
        gap = " " * max(1, width - 2 - title.cell_length - len(count))
        return line((f"{glyph} ", style), title.stylize(STRONG) if current else title, gap, (count, MUTED))

    def _step(self, name: str, entry: StepState, state: RunState, width: int) -> Content:
        glyph, style = step_mark(entry, state)
        text = f"{name} {' '.join(entry.step.target_symbols) or entry.step.description}"
        title = Content(one_line(text)).truncate(max(4, width - 2), ellipsis=True)
        return line((f"{glyph} ", style), title)

    def _checks(self, state: RunState) -> list[Content]:
        now = state.checks or state.baseline
        assert now is not None
        if state.checks_running:
            return [line(("▸ ", WARN), "checks running")]
        counts = f"{now.passed} pass" if now.passed or now.failed else "pass" if now.ok else "fail"
        failed = f" {now.failed} fail" if now.failed else ""
        return [line(("✓ " if now.ok else "✗ ", GOOD if now.ok else BAD), "checks ", (counts + failed, MUTED))]


def steps_done(state: RunState) -> str:
    """``steps 6/6, 2 dropped``: what was dropped is not among those to be done."""
    statuses = [entry.status for entry in state.steps.values()]
    dropped = statuses.count("dropped")
    return f"steps {statuses.count('done')}/{len(statuses) - dropped}{f', {dropped} dropped' if dropped else ''}"


def shown_stages(state: RunState) -> list[ShownStage]:
    """The phases to list; the passes of the cascade are shown under their phase only while there is no such phase."""
    whole = "precision" in state.stages
    return [stage for name, stage in state.stages.items() if not (whole and name in _CASCADE)]


def strip(state: RunState, width: int) -> Content:
    """The phases on one line, the newest in sight."""
    parts: list[Content] = []
    for stage in shown_stages(state):
        glyph, style = stage_mark(stage, state)
        count = phase_count(stage, state)
        name = line((f"{glyph} ", style), stage_name(stage))
        parts.append(name + line((f" {count}", MUTED)) if count else name)
    if state.steps:
        over = state.finished is not None
        now = "" if over else next((name for name, entry in state.steps.items() if entry.status == "running"), "")
        parts.append(line((steps_done(state), ""), (f" {now}" if now else "", MUTED)))
    while len(parts) > 1 and sum(part.cell_length + 3 for part in parts) > width:
        parts.pop(0)
    if not parts:
        return Content.styled("not begun", MUTED)
    return Content.styled(" · ", MUTED).join(parts).truncate(max(1, width), ellipsis=True)
