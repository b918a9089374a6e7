"""Functions, compiles and edits, folded into the state."""

from __future__ import annotations

from collections.abc import Callable

from agent import events as ev
from agent.state.parts import CompileEntry, FunctionState
from agent.state.shown import Shown


def _function_started(state: Shown, e: ev.FunctionStarted) -> None:
    state.functions[e.symbol] = FunctionState(e.symbol, e.path, "writing", e.attempt, e.max_attempts)
    state.activity = "writing"


def _function_done(state: Shown, e: ev.FunctionImplemented) -> None:
    function = state.functions.setdefault(e.symbol, FunctionState(e.symbol, e.path))
    function.status, function.attempt = "done", e.attempts


def _function_failed(state: Shown, e: ev.FunctionFailed) -> None:
    function = state.functions.setdefault(e.symbol, FunctionState(e.symbol, e.path))
    function.status, function.reason, function.attempt = "failed", e.reason, e.attempts


def _compile_started(state: Shown, e: ev.CompileStarted) -> None:
    state.activity = "compiling"


def _compiled(state: Shown, e: ev.CompileFinished) -> None:
    entry = CompileEntry("compile", e.file, e.symbol, e.ok, e.link, e.diagnostics, e.ms)
    state.compiles.append(entry)


def _error_classified(state: Shown, e: ev.ErrorClassified) -> None:
    state.compiles.append(
        CompileEntry("classified", e.file, e.symbol, category=e.category, how=e.how, path=e.path, text=e.context)
    )


def _include(state: Shown, e: ev.IncludeAdded) -> None:
    text = e.text or f"#include <{e.header}>"
    state.compiles.append(CompileEntry("include", e.file, e.symbol, e.kept, text=text, how=e.how, line=e.line))


def _recovery(state: Shown, e: ev.RecoveryDone) -> None:
    state.compiles.append(
        CompileEntry(
            "recovery", e.file, e.symbol, e.ok, category=e.category, text=e.action, attempt_consumed=e.attempt_consumed
        )
    )


def _edit(state: Shown, e: ev.EditApplied | ev.EditRejected) -> None:
    state.edits.append(e)


HANDLERS: dict[type, Callable[..., None]] = {
    ev.FunctionStarted: _function_started,
    ev.FunctionImplemented: _function_done,
    ev.FunctionFailed: _function_failed,
    ev.CompileStarted: _compile_started,
    ev.CompileFinished: _compiled,
    ev.ErrorClassified: _error_classified,
    ev.IncludeAdded: _include,
    ev.RecoveryDone: _recovery,
    ev.EditApplied: _edit,
    ev.EditRejected: _edit,
}
