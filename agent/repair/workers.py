"""Copies of the worktree with a warm worker in each: where candidates are tried, several at once, inside the sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import select
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agent.repair.commands import CheckCommand
from agent.scratch import scratch_folder
from agent.walking import walk
from agent.workspace.sandbox import Limits, run_command

LARGEST = 200 << 20
"""Bytes of a worktree up to which it is copied."""

_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".clean_room", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "*.pyc"
)
_SCRIPTS = [
    Path(__file__).with_name(name)
    for name in ("warm_worker.py", "live_calls.py", "live_code.py", "live_commands.py", "live_lines.py")
]
"""What a worker runs, the first, with what it imports."""

_PATIENCE = 15.0
"""Seconds beyond a request's own limit until its worker is taken for dead."""


class WorkerLost(Exception):
    """A worker ended or does not answer; the text says what it printed last."""


class Reply(msgspec.Struct):
    """What a worker says of one request; see ``warm_worker``. ``results`` are (test, outcome, seconds, message)."""

    id: int = 0
    results: list[tuple[str, str, float, str]] = []
    hits: dict[str, dict[str, list[int]]] = {}
    collected: list[str] = []
    cut: str = ""
    died: int = 0
    broken: str = ""
    calls: list[str] = []
    code: int = 0
    output: str = ""
    seconds: float = 0.0
    last: bool = True


class WarmWorker:
    """One copy of the tree and the process that works in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = folder / "tree"
        self._requests = folder / "requests"
        self._replies = folder / "replies"
        self._job: asyncio.Task[Any] | None = None
        self._reader: asyncio.StreamReader | None = None
        self._transport: asyncio.BaseTransport | None = None
        self._out = -1
        self._ids = itertools.count(1)
        self._before: dict[Path, bytes] = {}

    async def start(self, check: CheckCommand, python: str, limits: Limits, env: Mapping[str, str], seconds: float) -> None:
        """Start the process; ``seconds`` is the longest that it may live."""
        for pipe in (self._requests, self._replies):
            with contextlib.suppress(FileExistsError):
                os.mkfifo(pipe)
        # Both ends open for reading and writing: opening does not wait for the other side, and no end of file is seen early.
        self._out = os.open(self._requests, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        reading = os.open(self._replies, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._reader = asyncio.StreamReader(limit=1 << 26)
        loop = asyncio.get_running_loop()
        protocol = asyncio.StreamReaderProtocol(self._reader)
        self._transport, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(reading, "rb", 0))
        for script in _SCRIPTS:
            shutil.copy(script, self.folder)
        first = str(self.folder / _SCRIPTS[0].name)
        words = [python, first, check.kind, str(self._requests), str(self._replies), "--", *check.arguments]
        self._job = asyncio.create_task(
            run_command(words, self.tree, seconds, limits=limits, env=env, writable=[self.folder])
        )

    async def ask(self, **request: Any) -> Reply:
        """Have one candidate run.

        Raises:
            WorkerLost: there is no answer.
        """
        number = await self._send(request)
        return await self._hear(number, float(request.get("limit") or 60))

    async def ask_runs(self, **request: Any) -> list[Reply]:
        """Have a command run once for each of ``runs``; fewer replies when the files do not build.

        Raises:
            WorkerLost: there is no answer.
        """
        number = await self._send(request)
        replies = [await self._hear(number, float(request["build"]))]
        while not replies[-1].last:
            replies.append(await self._hear(number, float(request["limit"])))
        return replies

    async def ask_then(self, **request: Any) -> list[Reply]:
        """Have a command run, then each program of ``then``: a reply for each, the command's first.

        Raises:
            WorkerLost: there is no answer.
        """
        number = await self._send(request)
        replies = [await self._hear(number, float(request["limit"]))]
        return replies + [await self._hear(number, float(one["limit"])) for one in request["then"]]

    async def _send(self, request: dict[str, Any]) -> int:
        number = next(self._ids)
        data = msgspec.json.encode({"id": number, **request}) + b"\n"
        self._before = await asyncio.to_thread(_read_all, [self.tree / path for path in request.get("files") or {}])
        await asyncio.to_thread(_write_all, self._out, data)
        return number

    async def _hear(self, number: int, seconds: float) -> Reply:
        job, reader = self._job, self._reader
        assert job is not None
        assert reader is not None
        clock = asyncio.get_running_loop().time
        until = clock() + seconds + _PATIENCE  # for all lines together: replies to nothing must not keep anybody waiting
        while True:
            line = asyncio.create_task(reader.readline())
            patience = max(0.0, until - clock())
            done, _ = await asyncio.wait({line, job}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if line not in done:
                line.cancel()
                said = job.result().output[-600:] if job.done() and not job.cancelled() else "no answer"
                raise WorkerLost(said.strip() or "The worker ended.")
            try:
                reply = msgspec.json.decode(line.result(), type=Reply)
            except (msgspec.MsgspecError, ValueError) as error:  # the code that is tried can write to the pipe, too
                raise WorkerLost(f"It said something that is no reply: {error}") from None
            if reply.id == -1:
                raise WorkerLost(reply.broken)
            if reply.id == number:
                return reply

    async def stop(self) -> None:
        """End the process."""
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
            await asyncio.gather(job, return_exceptions=True)
        if self._transport is not None:
            self._transport.close()
        if self._out >= 0:
            os.close(self._out)
            self._out = -1
        await asyncio.to_thread(_restore, self._before)


class Workers:
    """As many workers as there are cores to use, each with its copy; one that is lost is started again. ``await open()``
    first, ``await close()`` last."""

    def __init__(self, root: Path, limits: Limits, env: Mapping[str, str], count: int) -> None:
        self.root = root
        self.limits = limits
        self.env = dict(env)
        self.count = max(1, count)
        self.all: list[WarmWorker] = []
        self.free: asyncio.Queue[WarmWorker] = asyncio.Queue()
        self._folder: Path | None = None
        self._start: Callable[[WarmWorker], Awaitable[None]] | None = None

    async def open(self, check: CheckCommand, python: str, seconds: float) -> None:
        """Copy the tree and start the workers.

        Raises:
            WorkerLost: the tree is too large to be copied.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="repair-", dir=scratch_folder()))
        for number in range(self.count):
            worker = WarmWorker(self._folder / str(number))
            await asyncio.to_thread(_copy, self.root, worker.tree)
            self.all.append(worker)
        self._start = lambda worker: worker.start(check, python, self.limits, self.env, seconds)
        for worker in self.all:
            await self._start(worker)
            self.free.put_nowait(worker)

    async def ask(self, **request: Any) -> Reply:
        """Have the next free worker run a request.

        Raises:
            WorkerLost: there is no answer.
        """
        async with self.one() as worker:
            return await worker.ask(**request)

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[WarmWorker]:
        """The next free worker, for as long as the block takes.

        Raises:
            WorkerLost: as in the block; the worker is ready again then.
        """
        worker = await self.free.get()
        try:
            yield worker
        except WorkerLost:
            await worker.stop()
            if self._start is not None and self._folder is not None:
                await self._start(worker)
            raise
        finally:
            self.free.put_nowait(worker)

    async def close(self) -> None:
        """End all workers and remove the copies."""
        await asyncio.gather(*(worker.stop() for worker in self.all))
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, True)
            self._folder = None


def _copy(root: Path, target: Path) -> None:
    size = 0
    for folder, names, files in walk(root):
        names[:] = [name for name in names if name not in (".git", ".clean_room", "__pycache__", "node_modules", ".venv")]
        for name in files:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(folder, name)).st_size
        if size > LARGEST:
            raise WorkerLost(f"The repository holds more than {LARGEST >> 20} MB, so it is not copied for trying edits.")
    try:
        shutil.copytree(root, target, symlinks=True, ignore=_LEFT_OUT)
    except RecursionError:
        raise WorkerLost("Folders are nested too deep here, so the repository is not copied for trying edits.") from None


def _read_all(paths: Sequence[Path]) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in paths if path.is_file()}


def _restore(files: Mapping[Path, bytes]) -> None:
    """Put files back that a worker which was ended may have left changed."""
    for path, data in files.items():
        with contextlib.suppress(OSError):
            path.write_bytes(data)


def _write_all(fd: int, data: bytes) -> None:
    """Write to a pipe. Raises WorkerLost when nobody reads for so long that nobody will: a process can be halted."""
    while data:
        if not select.select((), (fd,), (), _PATIENCE)[1]:
            raise WorkerLost("The worker reads no requests any more.")
        with contextlib.suppress(BlockingIOError):
            data = data[os.write(fd, data) :]
