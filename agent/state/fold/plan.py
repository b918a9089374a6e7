"""The plan, its steps and its adjustments, folded into the state."""

from __future__ import annotations

from collections.abc import Callable

from agent import events as ev
from agent.state.parts import Adjustment, StepState
from agent.state.shown import Shown


def _plan_made(state: Shown, e: ev.PlanMade) -> None:
    known = state.steps
    state.steps = {  # a plan that grew keeps what its steps have come to
        step.id: known[step.id] if step.id in known and known[step.id].step == step else StepState(step) for step in e.steps
    }
    state.plan_how, state.parts, state.plan_notes = e.how, e.parts, e.notes


def _step_started(state: Shown, e: ev.StepStarted) -> None:
    if e.step_id in state.steps:
        state.steps[e.step_id].status = "running"
    state.activity = "writing"


def _step_finished(state: Shown, e: ev.StepFinished) -> None:
    if e.step_id in state.steps:
        step = state.steps[e.step_id]
        step.status, step.detail, step.commit = ("done" if e.ok else "failed"), e.detail, e.commit


def _signals(state: Shown, e: ev.FailureSignals) -> None:
    state.signals = e.signals


def _adjustment_started(state: Shown, e: ev.AdjustmentStarted) -> None:
    state.adjustments.append(Adjustment(e.round_no, e.failures, e.remaining, e.executed, e.expected_calls))
    state.activity = "planning"


def _viability(state: Shown, e: ev.ViabilityVerdict) -> None:
    if state.adjustments:
        state.adjustments[-1].viability[e.step_id] = e.viable


def _root_cause(state: Shown, e: ev.RootCauseVerdict) -> None:
    if state.adjustments:
        state.adjustments[-1].root_causes[e.failure, e.step_id] = e.caused


def _new_step(state: Shown, e: ev.NewStepVerdict) -> None:
    if state.adjustments:
        state.adjustments[-1].new_steps[e.failure] = e.needed


def _adjusted(state: Shown, e: ev.PlanAdjusted) -> None:
    if state.adjustments:
        last = state.adjustments[-1]
        last.before, last.after, last.rationale, last.changes, last.calls = (
            e.before, e.after, e.rationale, e.changes, e.calls,
        )  # fmt: skip
    kept = {step.id for step in e.after}
    for step in e.before:
        if step.id not in kept and step.id in state.steps:
            state.steps[step.id].status = "dropped"
    for step in e.after:
        old = state.steps.get(step.id)
        if old is None or old.status in ("pending", "failed"):
            state.steps[step.id] = StepState(step)


HANDLERS: dict[type, Callable[..., None]] = {
    ev.PlanMade: _plan_made,
    ev.StepStarted: _step_started,
    ev.StepFinished: _step_finished,
    ev.FailureSignals: _signals,
    ev.AdjustmentStarted: _adjustment_started,
    ev.ViabilityVerdict: _viability,
    ev.RootCauseVerdict: _root_cause,
    ev.NewStepVerdict: _new_step,
    ev.PlanAdjusted: _adjusted,
}
