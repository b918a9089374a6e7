"""Calls, folded into the stream and their stage."""

from __future__ import annotations

from collections.abc import Callable

from agent import events as ev
from agent.stages import activity_of
from agent.state.parts import Call
from agent.state.shown import Shown


def _call_started(state: Shown, e: ev.CallStarted) -> None:
    state.call_index[e.call_id] = len(state.calls)
    state.calls.append(Call(e.call_id, e.stage, e.item, e.model, e.binary, e.attempt))
    if state.waiting is None:  # what is asked ahead of the person changes nothing of what is waited for
        state.activity = activity_of(e.stage, e.binary)


def _call_finished(state: Shown, e: ev.CallFinished) -> None:
    place = state.call_index.get(e.call_id)
    if place is None:
        return
    call = state.calls[place]
    call.done = True
    call.verdict, call.p_yes, call.score, call.threshold = e.verdict, e.p_yes, e.score, e.threshold
    call.source, call.defaulted, call.cached, call.overridden = e.source, e.defaulted, e.cached, e.overridden
    call.ms, call.prompt_tokens, call.cached_tokens = e.ms, e.prompt_tokens, e.cached_tokens
    call.completion_tokens, call.explanation, call.error = e.completion_tokens, e.explanation, e.error
    if e.model:
        call.model = e.model
    if e.overridden and e.verdict is not None:
        state.overruled[e.stage, e.item] = e.verdict
    elif state.overruled:
        state.overruled.pop((e.stage, e.item), None)
    stage = state.stages.get(e.stage)
    if stage is not None:
        stage.asked += 1
        if e.verdict:
            stage.yes += 1
    if e.verdict is not None and e.stage.startswith("precision_pass"):
        state.symbol(e.item).passes[int(e.stage[-1])] = e.verdict


HANDLERS: dict[type, Callable[..., None]] = {
    ev.CallStarted: _call_started,
    ev.CallFinished: _call_finished,
}
