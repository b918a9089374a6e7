"""The terminal is closed, or the process told to end, in the middle of a run: it ends as stopped and can be taken up."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import sys
import termios
from pathlib import Path

import pytest

from agent.audit.history import RunSummary, list_runs
from agent.audit.reader import LogReader
from agent.workspace.demo import create_demo, load_demo
from screens.history.run_facts import may_resume
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, Coder
from tests.tui.journey import configure

pytestmark = pytest.mark.timeout(400)  # seconds each on a quiet machine
TASK = load_demo("ring_buffer").task
APPLICATION = (
    "import sys; from pathlib import Path; from tui.launch import launch;"
    " sys.exit(launch(Path(sys.argv[1]), task=sys.argv[2], start=True))"
)


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return create_demo("ring_buffer", tmp_path / "ring")


def _own_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A program on a terminal of its own; ``close`` is what closing its window does."""

    def __init__(self) -> None:
        self.master = -1
        self.shown = bytearray()

    async def start(self, *command: str) -> asyncio.subprocess.Process:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        process = await asyncio.create_subprocess_exec(
            *command, stdin=slave, stdout=slave, stderr=slave, preexec_fn=_own_terminal, cwd=Path(__file__).parents[2],
            env={**os.environ, "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(slave)
        asyncio.get_running_loop().add_reader(self.master, self._read)
        return process

    def _read(self) -> None:
        try:
            self.shown += os.read(self.master, 65536)
        except OSError:
            asyncio.get_running_loop().remove_reader(self.master)

    def close(self) -> None:
        if self.master >= 0:
            asyncio.get_running_loop().remove_reader(self.master)
            os.close(self.master)
            self.master = -1


async def _writes(coder: Coder, process: asyncio.subprocess.Process, terminal: Terminal) -> None:
    """Until it is at its third function."""
    async with asyncio.timeout(150):
        while len(coder.asked) < 3:
            assert process.returncode is None, terminal.shown[-2000:]
            await asyncio.sleep(0.01)


def _only_run(repo: Path) -> RunSummary:
    reader = LogReader(repo / ".clean_room" / "raw.sqlite")
    try:
        [run] = list_runs(reader, repo, 5)
        return run
    finally:
        reader.close()


@pytest.mark.parametrize("how", ["window", "term", "headless"])
async def test_a_run_whose_terminal_is_closed_ends_as_stopped(ring: Path, how: str) -> None:
    coder, terminal = Coder((SOLUTIONS / "ring_buffer.c").read_bytes()), Terminal()
    command = ["-m", "tui", "run", TASK, "--repo", str(ring)] if how == "headless" else ["-c", APPLICATION, str(ring), TASK]
    async with ScriptedServer(coder, latency=0.05) as server:
        configure(ring, server)
        process = await terminal.start(sys.executable, *command)
        try:
            await _writes(coder, process, terminal)
            if how == "term":
                process.send_signal(signal.SIGTERM)
            else:
                terminal.close()
            code = await asyncio.wait_for(process.wait(), 60)
            assert code == 130 or how == "window", "nobody hears the code of a program whose window is gone"
        finally:
            terminal.close()
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert not server.in_flight
    run = _only_run(ring)
    assert (run.status, run.unfinished) == ("stopped", False)
    assert ("SIGTERM" if how == "term" else "terminal was closed") in run.reason
    assert run.place and may_resume(run), "it can be gone on with"
    assert b"stub" in (ring / "ring_buffer.c").read_bytes(), "the person's own tree is as it was"
