"""The values of retrieval: what a task says, which files and symbols were looked at, what became of them."""

from __future__ import annotations

from agent.values import DetailLevel, TaskKind, Value


class TaskFacts(Value, frozen=True):
    """What can be read off a task without a model; ``intent`` is the model's one sentence.

    ``mentioned_files`` are paths of the repository, ``new_files`` source files the task names that are not there yet,
    ``mentioned_symbols`` qualified names as ``path:name``, ``traces`` (path, line) from error messages.
    """

    text: str
    kind: TaskKind = "feature"
    keywords: tuple[str, ...] = ()
    new_files: tuple[str, ...] = ()
    mentioned_files: tuple[str, ...] = ()
    mentioned_symbols: tuple[str, ...] = ()
    traces: tuple[tuple[str, int], ...] = ()
    intent: str = ""


class Reason(Value, frozen=True):
    """One kind of evidence and its share (0 to 1) of a score."""

    kind: str
    share: float


class ScopedFile(Value, frozen=True):
    """A candidate file. ``tier`` as in :class:`agent.events.FileScoped`; ``rank`` (from 1) its place among all candidates.

    ``matching`` names its symbols that fit the task's words best. ``judged`` tells whether a model was asked; ``included``
    whether the file is in scope.
    """

    path: str
    tier: int
    reason: str
    rank: int = 0
    score: float = 0.0
    language: str = ""
    purpose: str = ""
    domain: str = ""
    concepts: tuple[str, ...] = ()
    matching: tuple[str, ...] = ()
    included: bool = False
    judged: bool = False
    reasons: tuple[Reason, ...] = ()

    @property
    def seed(self) -> bool:
        """Tiers 0 and 1 skip judgment."""
        return self.tier <= 1


class ScopedSymbol(Value, frozen=True):
    """A candidate symbol. ``name`` is qualified; ``rank`` (from 1) its place among all symbols looked at.

    ``line`` and ``end_line`` are 1-based and inclusive, 0 for a library symbol, which has no place in the project.
    """

    path: str
    name: str
    kind: str
    line: int = 0
    end_line: int = 0
    signature: str = ""
    doc: str = ""
    calls: tuple[str, ...] = ()
    called_by: tuple[str, ...] = ()
    rank: int = 0
    score: float = 0.0
    library: bool = False
    detail_level: DetailLevel = "excluded"
    reason: str = ""
    reasons: tuple[Reason, ...] = ()

    @property
    def key(self) -> str:
        """``path:Qualified.name``, as in the log."""
        return f"{self.path}:{self.name}"
