"""API keys: read once from the environment and then removed from it, so that code under check cannot read them there.

On Linux ``/proc/PID/environ`` shows the memory that a process was started with. A key's value is overwritten there, and the
process is marked as one that others of the same user may not look into (prctl(2), PR_SET_DUMPABLE).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterable

_PR_SET_DUMPABLE = 4
_kept: dict[str, str] = {}


def key_of(name: str) -> str:
    """The key in the environment variable ``name``, as it was last set; "" when it never was. It is dropped from the
    environment."""
    if name in os.environ:
        _kept[name] = os.environ[name].strip()
        _wipe(name)
    return _kept.get(name, "")


def guard(names: Iterable[str]) -> None:
    """Take the keys ``names`` out of the environment, and keep other processes of this user from reading this one's memory
    and environment, where the system can."""
    for name in names:
        if name:
            key_of(name)
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def forget_all() -> None:
    """Forget every key."""
    _kept.clear()


def _wipe(name: str) -> None:
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.getenv.restype = ctypes.c_void_p
        place = library.getenv(os.fsencode(name))
        if place:
            ctypes.memset(place, 0, len(os.fsencode(os.environ[name])))
    os.environ.pop(name, None)
