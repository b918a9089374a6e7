"""Names a file takes from outside the project: always ``type_context``, never asked about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agent.retrieval.types import ScopedSymbol

if TYPE_CHECKING:
    from agent.index import Index
    from agent.index.entries import LibrarySymbol

MAX_LIBRARY = 20
"""Library symbols taken along, those of the best-ranked files first."""

_CLASS_LIKE = re.compile(r"_*[A-Z]\w*[a-z]\w*\Z")


def library_symbols(index: Index, paths: Sequence[str], after: int = 0) -> list[ScopedSymbol]:
    """Library types of the Python files and library functions of the C files among ``paths``, ranked after ``after``.

    Python: imported classes, and classes reached through an imported module (``sqlite3.Connection``). Lower-case names and
    included headers are left to the import lines, which are shown with the file.
    """
    found: dict[str, ScopedSymbol] = {}
    for path in paths:
        for symbol in index.library_symbols([path]):
            for name, kind in _names(index, symbol):
                if name not in found and len(found) < MAX_LIBRARY:
                    found[name] = ScopedSymbol(
                        path, name, kind, signature=name, rank=after + len(found) + 1, library=True,
                        detail_level="type_context",
                    )  # fmt: skip
    return list(found.values())


def _names(index: Index, symbol: LibrarySymbol) -> Iterator[tuple[str, str]]:
    if symbol.kind == "call":
        yield symbol.name, "function"
    elif symbol.kind == "import" and symbol.module == symbol.name:
        used = re.findall(rf"(?<![\w.]){re.escape(symbol.name)}\.(\w+)", index.text(symbol.path))
        for name in dict.fromkeys(used):
            if _CLASS_LIKE.match(name):
                yield f"{symbol.name}.{name}", "class"
    elif symbol.kind == "import" and _CLASS_LIKE.match(symbol.name):
        yield f"{symbol.module}.{symbol.name}", "class"
