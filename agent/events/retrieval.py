"""What retrieval learned about the task and the repository."""

from __future__ import annotations

from agent.events.base import Event
from agent.values import DetailLevel


class IndexRefreshed(Event, frozen=True):
    """The index is up to date. ``changed`` and ``skipped`` count files, ``languages`` files by language."""

    files: int
    symbols: int
    changed: int = 0
    skipped: int = 0
    ms: float = 0.0
    languages: dict[str, int] = {}


class TaskAnalysed(Event, frozen=True):
    """What the words of the task ask for."""

    intent: str = ""
    kind: str = ""
    keywords: tuple[str, ...] = ()
    mentioned_files: tuple[str, ...] = ()
    mentioned_symbols: tuple[str, ...] = ()


class StagesRouted(Event, frozen=True):
    """Which optional stages of retrieval this task gets. ``how`` says what decided."""

    selected: tuple[str, ...]
    available: tuple[str, ...] = ()
    how: str = ""


class FileScoped(Event, frozen=True):
    """A file is in or out of scope. ``tier``: 0 named by a plan, 1 by the task, 2 imports and users, 3 changed together,
    4 found by search."""

    path: str
    tier: int
    reason: str
    included: bool
    judged: bool = True


class FilesGrouped(Event, frozen=True):
    """The files in scope, in groups that import each other."""

    groups: tuple[tuple[str, ...], ...]


class CascadePass(Event, frozen=True):
    """One pass of the precision cascade is over; it asked about ``asked`` symbols."""

    pass_no: int
    asked: int
    yes: int
    no: int
    yes_symbols: tuple[str, ...] = ()
    no_symbols: tuple[str, ...] = ()


class SymbolClassified(Event, frozen=True):
    """A symbol's final class. In the call stream its item is ``path:symbol``."""

    symbol: str
    detail_level: DetailLevel
    path: str
    kind: str = ""
    reason: str = ""


class ContextAssembled(Event, frozen=True):
    """The context is put together. ``dropped`` names what did not fit, in the order it went."""

    tokens: int
    budget: int
    files: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    refiltered: bool = False
