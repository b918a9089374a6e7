"""A compiler as a child process: C locale, no stdin, its own process group, bounded output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agent.workspace.environment import is_passed

MAX_OUTPUT = 4_000_000
"""Bytes of compiler output that are kept; the rest is read and dropped."""


def child_environment() -> dict[str, str]:
    """The environment of a compiler: what commands may see of ours, in the C locale, without what changes its words or
    colours. ccache stands aside: each version of a file is compiled once, and its cache cannot be written where a compiler
    is shut in."""
    dropped = {"LANGUAGE", "GCC_COLORS", "GCC_URLS", "TERM_URLS", "CCACHE_PREFIX", "LC_MESSAGES", "CLICOLOR_FORCE"}
    wanted = {name: value for name, value in os.environ.items() if is_passed(name) or name in ("HOME", "TMPDIR")}
    kept = {k: v for k, v in wanted.items() if k not in dropped and not k.startswith("LC_")}
    return {**kept, "LC_ALL": "C", "LANG": "C", "TERM": "dumb", "NO_COLOR": "1", "CCACHE_DISABLE": "1"}


class Finished(NamedTuple):
    """How a child process ended. ``exit_code`` is negative when a signal ended it."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    ms: float
    timed_out: bool


async def run_child(command: Sequence[str], *, cwd: Path, timeout: float = 60.0) -> Finished:
    """Run a compiler without a shell, in its own process group, with no stdin; the whole group dies on timeout or cancel.

    Raises:
        OSError: if the program cannot be started.
    """
    started = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=child_environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    timed_out = False
    readers = asyncio.gather(_read_capped(process.stdout), _read_capped(process.stderr), process.wait())
    try:
        stdout, stderr, _ = await asyncio.wait_for(readers, timeout)
    except TimeoutError:
        timed_out, stdout, stderr = True, b"", b""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                await process.wait()
    code = process.returncode if process.returncode is not None else -signal.SIGKILL
    return Finished(code, stdout, stderr, (time.perf_counter() - started) * 1000, timed_out)


async def _read_capped(stream: asyncio.StreamReader | None) -> bytes:
    kept, size = [], 0
    while stream is not None and (piece := await stream.read(65536)):
        if size < MAX_OUTPUT:
            kept.append(piece)
        size += len(piece)
    return b"".join(kept)[:MAX_OUTPUT]
