"""Python as the engine asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from agent.language.symbols import ParsedFile
from agent.python.equality import same_code
from agent.python.imports import ImportResolver
from agent.python.symbols import parse


class Python:
    """Python: modules and their stubs."""

    name = "python"
    title = "Python"
    suffixes = (".py", ".pyi")

    def parse(self, source: bytes) -> ParsedFile:
        return parse(source)

    def is_build_file(self, path: str) -> bool:
        del path
        return False

    def search_folders(self, root: Path, files: Iterable[str], configured: Iterable[str]) -> tuple[str, ...]:
        del root, files, configured
        return ()

    def resolver(self, paths: Iterable[str], folders: Sequence[str]) -> ImportResolver:
        del folders
        return ImportResolver(paths)

    def same_code(self, before: bytes, after: bytes) -> bool:
        return same_code(before, after)
