"""Events of the run as a whole, folded into the state."""

from __future__ import annotations

from collections.abc import Callable

from agent import events as ev
from agent.stages import activity_of
from agent.state.parts import Stage
from agent.state.shown import Shown


def _run_started(state: Shown, e: ev.RunStarted) -> None:
    state.task, state.repo, state.branch, state.model, state.worktree = e.task, e.repo, e.branch, e.model, e.worktree
    state.activity = "indexing"
    state.finished, state.status, state.reason = None, None, ""  # a run that was stopped or killed goes on
    state.waiting, state.checks_running, state.diff_choice = None, "", ""


def _run_finished(state: Shown, e: ev.RunFinished) -> None:
    state.finished, state.status, state.reason = e, e.status, e.reason
    state.activity, state.model_note = e.status, ""
    state.waiting = None
    state.checks_running = ""


def _stage_started(state: Shown, e: ev.StageStarted) -> None:
    state.stages.pop(e.stage, None)
    state.stages[e.stage] = Stage(e.stage, e.title or e.stage.replace("_", " "), e.total)
    state.current_stage = e.stage
    state.activity = "planning" if e.stage in ("plan", "adjustment") else "indexing" if e.stage == "index" else "judging"


def _stage_finished(state: Shown, e: ev.StageFinished) -> None:
    stage = state.stages.setdefault(e.stage, Stage(e.stage, e.stage.replace("_", " ")))
    stage.done, stage.ms, stage.counts, stage.note = True, e.ms, dict(e.counts), e.note


def _notice(state: Shown, e: ev.Notice) -> None:
    state.notices.append((state.t, e))


def _model_status(state: Shown, e: ev.ModelStatus) -> None:
    if state.waiting is not None:
        return  # calls asked ahead of the person: what is waited for is the person
    if e.status == "loading":
        state.activity, state.model_note = "loading model", e.text
    elif e.status == "waiting":
        state.activity, state.model_note = "waiting for the model server", e.text
    else:
        state.model_note = ""
        if state.activity in ("loading model", "waiting for the model server"):
            asked = next((call for call in reversed(state.calls[-64:]) if not call.done), None)
            state.activity = "judging" if asked is None else activity_of(asked.stage, asked.binary)


HANDLERS: dict[type, Callable[..., None]] = {
    ev.RunStarted: _run_started,
    ev.RunFinished: _run_finished,
    ev.StageStarted: _stage_started,
    ev.StageFinished: _stage_finished,
    ev.Notice: _notice,
    ev.ModelStatus: _model_status,
}
