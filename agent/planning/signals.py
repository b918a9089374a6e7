"""Failure signals: what went wrong, read from output without a model (seed 001, section 5.2; compiler notes, 14).

The exit code decides first whether anything failed at all. Then the lines that tools themselves write decide the
categories, several from one output, in the order compile, test, patch, runtime, unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from agent.planning import signal_patterns as say
from agent.planning.schema import StepResult
from agent.values import FailureCategory, FailureSignal

MESSAGE_CAP = 500
"""Characters a message may have (seed 001, section 5.2)."""

ORDER: tuple[FailureCategory, ...] = ("compile_error", "test_failure", "patch_failure", "runtime_error", "unknown")
"""Priority of the categories (seed 001, section 5.2)."""

NO_INFO = "Step failed with no error info"
_MOST = {"compile_error": 2, "test_failure": 3}
_SCANNED = 400_000
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_BLOCK = re.compile(r"^<<<<<<< SEARCH$.*?(?:^>>>>>>> REPLACE$|\Z)", re.M | re.S)
_SIGNALS = {4: "illegal instruction", 6: "aborted", 7: "bus error", 8: "floating point exception", 9: "killed",
            11: "segmentation fault", 15: "terminated", 24: "CPU time limit", 25: "file size limit"}  # fmt: skip
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
    text = _prepared(text)
    found = _found(text, command, exit_code)
    if found:
        return _signals(text, found, source)
    if not exit_code:
        return []
    if (died := _death(exit_code)) is not None:
        shown = _window(text.splitlines(), _last_line(text), MESSAGE_CAP - len(died) - 1)
        return [FailureSignal("runtime_error", f"{died}\n{shown}".strip(), source)]
    return [FailureSignal(_by_command(command, exit_code), _fallback_message(text, command, exit_code), source)]


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
    text = _prepared(text)
    lines = text.splitlines()
    if exit_code == 0:
        hits = _sanitizer(lines)
        if _MASKED.search(command) and "pipefail" not in command:
            hits += _behind_pipe(lines, command)
        return _ranked(hits)
    bare = _BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text).splitlines()
    if say.PATCH_COMMAND.search(command):
        hits = _matching(bare, say.PATCH, "patch_failure") or [_Hit(_last_line(text), "patch_failure")]
        return _ranked(hits)
    return _ranked([*_compile(bare, command), *_tests(bare, command), *_patch(bare), *_runtime(bare, exit_code)])


def _compile(lines: list[str], command: str) -> list[_Hit]:
    hits = []
    tested = bool(re.search(r"\b(?:py\.?test|unittest|doctest)\b", command)) and not say.BUILD_COMMAND.search(command)
    collecting = any(line.startswith(("!!!!", "_____")) and "collect" in line for line in lines)
    for number, line in enumerate(lines):
        if say.COMPILE.search(line) or say.LINK.search(line):
            if tested or _is_patch_line(line):
                continue  # a Python test that failed shows the output of the compiler it ran
            located = _LOCATED.match(line)
            hits.append(_Hit(number, "compile_error", located["file"] if located else "link"))
        elif say.PYTHON_SYNTAX.match(line) and (collecting or not tested or _ends_traceback(lines, number)):
            hits.append(_Hit(number, "compile_error", "python"))
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
        if not say.TEST.search(line) or say.PATCH.search(line) or say.COMPILE.search(line):
            continue
        named = _TEST_NAME.match(line)
        hits.append(_Hit(_detail(lines, titles, named["name"] if named else "", number), "test_failure", line.strip()))
    summarised = bool(hits)
    for number, line in enumerate(lines):
        if say.ASSERTION.search(line) and not summarised:
            hits.append(_Hit(number, "test_failure" if _is_test(command, line) else "runtime_error", "assert"))
    for number, line in enumerate(lines):
        stopped = say.MAKE_STOPPED.match(line)
        if stopped and not hits and re.fullmatch(r"(?:\S*[-_/])?(?:tests?|check)(?:[-_]\S*)?", stopped["target"].strip()):
            hits.append(_Hit(number, "test_failure", "make"))
    return hits


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


def _runtime(lines: list[str], exit_code: int | None) -> list[_Hit]:
    hits = _sanitizer(lines)
    hits += _matching(lines, say.CRASH, "runtime_error") + _matching(lines, say.MAKE_SIGNAL, "runtime_error")
    hits += _matching(lines, say.TIMEOUT, "runtime_error")
    starts = [number for number, line in enumerate(lines) if line.strip() == say.TRACEBACK]
    for start in starts[-1:]:
        ends = [n for n in range(start + 1, len(lines)) if say.PYTHON_EXCEPTION.match(lines[n])]
        raised = [n for n in ends if not say.PYTHON_SYNTAX.match(lines[n])]
        if raised or not ends:
            hits.append(_Hit(raised[0] if raised else start, "runtime_error", "traceback"))
    return hits


def _ends_traceback(lines: list[str], number: int) -> bool:
    return any(line.strip() == say.TRACEBACK for line in lines[:number]) and not lines[number].startswith("E")


def _sanitizer(lines: list[str]) -> list[_Hit]:
    return _matching(lines, say.SANITIZER, "runtime_error")[:1]


def _behind_pipe(lines: list[str], command: str) -> list[_Hit]:
    """A pipe gives the exit code of its last command; the last verdict in the text is then the one that counts."""
    hits = [*_compile(lines, command), *_tests(lines, command)]
    return hits if hits and max(hit.line for hit in hits) >= len(lines) - 4 else []


def _matching(lines: list[str], pattern: re.Pattern[str], category: FailureCategory) -> list[_Hit]:
    return [_Hit(number, category) for number, line in enumerate(lines) if pattern.search(line)]


def _ranked(hits: list[_Hit]) -> list[_Hit]:
    """The hits to report: by category, then place; one per thing, a few per category."""
    chosen: list[_Hit] = []
    for category in ORDER:
        keys: set[str] = set()
        for hit in sorted((hit for hit in hits if hit.category == category), key=_decisive):
            if hit.key in keys or any(abs(hit.line - other.line) < 2 and other.category == category for other in chosen):
                continue
            if len(keys) < _MOST.get(category, 1):
                keys.add(hit.key)
                chosen.append(hit)
    return chosen


def _decisive(hit: _Hit) -> tuple[int, int]:
    """Lines about one test come before summaries, and located errors before the linker's and make's last words."""
    summary = hit.category == "test_failure" and not re.match(r"\W*(?:FAIL|FAILED|ERROR|not ok|\[)\b", hit.key)
    return (int(summary or hit.key == "link"), hit.line)


def _signals(text: str, hits: list[_Hit], source: str) -> list[FailureSignal]:
    lines = _prepared(text).splitlines()
    return [FailureSignal(hit.category, _message(lines, hit), source) for hit in hits]


def _message(lines: list[str], hit: _Hit) -> str:
    if not lines:
        return NO_INFO
    if hit.category == "test_failure" and hit.key and lines[hit.line].strip() != hit.key and len(hit.key) < 200:
        return f"{hit.key}\n{_window(lines, hit.line, MESSAGE_CAP - len(hit.key) - 1)}"
    return _window(lines, hit.line, MESSAGE_CAP)


def _window(lines: list[str], centre: int, cap: int) -> str:
    """Whole lines around line ``centre``, as many as fit in ``cap`` characters; that line is in, cut when it must be."""
    if not lines:
        return ""
    first = last = centre
    size = len(lines[centre])
    if size >= cap:
        return lines[centre].strip()[:cap]
    grew = True
    while grew:
        grew = False
        for place in (last + 1, first - 1):
            if 0 <= place < len(lines) and size + len(lines[place]) + 1 <= cap:
                size += len(lines[place]) + 1
                first, last = min(first, place), max(last, place)
                grew = True
    return "\n".join(lines[first : last + 1]).strip()


def _death(exit_code: int) -> str | None:
    if exit_code == 124:
        return "The command ran out of time (exit code 124)."
    number = -exit_code if exit_code < 0 else exit_code - 128 if 128 < exit_code <= 128 + 64 else None
    if number is None:
        return None
    return f"The command died of signal {number} ({_SIGNALS.get(number, 'signal')})."


def _by_command(command: str, exit_code: int) -> FailureCategory:
    """What an exit code means when the output says nothing that is known: the kind of work the command does."""
    if exit_code in (126, 127):
        return "unknown"
    last = re.split(r"&&|;|\|\||\|", command)[-1] if command else ""
    if say.TEST_COMMAND.search(last):
        return "test_failure"
    return "compile_error" if say.BUILD_COMMAND.search(last) and not re.search(r"\b(?:g?make)\b", last) else "unknown"


def _fallback_message(text: str, command: str, exit_code: int) -> str:
    lines = text.splitlines()
    if not text.strip():
        return f"{command or 'The command'} exited with {exit_code} and said nothing."[:MESSAGE_CAP]
    said = [n for n, line in enumerate(lines) if re.search(r"(?i)\b(?:error|failed|cannot|not found|denied)\b", line)]
    return _window(lines, said[0] if said else _last_line(text), MESSAGE_CAP)


def _last_line(text: str) -> int:
    lines = text.splitlines()
    return max((number for number, line in enumerate(lines) if line.strip()), default=0)


def _prepared(text: str) -> str:
    """Without colour codes; the middle of a very long text left out, since verdicts stand at the ends."""
    if len(text) > _SCANNED:
        text = f"{text[: _SCANNED // 4]}\n{text[-_SCANNED * 3 // 4 :]}"
    return _ANSI.sub("", text).replace("\0", "").replace("\r\n", "\n")
