"""The embedded model's server from one program's side: join or start it, watch it, give it back."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import platform
import re
import secrets
import signal
import subprocess
from pathlib import Path
from typing import BinaryIO

from agent.directories import data_directory
from agent.models.cores import physical_cores
from agent.models.embedded_share import (
    Place,
    ServerLease,
    ServerOptions,
    ServerRecord,
    edition,
    ended,
    file_mark,
    join,
    running,
    shared_folder,
    start_lock,
)
from agent.models.types import ModelError, StatusCallback
from agent.own_python import own_python

_ALLOCATION = re.compile(r"failed to allocate|unable to allocate|bad_alloc|out of memory|cannot allocate", re.I)
_LOG_KEPT_BYTES = 1 << 20
SERVER_MODULE = "agent.models.embedded_server"
SPIN_COUNT = "1000"
"""How long the library's threads spin before they sleep while they wait for each other. Spinning long (300,000 is usual)
collapses when a compiler or a test run wants the cores too. Measured on two cores, default against 1,000: alone 12.0 and
12.1 tokens a second, beside seven busy processes 0.7 and 2.0."""

_children: list[subprocess.Popen[bytes]] = []
"""Servers that this process started and that may go on for other programs; kept until they have ended."""


class EmbeddedProcess:
    """A hold on one running model server. ``key`` is the API key it requires, ``context`` its window in tokens,
    ``shared`` whether another program had started it."""

    def __init__(self, record: ServerRecord, lease: ServerLease, child: subprocess.Popen[bytes] | None) -> None:
        self._record, self._lease, self._child = record, lease, child
        self.path = Path(record.model)
        self.context = record.context
        self.options = ServerOptions(record.speculative, record.adapters)
        self.key = record.key
        self.pid = record.pid
        self.base_url = f"http://127.0.0.1:{record.port}"
        self.shared = child is None

    @staticmethod
    def require_library() -> None:
        """Raises ModelError when the llama.cpp library is not installed."""
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelError(
                "missing",
                "The embedded model server is not installed: the package xllamacpp is missing.",
                "Install it in the source folder of cra: python -m pip install '.[embedded]'",
            )

    @property
    def alive(self) -> bool:
        """Whether the server still runs."""
        return self._lease.alive

    def mark(self, busy: bool) -> None:
        """Say to the other programs whether this one has calls with it now."""
        self._lease.mark(busy)

    @property
    def others_busy(self) -> bool:
        """Whether another program has calls with it now, where that can be known."""
        return self._lease.others_busy

    async def stop(self) -> None:
        """Give it back. It ends when nobody else uses it."""
        await self._lease.give_back()
        _reap()

    def death(self) -> ModelError:
        """Why it is dead, as far as its code and the end of its log tell."""
        code = None
        if self._child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._child.wait(1)
        return _death(self.path, self.context, code, Path(self._record.log), self._record.log_start)


async def obtain(
    path: Path, context: int, options: ServerOptions, seconds: float, status: StatusCallback
) -> EmbeddedProcess:
    """A server with this model and at least this window: one that runs already, else a new one.

    Raises:
        ModelError: if the library is missing, or the model cannot be loaded in ``seconds``.
    """
    EmbeddedProcess.require_library()
    _reap()
    folder, fault = shared_folder()
    if fault:
        text = f"An embedded model server cannot be shared with other programs here ({fault}): this one starts its own."
        status("notice", text)

    def waiting() -> None:
        status("loading", f"{path.stem} (another program is loading a model)")

    async with start_lock(folder, seconds, waiting):
        others = []
        for place, record in running(folder):
            if record is not None and record.serves(path, context, options):
                lease = await join(place, record)
                if lease is not None:
                    return EmbeddedProcess(record, lease, None)
            if not await ended(place) and record is not None:
                others.append(record)
        if others:
            status("notice", _cost(path, context, others[0]))
        try:
            return await _start(Place(folder), path, context, options, seconds)
        except OSError as error:
            text = f"The embedded model server could not be started: {error}."
            hint = "Check that the disk is not full and that you own the folder named."
            raise ModelError("protocol", text, hint) from error


def _cost(path: Path, context: int, other: ServerRecord) -> str:
    """What a second server means."""
    same = other.model == str(path)
    what = f"a window of {other.context:,} tokens" if same and other.context < context else Path(other.model).stem
    return (
        f"A second embedded model server is started: another program's (process {other.pid}) serves {what}. Each takes its "
        "own memory, and together they are far slower than one (on two cores 15 tokens a second became less than 1). "
        "Close the other program, or give both the same model and window."
    )


async def _start(place: Place, path: Path, context: int, options: ServerOptions, seconds: float) -> EmbeddedProcess:
    """A server that is ready to answer, with one thread per physical core."""
    key = secrets.token_urlsafe(24)
    log = data_directory() / "logs" / "embedded.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    lease = place.make()
    child = None
    try:
        with _open_log(log) as sink:
            log_start = sink.tell()
            child = _spawn(place, path, context, options, sink)
        port = await _ready(child, key, path, context, seconds, log, log_start)
        record = ServerRecord(
            model=str(path), file=file_mark(path), context=context, speculative=options.speculative, edition=edition(),
            host=platform.node(), pid=child.pid, port=port, key=key, log=str(log), log_start=log_start,
            adapters=options.adapters,
        )  # fmt: skip
        lease.write(record)
    except BaseException:
        if child is not None:
            child.kill()
            child.wait()
            _close(child)
        await lease.give_back()
        place.remove()
        raise
    _close(child)
    return EmbeddedProcess(record, lease, child)


def _spawn(place: Place, path: Path, context: int, options: ServerOptions, sink: BinaryIO) -> subprocess.Popen[bytes]:
    arguments = ["-m", SERVER_MODULE, "--model", str(path), "--ctx", str(context), "--threads", str(physical_cores()),
                 "--record", str(place.record), "--lease", str(place.lease)]  # fmt: skip
    if options.speculative:
        arguments.append("--speculative")
    for adapter in options.adapters:
        arguments += ["--lora", os.path.abspath(adapter)]
    root = str(Path(__file__).resolve().parents[2])
    path_list = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    environment = {"GOMP_SPINCOUNT": SPIN_COUNT, **os.environ, "PYTHONPATH": path_list}
    child = subprocess.Popen(
        own_python(*arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink, env=environment,
        start_new_session=True,
    )  # fmt: skip
    _children.append(child)
    return child


async def _ready(
    child: subprocess.Popen[bytes], key: str, path: Path, context: int, seconds: float, log: Path, log_start: int
) -> int:
    """Hand over the key, and wait for the line that names the port.

    Raises:
        ModelError: if it died, or the model was not loaded in time.
    """
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(f"{key}\n".encode())
        child.stdin.flush()
    except BrokenPipeError:
        pass  # it has died, and the read below finds that out
    try:
        line = await asyncio.wait_for(asyncio.to_thread(child.stdout.readline), seconds)
    except TimeoutError:
        text = f"Loading {path.name} took longer than {seconds:.0f} seconds."
        raise ModelError("unreachable", text, "Choose a smaller model, or close other programs.") from None
    if not line:
        raise _death(path, context, await asyncio.to_thread(child.wait), log, log_start)
    return int(json.loads(line)["port"])


def _close(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _death(path: Path, context: int, code: int | None, log: Path, log_start: int) -> ModelError:
    tail = _tail(log, log_start)
    said = " ".join(tail.split())[-300:]
    if _ALLOCATION.search(tail) or code == -signal.SIGKILL:
        text = f"The model {path.name} with a window of {context:,} tokens does not fit into memory."
        return ModelError("memory", f"{text} {said}", "Lower models.context_window, or choose a smaller model.")
    if code == -signal.SIGILL:
        text = "This processor lacks instructions (AVX2) that the embedded model server was built for."
        return ModelError("missing", text, "Use another provider: set models.provider to ollama or openai.")
    how = "" if code is None else f" (code {code})"
    text = f"The embedded model server ended{how} with {path.name}: {said or 'it said nothing'}"
    return ModelError("protocol", text, f"Its whole log is {log}. 'cra models check' verifies the file.")


def _reap() -> None:
    """Forget the children that have ended."""
    _children[:] = [child for child in _children if child.poll() is None]


def _open_log(log: Path) -> BinaryIO:
    """Appends, since other servers may write to it as well; a log that grew large starts anew."""
    sink = log.open("ab")
    if sink.tell() > _LOG_KEPT_BYTES:
        sink.truncate(0)
        sink.seek(0)
    return sink


def _tail(log: Path, start: int, size: int = 4000) -> str:
    """The last ``size`` bytes of what was logged from ``start`` on."""
    try:
        with log.open("rb") as file:
            length = os.fstat(file.fileno()).st_size
            file.seek(max(start if start <= length else 0, length - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
