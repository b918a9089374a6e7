"""A run on a plain terminal: events as JSON lines on standard output, or narration a person can read."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

from agent import events as ev
from agent.counts import counted
from agent.terminal_text import clean, escaped, revealed
from agent.values import CheckResult

Printer = Callable[[ev.Envelope], None]

_REASON = 400  # characters
_WAITING_AGAIN = 10.0
"""Seconds between two lines about a server that is waited for."""


def guarded(show: Printer, gone: Callable[[], None]) -> Printer:
    """``show`` until nobody reads its output any more (as after ``| head``): then ``gone`` is called, once, and the rest
    goes nowhere."""
    over = False

    def print_on(envelope: ev.Envelope) -> None:
        nonlocal over
        if over:
            return
        try:
            show(envelope)
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO):  # a pipe that nobody reads, a terminal that was closed
                raise
            over = True
            nowhere = os.open(os.devnull, os.O_WRONLY)  # a failing flush of buffered output must not disturb the exit
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
            gone()

    return print_on


def json_printer() -> Printer:
    """One event a line on standard output, as stored in the log."""

    def show(envelope: ev.Envelope) -> None:
        sys.stdout.write(escaped(ev.encode_event(envelope.event).decode()) + "\n")
        sys.stdout.flush()

    return show


def plain_printer() -> Printer:
    """Narration: a line for what matters, none for what does not; a wait that goes on is told every ten seconds. What would
    drive the terminal is left out; in the diff it is shown as escapes."""
    waited = float("-inf")

    def show(envelope: ev.Envelope) -> None:
        nonlocal waited
        if isinstance(envelope.event, ev.ModelStatus) and envelope.event.status == "waiting":
            if envelope.t - waited < _WAITING_AGAIN:
                return
            waited = envelope.t
        line = clean(_line(envelope.event))
        if isinstance(envelope.event, ev.DiffReady) and envelope.event.diff:
            line += f"\n\n{revealed(envelope.event.diff)}"
        if line:
            print(f"{envelope.t:7.1f}s  {line}", flush=True)

    return show


def _line(event: ev.Event) -> str:
    match event:
        case ev.RunStarted():
            model = f"model {event.model}" if event.model else "no model"
            return f"{event.task}\n          on branch {event.branch}, {model}"
        case ev.StageFinished():
            counts = ", ".join(counted(value, name) for name, value in event.counts.items())
            return f"{event.stage.replace('_', ' ')}: {counts or 'done'}{f' ({event.note})' if event.note else ''}"
        case ev.CallFinished() if event.verdict is not None:
            return _verdict(event)
        case ev.CallFinished() if event.error:
            return f"{event.stage} {event.item}: {event.error}"
        case ev.CallFinished() if event.explanation:
            return f"{event.stage} {event.item}: {event.explanation}"
        case ev.CallFinished():
            return f"{event.stage} {event.item}: {event.completion_tokens} tokens in {event.ms / 1000:.1f} s"
        case _:
            return _work_line(event)


def _verdict(event: ev.CallFinished) -> str:
    word = "yes" if event.verdict else "no "
    marks = "".join(
        f" [{name}]"
        for name, on in (("reused", event.cached), ("default", event.defaulted), ("overrule", event.overruled))
        if on
    )
    p_yes = f" {event.p_yes:.2f}" if event.p_yes is not None else ""
    return f"{event.stage} {event.item}: {word}{p_yes}{marks}"


def _work_line(event: ev.Event) -> str:
    match event:
        case ev.PlanMade():
            steps = "".join(f"\n            {step.id} {step.description}" for step in event.steps)
            return f"plan ({event.how}): {counted(len(event.steps), 'steps')}{steps}"
        case ev.StepFinished():
            return f"step {event.step_id} {'done' if event.ok else 'failed'}{f': {event.detail}' if event.detail else ''}"
        case ev.FunctionCandidate():
            share = "unmeasured" if event.points is None else f"{event.points:.0%} of its checks pass"
            return f"{event.symbol} version {event.number}: {share}{', with signs of a bug' if event.bugs else ''}"
        case ev.CandidateChosen() if event.of > 1:
            return f"{event.symbol}: version {event.number} of {event.of} stays ({event.why})"
        case ev.ContractChecked():
            return _contract(event)
        case ev.CompileFinished():
            what = "link" if event.link else "compile"
            return f"{what} {event.file}: {'ok' if event.ok else _first(event)}"
        case ev.ErrorClassified():
            return f"error in {event.symbol or event.file}: {event.category} ({event.how})"
        case ev.IncludeAdded():
            return _include(event)
        case ev.EditRejected():
            return f"edit of {event.path} refused: {event.reason}"
        case ev.ChecksRun():
            return _checks(event)
        case ev.PlanAdjusted():
            return f"plan adjusted ({event.how}): {'; '.join(event.changes) or event.rationale}"
        case ev.Notice():
            return f"{event.level}: {event.text}"
        case ev.ModelStatus(status="waiting"):
            return event.text
        case ev.DiffReady():
            if not event.diff:
                return "diff: nothing was changed"
            names = ", ".join(event.protected)
            deciding = f"\nIt changes what decides whether tests pass: {names}" if names else ""
            return f"diff: {counted(len(event.files), 'files')}, +{event.added} -{event.removed}{deciding}"
        case ev.DiffResolved():
            return event.detail
        case ev.RunFinished():
            return _finished(event)
        case _:
            return ""


def _contract(event: ev.ContractChecked) -> str:
    if event.holds is None or event.holds:
        return f"{event.symbol}: {'no check uses it' if event.holds is None else 'holds'}"
    return f"{event.symbol}: fails {', '.join(event.failing[:4])} ({counted(event.candidates, 'versions')} tried)"


def _include(event: ev.IncludeAdded) -> str:
    text = event.text or f"#include <{event.header}>"
    if not event.line:  # it was never tried: the version that needed it was taken back
        return f"{event.file}: {text} taken out with the version it was put in for"
    return f"{event.file}:{event.line}: {text} {'inserted' if event.kept else 'taken out again'} ({event.how})"


def _first(event: ev.CompileFinished) -> str:
    errors = [d for d in event.diagnostics if d.severity in ("error", "fatal")] or list(event.diagnostics)
    return f"{errors[0].file}:{errors[0].line}: {errors[0].message}" if errors else "failed"


def _checks(event: ev.ChecksRun) -> str:
    if event.now is None:
        return f"checks before: {_counts(event.baseline)}"
    new = f"; newly passing: {', '.join(event.newly_passing)}" if event.newly_passing else ""
    worse = f"; NEWLY FAILING: {', '.join(event.newly_failing)}" if event.newly_failing else ""
    return f"checks: {_counts(event.now)}{new}{worse}"


def _counts(result: CheckResult) -> str:
    word = f"{'pass' if result.ok else 'fail'} (exit code {result.exit_code})"
    if not (result.passed or result.failed):
        return word
    counts = f"{result.passed or 0} passed, {result.failed or 0} failed"
    return counts if result.ok or result.failed else f"{counts}, {word}"


def _finished(event: ev.RunFinished) -> str:
    reason = event.reason if len(event.reason) <= _REASON else f"{event.reason[:_REASON].rstrip()} …"
    parts = [f"{event.status}: {reason.rstrip('.')}", f"{counted(event.calls, 'calls')} in {event.seconds:.0f} s"]
    if event.cached_calls:
        parts.append(f"{event.cached_calls} reused")
    if event.functions or event.functions_failed:
        parts.append(f"{counted(event.functions, 'functions')} written, {event.functions_failed} failed")
    if event.branch and not event.applied:
        parts.append(f"the change is on branch {event.branch}")
    return "; ".join(parts)
