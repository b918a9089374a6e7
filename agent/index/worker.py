"""The processes that read and parse files for an index: batches of jobs come in over a socket, their extracts go out.

The first of them forks the others and imports only what it needs, since starting it takes much of the time of indexing a
small repository.
"""

from __future__ import annotations

import os
import struct
import sys
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path
from typing import NoReturn

import msgspec

from agent.index.extract import extract

Job = tuple[str, str]
"""A path and the digest of its content as far as it is known."""

_LENGTH = struct.Struct("<I")
_encode = msgspec.msgpack.Encoder().encode
_jobs = msgspec.msgpack.Decoder(list[Job])


def send(pipe: BufferedIOBase, raw: bytes) -> None:
    """One message, its length before it."""
    pipe.write(_LENGTH.pack(len(raw)))
    pipe.write(raw)
    pipe.flush()


def receive(pipe: BufferedIOBase) -> bytes | None:
    """One message; None when the pipe was closed."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    raw = pipe.read(length)
    return raw if len(raw) == length else None


def serve() -> NoReturn:
    """The loop of each process, until its socket closes. Arguments: the root, the most bytes of a file, and the file number
    of one socket a process. The process that is started with them forks one for each number but the first, and outlives
    them."""
    root, max_bytes = Path(sys.argv[1]), int(sys.argv[2])
    own, forked = _divided([int(number) for number in sys.argv[3:]])
    with open(own, "rb", closefd=False) as jobs, open(own, "wb") as results:
        while (raw := receive(jobs)) is not None:
            send(results, _encode([extract(root, path, max_bytes, sha) for path, sha in _jobs.decode(raw)]))
    for process in forked:
        os.waitpid(process, 0)
    os._exit(0)  # to take the interpreter down in order costs a fifth of a start


def _divided(sockets: list[int]) -> tuple[int, list[int]]:
    """The socket that this process serves, and the processes that it forked for the others. Others' sockets are closed here,
    so that a process that dies ends its own."""
    own = sockets[0]
    forked: list[int] = []
    with suppress(OSError):  # no further process is allowed: fewer serve
        for other in sockets[1:]:
            process = os.fork()
            if not process:
                own, forked = other, []
                break
            forked.append(process)
    for other in sockets:
        if other != own:
            os.close(other)
    return own, forked
