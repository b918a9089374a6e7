"""What an exit code says of how a process ended."""

from __future__ import annotations

_FIRST, _LAST = 128, 128 + 64


def signal_of(exit_code: int) -> int | None:
    """The signal that ended a process, from 1 to 64; None for one that ended by itself. A shell says 128 + n after signal n
    (POSIX XCU 2.8.2 asks for more than 128), Python's ``subprocess`` says -n."""
    if exit_code < 0:
        return -exit_code
    return exit_code - _FIRST if _FIRST < exit_code <= _LAST else None
