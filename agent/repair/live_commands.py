"""Any command, run for one candidate after the other. Standard library only: it stands beside ``warm_worker``."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from typing import Any

TREE = os.getcwd()
OUTPUT = 64 << 10
"""Bytes of a command's output that are kept."""

_COLOURS = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""What sets colours on a terminal (ECMA-48 5.4): a runner that always writes it hides the words between."""


def put_files(files: dict[str, str]) -> dict[str, str]:
    """Write files below the tree; returns what stood there. Compiled forms of them are dropped: their stamp is a second."""
    before: dict[str, str] = {}
    for path, text in files.items():
        full = os.path.join(TREE, path)
        with open(full, encoding="utf-8", errors="surrogateescape", newline="") as file:
            before[path] = file.read()
        with open(full, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        folder, name = os.path.split(full)
        stem, cache = name.rpartition(".")[0], os.path.join(folder, "__pycache__")
        with contextlib.suppress(OSError):
            for compiled in os.listdir(cache):
                if compiled.startswith(stem + "."):
                    os.unlink(os.path.join(cache, compiled))
    return before


def run_commands(source: Any, answer: Any, words: list[str]) -> None:
    """Serve any command, requests from ``source``, each reply to ``answer``: files written, the command run in a process
    group of its own, files put back. With ``runs`` (a list of environments) it is run once for each, with the same files;
    the first run may take ``build`` seconds, and when the files do not build the rest is left out."""
    for line in source:
        request = json.loads(line)
        restore = put_files(request.get("files") or {})
        runs = request.get("runs")
        for number, env in enumerate([request.get("env") or {}] if runs is None else runs):
            limit = float(request.get("limit") or 60)
            begun = time.monotonic()
            first = runs is not None and number == 0
            halt = None if first else request.get("halt")
            output, code, cut = run_one(words, env, float(request.get("build") or limit) if first else limit, halt)
            if len(output) > OUTPUT:
                output = output[: OUTPUT // 4] + b"\n...\n" + output[-OUTPUT // 2 :]
            text = _COLOURS.sub(b"", output).decode("utf-8", "replace")
            reply = {"id": request["id"], "code": code, "output": text, "cut": "command" if cut else ""}
            answer(reply | {"seconds": time.monotonic() - begun, "last": runs is None or number == len(runs) - 1})
            if runs is not None and number == 0 and code and ": error:" in text:
                answer({"id": request["id"], "code": code, "last": True})
                break
        for one in request.get("then") or ():
            limit, text = float(one["limit"]), one["stdin"].encode("utf-8", "surrogateescape")
            output, code, cut = run_one(one["words"], one["env"], limit, cwd=one["cwd"], stdin=text)
            text = output[: OUTPUT // 8].decode("utf-8", "replace")
            answer({"id": request["id"], "code": code, "output": text, "cut": "program" if cut else ""})
        put_files(restore)


class Halt:
    """Says from the output so far that there is nothing more to learn from a run."""

    def __init__(self, said: dict[str, Any]) -> None:
        self.pattern = re.compile(said["pattern"].encode())
        self.good = {name.encode() for name in said["good"]}
        self.bad = {name.encode() for name in said["bad"]}
        self.rest = b""

    def hears(self, chunk: bytes) -> bool:
        """Whether a check that passed failed, or all that failed failed again."""
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        for line in lines:
            match = self.pattern.match(_COLOURS.sub(b"", line))
            if match:
                if match[1] in self.good:
                    return True
                self.bad.discard(match[1])
                if not self.bad:
                    return True
        return False


def run_one(
    words: list[str],
    env: dict[str, str],
    limit: float,
    halt: dict[str, Any] | None = None,
    cwd: str = TREE,
    stdin: bytes | None = None,
) -> tuple[bytes, int, bool]:
    """(output, exit code, whether it ran out of time) of one command."""
    if limit <= 0:
        return b"", 124, True
    try:
        with open(os.devnull, "rb") if stdin is None else tempfile.TemporaryFile() as file:
            if stdin is not None:
                file.write(stdin)
                file.seek(0)
            process = subprocess.Popen(
                words, cwd=cwd, env={**os.environ, **env}, stdin=file, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
    except OSError as error:
        return str(error).encode(), 127, False
    assert process.stdout is not None
    fd, deadline, parts, size = process.stdout.fileno(), time.monotonic() + limit, [], 0
    cut = False
    watch = Halt(halt) if halt else None
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or size > 64 << 20:
            cut = True
            break
        ready, _, _ = select.select([fd], [], [], left)
        if ready:
            chunk = os.read(fd, 1 << 16)
            if not chunk:
                break
            size += len(chunk)
            parts.append(chunk)
            if watch is not None and watch.hears(chunk):
                break
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()
    code = process.wait()
    return b"".join(parts), 124 if cut else (128 - code if code < 0 else code), cut
