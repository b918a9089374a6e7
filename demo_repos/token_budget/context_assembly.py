"""Assembles context from classified files: budget tracking, file rendering."""

import sqlite3

from budget import BudgetTracker


def assemble_context(paths: list[str], limit: int, store: sqlite3.Connection, server: str = "") -> str:
    """Render the files in ``paths`` that fit into ``limit`` tokens, most important first, one after the other.

    ``store`` has a table ``files`` with the columns ``path`` and ``text``. With ``server`` given, a model is asked
    first which files to keep.
    """
    if server:
        paths = _refilter_files(paths, limit, server)
    tracker = BudgetTracker()
    tracker.limit = limit
    for path in paths:
        row = store.execute("SELECT text FROM files WHERE path = ?", (path,)).fetchone()
        if row is not None and tracker.can_fit(row[0]):
            tracker.taken += (row[0],)
    return "".join(tracker.taken)


def _refilter_files(paths: list[str], limit: int, server: str) -> list[str]:
    """Ask a model server which of ``paths`` to keep; their order stays."""
    import httpx

    with httpx.Client(timeout=30) as client:
        answer = client.post(server, json={"files": paths, "limit": limit}).json()
    return [path for path in paths if path in answer["keep"]]
