"""Programs that share a model server, as real processes, and whether a process has ended."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def gone(pid: int, seconds: float = 20.0) -> bool:
    """Whether a process ends in time; a zombie has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            pass
        time.sleep(0.05)
    return False


class Program:
    """One program that uses the embedded model."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.heard: list[tuple[str, str]] = []

    @classmethod
    async def start(cls, data: Path) -> Program:
        """A program whose data folder is ``data``."""
        environment = {**os.environ, "CRA_DATA_DIR": str(data), "PYTHONPATH": str(ROOT)}
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.models.program", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                env=environment, cwd=ROOT,
            )
        )  # fmt: skip

    def send(self, **what: Any) -> None:
        """One line to it."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(what)}\n".encode())

    async def reply(self, key: str) -> str:
        """Its next line that has ``key``; what it says of its server meanwhile goes to ``heard``."""
        while key not in (said := await self._line()):
            assert "status" in said, said
        return str(said[key])

    async def hears(self, status: str, text: str) -> None:
        """Wait until it was told so."""
        while (status, text) not in self.heard:
            await self._line()

    async def _line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        said: dict[str, Any] = json.loads(await asyncio.wait_for(self.process.stdout.readline(), 60))
        if "status" in said:
            self.heard.append((said["status"], said["text"]))
        return said

    async def server(self, model: str = "small", window: int = 4096) -> int:
        """The process id of the server that answers it."""
        self.send(model=model, window=window, prompt="who")
        return int((await self.reply("answer")).split()[0])

    async def close(self) -> None:
        """Let it give the server back."""
        self.send(close=True)
        await self.reply("closed")

    async def kill(self) -> None:
        """kill -9"""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    def notices(self) -> list[str]:
        """What a person was to read."""
        return [text for status, text in self.heard if status == "notice"]
