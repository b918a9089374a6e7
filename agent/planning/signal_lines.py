"""The decisive lines of an output: those in which a tool says that it failed, ranked by category."""

from __future__ import annotations

import re
from typing import NamedTuple

from agent.planning import signal_patterns as patterns
from agent.planning.signal_exit import death
from agent.planning.signal_text import last_line, prepared
from agent.values import FailureCategory
from agent.workspace.testoutput import read_outcome

ORDER: tuple[FailureCategory, ...] = ("compile_error", "test_failure", "patch_failure", "runtime_error", "unknown")
"""Priority of the categories."""

_NAMES = 20  # more failing tests than are ever shown
_MOST = {"compile_error": 2, "test_failure": 3}
_BLOCK = re.compile(r"^<<<<<<< SEARCH$.*?(?:^>>>>>>> REPLACE$|\Z)", re.M | re.S)
_MASKED = re.compile(r"(?<!\|)\|(?!\|)\s*(?:tee|tail|head|cat|grep|less|sed|awk)\b")
PYTEST_TITLE = re.compile(r"^_{3,} (?:ERROR (?:collecting|at \w+ of) )?(?P<name>\S.*?) _{3,}$")
_TEST_NAME = re.compile(r"^(?:FAILED|ERROR) \S+?::(?P<name>\S.*?)(?: - .*)?$")
_LOCATED = re.compile(r"^(?P<file>[^\s:()][^:()]*)[:(]\d+")
_PYTEST_END = re.compile(r"=+ short test summary|(?:=+ )?\d+ \w+.* in [\d.]+ ?s")
_DETAIL = re.compile(r"^E   ")
_COLLECTING = re.compile(r"(?:!!!!|_____).*collect|ImportError while loading conftest ")
_VERDICT = re.compile(r"(?:.* )?(?:ok|OK|PASS(?:ED)?|FAIL(?:ED)?|passed|failed|skipped|SKIPPED|XFAIL|XPASS)\b")
"""A line that ends a test, in the words of any runner."""
_TEST_TARGET = re.compile(r"(?:\S*[-_/])?(?:tests?|check)(?:[-_]\S*)?")


class Hit(NamedTuple):
    """A decisive line: its number in the text and its category. ``key`` tells hits about the same thing apart."""

    line: int
    category: FailureCategory
    key: str = ""


def decisive_lines(text: str, command: str, exit_code: int | None) -> list[Hit]:
    """The hits in an output, strongest category first; [] when nothing in it says that something failed.

    With exit code 0 only sanitizers count, and what a pipe behind the command may have hidden. Without an exit code a
    summary at the end that says that all passed outweighs what was said before.
    """
    text = prepared(text)
    lines = text.splitlines()
    if exit_code == 0:
        hits = _sanitizer(lines)
        if _MASKED.search(command) and "pipefail" not in command:
            hits += _behind_pipe(lines, command)
        return _ranked(hits)
    bare = _BLOCK.sub(lambda match: "\n" * match[0].count("\n"), text).splitlines()
    if patterns.PATCH_COMMAND.search(command):
        hits = _matching(bare, patterns.PATCH, "patch_failure")
        return _ranked(hits or [Hit(last_line(text), "patch_failure")] if exit_code else hits)
    tests = _tests(bare, command)
    hits = [*_compile(bare, command), *tests, *_patch(bare), *_runtime(bare, not tests)]
    if exit_code is None and _passed_after(bare, hits):
        return _ranked(_sanitizer(bare))
    return _ranked(_without_echoes(bare, hits))


def _without_echoes(lines: list[str], hits: list[Hit]) -> list[Hit]:
    """``hits`` without what a build tool repeats of a failure that another tool reported: make after a test program that
    crashed, ninja after a test target whose runner named the failing test."""

    def echoes(hit: Hit) -> bool:
        return hit.key == "make" or (
            hit.category == "compile_error" and bool(patterns.COMPILE_SUMMARY.search(lines[hit.line]))
        )

    first_hand = {hit.category for hit in hits if not echoes(hit) and hit.key not in ("traceback", "timeout")}
    return [hit for hit in hits if not echoes(hit) or not first_hand - {hit.category}]


def _compile(lines: list[str], command: str) -> list[Hit]:
    hits = []
    tested = bool(re.search(r"\b(?:py\.?test|unittest|doctest)\b", command)) and not patterns.BUILD_COMMAND.search(command)
    collecting = any(_COLLECTING.match(line) for line in lines)
    report = _pytest_report(lines)
    for number, line in enumerate(lines):
        if patterns.COMPILE.search(line) or patterns.LINK.search(line):
            if tested or number in report or _is_patch_line(line):
                continue  # a Python test that failed shows the output of the compiler it ran
            place = _LOCATED.match(line)
            hits.append(Hit(number, "compile_error", place["file"] if place else "link"))
        elif patterns.PYTHON_SYNTAX.match(line) and (
            collecting or not (tested or number in report) or _in_a_file(lines, number)
        ):
            hits.append(Hit(number, "compile_error", "syntax"))
    located = [hit for hit in hits if not patterns.COMPILE_SUMMARY.search(lines[hit.line])]
    hits = located or hits[:1]
    if not hits:
        hits = [Hit(n, "compile_error", "make") for n, line in enumerate(lines) if _make_broke(line)]
    return hits


def _pytest_report(lines: list[str]) -> range:
    """The lines of pytest's failure reports, with what the tests printed; empty when there are none."""
    start = next((n for n, line in enumerate(lines) if re.match(r"=+ (?:FAILURES|ERRORS) =+$", line)), len(lines))
    ends = (n for n in range(start + 1, len(lines)) if _PYTEST_END.match(lines[n]))
    return range(start, next(ends, len(lines)))


def _is_patch_line(line: str) -> bool:
    return line.startswith("error: ") and bool(patterns.PATCH.search(line))


def _make_broke(line: str) -> bool:
    """Whether make gave up on something that is built (an object, a library), or cannot go on at all."""
    match = patterns.MAKE_STOPPED.match(line)
    built = match is not None and match["target"].strip().endswith((".o", ".a", ".so", ".lo", ".obj"))
    return built or bool(patterns.MAKE_FATAL.search(line))


def _tests(lines: list[str], command: str) -> list[Hit]:
    hits = []
    titles = {match["name"]: n for n, line in enumerate(lines) if (match := PYTEST_TITLE.match(line))}
    ninja = any(line.startswith("ninja: build stopped") for line in lines)
    for number, line in enumerate(lines):
        if ninja and line.startswith("FAILED: "):
            continue  # ninja's word for any command, not a runner's
        if not patterns.TEST.search(line) or any(p.search(line) for p in (patterns.PATCH, patterns.COMPILE, patterns.USAGE)):
            continue
        named = _TEST_NAME.match(line)
        if patterns.UNITTEST.match(line):
            place = _unittest_detail(lines, number)
        else:
            place = _detail(lines, titles, named["name"] if named else "", number)
        hits.append(Hit(place, "test_failure", line.strip()))
    if hits:
        return _one_a_test(hits, lines)
    for number, line in enumerate(lines):
        if patterns.ASSERTION.search(line):
            hits.append(Hit(number, "test_failure" if _is_test(command, line) else "runtime_error", "assert"))
    for number, line in enumerate(lines):
        stopped = patterns.MAKE_STOPPED.match(line)
        if stopped is None or hits or death(int(stopped["code"])) is not None:
            continue
        if _TEST_TARGET.fullmatch(stopped["target"].strip()):
            hits.append(Hit(number, "test_failure", "make"))
    return hits


def _one_a_test(hits: list[Hit], lines: list[str]) -> list[Hit]:
    """One hit for each test that is named as failing, at the line that opens its report; else the first hit."""
    chosen: list[Hit] = []
    for name in read_outcome("\n".join(lines)).failing[:_NAMES]:
        named = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
        about = [hit for hit in hits if named.search(hit.key)]
        about.sort(key=lambda hit: (not hit.key.startswith(("FAIL:", "ERROR:")), hit.line))
        chosen += about[:1]
    return chosen or hits[:1]


def _is_test(command: str, line: str) -> bool:
    return bool(patterns.TEST_COMMAND.search(command) or patterns.TEST_PLACE.search(line)) or "AssertionError" in line


def _detail(lines: list[str], titles: dict[str, int], name: str, number: int) -> int:
    """The line of pytest's report that says what was wrong with the test ``name``, else ``number``."""
    start = titles.get(name.replace("::", "."))
    if start is None:
        return number
    for offset in range(start + 1, min(number, len(lines))):
        if PYTEST_TITLE.match(lines[offset]):
            break
        if _DETAIL.match(lines[offset]):
            return offset
    return number


def _unittest_detail(lines: list[str], number: int) -> int:
    """The line of unittest's report, whose title is at ``number``, that names the last exception."""
    end = next((n for n in range(number + 2, len(lines)) if lines[n].startswith(("=====", "Ran "))), len(lines))
    starts = [n for n in range(number, end) if patterns.TRACEBACK.match(lines[n])]
    raised = _raised(lines, starts[-1] + 1, end) if starts else None
    return number if raised is None else raised


def _patch(lines: list[str]) -> list[Hit]:
    return [hit for hit in _matching(lines, patterns.PATCH, "patch_failure") if not patterns.TEST.search(lines[hit.line])]


def _runtime(lines: list[str], tracebacks: bool) -> list[Hit]:
    """A program that died; a traceback only if ``tracebacks``, since a failing test shows one too."""
    hits = _sanitizer(lines)
    hits += _matching(lines, patterns.CRASH, "runtime_error") + _matching(lines, patterns.MAKE_SIGNAL, "runtime_error")
    stops = ((number, patterns.MAKE_STOPPED.match(line)) for number, line in enumerate(lines))
    hits += [Hit(number, "runtime_error") for number, stop in stops if stop and death(int(stop["code"]))]
    hits += [Hit(number, "runtime_error", "timeout") for number, line in enumerate(lines) if patterns.TIMEOUT.search(line)]
    hits += _unfinished_test(lines)
    starts = [number for number, line in enumerate(lines) if patterns.TRACEBACK.match(line)]
    for start in starts[-1:] if tracebacks else ():
        raised = _raised(lines, start + 1, len(lines))
        if raised is None or not patterns.PYTHON_SYNTAX.match(lines[raised]):
            hits.append(Hit(start if raised is None else raised, "runtime_error", "traceback"))
    for number, line in enumerate(lines) if tracebacks else ():
        if patterns.THROWN.match(line) and any(
            patterns.STACK_FRAME.match(after) for after in lines[number + 1 : number + 4]
        ):
            hits.append(Hit(number, "runtime_error", "traceback"))
    return hits


def _unfinished_test(lines: list[str]) -> list[Hit]:
    """The last test that a runner began, when no later line is about a test: the runner died within it. It also died where
    fewer tests reported than its plan announced (Test Anything Protocol 14, "The Plan")."""
    promised = next((int(plan[1]) for line in lines if (plan := patterns.TAP_PLAN.match(line))), 0)
    reported = [number for number, line in enumerate(lines) if patterns.TAP_RESULT.match(line)]
    if len(reported) < promised and not any(line.startswith("Bail out!") for line in lines):
        return [Hit(reported[-1] if reported else 0, "runtime_error", "unfinished")]
    begun = [(number, match) for number, line in enumerate(lines) if (match := patterns.TEST_BEGINS.match(line))]
    if not begun:
        return []
    number, match = begun[-1]
    name = next(filter(None, match.groups()))
    after = lines[number + 1 :]
    if any(
        name in line or patterns.TEST.search(line) or patterns.PASSED.search(line) or _VERDICT.match(line) for line in after
    ):
        return []
    return [Hit(number, "runtime_error", "unfinished")]


def _raised(lines: list[str], start: int, end: int) -> int | None:
    """The line that names the exception of the traceback that begins before ``start``, None when it is cut off."""
    return next((n for n in range(start, end) if patterns.TRACEBACK_END.match(lines[n])), None)


def _in_a_file(lines: list[str], number: int) -> bool:
    """Whether the syntax error is in a file, and not in text that a test gave to a parser."""
    located = [line for line in lines[max(0, number - 4) : number] if line.lstrip().startswith('File "')]
    return bool(located) and 'File "<' not in located[-1]


def _sanitizer(lines: list[str]) -> list[Hit]:
    return _matching(lines, patterns.SANITIZER, "runtime_error")[:1]


def _behind_pipe(lines: list[str], command: str) -> list[Hit]:
    """A pipe gives the exit code of its last command; the last verdict in the text is then the one that counts."""
    hits = [*_compile(lines, command), *_tests(lines, command)]
    return [] if _passed_after(lines, hits) else hits


def _passed_after(lines: list[str], hits: list[Hit]) -> bool:
    last = max((hit.line for hit in hits), default=len(lines))
    return any(patterns.PASSED.search(line) for line in lines[last + 1 :])


def _matching(lines: list[str], pattern: re.Pattern[str], category: FailureCategory) -> list[Hit]:
    return [Hit(number, category) for number, line in enumerate(lines) if pattern.search(line)]


def _ranked(hits: list[Hit]) -> list[Hit]:
    """The hits to report: by category, then place; one per thing, a few per category."""
    chosen: list[Hit] = []
    for category in ORDER:
        keys: set[str] = set()
        for hit in sorted((hit for hit in hits if hit.category == category), key=_decisive):
            if hit.key not in keys and len(keys) < _MOST.get(category, 1):
                keys.add(hit.key)
                chosen.append(hit)
    return chosen


def _decisive(hit: Hit) -> tuple[int, int]:
    """Located errors come before the linker's last words."""
    return (int(hit.key == "link"), hit.line)
