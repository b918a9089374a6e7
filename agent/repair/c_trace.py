"""Which lines of C each check executes, also where one ``main`` holds many checks.

A copy of the sources is instrumented: every statement of the program records its line, every statement of a test file begins
a new context. What is recorded between two checks of a test file is what the second of them executes; gcov's counts, which
are kept for a whole process, cannot tell that apart. Any compiler that builds the project will do. Each process writes a
file of its own, at once, so that a crash or an endless loop loses nothing; what it forks goes on with that file.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import tree_sitter

from agent.language.nodes import walk
from agent.regular_files import read_inside
from agent.repair.functions import functions_of
from agent.repair.localize import Place, Trace
from agent.workspace.protected import is_protected, is_test_file

VARIABLE = "CRA_TRACE"
_MOST_RECORDS = 400_000
_RECORD = struct.Struct("=ii")
_CHECK = re.compile(r"(?i)\b(\w*(?:check|assert|expect|require|test|equal|verify|ensure)\w*)\s*\(")
_WORD = re.compile(r"\w+")
_PLACE = re.compile(r"([\w./-]+\.[ch]):(\d+)")
_STATEMENTS = {
    "expression_statement", "return_statement", "if_statement", "for_statement", "while_statement", "do_statement",
    "switch_statement", "break_statement", "continue_statement", "goto_statement",
}  # fmt: skip

_SYSTEM = """
#ifdef __linux__
#include <sys/syscall.h>
#define CRA_DECLARED extern long syscall(long, ...);
#define CRA_PID() (int)syscall(SYS_getpid)
#define CRA_OPEN(name) (int)syscall(SYS_openat, -100, name, FLAGS, 0600)
#define CRA_WRITE(file, data, size) syscall(SYS_write, file, data, size)
#else
#define CRA_DECLARED extern int open(const char *, int, ...); extern int getpid(void); \
  extern long write(int, const void *, unsigned long);
#define CRA_PID() getpid()
#define CRA_OPEN(name) open(name, FLAGS, 0600)
#define CRA_WRITE(file, data, size) write(file, data, size)
#endif
"""
"""Linux is called by number: a program under test may define functions that are called ``write`` or ``open``."""

_RUNTIME = """
__attribute__((weak)) int cra_context; __attribute__((weak)) int cra_written; __attribute__((weak)) int cra_file;
static void cra_note(int file, int line) {
  extern char *getenv(const char *); CRA_DECLARED
  static int context = -1; static unsigned char seen[LINES];
  int record[2]; int n = line < LINES ? line : 0;
  if (file > 0) { if (context != cra_context) { int i; for (i = 0; i < LINES; i++) seen[i] = 0; context = cra_context; }
    if (seen[n]) return; seen[n] = 1; } else cra_context++;
  if (!cra_file) { char name[512]; int fd = -1; char *folder = getenv("CRA_TRACE"); int at = 0, p = CRA_PID(), q = 1000000000;
    if (folder) { while (folder[at] && at < 480) { name[at] = folder[at]; at++; } name[at++] = '/';
      for (; q; q /= 10) name[at++] = (char)('0' + p / q % 10); name[at] = 0; fd = CRA_OPEN(name); } cra_file = fd < 0 ? -1 : fd + 1; }
  if (cra_file > 0 && cra_written++ < MOST) { record[0] = file; record[1] = line;
    if (CRA_WRITE(cra_file - 1, record, sizeof record) < 0) cra_file = -1; }
}
"""  # noqa: E501


def holds_tests(path: str, source: bytes, checks: Collection[str]) -> bool:
    """Whether a file holds tests: by its name, or since one of its functions is called as one of the ``checks``."""
    if is_test_file(path):
        return True
    words = {word for name in checks for word in _WORD.findall(name)}
    return any(one.name in words for one in functions_of(path, source) if one.name != "main")


def instrumented(path: str, source: bytes, number: int, *, of_tests: bool) -> bytes:
    """The text with every statement recorded. ``number`` (from 1) stands for the file, negative for one ``of_tests``. A file
    without statements stays as it is: a function that nothing calls is an error under ``-Werror``."""
    sign = -number if of_tests else number
    parts: list[tuple[int, bytes]] = []
    for function in functions_of(path, source):
        if function.node.has_error:
            continue
        for node in walk(function.body):
            if node.type not in _STATEMENTS or node.parent is None:
                continue
            note = f"cra_note({sign}, {node.start_point[0] + 1}); ".encode()
            if node.parent.type in ("compound_statement", "case_statement"):
                parts.append((node.start_byte, note))
            elif _is_body(node):
                parts.append((node.start_byte, b"{ " + note))
                parts.append((node.end_byte, b" }"))
    if not parts:
        return source
    for at, text in sorted(parts, key=lambda one: one[0], reverse=True):
        source = source[:at] + text + source[at:]
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    runtime = _RUNTIME.replace("LINES", str(min(20_000, source.count(b"\n") + 8))).replace("MOST", str(_MOST_RECORDS))
    runtime = _SYSTEM.replace("FLAGS", str(flags)) + runtime.replace("\n", " ").strip()
    return f"{runtime}\n#line 1\n".encode() + source


def _is_body(node: tree_sitter.Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "else_clause":
        return True
    fields = (parent.child_by_field_name("body"), parent.child_by_field_name("consequence"))
    return parent.type in ("if_statement", "for_statement", "while_statement", "do_statement") and node in fields


LARGEST_TRACE = 64 << 20
"""Bytes of one process's records that are read."""


def read_traces(folder: Path) -> list[list[tuple[int, int]]]:
    """The records of each process, in the order in which they were started."""
    found = []
    for file in sorted(folder.iterdir()):
        try:
            data = read_inside(folder, file, LARGEST_TRACE)
        except OSError:  # the programs that are traced can put anything there
            continue
        data = data[: len(data) - len(data) % _RECORD.size]
        found.append(list(_RECORD.iter_unpack(data)))
    return found


def traces_of(
    processes: Sequence[Sequence[tuple[int, int]]],
    names: Mapping[int, str],
    outcomes: Sequence[tuple[str, bool]],
    output: str,
    tests: Mapping[str, bytes],
) -> list[Trace]:
    """One trace a check. ``names`` are the files by number, ``outcomes`` (name, passed) in the order of the output."""
    with_tests = [one for one in processes if any(file < 0 for file, _ in one)]
    if with_tests:
        return [trace for one in with_tests for trace in _by_context(one, names, outcomes, output, tests)]
    running = [one for one in processes if one]
    sets = [frozenset((names[file], line) for file, line in one if file in names) for one in running]
    if len(sets) == len(outcomes):
        return [Trace(name, passed, lines) for (name, passed), lines in zip(outcomes, sets, strict=True)]
    everything = frozenset().union(*sets) if sets else frozenset()
    return [Trace(name, passed, everything) for name, passed in outcomes if not passed]


def _by_context(
    records: Iterable[tuple[int, int]],
    names: Mapping[int, str],
    outcomes: Sequence[tuple[str, bool]],
    output: str,
    tests: Mapping[str, bytes],
) -> list[Trace]:
    """A check is a statement of a test file that looks like one; what was executed since the check before belongs to it.
    One that fails and executes nothing of the program looks at what its test executed before it."""
    checks = _Checks(_Told(outcomes, output, tests), tests)
    for file, line in records:
        if file > 0 and file in names:
            checks.lines.add((names[file], line))
        elif file < 0 and names.get(-file, "") in tests:
            checks.reach(names[-file], line)
    checks.end()
    return _merged(checks.found)


class _Checks:
    """The checks of one process, in the order in which it came to them."""

    def __init__(self, told: _Told, tests: Mapping[str, bytes]) -> None:
        self.found: list[Trace] = []
        self.lines: set[Place] = set()
        self._told = told
        self._texts = {path: source.decode("utf-8", "replace").splitlines() for path, source in tests.items()}
        self._running = ""
        self._check: Place | None = None
        self._last: Place | None = None
        self._open: tuple[str, set[Place]] | None = None
        self._earlier: set[Place] = set()
        self._latest: set[Place] = set()

    def reach(self, path: str, line: int) -> None:
        """A statement of a test file: the check before it, if there is one, is over."""
        if self._check is not None:
            self._close(self._check)
        now = self._told.test_at(path, line) or self._running
        if now != self._running:
            self._settle()
            self._running, self._earlier = now, self._latest  # declarations of a test stand before its first statement
        texts, self._last = self._texts[path], (path, line)
        text = texts[line - 1] if line <= len(texts) else ""
        self._check = self._last if self._told.is_check(text) or (path, line) in self._told.places else None

    def end(self) -> None:
        """The process ended, by itself or not."""
        check = self._check or self._last
        if check is not None and self.lines:
            if all(one.passed for one in self.found) and self._told.may_fail(self._running):
                self._open = None
                self._failed(_named(check), self.lines)
            else:
                self._close(check)
        self._settle()

    def _close(self, check: Place) -> None:
        path, line = check
        own = {place for place in self.lines if not is_protected(place[0])}
        if self._told.tells_no_place(self._running):
            if self.lines:
                self._open = (_named(check), set(self.lines))
        elif self._told.fails(self._running, path, _statement_lines(self._texts[path], line)):
            self._failed(_named(check), self.lines if own else self.lines | self._earlier)
        elif self.lines:
            self.found.append(Trace(_named(check), True, frozenset(self.lines)))
        if own:
            self._earlier = self._earlier | own if self._running else own
            self._latest = own
        self.lines = set()

    def _settle(self) -> None:
        """A test that fails and tells no place, since it crashed or went on, most probably failed at its last check."""
        if self._open is not None:
            self._failed(*self._open)
        self._open = None

    def _failed(self, name: str, lines: set[Place]) -> None:
        if lines:
            self.found.append(Trace(name, False, frozenset(lines), frozenset(self._earlier - lines)))


def _named(check: Place) -> str:
    return f"{check[0]}:{check[1]}"


def _merged(traces: Sequence[Trace]) -> list[Trace]:
    """One trace for each check and outcome: one in a loop of a hundred says no more than one that is reached once."""
    found: dict[tuple[str, bool], Trace] = {}
    for one in traces:
        before = found.get((one.name, one.passed), one)
        lines = before.lines | one.lines
        found[one.name, one.passed] = Trace(one.name, one.passed, lines, (before.earlier | one.earlier) - lines)
    return list(found.values())


class _Told:
    """What the output tells of the tests: which fail, and at which ``places`` of their files."""

    def __init__(self, outcomes: Sequence[tuple[str, bool]], output: str, tests: Mapping[str, bytes]) -> None:
        self.failing = {name for name, passed in outcomes if not passed}
        self._owners = {path: functions_of(path, source) for path, source in tests.items()}
        own = [one for owners in self._owners.values() for one in owners]
        self._helpers = {one.name for one in own if set(_CHECK.findall(one.text)) - {one.name}}
        heads = {(path, one.first) for path, owners in self._owners.items() for one in owners}
        by_word = {word: name for name, _ in outcomes for word in _WORD.findall(name)}
        self._names = {one.name: by_word[one.name] for one in own if one.name in by_word}
        files = {path.rpartition("/")[2]: path for path in tests}
        self.places: set[Place] = set()
        self._of: dict[str, set[Place]] = {"": set()}
        for line in output.splitlines():
            places = _failing_places(line, files)
            self.places |= places
            for word in self._names.keys() & _WORD.findall(line) or {""}:
                self._of.setdefault(self._names.get(word, ""), set()).update(places - heads)

    def test_at(self, path: str, line: int) -> str:
        """The test whose function holds a line; "" for a line of a helper, and where tests are not named by functions."""
        owner = next((one.name for one in self._owners[path] if one.first <= line <= one.last), "")
        return self._names.get(owner, "")

    def is_check(self, text: str) -> bool:
        """Whether a statement checks something itself: a helper that holds checks does so in its own statements."""
        return any(name not in self._helpers for name in _CHECK.findall(text))

    def may_fail(self, test: str) -> bool:
        """Whether a test fails; of one that is not known, whether any does."""
        return test in self.failing if test else bool(self.failing)

    def tells_no_place(self, test: str) -> bool:
        """Whether a test fails and the output tells no place of it."""
        return test in self.failing and not (self._of.get(test) or self._of[""])

    def fails(self, test: str, path: str, lines: range) -> bool:
        """Whether a check on ``lines`` fails while ``test`` runs ("": it is not known which one does)."""
        if not self.may_fail(test):
            return False
        places = (self._of.get(test) or self._of[""]) if test else self.places
        return any((path, line) in places for line in lines)


def _statement_lines(text: Sequence[str], line: int) -> range:
    """The lines of a statement that begins at ``line``: up to its semicolon."""
    last = line
    while last < len(text) and last < line + 8 and ";" not in text[last - 1]:
        last += 1
    return range(line, last + 1)


def _failing_places(line: str, files: Mapping[str, str]) -> set[Place]:
    """Places that a line of output tells of as failed, in the test files of ``files`` (path by file name)."""
    if re.search(r"(?i)\bpass(?:ed)?\b|\bok\b", line) and not re.search(r"(?i)fail|error|expect", line):
        return set()
    named = ((files.get(found[1].rpartition("/")[2]), int(found[2])) for found in _PLACE.finditer(line))
    return {(path, number) for path, number in named if path is not None}
