"""Whether a database file is as long as it says it is."""

from __future__ import annotations

import struct
from pathlib import Path

_SIZE_AT, _PAGES_AT, _HEADER = 16, 28, 100


def is_cut_short(path: Path) -> bool:
    """Whether the SQLite file lost its end: it holds fewer pages than its header counts, and no log holds the rest.

    SQLite itself notices only when it reads a missing page, and may read zeros before. The header is
    described under "Database File Format" in SQLite's documentation, sections 1.3.2 and 1.3.8.
    """
    try:
        if Path(f"{path}-wal").stat().st_size:
            return False
    except FileNotFoundError:
        pass
    with path.open("rb") as file:
        header = file.read(_HEADER)
    size = path.stat().st_size
    if len(header) < _HEADER:
        return size > 0
    (page,) = struct.unpack_from(">H", header, _SIZE_AT)
    (pages,) = struct.unpack_from(">I", header, _PAGES_AT)
    return bool(size < (65536 if page == 1 else page) * pages)
