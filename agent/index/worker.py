"""The child that reads and parses files for an index: batches of jobs come in over a pipe, their extracts go out.

It imports only what it needs, since starting it takes much of the time of indexing a small repository.
"""

from __future__ import annotations

import gc
import struct
import sys
from pathlib import Path
from typing import IO

import msgspec

from agent.index.extract import extract

Job = tuple[str, str]
"""A path and the digest of its content as far as it is known."""

_LENGTH = struct.Struct("<I")
_encode = msgspec.msgpack.Encoder().encode
_jobs = msgspec.msgpack.Decoder(list[Job])


def send(pipe: IO[bytes], raw: bytes) -> None:
    """One message, its length before it."""
    pipe.write(_LENGTH.pack(len(raw)))
    pipe.write(raw)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """One message; None when the pipe was closed."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    raw = pipe.read(length)
    return raw if len(raw) == length else None


def serve() -> None:
    """The child's loop, until the pipe closes."""
    gc.disable()  # every file's objects die with their references: looking for cycles costs a tenth and finds none
    root, max_bytes = Path(sys.argv[1]), int(sys.argv[2])
    while (raw := receive(sys.stdin.buffer)) is not None:
        results = [extract(root, path, max_bytes, sha) for path, sha in _jobs.decode(raw)]
        send(sys.stdout.buffer, _encode(results))
