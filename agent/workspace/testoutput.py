"""Read a test runner's output: which tests passed, which failed, and how many.

Each reader looks for one runner's own lines. Counts come from a summary where there is one, else from the names. Counts of
several runners in one output are added up (``make test`` may start more than one).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_LONGEST_LINE = 500  # no verdict is longer, and some patterns take time with the square of a line's length
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")

_PYTEST_WORDS = {
    "passed": True, "failed": False, "error": False, "errors": False, "xpassed": True, "skipped": None, "xfailed": None,
    "deselected": None, "warning": None, "warnings": None, "rerun": None, "subtests passed": None,
}  # fmt: skip
_PYTEST_SUMMARY = re.compile(r"^=*\s*(?P<counts>(?:\d+ [a-z]+(?: [a-z]+)?, )*\d+ [a-z]+(?: [a-z]+)?) in [\d.:]+ ?s?\b")
_PYTEST_NAMED = re.compile(r"^(?P<word>PASSED|FAILED|ERROR|XPASS|XFAIL)\s+(?P<name>\S+\.py\S*(?:::.+?)?)(?:\s+-\s.*)?$")
_PYTEST_VERBOSE = re.compile(
    r"^(?P<name>\S+\.py::.+?)\s+(?P<word>PASSED|FAILED|ERROR|XPASS|XFAIL|SKIPPED)(?:\s*\(.*\))?(?:\s+\[\s*\d+%\])?$"
)

_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ")
_UNITTEST_END = re.compile(r"^(OK|FAILED)(?: \((?P<what>[^)]*)\))?$")
_UNITTEST_BAD = re.compile(r"^(?:FAIL|ERROR): (?P<name>\w+(?: \([\w.]+\))?)\s*$")
_UNITTEST_LINE = re.compile(r"^(?P<name>\w+ \([\w.]+\)).* \.\.\. (?P<word>ok|FAIL|ERROR|expected failure|skipped\b.*)$")

_TAP = re.compile(
    r"^\s*(?P<no>not )?ok\b(?: (?P<number>\d+))?(?:\s*-?\s*(?P<name>[^#]*?))?\s*(?:#\s*(?P<mark>skip|todo)\b.*)?$", re.I
)
_TAP_PLAN = re.compile(r"^(?:1\.\.\d+|TAP version \d+)")

_CTEST = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (?P<name>\S+) \.+\s*(?P<word>Passed|\*\*\*\S.*?|Not Run.*?)\s+[\d.]+ sec")
_MESON = re.compile(r"^\s*\d+/\d+ (?P<name>.+?)\s{2,}(?P<word>OK|FAIL|ERROR|TIMEOUT|EXPECTEDFAIL|SKIP|INTERRUPT)\b")
_CARGO = re.compile(r"^test (?P<name>\S+) \.\.\. (?P<word>ok|FAILED|ignored)\b")
_GTEST = re.compile(r"^\[\s+(?P<word>OK|FAILED|PASSED)\s+\] (?P<name>[A-Za-z_][\w./]*)(?:,.*)?(?: \(\d+ ms\))?$")
_CMOCKA_COUNT = re.compile(r"^\[\s+(?P<word>PASSED|FAILED)\s+\] (?P<n>\d+) test")
_CHECK = re.compile(r"^\d+%: Checks: (?P<checks>\d+), Failures: (?P<failures>\d+), Errors: (?P<errors>\d+)$")
_CHECK_LINE = re.compile(r"^\S+:\d+:(?P<word>[PFE]):[^:]*:(?P<name>[^:]+):\d+: ")
_UNITY = re.compile(r"^(?P<n>\d+) Tests (?P<bad>\d+) Failures (?P<ignored>\d+) Ignored")
_UNITY_LINE = re.compile(r"^\S+:\d+:(?P<name>\w+):(?P<word>PASS|FAIL)\b")
_UNITY_SAID = re.compile(r"^\S+:\d+:(?P<name>\w+):FAIL(?:: (?P<said>.*))?$")
_PYTEST_TEST = re.compile(r"^_{3,} (?:\S+\.)?(?P<name>\w+)(?:\[.*\])? _{3,}$")
_PYTEST_SAID = re.compile(r"^E {2,}(?P<said>\S.*)$")
_CUNIT = re.compile(r"^\s*tests\s+(?P<total>\d+)\s+(?P<ran>\d+)\s+(?P<passed>\d+)\s+(?P<failed>\d+)\s")

_LINE = re.compile(
    r"^\s*\[?(?P<word>PASS|PASSED|OK|FAIL|FAILED|ERROR|XPASS|XFAIL)\]?\s*(?:[:\-]\s*|\s)(?P<name>[\w./:\[\]<>-]+)\s*$"
)
_LINE_SAID = re.compile(r"^\s*\[?(?P<word>FAIL|FAILED)\]?:?\s+(?P<name>[\w./<>-]+): \S")
_LINE_AFTER = re.compile(
    r"^\s*(?:\d+[.)]\s+)?(?P<name>[A-Za-z_][\w./:-]*)\s*(?:\.{2,}|:|\s-|\s{1,})\s*"
    r"\[?(?P<word>PASS|PASSED|OK|ok|FAIL|FAILED)\]?\s*$"
)
_SUMMARY = re.compile(
    r"\b(?:(?P<p>\d+)\s*(?:tests?\s+)?(?:passed|passes|ok|succeeded)\b"
    r"|(?:passed|pass|passes|ok|succeeded)\s*[:=]\s*(?P<p2>\d+))",
    re.I,
)
_SUMMARY_BAD = re.compile(
    r"\b(?:(?P<f>\d+)\s*(?:tests?\s+)?(?:failed|failures?|fails|errors?)\b"
    r"|(?:failed|fail|failures?|fails)\s*[:=]\s*(?P<f2>\d+))",
    re.I,
)
_OF = re.compile(r"\b(?P<p>\d+)\s*(?:/|of|out of)\s*(?P<n>\d+)\s+(?:tests?|checks?)?\s*(?:passed|pass|ok)\b", re.I)

_GOOD_WORDS = frozenset({"PASSED", "PASS", "OK", "XPASS", "P"})
_BAD_WORDS = frozenset({"FAILED", "FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "F", "E"})


class CheckCounts(NamedTuple):
    """``passed`` and ``failed`` are None when they are not known; names are in order of appearance, each once."""

    passed: int | None
    failed: int | None
    passing: tuple[str, ...]
    failing: tuple[str, ...]


class _Tally:
    def __init__(self) -> None:
        self.named: dict[str, bool] = {}
        self.counts: list[tuple[int, int]] = []

    def name(self, name: str, good: bool) -> None:
        name = name.strip()
        if name:
            self.named[name] = good and self.named.get(name, True)

    def word(self, name: str, word: str) -> None:
        if word.upper() in _GOOD_WORDS:
            self.name(name, True)
        elif word.upper() in _BAD_WORDS or word.startswith(("***", "Not Run")):
            self.name(name, False)


def read_outcome(output: str) -> CheckCounts:
    """Counts and names of one run's output, whatever runner wrote it."""
    lines = _lines(output)
    tally = _Tally()
    tap = any(_TAP_PLAN.match(line) for line in lines)
    readers = [_pytest, _unittest, _ctest, _check, _gtest, *([_tap] if tap else [])]
    specific = False
    for line in lines:
        specific = any(reader(line, tally) for reader in readers) or specific
    if not specific:
        _plain(lines, tally)
    passing = tuple(name for name, good in tally.named.items() if good)
    failing = tuple(name for name, good in tally.named.items() if not good)
    if tally.counts:
        return CheckCounts(sum(p for p, _ in tally.counts), sum(f for _, f in tally.counts), passing, failing)
    if tally.named:
        return CheckCounts(len(passing), len(failing), passing, failing)
    return CheckCounts(None, None, (), ())


def _lines(output: str) -> list[str]:
    """The lines of an output without colours, each cut to the length of a verdict."""
    return [_ANSI.sub("", line[:_LONGEST_LINE]).rstrip() for line in output.splitlines()]


def failures_said(output: str) -> dict[str, str]:
    """The message of each failing test, by the test's own name: from Unity's line, or the first ``E`` line of pytest's
    report; "" where there is none."""
    found: dict[str, str] = {}
    test = ""
    for line in _lines(output):
        if match := _UNITY_SAID.match(line):
            found[match["name"]] = match["said"] or ""
        elif match := _PYTEST_TEST.match(line):
            test = match["name"]
        elif test and (match := _PYTEST_SAID.match(line)):
            found[test], test = match["said"], ""
    return found


def _pytest(line: str, tally: _Tally) -> bool:
    if (match := _PYTEST_VERBOSE.match(line)) or (match := _PYTEST_NAMED.match(line)):
        tally.word(match["name"], match["word"])
        return True
    match = _PYTEST_SUMMARY.match(line)
    if match is None:
        return False
    good = bad = 0
    for part in match["counts"].split(", "):
        number, _, word = part.partition(" ")
        if word not in _PYTEST_WORDS:
            return False
        verdict = _PYTEST_WORDS[word]
        good += int(number) if verdict else 0
        bad += int(number) if verdict is False else 0
    tally.counts.append((good, bad))
    return True


def _unittest(line: str, tally: _Tally) -> bool:
    if match := _UNITTEST_RAN.match(line):
        tally.counts.append((int(match[1]), 0))
        return True
    if (match := _UNITTEST_END.match(line)) and tally.counts:
        numbers = {key.strip(): int(n) for key, n in re.findall(r"([a-z ]+)=(\d+)", match["what"] or "")}
        bad = numbers.get("failures", 0) + numbers.get("errors", 0) + numbers.get("unexpected successes", 0)
        other = numbers.get("skipped", 0) + numbers.get("expected failures", 0)
        ran = tally.counts.pop()[0]
        tally.counts.append((max(0, ran - bad - other), bad))
        return True
    if match := _UNITTEST_LINE.match(line):
        tally.word(match["name"], match["word"])
        return True
    if match := _UNITTEST_BAD.match(line):
        tally.name(match["name"], False)
        return "(" in match["name"]
    return False


def _tap(line: str, tally: _Tally) -> bool:
    match = _TAP.match(line)
    if match is None or (match["number"] is None and match["name"] is None):
        return False
    if not match["mark"]:
        tally.name(match["name"] or f"test {match['number']}", match["no"] is None)
    return True


def _ctest(line: str, tally: _Tally) -> bool:
    for pattern in (_CTEST, _MESON, _CARGO):
        if match := pattern.match(line):
            word = match["word"]
            tally.word(match["name"], "PASSED" if word in ("Passed", "ok") else word)
            return True
    return False


def _check(line: str, tally: _Tally) -> bool:
    if match := _CHECK.match(line):
        bad = int(match["failures"]) + int(match["errors"])
        tally.counts.append((int(match["checks"]) - bad, bad))
        return True
    if match := _UNITY.match(line):
        tally.counts.append((int(match["n"]) - int(match["bad"]) - int(match["ignored"]), int(match["bad"])))
        return True
    if match := _CUNIT.match(line):
        tally.counts.append((int(match["passed"]), int(match["failed"])))
        return True
    if (match := _CHECK_LINE.match(line)) or (match := _UNITY_LINE.match(line)):
        tally.word(match["name"], match["word"])
        return True
    return False


def _gtest(line: str, tally: _Tally) -> bool:
    if _CMOCKA_COUNT.match(line):
        return True
    if match := _GTEST.match(line):
        tally.word(match["name"], match["word"])
        return True
    return False


def _plain(lines: Iterable[str], tally: _Tally) -> None:
    """Runners of a project's own: ``PASS name``, ``name ... ok``, ``3 passed, 1 failed``, ``3/4 tests passed``."""
    last: tuple[int, int] | None = None
    for line in lines:
        if (match := _LINE.match(line)) or (match := _LINE_AFTER.match(line)) or (match := _LINE_SAID.match(line)):
            tally.word(match["name"], match["word"])
            continue
        good, bad, of = _SUMMARY.search(line), _SUMMARY_BAD.search(line), _OF.search(line)
        if of:
            last = (int(of["p"]), int(of["n"]) - int(of["p"]))
        elif good:
            passed = int(good["p"] or good["p2"])
            last = (passed, int(bad["f"] or bad["f2"]) if bad else (last[1] if last else 0))
        elif bad and (last is not None or tally.named):
            last = (last[0] if last else sum(tally.named.values()), int(bad["f"] or bad["f2"]))
    if last is not None:
        tally.counts.append(last)
