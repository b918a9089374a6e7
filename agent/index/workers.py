"""Reading and parsing many files at once: other processes extract, this one writes. A few files are read here.

The processes speak MessagePack over sockets. One is started and forks the others when it has imported what they need, which
costs most of a start. Nothing is forked from a process with threads, and the program that uses the index is not imported
again, as the standard library's pools would do.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path

import msgspec

from agent.index.extract import Extract, extract
from agent.index.worker import Job, receive, send
from agent.own_python import own_python

BATCH = 16
ALONE_BELOW = 80
"""So few files are read faster than another process starts."""

MAX_WORKERS = 8
_AHEAD = 6
"""Batches that a worker may be ahead of the writer: keeps memory flat."""

_encode = msgspec.msgpack.Encoder().encode
_results = msgspec.msgpack.Decoder(list[Extract | None])
_COMMAND = "import gc; gc.disable(); from agent.index.worker import serve; serve()"
"""Without the collector, while modules are imported, too: every file's objects die with their references, and looking for
cycles costs a tenth and finds none."""


@contextmanager
def extracted(
    root: Path, jobs: Sequence[Job], max_bytes: int, workers: int | None = None
) -> Iterator[Iterator[Extract | None]]:
    """What each job's file holds, in the order of the jobs; None where it went. ``workers``: 0 for this process alone.

    The workers begin at once, so that something else can be done before the first result is taken.
    """
    count = min(MAX_WORKERS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    count = count if workers is None else workers
    if workers is None and (count < 2 or len(jobs) < ALONE_BELOW):
        count = 0
    if not count:
        yield (extract(root, path, max_bytes, sha) for path, sha in jobs)
        return
    batches = [jobs[at : at + BATCH] for at in range(0, len(jobs), BATCH)]
    with _Pool(root, max_bytes, batches, min(count, len(batches))) as pool:
        yield _taken(root, max_bytes, batches, pool)


def _taken(root: Path, max_bytes: int, batches: Sequence[Sequence[Job]], pool: _Pool) -> Iterator[Extract | None]:
    for number, batch in enumerate(batches):
        done = pool.take(number)
        yield from done if done is not None else (extract(root, path, max_bytes, sha) for path, sha in batch)


class _Pool:
    """Workers that take batches in turn. ``take`` returns the results of a batch; None where its worker died."""

    def __init__(self, root: Path, max_bytes: int, batches: Sequence[Sequence[Job]], count: int) -> None:
        self._batches = batches
        self._changed = threading.Condition()
        self._done: dict[int, list[Extract | None] | None] = {}
        self._next = self._taken = 0
        self._stopped = self._lost = False
        self._most = _AHEAD * count
        self._child, self._sockets = _start(root, max_bytes, count)
        self._threads = [threading.Thread(target=self._drive, args=(one,), daemon=True) for one in self._sockets]

    def __enter__(self) -> _Pool:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._child is not None and not self._all_answered():
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
        for thread in self._threads:
            thread.join()
        for one in self._sockets:
            one.close()
        if self._child is not None:
            self._child.wait()

    def _all_answered(self) -> bool:
        """Whether no worker has anything left to do: each ends when its socket is closed."""
        return self._taken == len(self._batches) and not self._lost

    def take(self, number: int) -> list[Extract | None] | None:
        """The results of a batch; call it for every batch in order."""
        with self._changed:
            while number not in self._done and any(thread.is_alive() for thread in self._threads):
                self._changed.wait(0.5)
            self._taken = number + 1
            self._changed.notify_all()
            return self._done.pop(number, None)

    def _drive(self, worker: socket.socket) -> None:
        with suppress(OSError), worker.makefile("rwb") as pipe:  # closing it sends what a worker that died left unread
            while True:
                with self._changed:
                    while not self._stopped and self._next < len(self._batches) and self._next - self._taken >= self._most:
                        self._changed.wait()
                    if self._stopped or self._next >= len(self._batches):
                        return
                    number = self._next
                    self._next += 1
                done = _ask(pipe, self._batches[number])
                with self._changed:
                    self._done[number] = done
                    self._lost |= done is None
                    self._changed.notify_all()
                if done is None:
                    return  # it died: this process reads what is left


def _start(root: Path, max_bytes: int, count: int) -> tuple[subprocess.Popen[bytes] | None, list[socket.socket]]:
    """The first of ``count`` workers, which leads their process group, and a socket to each of them; none where no process
    can be started."""
    home = str(Path(__file__).resolve().parent.parent.parent)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))}
    with ExitStack() as theirs:
        pairs = [socket.socketpair() for _ in range(count)]
        for _, one in pairs:
            theirs.enter_context(one)
        files = [one.fileno() for _, one in pairs]
        command = own_python("-c", _COMMAND, os.fspath(root), str(max_bytes), *map(str, files))
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=files, process_group=0, env=environment, cwd=home,
            )  # fmt: skip
        except OSError:
            for ours, _ in pairs:
                ours.close()
            return None, []
    return child, [ours for ours, _ in pairs]


def _ask(pipe: BufferedIOBase, batch: Sequence[Job]) -> list[Extract | None] | None:
    try:
        send(pipe, _encode(batch))
        raw = receive(pipe)
        return None if raw is None else _results.decode(raw)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
