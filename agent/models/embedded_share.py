"""One embedded server for all programs of a person: the records of running servers, and how to join one.

A private folder holds a record (``ID.json``: address, key, what it serves) and a lease (``ID.lease``) for each server, and
one ``start.lock``. A program holds that lock from looking for a server until the one that it started is ready, so that two
programs that start at the same moment share one server.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from importlib import metadata
from pathlib import Path

import msgspec
import platformdirs

from agent import __version__
from agent.models.embedded_busy import mark_busy, others_busy
from agent.models.embedded_watch import is_held, try_lock
from agent.models.types import ModelError
from agent.scratch import scratch_folder

_POLL_SECONDS = 0.05
_ENDING_SECONDS = 5.0
_CONNECT_SECONDS = 5.0


class ServerOptions(msgspec.Struct, frozen=True):
    """What a server is started with besides its model and window: n-gram speculation, and the LoRA adapters that a call may
    ask for, as paths in order. They are loaded without being applied."""

    speculative: bool = False
    adapters: tuple[str, ...] = ()


class ServerRecord(msgspec.Struct, frozen=True):
    """A running server. ``file`` tells the model file from another of the same name, ``edition`` is whose server it is,
    ``context`` its window in tokens, ``log_start`` where its own part of ``log`` begins."""

    model: str
    file: tuple[int, int]
    context: int
    speculative: bool
    edition: str
    host: str
    pid: int
    port: int
    key: str
    log: str
    log_start: int
    adapters: tuple[str, ...] = ()

    def serves(self, path: Path, context: int, options: ServerOptions) -> bool:
        """Whether it has this model, with at least this window and these adapters."""
        return (
            (self.model, self.file, self.edition) == (str(path), file_mark(path), edition())
            and self.speculative == options.speculative
            and self.adapters == options.adapters
            and self.context >= context
        )


def file_mark(path: Path) -> tuple[int, int]:
    """Size and time of change: a file that was replaced is another model."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_size, status.st_mtime_ns)


@cache
def edition() -> str:
    """The versions of this program and of the library: a server of another edition may answer differently."""
    try:
        library = metadata.version("xllamacpp")
    except metadata.PackageNotFoundError:
        library = "none"
    return f"{__version__} {library}"


class Place:
    """A server's two files."""

    def __init__(self, folder: Path, name: str = "") -> None:
        name = name or secrets.token_hex(8)
        self.record, self.lease = folder / f"{name}.json", folder / f"{name}.lease"

    def make(self) -> ServerLease:
        """Both files, readable by their owner only, and this program's hold on them."""
        for path in (self.record, self.lease):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        lease = ServerLease(self)
        lease.take()
        return lease

    def read(self) -> ServerRecord | None:
        """What the record says; None when it is not written yet, or not to the end."""
        try:
            return msgspec.json.decode(self.record.read_bytes(), type=ServerRecord)
        except (OSError, msgspec.DecodeError):
            return None

    def dead(self) -> bool:
        """Whether no server holds the record any more."""
        try:
            fd = os.open(self.record, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return not self.record.exists()
        try:
            return try_lock(fd)
        finally:
            os.close(fd)

    def remove(self) -> None:
        """Both files."""
        for path in (self.record, self.lease):
            path.unlink(missing_ok=True)


class ServerLease:
    """This program's hold on one server: while it lasts the server does not end."""

    def __init__(self, place: Place) -> None:
        self._record = os.open(place.record, os.O_RDWR | os.O_CLOEXEC)
        try:
            self._lease = os.open(place.lease, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            os.close(self._record)
            raise
        self.open = True

    def take(self) -> bool:
        """Whether the hold was taken: not while a server that nobody wanted is being ended."""
        return try_lock(self._lease, shared=True)

    def write(self, record: ServerRecord) -> None:
        """In place, since the server holds the lock of this very file."""
        os.pwrite(self._record, msgspec.json.encode(record), 0)

    def mark(self, busy: bool) -> None:
        """Say to the other programs whether this one has calls with the server now."""
        if self.open:
            mark_busy(self._lease, busy)

    @property
    def others_busy(self) -> bool:
        """Whether another program has calls with the server now, where that can be known."""
        return self.open and others_busy(self._lease)

    @property
    def alive(self) -> bool:
        """Whether the server runs."""
        return self.open and is_held(self._record)

    async def give_back(self) -> bool:
        """Let go; whether the server has ended. The last one to let go waits for that, so that its memory is free."""
        if not self.open:
            return True
        alone = try_lock(self._lease)
        os.close(self._lease)
        self._lease = -1
        try:
            end = asyncio.get_running_loop().time() + _ENDING_SECONDS
            while alone and is_held(self._record) and asyncio.get_running_loop().time() < end:
                await asyncio.sleep(_POLL_SECONDS / 5)
            return not is_held(self._record)
        finally:
            self._close()

    def _close(self) -> None:
        for fd in (self._lease, self._record):
            if fd >= 0:
                os.close(fd)
        self._lease = self._record = -1
        self.open = False


async def join(place: Place, record: ServerRecord) -> ServerLease | None:
    """A hold on a running server; None when it has ended or nobody listens at its address."""
    lease = await _hold(place)
    if lease is None:
        return None
    try:
        if await _listens(record.port) and lease.alive:
            return lease
    except BaseException:
        await lease.give_back()
        raise
    await lease.give_back()
    return None


async def ended(place: Place) -> bool:
    """Whether a server has ended; one that nobody uses any more is waited for."""
    lease = await _hold(place)
    return lease is None or await lease.give_back()


async def _hold(place: Place) -> ServerLease | None:
    """A hold on a server that lives. While it cannot be taken the server is being ended: that is waited for."""
    try:
        lease = ServerLease(place)
    except OSError:
        return None
    end = asyncio.get_running_loop().time() + _ENDING_SECONDS
    try:
        while lease.alive and asyncio.get_running_loop().time() < end:
            if lease.take():
                return lease
            await asyncio.sleep(_POLL_SECONDS / 5)
    except BaseException:
        await lease.give_back()
        raise
    await lease.give_back()
    return None


async def _listens(port: int) -> bool:
    """Whether the port takes connections. A machine that is too busy to say counts as yes."""
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
    except TimeoutError:
        return True
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


def running(folder: Path) -> list[tuple[Place, ServerRecord | None]]:
    """The servers that live; no record: it was never ready, and its program is gone. What dead ones left behind is removed.
    For holders of the start lock."""
    found = []
    for path in sorted(folder.glob("*.json")):
        place = Place(folder, path.stem)
        if place.dead():
            place.remove()
            continue
        record = place.read()
        if record is None or record.host == platform.node():  # a home folder may be shared between machines
            found.append((place, record))
    return found


@asynccontextmanager
async def start_lock(folder: Path, seconds: float, waiting: Callable[[], None]) -> AsyncIterator[None]:
    """Held while a server is looked for and started. ``waiting`` is called once if another program has it.

    Raises:
        ModelError: it could not be had within ``seconds``.
    """
    fd = os.open(folder / "start.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        end = asyncio.get_running_loop().time() + seconds
        told = False
        while not try_lock(fd):
            if not told:
                told = True
                waiting()
            if asyncio.get_running_loop().time() > end:
                text = f"Another program has been starting an embedded model server for {seconds:.0f} seconds."
                raise ModelError("unreachable", text, "Wait for it or end it, then try again.")
            await asyncio.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(fd)


def shared_folder() -> tuple[Path, str]:
    """Where the servers of this person are written down, and, when that place cannot be used, why not: the folder is then
    one of this program's own (``CRA_DATA_DIR`` moves the usual one)."""
    moved = os.environ.get("CRA_DATA_DIR")
    folder = Path(moved or platformdirs.user_state_dir("cra")) / "servers"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        if status.st_uid != os.getuid():
            raise PermissionError(f"it belongs to user {status.st_uid}")
        if status.st_mode & 0o077:
            folder.chmod(0o700)
        fd = os.open(folder / "start.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            is_held(fd)
        finally:
            os.close(fd)
    except OSError as error:
        return _own_folder(), f"{folder}: {error.strerror or error}"
    return folder, ""


@cache
def _own_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="servers-", dir=scratch_folder()))
