"""What the engine asks of a language that it can read. A package a language answers; ``agent/languages.py`` lists them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from agent.language.symbols import ParsedFile


class Resolver(Protocol):
    """From an include or import as written to the project file it means."""

    def resolve(self, target: str, source: str, *, system: bool = False) -> str:
        """The project file that ``target`` in ``source`` means, "" when it means none. ``system``: C's angle brackets."""
        ...


class Language(Protocol):
    """One language."""

    @property
    def name(self) -> str:
        """What the index stores and code fences say."""
        ...

    @property
    def title(self) -> str:
        """What a person and a model read."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The endings of its files, each with its dot."""
        ...

    def parse(self, source: bytes) -> ParsedFile:
        """Symbols and references of one file. Never raises on broken code; offsets are bytes of ``source``."""
        ...

    def is_build_file(self, path: str) -> bool:
        """Whether a change of this file may change ``search_folders``."""
        ...

    def search_folders(self, root: Path, files: Iterable[str], configured: Iterable[str]) -> tuple[str, ...]:
        """The folders, relative to ``root``, that references are looked for in beside the file itself, in order."""
        ...

    def resolver(self, paths: Iterable[str], folders: Sequence[str]) -> Resolver:
        """Resolves references among ``paths``; ``folders`` as of ``search_folders``."""
        ...

    def same_code(self, before: bytes, after: bytes) -> bool:
        """Whether two versions of a file differ in comments and white space only. What cannot be read is never the same."""
        ...
