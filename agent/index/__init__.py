"""What the repository is: files, symbols, references, history and search. ``Index`` is the way in."""

from agent.index.entries import FileEntry, IndexedSymbol, LibrarySymbol, RankedFile, RankedSymbol, RefreshReport
from agent.index.repository import Index
from agent.index.store import IndexUnavailable

__all__ = [
    "FileEntry", "Index", "IndexUnavailable", "IndexedSymbol", "LibrarySymbol", "RankedFile", "RankedSymbol",
    "RefreshReport",
]  # fmt: skip
