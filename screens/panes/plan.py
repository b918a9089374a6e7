"""The plan: steps in order with what they wait for, and the functions being written."""

from __future__ import annotations

from textual.content import Content

from agent.events import FunctionFailed, FunctionImplemented, FunctionStarted, PlanMade, StepStarted
from agent.state.records import FunctionState, StepState
from agent.state.run_state import RunState
from screens.panes.base import Pane
from screens.panes.phases import step_mark
from screens.text import BAD, GOOD, LABEL, MUTED, STRONG, WARN, line, one_line, planned_by, plural

_FUNCTIONS = {"writing": ("▸", WARN, "writing"), "done": ("✓", GOOD, "compiles"), "failed": ("✗", BAD, "given up")}
_BROKEN_OFF = ("■", WARN, "broken off")
"""Of a function that was being written when the run ended."""


class PlanPane(Pane):
    """Steps, then functions."""

    name, title, short = "plan", "Plan", "Plan"
    about = "The steps, in order, with their files and functions, and how far each is."
    look = "look at the steps"
    wishes = {
        PlanMade: 1, StepStarted: 1, FunctionImplemented: 1, FunctionFailed: 1,
        FunctionStarted: lambda event: 1 if event.attempt == 1 else None,
    }  # fmt: skip
    empty = "There is no plan yet. It is made once the context is put together."

    def build(self, state: RunState, width: int) -> list[Content]:
        """How the plan came about, its steps by part, its functions."""
        if not state.steps and not state.functions:
            return [Content.styled(self.empty, MUTED)]
        statuses = [entry.status for entry in state.steps.values()]
        dropped = statuses.count("dropped")
        head = f"{statuses.count('done')} of {plural(len(statuses) - dropped, 'step')} done"
        head += f", {dropped} dropped" if dropped else ""
        how, notes = (state.plan.how, state.plan.notes) if state.plan is not None else ("", ())
        lines = [line((head, STRONG), (f"  {planned_by(one_line(how))}", MUTED))]
        lines += [line((f"  {one_line(note)}", MUTED)) for note in notes]
        part = None
        for name, entry in state.steps.items():
            if entry.step.part != part and entry.step.part:
                part = entry.step.part
                lines += [Content(""), line((one_line(part), LABEL))]
            lines += self._step(name, entry, state)
        if state.functions:
            written = sum(function.status == "done" for function in state.functions.values())
            lines += [Content(""), line(("functions ", LABEL), (f"{written} of {len(state.functions)} compile", MUTED))]
            lines += [self._function(function, state.finished is not None) for function in state.functions.values()]
        return lines

    def _step(self, name: str, entry: StepState, state: RunState) -> list[Content]:
        glyph, style = step_mark(entry, state)
        step = entry.step
        after = f"  after {', '.join(step.depends_on)}" if step.depends_on else ""
        gone = "  dropped" if entry.status == "dropped" else ""
        kind = "" if step.kind in ("implement", "function_implement") else step.kind.replace("_", " ")
        commit, detail = (entry.finished.commit[:8], entry.finished.detail) if entry.finished is not None else ("", "")
        facts = [fact for fact in (kind, *(file for file in step.target_files if file not in step.description)) if fact]
        told = gone + after + (f"  {commit}" if commit and not facts else "")
        lines = [line((f"{glyph} ", style), (f"{name} ", STRONG), one_line(step.description), (told, MUTED))]
        if facts:
            lines.append(line((f"    {one_line(' · '.join([*facts, *([commit] if commit else [])]))}", MUTED)))
        if detail:
            lines.append(line((f"    {one_line(detail)}", BAD if entry.status == "failed" else MUTED)))
        return lines

    def _function(self, function: FunctionState, over: bool) -> Content:
        writing = function.status == "writing"
        glyph, style, word = _BROKEN_OFF if writing and over else _FUNCTIONS[function.status]
        tries, most = "", function.started.max_attempts
        if writing and most > 1:
            tries = f", try {function.attempt} of {most}"
        elif function.attempt > 1:
            tries = f" after {plural(function.attempt, 'try', 'tries')}"
        reason = f"  {one_line(function.ended.reason)}" if isinstance(function.ended, FunctionFailed) else ""
        if function.chosen is not None and function.chosen.of > 1:
            tries = f", version {function.chosen.number} of {function.chosen.of}"
        if function.contract is not None and function.contract.holds is False:
            reason = f"  fails {one_line(', '.join(function.contract.failing))}"
        return line((f"  {glyph} ", style), one_line(function.started.symbol), (f"  {word}{tries}", MUTED), (reason, BAD))
