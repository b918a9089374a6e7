"""The values the index hands out."""

from __future__ import annotations

import msgspec

from agent.language.symbols import Symbol


class FileEntry(msgspec.Struct, frozen=True):
    """One indexed file. ``size`` in bytes; ``concepts`` and ``surface`` (public names) are ordered."""

    path: str
    language: str
    lines: int
    size: int
    is_test: bool
    purpose: str = ""
    domain: str = ""
    concepts: tuple[str, ...] = ()
    surface: tuple[str, ...] = ()
    sha: str = ""
    errors: int = 0


class IndexedSymbol(Symbol, frozen=True, omit_defaults=True):
    """A symbol and the file it stands in."""

    path: str = ""

    @property
    def key(self) -> str:
        """``path:Qualified.name``, the spelling that reports and benchmarks use."""
        return f"{self.path}:{self.qualified}"


class LibrarySymbol(msgspec.Struct, frozen=True, omit_defaults=True):
    """A name that ``path`` takes from outside the project. ``module`` is the header or package, "" when not known.

    ``line`` is that of the include or import, 0 for a call.
    """

    name: str
    path: str
    line: int = 0
    module: str = ""
    kind: str = "name"


class RefreshReport(msgspec.Struct, frozen=True):
    """What a refresh found: totals after it, files re-read (``changed``), skipped files by reason, time in ms.

    ``unread`` names the sources among the skipped, by reason; ``encodings`` the files that are not UTF-8, by the encoding
    they were read in.
    """

    files: int
    symbols: int
    changed: int
    removed: int = 0
    skipped: dict[str, int] = {}
    ms: int = 0
    languages: dict[str, int] = {}
    submodules: tuple[str, ...] = ()
    unread: dict[str, tuple[str, ...]] = {}
    encodings: dict[str, tuple[str, ...]] = {}
