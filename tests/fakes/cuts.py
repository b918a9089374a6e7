"""Work that is killed at every moment: a child process that dies before its n-th step on disk, for every n.

A step is what changes something there: a file opened for writing, renamed or removed, a folder made, a program started,
an SQL statement. What had been handed to the system by then stays, as after ``kill -9``; what lay in a buffer is gone.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.chmod", "os.truncate"}
_READING = {"rev-parse", "cat-file", "ls-files", "ls-tree", "merge-base", "status", "for-each-ref", "show", "diff"}
_KILLED, _FAILED = 9, 1
_UNCUT = 1_000_000


class _Countdown:
    """Counts the steps down; the process is gone before the one at which it comes to zero."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def step(self) -> None:
        if self.left == 0:
            os._exit(_KILLED)
        self.left -= 1

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event in _CHANGES:
            self.step()
        elif event == "open":
            path, _, flags = args
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes and not isinstance(path, int) and os.fspath(path) != os.devnull:
                self.step()
        elif event == "subprocess.Popen" and not _READING & set(map(str, args[1])):
            self.step()


def every_moment(work: Callable[[], object], prepare: Callable[[], object], most: int = 8) -> Iterator[int]:
    """For each n: ``prepare()``, then ``work()`` killed before its n-th step (from 0). Yields n after each kill.

    Of more than ``most`` moments the last half of that number and a spread of those before are taken, unless the
    environment has ``EVERY_MOMENT``.

    Raises:
        AssertionError: the work failed by itself; what it said is on standard error.
    """
    prepare()
    total = _UNCUT - _in_a_child(_UNCUT, work)
    assert total > 0, "no step was seen, so nothing was cut"
    moments = range(total)
    if total > most and not os.environ.get("EVERY_MOMENT"):
        early, late = total - most // 2, most - most // 2
        moments = [*(n * early // (most - late) for n in range(most - late)), *range(early, total)]  # type: ignore[assignment]
    for steps in moments:
        prepare()
        _in_a_child(steps, work)
        yield steps


def _in_a_child(steps: int, work: Callable[[], object]) -> int:
    """Run ``work`` in a child process that is killed after ``steps``; the steps that were left when it ended."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of later Pythons: a fork beside threads, none of them ours
        child = os.fork()
    if child == 0:
        _run(steps, work, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        left = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code == _KILLED or (code == 0 and left), f"the work failed by itself within {steps} steps (exit code {code})"
    return int(left or 0)


def _run(steps: int, work: Callable[[], object], writing: int) -> None:
    code = _FAILED
    try:
        countdown = _Countdown(steps)
        sys.addaudithook(countdown.hear)
        connect = sqlite3.connect

        def traced(*args: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*args, **options)
            connection.set_trace_callback(lambda sql: None if sql.lstrip()[:6].lower() == "select" else countdown.step())
            return connection

        sqlite3.connect = traced  # type: ignore[assignment]
        work()
        os.write(writing, str(countdown.left).encode())
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
