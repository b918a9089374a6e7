"""Writing, compiling and recovery."""

from __future__ import annotations

from agent.events.base import Event
from agent.values import Diagnostic, ErrorCategory, Rung


class FunctionStarted(Event, frozen=True):
    """A function is about to be written. ``attempt`` counts from 1."""

    symbol: str
    path: str
    attempt: int = 1
    max_attempts: int = 1


class FunctionImplemented(Event, frozen=True):
    """A function compiles and is in its file. ``attempts`` is how many it took, ``lines`` its length."""

    symbol: str
    path: str
    attempts: int = 1
    lines: int = 0


class FunctionFailed(Event, frozen=True):
    """A function was given up after ``attempts``; ``reason`` is a sentence."""

    symbol: str
    path: str
    reason: str
    attempts: int = 1


class FunctionCandidate(Event, frozen=True):
    """A version of a function that compiles was tried: the share of its checks that pass (``points``, None where nothing
    could tell), the signs of a bug in it, and what its checks say. ``number`` counts the versions of one writing from 1."""

    symbol: str
    path: str
    number: int
    points: float | None = None
    bugs: int = 0
    failure: str = ""
    call_id: int = 0


class CandidateChosen(Event, frozen=True):
    """Which version of a function stays, of how many, and why: ``right`` (its checks pass), ``only`` (there is no other, or
    nothing tells them apart) or ``best`` (more of its checks pass than with the others)."""

    symbol: str
    path: str
    number: int
    of: int
    why: str


class ContractChecked(Event, frozen=True):
    """What the checks say of one function at the end of a run. ``failing`` use it and fail, ``passing`` counts those that
    use it and pass; ``holds`` is None where no check uses it. ``candidates`` counts the versions that were asked for."""

    symbol: str
    path: str
    holds: bool | None = None
    passing: int = 0
    failing: tuple[str, ...] = ()
    candidates: int = 0


class CompileStarted(Event, frozen=True):
    """A file is about to be compiled, or (``link``) a program linked. ``symbol`` is the function it is done for, if any."""

    file: str
    command: str = ""
    link: bool = False
    symbol: str = ""


class CompileFinished(Event, frozen=True):
    """The result of a compile, or (``link``) of linking a program."""

    file: str
    ok: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    ms: float = 0.0
    link: bool = False
    symbol: str = ""


class ErrorClassified(Event, frozen=True):
    """Why a compile failed. ``path`` is the ladder of rungs from the first to the one that decided."""

    file: str
    category: ErrorCategory
    how: str
    path: tuple[Rung, ...] = ()
    header: str = ""
    headers: tuple[str, ...] = ()
    context: str = ""
    symbol: str = ""


class IncludeAdded(Event, frozen=True):
    """An include line was put in. ``kept`` is False once a recompile showed that it did not help."""

    file: str
    header: str
    line: int
    text: str = ""
    how: str = "deterministic"
    kept: bool = True
    symbol: str = ""

    @property
    def spelling(self) -> str:
        """The whole line."""
        return self.text or f"#include <{self.header}>"


class RecoveryDone(Event, frozen=True):
    """What was done about a classified error and whether an attempt was spent on it."""

    file: str
    category: ErrorCategory
    action: str
    ok: bool
    attempt_consumed: bool
    symbol: str = ""


class EditApplied(Event, frozen=True):
    """A file was changed. ``kind`` is the kind of edit; ``added`` and ``removed`` count lines."""

    path: str
    kind: str
    symbol: str = ""
    added: int = 0
    removed: int = 0


class EditRejected(Event, frozen=True):
    """An edit could not be applied. ``nearest`` is the text in the file that is most like the text it looked for."""

    path: str
    reason: str
    nearest: str = ""
