"""Calls of one loaded function: which arguments tests hand to it, and what it gives back for others.

Standard library only: it stands beside ``warm_worker`` in the project's own interpreter. Only plain values are written
down, as literals: numbers, text, None and collections of them.
"""

from __future__ import annotations

import ast
import itertools
import signal
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

MOST_CALLS = 60
LONGEST = 300
"""Characters of arguments or a result that are kept."""

CALL_SECONDS = 0.2
_PLAIN = (int, float, str, bytes, bool, type(None))


class TooLong(BaseException):
    """A call does not end; not an Exception, so that the function cannot catch it."""


def literal(value: Any, depth: int = 0) -> str:
    """A plain value as a literal; "" for any other."""
    if type(value) in _PLAIN:
        return repr(value) if value == value and value not in (float("inf"), -float("inf")) else ""
    if depth > 4:
        return ""
    if type(value) in (list, tuple, set) and value:
        inner = [literal(one, depth + 1) for one in (sorted(value, key=repr) if type(value) is set else value)]
        text = ", ".join(inner)
        if not all(inner):
            return ""
        if type(value) is tuple:
            return f"({text},)" if len(inner) == 1 else f"({text})"
        return f"[{text}]" if type(value) is list else f"{{{text}}}"
    if type(value) in (list, tuple):
        return repr(value)
    if type(value) is dict:
        pairs = [(literal(key, depth + 1), literal(one, depth + 1)) for key, one in value.items()]
        return f"{{{', '.join(f'{key}: {one}' for key, one in pairs)}}}" if all(key and one for key, one in pairs) else ""
    return ""


class CallRecorder:
    """Hears which arguments a function is called with, while tests run."""

    def __init__(self, code: types.CodeType, say: Callable[[str], None]) -> None:
        self._code = code
        self._say = say
        self._seen: set[str] = set()
        sys.setprofile(self._note)

    def _note(self, frame: types.FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code is not self._code or len(self._seen) >= MOST_CALLS:
            return
        names = self._code.co_varnames[: self._code.co_argcount]
        text = literal(tuple(frame.f_locals.get(name) for name in names))
        if text and len(text) <= LONGEST and text not in self._seen:
            self._seen.add(text)
            self._say(text)


def answers(function: types.FunctionType, inputs: Sequence[str]) -> Iterator[str]:
    """What the function does for each input (a tuple of arguments as a literal): its result, what it raises, or that it
    does not end; and what it leaves of arguments that it changes."""
    signal.signal(signal.SIGPROF, _stop)
    for text in inputs:
        arguments = ast.literal_eval(text)
        signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS)
        try:
            said = _told(function(*arguments))
        except TooLong:
            said = "does not end"
        except (KeyboardInterrupt, SystemExit, Exception) as error:
            said = f"raises {type(error).__name__}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        left = literal(arguments)
        yield said if left == text or not left else f"{said}, leaves {left[:LONGEST]}"


def _stop(*_: Any) -> None:
    raise TooLong


def _told(value: Any) -> str:
    if isinstance(value, types.GeneratorType):
        value = list(itertools.islice(value, 200))
    return f"gives {literal(value) or f'a {type(value).__name__}'}"[:LONGEST]
