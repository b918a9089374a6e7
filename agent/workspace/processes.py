"""Find and end every process of a job, also those that left its process group."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

JOB_VARIABLE = "CRA_JOB"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def members(job: str) -> list[int]:
    """Processes whose environment carries ``job`` (Linux; elsewhere none). A daemon keeps the environment it was started
    with."""
    mark = f"{JOB_VARIABLE}={job}".encode()
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    if mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                        found.append(int(name))
    return found


def descendants(leader: int) -> list[int]:
    """Children of ``leader`` and theirs (Linux; elsewhere none)."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    fields = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
                    children.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    waiting = [leader]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def memory(pids: list[int]) -> int:
    """Bytes of memory that these processes hold together, without the pages that they share with others."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{pid}/statm").read_bytes().split()
            total += (int(fields[1]) - int(fields[2])) * _PAGE
    return total


def kill_job(group: int, job: str) -> None:
    """End the process group, its descendants and every member of the job, whatever session it moved to."""
    below = descendants(group)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for _ in range(5):  # a process that forks while we look is caught on the next round
        pids = [*members(job), *below]
        below = []
        if not pids:
            return
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
