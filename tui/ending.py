"""The end of the application, however it comes: by its key, by a closed terminal, by a signal, by a fault of a screen."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from screens.run.session import RunSession

HANGUP = "The terminal was closed."
_WHY = {signal.SIGHUP: HANGUP, signal.SIGTERM: "The program was told to end (SIGTERM)."}
_PATIENCE_SECONDS = 60.0
"""A run that is stopped breaks off its call and commits its work; a git that hangs is not waited for longer than this."""


def hear_signals(told: Callable[[str], object]) -> None:
    """``told(why)`` is called when the terminal is closed or the process is told to end. A signal that is ignored, as
    ``nohup`` does it, stays so; outside the main thread nothing is heard."""
    loop = asyncio.get_running_loop()
    for number, why in _WHY.items():
        if signal.getsignal(number) is not signal.SIG_IGN:
            with contextlib.suppress(ValueError, RuntimeError):
                loop.add_signal_handler(number, told, why)


def forget_signals() -> None:
    """As before."""
    loop = asyncio.get_running_loop()
    for number in _WHY:
        with contextlib.suppress(ValueError, RuntimeError):
            loop.remove_signal_handler(number)


def let_go_of_terminal(driver: Any = None) -> None:
    """Nobody reads what is written to a terminal that is gone, and writing to it fails: it goes nowhere from here on. A
    ``driver`` of the screen writes no more."""
    if driver is not None:
        driver.write = lambda data: None
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if os.isatty(stream.fileno()) or not _writes(stream.fileno()):  # type: ignore[union-attr]
                os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
    os.close(nowhere)


def _writes(fd: int) -> bool:
    """Whether a file can still be asked for its state: a terminal that hung up cannot."""
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


async def end_run(session: RunSession | None, work: asyncio.Task[Any] | None, why: str = "") -> None:
    """Stop a run that goes on, as the person's own key does: its work is committed on its branch, its end is in the log.
    Then let go of its connections and files."""
    if session is None:
        return
    if work is not None and not work.done():
        session.stop(why)
        with contextlib.suppress(Exception, asyncio.CancelledError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await asyncio.wait([work])
                work.exception()  # the log has it, and no screen is left to show it
    with contextlib.suppress(Exception):
        await session.close()
