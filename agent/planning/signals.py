"""Failure signals: what went wrong, read from output without a model (seed 001, section 5.2; compiler notes, 14).

The exit code decides first whether anything failed at all. Then the lines that tools themselves write decide the
categories, several from one output, in the order compile, test, patch, runtime, unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from agent.planning import signal_patterns as say
from agent.planning.schema import StepResult
from agent.planning.signal_exit import by_command, death, fallback_message
from agent.planning.signal_text import last_line, prepared, window
from agent.values import FailureCategory, FailureSignal
from agent.workspace.testoutput import read_outcome

MESSAGE_CAP = 500
"""Characters a message may have (seed 001, section 5.2)."""

ORDER: tuple[FailureCategory, ...] = ("compile_error", "test_failure", "patch_failure", "runtime_error", "unknown")
"""Priority of the categories (seed 001, section 5.2)."""

SHOWN = 3
"""Failures that a model is shown at once; more do not help a small one."""

NO_INFO = "Step failed with no error info"
_MOST = {"compile_error": 2, "test_failure": 3}
_BLOCK = re.compile(r"^<<<<<<< SEARCH$.*?(?:^>>>>>>> REPLACE$|\Z)", re.M | re.S)
_MASKED = re.compile(r"(?<!\|)\|(?!\|)\s*(?:tee|tail|head|cat|grep|less|sed|awk)\b")
_PYTEST_TITLE = re.compile(r"^_{3,} (?:ERROR (?:collecting|at \w+ of) )?(?P<name>\S.*?) _{3,}$")
_TEST_NAME = re.compile(r"^(?:FAILED|ERROR) \S+?::(?P<name>\S.*?)(?: - .*)?$")
_LOCATED = re.compile(r"^(?P<file>[^\s:()][^:()]*)[:(]\d+")
_DETAIL = re.compile(r"^E   ")


class _Hit(NamedTuple):
    """A decisive line: its number in the text and its category. ``key`` tells hits about the same thing apart."""

    line: int
    category: FailureCategory
    key: str = ""


def as_shown(signals: Sequence[FailureSignal]) -> str:
    """The first :data:`SHOWN` failures as a prompt shows them."""
    return "\n".join(signal.message for signal in signals[:SHOWN])


def extract_failure_signals(prior_results: Iterable[StepResult] | None) -> list[FailureSignal]:
    """The failures of steps, in step order; [] when there are no results or all steps succeeded.

    A failed step's ``error_info`` is read, its ``raw_response`` only when the former tells nothing. A successful step
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
        found = _found(result.raw_response, "", None)
        if found:
            return _signals(result.raw_response, found, "raw_response")
        return [FailureSignal("unknown", NO_INFO, "step_failed")]
    return signals_from_output(result.error_info, "", 1, source="error_info")


def signals_from_output(
    text: str, command: str = "", exit_code: int | None = None, *, source: str = "error_info"
) -> list[FailureSignal]:
    """The failures that the output of one command tells of, strongest category first; [] when it passed.

    ``exit_code`` is a shell's or negative for a signal; None when it is not known, and then the text alone decides.
    With exit code 0 only sanitizers count, and what a pipe behind the command may have hidden.
    """
    text = prepared(text)
    found = _found(text, command, exit_code)
    if found:
        return _signals(text, found, source)
    if not exit_code:
        return []
    if (died := death(exit_code)) is not None:
        shown = window(text.splitlines(), last_line(text), MESSAGE_CAP - len(died) - 1)
        return [FailureSignal("runtime_error", f"{died}\n{shown}".strip(), source)]
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


def _found(text: str, command: str, exit_code: int | None) -> list[_Hit]:
    text = prepared(text)
    lines = text.splitlines()
    if exit_code == 0:
        hits = _sanitizer(lines)
        if _MASKED.search(command) and "pipefail" not in command:
            hits += _behind_pipe(lines, command)
        return _ranked(hits)
    bare = _BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text).splitlines()
    if say.PATCH_COMMAND.search(command):
        hits = _matching(bare, say.PATCH, "patch_failure") or [_Hit(last_line(text), "patch_failure")]
        return _ranked(hits)
    tests = _tests(bare, command)
    return _ranked([*_compile(bare, command), *tests, *_patch(bare), *_runtime(bare, not tests)])


def _compile(lines: list[str], command: str) -> list[_Hit]:
    hits = []
    tested = bool(re.search(r"\b(?:py\.?test|unittest|doctest)\b", command)) and not say.BUILD_COMMAND.search(command)
    collecting = any(line.startswith(("!!!!", "_____")) and "collect" in line for line in lines)
    for number, line in enumerate(lines):
        if say.COMPILE.search(line) or say.LINK.search(line):
            if tested or _is_patch_line(line):
                continue  # a Python test that failed shows the output of the compiler it ran
            place = _LOCATED.match(line)
            hits.append(_Hit(number, "compile_error", place["file"] if place else "link"))
        elif say.PYTHON_SYNTAX.match(line) and (collecting or not tested or _in_a_file(lines, number)):
            hits.append(_Hit(number, "compile_error", "python"))
    located = [hit for hit in hits if not say.COMPILE_SUMMARY.search(lines[hit.line])]
    hits = located or hits[:1]
    if not hits:
        hits = [_Hit(n, "compile_error", "make") for n, line in enumerate(lines) if _make_broke(line, lines)]
    return hits


def _is_patch_line(line: str) -> bool:
    return line.startswith("error: ") and bool(say.PATCH.search(line))


def _make_broke(line: str, lines: list[str]) -> bool:
    """Whether make gave up on something that is built: an object, a library; a program too when nothing else is said."""
    match = say.MAKE_STOPPED.match(line)
    return match is not None and match["target"].strip().endswith((".o", ".a", ".so", ".lo", ".obj"))


def _tests(lines: list[str], command: str) -> list[_Hit]:
    hits = []
    titles = {match["name"]: n for n, line in enumerate(lines) if (match := _PYTEST_TITLE.match(line))}
    for number, line in enumerate(lines):
        if not say.TEST.search(line) or any(p.search(line) for p in (say.PATCH, say.COMPILE, say.USAGE)):
            continue
        named = _TEST_NAME.match(line)
        hits.append(_Hit(_detail(lines, titles, named["name"] if named else "", number), "test_failure", line.strip()))
    if hits:
        return _one_a_test(hits, lines)
    for number, line in enumerate(lines):
        if say.ASSERTION.search(line):
            hits.append(_Hit(number, "test_failure" if _is_test(command, line) else "runtime_error", "assert"))
    for number, line in enumerate(lines):
        stopped = say.MAKE_STOPPED.match(line)
        if stopped and not hits and re.fullmatch(r"(?:\S*[-_/])?(?:tests?|check)(?:[-_]\S*)?", stopped["target"].strip()):
            hits.append(_Hit(number, "test_failure", "make"))
    return hits


def _one_a_test(hits: list[_Hit], lines: list[str]) -> list[_Hit]:
    """One hit for each test that is named as failing, at the line that opens its report; else the first hit."""
    chosen: list[_Hit] = []
    for name in read_outcome("\n".join(lines)).failing:
        named = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
        about = [hit for hit in hits if named.search(hit.key)]
        about.sort(key=lambda hit: (not hit.key.startswith(("FAIL:", "ERROR:")), hit.line))
        chosen += about[:1]
    return chosen or hits[:1]


def _is_test(command: str, line: str) -> bool:
    return bool(say.TEST_COMMAND.search(command)) or "AssertionError" in line


def _detail(lines: list[str], titles: dict[str, int], name: str, number: int) -> int:
    """The line of pytest's report that says what was wrong with the test ``name``, else ``number``."""
    start = titles.get(name.replace("::", "."))
    if start is None:
        return number
    for offset in range(start + 1, min(number, len(lines))):
        if _PYTEST_TITLE.match(lines[offset]):
            break
        if _DETAIL.match(lines[offset]):
            return offset
    return number


def _patch(lines: list[str]) -> list[_Hit]:
    return [hit for hit in _matching(lines, say.PATCH, "patch_failure") if not say.TEST.search(lines[hit.line])]


def _runtime(lines: list[str], tracebacks: bool) -> list[_Hit]:
    """A program that died; a traceback only if ``tracebacks``, since a failing test shows one too."""
    hits = _sanitizer(lines)
    hits += _matching(lines, say.CRASH, "runtime_error") + _matching(lines, say.MAKE_SIGNAL, "runtime_error")
    hits += _matching(lines, say.TIMEOUT, "runtime_error")
    starts = [number for number, line in enumerate(lines) if line.strip() == say.TRACEBACK]
    for start in starts[-1:] if tracebacks else ():
        ends = [n for n in range(start + 1, len(lines)) if say.PYTHON_EXCEPTION.match(lines[n])]
        raised = [n for n in ends if not say.PYTHON_SYNTAX.match(lines[n])]
        if raised or not ends:
            hits.append(_Hit(raised[0] if raised else start, "runtime_error", "traceback"))
    return hits


def _in_a_file(lines: list[str], number: int) -> bool:
    """Whether the syntax error is in a file, and not in text that a test gave to a parser."""
    located = [line for line in lines[max(0, number - 4) : number] if line.lstrip().startswith('File "')]
    return bool(located) and 'File "<' not in located[-1]


def _sanitizer(lines: list[str]) -> list[_Hit]:
    return _matching(lines, say.SANITIZER, "runtime_error")[:1]


def _behind_pipe(lines: list[str], command: str) -> list[_Hit]:
    """A pipe gives the exit code of its last command; the last verdict in the text is then the one that counts."""
    hits = [*_compile(lines, command), *_tests(lines, command)]
    last = max((hit.line for hit in hits), default=len(lines))
    return [] if any(say.PASSED.search(line) for line in lines[last + 1 :]) else hits


def _matching(lines: list[str], pattern: re.Pattern[str], category: FailureCategory) -> list[_Hit]:
    return [_Hit(number, category) for number, line in enumerate(lines) if pattern.search(line)]


def _ranked(hits: list[_Hit]) -> list[_Hit]:
    """The hits to report: by category, then place; one per thing, a few per category."""
    chosen: list[_Hit] = []
    for category in ORDER:
        keys: set[str] = set()
        for hit in sorted((hit for hit in hits if hit.category == category), key=_decisive):
            if hit.key not in keys and len(keys) < _MOST.get(category, 1):
                keys.add(hit.key)
                chosen.append(hit)
    return chosen


def _decisive(hit: _Hit) -> tuple[int, int]:
    """Located errors come before the linker's last words."""
    return (int(hit.key == "link"), hit.line)


def _signals(text: str, hits: list[_Hit], source: str) -> list[FailureSignal]:
    lines = prepared(text).splitlines()
    return [FailureSignal(hit.category, _message(lines, hit), source) for hit in hits]


def _message(lines: list[str], hit: _Hit) -> str:
    if not lines:
        return NO_INFO
    if hit.category == "test_failure" and hit.key and lines[hit.line].strip() != hit.key and len(hit.key) < 200:
        start = max((n for n in range(hit.line) if _PYTEST_TITLE.match(lines[n])), default=0)
        ends = (n for n in range(hit.line, len(lines)) if _PYTEST_TITLE.match(lines[n]) or lines[n].startswith("===="))
        return f"{hit.key}\n{window(lines, hit.line, MESSAGE_CAP - len(hit.key) - 1, start, next(ends, None))}"
    return window(lines, hit.line, MESSAGE_CAP)
