"""How far a command can be shut in on this machine: bubblewrap, user namespaces, or nothing.

Asked once a process by trying. With bubblewrap the command sees no network, cannot write outside its own place nor read
the person's keys and tokens (``private.py``), and all its processes die with it; with ``unshare`` it sees no network; else
limits and the scrubbed environment remain.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from agent.workspace.private import private_places

Isolation = Literal["bwrap", "bwrap-net", "unshare", "none"]

_SHARED = ("/tmp", "/var/tmp")  # programs write there by fixed name; see the order of binds in wrap()


@functools.cache
def isolation() -> Isolation:
    """The strongest kind that works here. Blocking, some 10 ms, once."""
    if not sys.platform.startswith("linux"):
        return "none"
    kinds: tuple[Isolation, ...] = ("bwrap", "bwrap-net", "unshare")
    for kind in kinds:
        command = wrap(kind, ["true"], Path("/"), [])
        if shutil.which(command[0]) is None:
            continue
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return kind
    return "none"


def wrap(kind: Isolation, command: Sequence[str], cwd: Path, writable: Sequence[Path]) -> list[str]:
    """The command line that runs ``command`` in ``cwd`` shut in by ``kind``.

    With bubblewrap only ``writable`` and /tmp can be written, and what is private to the person is empty or not readable.
    """
    if kind == "none":
        return list(command)
    if kind == "unshare":
        return ["unshare", "--user", "--map-root-user", "--net", "--", *command]
    line = ["bwrap", "--die-with-parent", "--unshare-net", "--unshare-ipc"]
    if kind == "bwrap":
        line += ["--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        if Path("/dev/shm").is_dir():
            line += ["--tmpfs", "/dev/shm"]
    else:
        line += ["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]
    for shared in _SHARED:
        if Path(shared).is_dir():
            line += ["--bind", shared, shared]
    for repo in {owner for place in writable if (owner := _owner(place))}:
        line += ["--ro-bind", str(repo), str(repo)]  # the person's own files, should they lie in /tmp
    for place in writable:
        line += ["--bind", str(place), str(place)]
    folders, files = private_places((cwd, *writable))
    for folder in folders:
        line += ["--tmpfs", str(folder)]
    for file in files:
        line += ["--ro-bind", os.devnull, str(file)]  # a device that cannot be opened there: nothing is read
    return [*line, "--chdir", str(cwd), "--", *command]


def shortfall(kind: Isolation) -> str:
    """What a command can do that the strongest kind would keep it from, in a sentence; "" for that kind."""
    if kind == "bwrap":
        return ""
    if kind == "bwrap-net":
        return "Process namespaces do not work on this machine, so checks can see the other processes that run."
    network = "" if kind == "unshare" else " and use the network"
    return (
        "bubblewrap does not work on this machine, so checks, which run code that a model wrote, can read what you can read "
        f"and write what you can write{network}. Install bwrap to shut them in."
    )


def run_place(cwd: Path) -> Path:
    """The folder a command run in ``cwd`` may write: the run's whole checkout if ``cwd`` is in one, else ``cwd``."""
    parts = cwd.parts
    for index in range(len(parts) - 1):
        if parts[index] == ".clean_room" and parts[index + 1] == "work" and len(parts) > index + 2:
            return Path(*parts[: index + 3])
    return cwd


def _owner(place: Path) -> Path | None:
    return place.parent.parent.parent if place.parent.name == "work" and place.parent.parent.name == ".clean_room" else None
