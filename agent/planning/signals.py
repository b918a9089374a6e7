"""Failure signals: what went wrong, read from output without a model.

The exit code decides first whether anything failed at all. Then the lines that tools themselves write decide the
categories, several from one output, in the order compile, test, patch, runtime, unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agent.planning import signal_patterns as patterns
from agent.planning.schema import StepResult
from agent.planning.signal_exit import by_command, death, fallback_message
from agent.planning.signal_lines import PYTEST_TITLE, Hit, decisive_lines
from agent.planning.signal_text import last_line, prepared, window
from agent.values import FailureCategory, FailureSignal
from agent.workspace.testoutput import read_outcome

MESSAGE_CAP = 500
"""Characters a message may have."""

SHOWN = 3
"""Failures that a model is shown at once; more do not help a small one."""

_NEAR = 60
"""Lines on each side of a test's failure among which those are left out that say of another test that it passed: they tell
nothing, and the names in them would point at what works."""

NO_INFO = "Step failed with no error info"


def as_shown(signals: Sequence[FailureSignal]) -> str:
    """The first :data:`SHOWN` failures as a prompt shows them."""
    return "\n".join(signal.message for signal in signals[:SHOWN])


def extract_failure_signals(prior_results: Iterable[StepResult] | None) -> list[FailureSignal]:
    """The failures of steps, in step order; [] when there are no results or all steps succeeded.

    A failed step's ``error_info`` is read, its ``raw_response`` only when the former is empty. A successful step
    counts only by what it already carries in ``signals``. A step that failed and says nothing is "unknown".
    """
    signals: list[FailureSignal] = []
    for result in prior_results or ():
        if result.signals:
            signals += result.signals
        elif not result.success:
            signals += _of_step(result)
    return signals


def _of_step(result: StepResult) -> list[FailureSignal]:
    if not result.error_info.strip():
        found = decisive_lines(result.raw_response, "", None)
        if found:
            return _signals(result.raw_response, found, "raw_response")
        return [FailureSignal("unknown", NO_INFO, "step_failed")]
    return signals_from_output(result.error_info, "", 1, source="error_info")


def signal_of(kind: FailureCategory, text: str) -> FailureSignal:
    """A failure whose kind is known where it happened; ``text`` is cut around its decisive line."""
    lines = prepared(text).splitlines()
    if not lines:
        return FailureSignal(kind, NO_INFO, "error_info")
    found = next((hit.line for hit in decisive_lines(text, "", None) if hit.category == kind), 0)
    return FailureSignal(kind, window(lines, found, MESSAGE_CAP), "error_info")


def signals_from_output(
    text: str, command: str = "", exit_code: int | None = None, *, source: str = "error_info"
) -> list[FailureSignal]:
    """The failures that the output of one command reports, strongest category first; [] when it passed.

    ``exit_code`` is a shell's or negative for a signal; None when it is not known, and then the text alone decides.
    With exit code 0 only sanitizers count, and what a pipe behind the command may have hidden.
    """
    text = prepared(text)
    found = decisive_lines(text, command, exit_code)
    signals = _signals(text, found, source)
    if not exit_code:
        return signals
    died = None if patterns.PATCH_COMMAND.search(command) or patterns.USAGE.search(text) else death(exit_code)
    if died is not None and not any(hit.category == "runtime_error" for hit in found):
        shown = window(text.splitlines(), last_line(text), MESSAGE_CAP - len(died) - 1)
        signals.append(FailureSignal("runtime_error", f"{died}\n{shown}".strip(), source))
    if signals:
        return signals
    message = fallback_message(text, command, exit_code, MESSAGE_CAP)
    return [FailureSignal(by_command(text, command, exit_code), message, source)]


def signal_rows(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """One answer for each JSON row of ``lines`` with ``id``, ``text``, ``command``, ``exit_code``.

    Answers are ``{"id", "category", "categories", "messages"}``; category "none" when nothing failed.

    Raises:
        ValueError: a line is not a JSON object, or a field has the wrong type; the sentence names the line.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _row(number, line)
        signals = signals_from_output(row["text"], row["command"], row["exit_code"])
        categories = list(dict.fromkeys(signal.category for signal in signals))
        yield {
            "id": row["id"],
            "category": categories[0] if categories else "none",
            "categories": categories,
            "messages": [signal.message for signal in signals],
        }


def _row(number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"Line {number} is not JSON: {error}.") from None
    if not isinstance(row, dict):
        raise ValueError(f"Line {number} is not a JSON object with the keys id, text, command and exit_code.")
    text, command, code = row.get("text") or "", row.get("command") or "", row.get("exit_code")
    if not isinstance(text, str) or not isinstance(command, str):
        raise ValueError(f"Line {number}: text and command must be strings.")
    if code is not None and (not isinstance(code, int) or isinstance(code, bool)):
        raise ValueError(f"Line {number}: exit_code must be a whole number, not {code!r}.")
    return {"id": row.get("id", number), "text": text, "command": command, "exit_code": code}


def _signals(text: str, hits: list[Hit], source: str) -> list[FailureSignal]:
    lines = prepared(text).splitlines()
    return [FailureSignal(hit.category, _message(lines, hit), source) for hit in hits]


def _message(lines: list[str], hit: Hit) -> str:
    if not lines:
        return NO_INFO
    if hit.category == "test_failure" and hit.key and lines[hit.line].strip() != hit.key and len(hit.key) < 200:
        titles = (n for n in range(hit.line) if PYTEST_TITLE.match(lines[n]) or lines[n].strip() == hit.key)
        start = max(titles, default=0)
        start += int(lines[start].strip() == hit.key)
        ends = (n for n in range(hit.line, len(lines)) if PYTEST_TITLE.match(lines[n]) or lines[n].startswith("===="))
        return f"{hit.key}\n{window(lines, hit.line, MESSAGE_CAP - len(hit.key) - 1, start, next(ends, None))}"
    if hit.category == "test_failure":
        near = range(max(0, hit.line - _NEAR), min(len(lines), hit.line + _NEAR))
        kept = [n for n in near if n == hit.line or not read_outcome(lines[n]).passing]
        return window([lines[n] for n in kept], kept.index(hit.line), MESSAGE_CAP)
    return window(lines, hit.line, MESSAGE_CAP)
