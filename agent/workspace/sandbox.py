"""Run one command of the project: limits, no stdin, a scrubbed environment, and no network where the machine allows it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from agent.exit_codes import signal_of
from agent.scratch import scratch_folder
from agent.workspace import sandbox_child
from agent.workspace.environment import sandbox_environment
from agent.workspace.git import WorkspaceError
from agent.workspace.isolation import Isolation, Walls, isolation, walls_for, wrap
from agent.workspace.processes import JOB_VARIABLE, kill_job, members, memory

TIMED_OUT = 124
"""Exit code of a command that ran out of time, as of coreutils' timeout."""

PYTEST, PYTHON = ("pytest", "py.test"), ("python", "python3")
"""What a command calls pytest and the interpreter; where PATH has none, this program's own are run."""

_SHELL_SIGNS = set("|&;<>()$`\\*?[]#~{}!\n")
_SHELL_WORDS = frozenset({"cd", "source", ".", "export", "set", "ulimit", "exec", "eval", "if", "for", "while", "test", "["})
_WATCH_SECONDS = 0.25


class Limits(msgspec.Struct, frozen=True):
    """What a command may use. Sizes in bytes, ``cpu`` in seconds a process (None: the timeout, and a little).

    Memory is watched (resident, of all processes together) and not set as RLIMIT_AS: a sanitizer reserves terabytes of
    address space that it never touches. So is the number of processes, since the kernel lets root have any number. 0 means
    no limit for both. ``readable`` are folders outside the project that the command may read besides toolchains.
    """

    memory: int = 4 << 30
    file_size: int = 1 << 30
    processes: int = 512
    cpu: int | None = None
    output: int = 1 << 20
    flood: int = 256 << 20
    network: bool = False
    readable: tuple[str, ...] = ()


class CommandResult(msgspec.Struct, frozen=True):
    """The result of a command.

    ``output`` is stdout and stderr in the order they came, undecodable bytes replaced, the middle left out above
    ``Limits.output``. ``exit_code`` is a shell's: 128 + n after signal n, 124 after ``timed_out``. ``signal`` is n or None.
    ``reason`` says in a sentence why it was stopped, if it was. ``isolation`` is how it was isolated.
    """

    exit_code: int
    output: str
    seconds: float
    timed_out: bool = False
    signal: int | None = None
    reason: str = ""
    isolation: Isolation = "none"

    @property
    def ok(self) -> bool:
        """Whether it ran to its end and exited with 0."""
        return self.exit_code == 0 and not self.timed_out


def needs_shell(command: str) -> bool:
    """Whether a command line uses something that only a shell understands."""
    if _SHELL_SIGNS & set(command):
        return True
    try:
        words = shlex.split(command)
    except ValueError:
        return True
    return not words or words[0] in _SHELL_WORDS or "=" in words[0]


def command_line(command: str | Sequence[str]) -> list[str]:
    """The argument list of a command: split without a shell where that means the same.

    ``pytest`` and ``python`` that are not on PATH become this interpreter's.

    Raises:
        WorkspaceError: the command is empty.
    """
    if isinstance(command, str):
        if not command.strip():
            raise WorkspaceError("The command to run is empty. Set testing.test_command in the configuration.")
        if needs_shell(command):
            return ["/bin/sh", "-c", command]
        words = shlex.split(command)
    else:
        words = [str(word) for word in command]
        if not words:
            raise WorkspaceError("The command to run is empty.")
    if words[0] in PYTEST and shutil.which(words[0]) is None:
        return [sys.executable, "-m", "pytest", *words[1:]]
    if words[0] in PYTHON and shutil.which(words[0]) is None:
        return [sys.executable, *words[1:]]
    return words


def limited(command: Sequence[str], settings: Sequence[str]) -> list[str]:
    """The command line that sets the limits ``NAME=NUMBER`` (see ``sandbox_child.py``) and becomes ``command``."""
    return [sys.executable, "-I", "-S", sandbox_child.__file__, *settings, "--", *command]


async def run_command(
    command: str | Sequence[str],
    cwd: Path,
    timeout: float = 300.0,
    *,
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
    writable: Sequence[Path] = (),
) -> CommandResult:
    """Run ``command`` in ``cwd`` and wait, at most ``timeout`` seconds.

    Then, or when cancelled, all its processes are ended, also those that it left running when it ended by itself. Where
    bubblewrap works, only the run's checkout around ``cwd`` and ``writable`` can be written, and a ``/tmp`` of its own.

    Raises:
        WorkspaceError: ``cwd`` does not exist or the command is empty. A command that cannot be found exits with 127.
    """
    cwd = Path(cwd).resolve()
    if not cwd.is_dir():
        raise WorkspaceError(f"There is no folder {cwd} to run a command in.")
    words = command_line(command)
    kind = await asyncio.to_thread(isolation)
    home = Path(tempfile.mkdtemp(prefix="home-", dir=scratch_folder()))
    try:
        limits = limits or Limits()
        readable = [Path(os.path.realpath(os.path.expanduser(place))) for place in limits.readable]
        walls = walls_for(cwd, (home, *writable), readable=readable, network=limits.network)
        job = _Job(words, cwd, timeout, limits, kind, home)
        return await job.run(sandbox_environment(home, env), walls)
    finally:
        await asyncio.to_thread(shutil.rmtree, home, True)


class _Job:
    def __init__(self, words: list[str], cwd: Path, timeout: float, limits: Limits, kind: Isolation, home: Path) -> None:
        self._words, self._cwd, self._timeout, self._limits, self._kind = words, cwd, timeout, limits, kind
        self._id = uuid.uuid4().hex
        self._output = _Output(limits.output)
        self._reason = ""
        self._timed_out = False
        self._stopped = asyncio.Event()

    def _line(self, walls: Walls) -> list[str]:
        cpu = self._limits.cpu or int(self._timeout) + 5
        settings = [f"CPU={cpu}", f"FSIZE={self._limits.file_size}", "CORE=0"]
        if self._limits.processes:
            settings.append(f"PROCESSES={self._limits.processes}")
        if self._kind == "unshare" and not walls.network:
            settings.append("LOOPBACK=1")
        if self._kind in ("none", "bwrap-net"):
            settings.append("SUPERVISE=1")
        return wrap(self._kind, limited(self._words, settings), self._cwd, walls)

    async def run(self, env: dict[str, str], walls: Walls) -> CommandResult:
        start = time.monotonic()
        # A pipe of our own: asyncio's would make wait() last until every process that inherited it has ended.
        reading, writing = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *self._line(walls),
                cwd=self._cwd,
                env=env | {JOB_VARIABLE: self._id},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        reader = asyncio.create_task(self._read(reading))
        watch = asyncio.create_task(self._watch())
        try:
            await self._wait(process)
        finally:
            watch.cancel()
            await asyncio.shield(asyncio.to_thread(kill_job, process.pid, self._id))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.wait()), 5)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(reader), 2)
            reader.cancel()
        return self._result(process.returncode, time.monotonic() - start)

    async def _wait(self, process: asyncio.subprocess.Process) -> None:
        ended = asyncio.create_task(process.wait())
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            done, _ = await asyncio.wait({ended, stopped}, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            stopped.cancel()
        if not done:
            self._timed_out = True
            self._reason = f"Stopped after {self._timeout:g} s, the time allowed."

    async def _read(self, reading: int) -> None:
        stream = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(reading, "rb", 0)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), pipe)
        try:
            while chunk := await stream.read(1 << 16):
                self._output.add(chunk)
                if self._output.total > self._limits.flood and not self._reason:
                    self._stop(f"Stopped after {self._limits.flood >> 20} MB of output.")
        finally:
            transport.close()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            pids = await asyncio.to_thread(members, self._id)
            used = await asyncio.to_thread(memory, pids)
            if self._limits.processes and len(pids) > self._limits.processes:
                self._stop(f"Stopped at {len(pids)} processes; {self._limits.processes} are allowed.")
                return
            if self._limits.memory and used > self._limits.memory:
                self._stop(f"Stopped at {used >> 20} MB of memory; {self._limits.memory >> 20} MB are allowed.")
                return

    def _stop(self, reason: str) -> None:
        self._reason = reason
        self._stopped.set()

    def _result(self, code: int | None, seconds: float) -> CommandResult:
        killed = int(signal.SIGKILL)
        code = -killed if code is None else code
        number = signal_of(code)
        if self._timed_out:
            code, number = TIMED_OUT, killed
        elif self._reason:
            code, number = 128 + killed, killed
        elif code < 0:
            code = 128 - code
        output = self._output.text()
        if self._reason:
            output += ("" if not output or output.endswith("\n") else "\n") + self._reason + "\n"
        return CommandResult(code, output, round(seconds, 4), self._timed_out, number, self._reason, self._kind)


class _Output:
    """Output up to a cap: its first quarter from the start, the rest from the end, where a test run has its result."""

    def __init__(self, cap: int) -> None:
        self._head_cap, self._tail_cap = cap // 4, cap - cap // 4
        self._head, self._tail = bytearray(), bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._head_cap - len(self._head)
        self._head += chunk[:room] if room > 0 else b""
        self._tail += chunk[room:] if room > 0 else chunk
        if len(self._tail) > 2 * self._tail_cap:
            del self._tail[: -self._tail_cap]

    def text(self) -> str:
        tail = bytes(self._tail[-self._tail_cap :])
        left_out = self.total - len(self._head) - len(tail)
        head = self._head.decode("utf-8", "replace")
        if left_out <= 0:
            return (bytes(self._head) + tail).decode("utf-8", "replace").replace("\r\n", "\n")
        return f"{head}\n… {left_out:,} bytes left out …\n{tail.decode('utf-8', 'replace')}".replace("\r\n", "\n")
