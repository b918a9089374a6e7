"""C as the engine asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from agent.c.equality import same_code
from agent.c.include_paths import include_paths, is_build_file
from agent.c.include_resolution import IncludeResolver
from agent.c.symbols.reader import parse
from agent.language.symbols import ParsedFile


class C:
    """C: sources and headers."""

    name = "c"
    title = "C"
    suffixes = (".c", ".h")

    def parse(self, source: bytes) -> ParsedFile:
        return parse(source)

    def is_build_file(self, path: str) -> bool:
        return is_build_file(path)

    def search_folders(self, root: Path, files: Iterable[str], configured: Iterable[str]) -> tuple[str, ...]:
        return include_paths(root, files, configured)

    def resolver(self, paths: Iterable[str], folders: Sequence[str]) -> IncludeResolver:
        return IncludeResolver(paths, folders)

    def same_code(self, before: bytes, after: bytes) -> bool:
        return same_code(before, after)
