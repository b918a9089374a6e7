"""What the repository is: files, symbols, references, history and search. ``Index`` is the way in.

The names are imported when they are first used (PEP 562): the children that read files need only a few modules of this room.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.index.entries import FileEntry, IndexedSymbol, LibrarySymbol, RefreshReport
    from agent.index.repository import Index
    from agent.index.store import IndexUnavailable

__all__ = [
    "FileEntry", "Index", "IndexUnavailable", "IndexedSymbol", "LibrarySymbol", "RefreshReport",
]  # fmt: skip

_ELSEWHERE = {"Index": "repository", "IndexUnavailable": "store"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'entries')}"), name)
