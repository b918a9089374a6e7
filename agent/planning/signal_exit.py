"""What an exit code says where the output says nothing."""

from __future__ import annotations

import re

from agent.exit_codes import signal_of
from agent.planning import signal_patterns as patterns
from agent.planning.signal_text import last_line, window
from agent.values import FailureCategory

_SIGNALS = {4: "illegal instruction", 6: "aborted", 7: "bus error", 8: "floating point exception", 9: "killed",
            11: "segmentation fault", 15: "terminated", 24: "CPU time limit", 25: "file size limit"}  # fmt: skip
_NOT_BUILT = frozenset({"run", "install", "clean", "lint", "format", "deploy", "start", "bench", "docs"})
"""Targets that run something rather than build it."""


def death(exit_code: int) -> str | None:
    """A sentence for the exit code of a signal or of coreutils' timeout, else None."""
    if exit_code == 124:
        return "The command ran out of time (exit code 124)."
    number = signal_of(exit_code)
    if number is None:
        return None
    return f"The command died of signal {number} ({_SIGNALS.get(number, 'signal')})."


def by_command(text: str, command: str, exit_code: int) -> FailureCategory:
    """The category of a failure whose output no pattern knows: by the kind of work that the command does."""
    if exit_code in (126, 127):
        return "unknown"
    last = re.split(r"&&|;|\|\||\|", command)[-1] if command else ""
    if patterns.TEST_COMMAND.search(last) and not patterns.USAGE.search(text):
        return "test_failure"
    if not patterns.BUILD_COMMAND.search(last):
        return "unknown"
    if not re.search(r"\bg?make\b", last):
        return "compile_error"
    stopped = [match["target"].strip() for line in text.splitlines() if (match := patterns.MAKE_STOPPED.match(line))]
    return "compile_error" if any(target not in _NOT_BUILT for target in stopped) else "unknown"


def fallback_message(text: str, command: str, exit_code: int, cap: int) -> str:
    """At most ``cap`` characters about a failure that no pattern knows."""
    lines = text.splitlines()
    if not text.strip():
        return f"{command or 'The command'} exited with {exit_code} and said nothing."[:cap]
    said = [n for n, line in enumerate(lines) if re.search(r"(?i)\b(?:error|failed|cannot|not found|denied)\b", line)]
    return window(lines, said[0] if said else last_line(text), cap)
