"""What is written, compiled and recovered."""

from __future__ import annotations

from agent.events.base import Event
from agent.values import Diagnostic, ErrorCategory, Rung


class FunctionStarted(Event, frozen=True):
    symbol: str
    path: str
    attempt: int = 1
    max_attempts: int = 1


class FunctionImplemented(Event, frozen=True):
    symbol: str
    path: str
    attempts: int = 1
    lines: int = 0


class FunctionFailed(Event, frozen=True):
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
    file: str
    command: str = ""
    link: bool = False
    symbol: str = ""


class CompileFinished(Event, frozen=True):
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
    path: str
    kind: str
    symbol: str = ""
    added: int = 0
    removed: int = 0


class EditRejected(Event, frozen=True):
    path: str
    reason: str
    nearest: str = ""
