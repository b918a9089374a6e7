"""Starting, watching and ending the child process of the embedded model."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import secrets
import signal
import sys
from pathlib import Path
from typing import BinaryIO

from agent.models.cores import physical_cores
from agent.models.store import data_dir
from agent.models.types import ModelError

_ALLOCATION = re.compile(r"failed to allocate|unable to allocate|bad_alloc|out of memory|cannot allocate", re.I)
_LOG_KEPT_BYTES = 1 << 20
SERVER_MODULE = "agent.models.embedded_server"
SPIN_COUNT = "1000"
"""How long the library's threads spin before they sleep while they wait for each other. Spinning long (300,000 is usual)
collapses when a compiler or a test run wants the cores too. Measured on two cores, default against 1,000: alone 12.0 and
12.1 tokens a second, beside seven busy processes 0.7 and 2.0."""


class EmbeddedProcess:
    """One running model server. ``key`` is what it demands of callers; ``context`` its window in tokens."""

    def __init__(
        self, process: asyncio.subprocess.Process, path: Path, context: int, speculative: bool, key: str, log: Path
    ) -> None:
        self._process = process
        self.path = path
        self.context = context
        self.speculative = speculative
        self.key = key
        self.log = log
        self.base_url = ""
        self.log_start = 0

    @staticmethod
    def require_library() -> None:
        """Raises ModelError when the llama.cpp library is not installed."""
        if importlib.util.find_spec("xllamacpp") is None:
            raise ModelError(
                "missing",
                "The embedded model server is not installed: the package xllamacpp is missing.",
                "Install it with: python -m pip install 'cra[embedded]'",
            )

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    async def stop(self) -> None:
        """End it: by the end of its input, then by signals."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        for end in (None, process.terminate, process.kill):
            if process.returncode is not None:
                break
            if end is not None:
                try:
                    end()
                except ProcessLookupError:
                    break
            try:
                await asyncio.wait_for(process.wait(), 3)
            except TimeoutError:
                continue

    async def wait_ready(self, seconds: float) -> None:
        """Wait for the line that names its port.

        Raises:
            ModelError: if it died, or the model was not loaded in time.
        """
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), seconds)
        except TimeoutError:
            await self.stop()
            text = f"Loading {self.path.name} took longer than {seconds:.0f} seconds."
            raise ModelError("unreachable", text, "Choose a smaller model, or close other programs.") from None
        if not line:
            await self._process.wait()
            raise self.death()
        self.base_url = f"http://127.0.0.1:{json.loads(line)['port']}"

    def death(self) -> ModelError:
        """Why it is dead, as far as its code and the end of its log tell."""
        code = self._process.returncode
        tail = _tail(self.log, self.log_start)
        said = " ".join(tail.split())[-300:]
        if _ALLOCATION.search(tail) or code == -signal.SIGKILL:
            text = f"The model {self.path.name} with a window of {self.context:,} tokens does not fit into memory."
            return ModelError("memory", f"{text} {said}", "Lower models.context_window, or choose a smaller model.")
        if code == -signal.SIGILL:
            text = "This processor lacks instructions (AVX2) that the embedded model server was built for."
            return ModelError("missing", text, "Use another provider: set models.provider to ollama or openai.")
        text = f"The embedded model server ended (code {code}) with {self.path.name}: {said or 'it said nothing'}"
        return ModelError("protocol", text, f"Its whole log is {self.log}. 'cra models check' verifies the file.")


async def start(path: Path, context: int, speculative: bool, seconds: float) -> EmbeddedProcess:
    """A server that is ready to answer, with one thread per physical core.

    Raises:
        ModelError: if the library is missing, or the model cannot be loaded.
    """
    EmbeddedProcess.require_library()
    key = secrets.token_urlsafe(24)
    log = data_dir() / "logs" / "embedded.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    arguments = ["-m", SERVER_MODULE, "--model", str(path), "--ctx", str(context),
                 "--threads", str(physical_cores())]  # fmt: skip
    if speculative:
        arguments.append("--speculative")
    root = str(Path(__file__).resolve().parents[2])
    path_list = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    environment = {"GOMP_SPINCOUNT": SPIN_COUNT, **os.environ, "PYTHONPATH": path_list}
    with _open_log(log) as sink:
        log_start = sink.tell()
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=sink,
            env=environment, start_new_session=True,
        )  # fmt: skip
    found = EmbeddedProcess(process, path, context, speculative, key, log)
    found.log_start = log_start
    assert process.stdin is not None
    try:
        process.stdin.write(f"{key}\n".encode())
        await found.wait_ready(seconds)
    except BaseException:
        await found.stop()
        raise
    return found


def _open_log(log: Path) -> BinaryIO:
    """Appends while the log is small; a large one starts anew."""
    large = log.exists() and log.stat().st_size > _LOG_KEPT_BYTES
    return log.open("wb" if large else "ab")


def _tail(log: Path, start: int, size: int = 4000) -> str:
    """The last ``size`` bytes of what was logged from ``start`` on."""
    try:
        with log.open("rb") as file:
            file.seek(max(start, log.stat().st_size - size))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
