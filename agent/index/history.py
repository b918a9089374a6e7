"""What earlier commits show: which files change together, and which files belong to a message in plain words.

Only ancestors of HEAD are read, in one bounded ``git log`` pass, whenever HEAD moved.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from agent.index.scan import git
from agent.index.store import Store, file_number
from agent.index.words import terms

MAX_COMMITS = 2000
WIDE = 50
"""A commit that touches more files than this says nothing about which belong together."""

MAX_MESSAGE = 4000
"""Characters read of one message."""

_RECORD = b"\x1e"
_FIELD = b"\x1f"


def refresh_history(store: Store, root: Path, max_commits: int) -> int:
    """Reads the newest ``max_commits`` of the log afresh when HEAD or that number changed; returns how many there are. No
    git, no commits and shallow clones are all fine."""
    head = (git(root, "rev-parse", "--verify", "-q", "HEAD^{commit}") or b"").decode().strip()
    read = f"{head} {max_commits}"
    if read == store.meta("history_head"):
        return 0
    found = _log(root, head, max_commits) if head else []
    with store.writing() as db:
        db.execute("DELETE FROM commits")
        db.execute("DELETE FROM commit_files")
        db.execute("INSERT INTO messages (messages) VALUES ('delete-all')")
        _put(db, found[::-1])
        db.execute("INSERT OR REPLACE INTO meta VALUES ('history_head', ?)", (read,))
    return len(found)


def _log(root: Path, what: str, limit: int) -> list[tuple[str, str, list[str]]]:
    """(sha, message, paths relative to ``root``), newest first. Merges carry no paths and are left out."""
    output = git(
        root, "log", f"-n{limit}", "--no-merges", "--no-renames", "--no-ext-diff", "--no-color", "--no-show-signature",
        "--relative", "-z", "--name-only", "--format=%x1e%H%x1f%B%x1f", what, "--",
    )  # fmt: skip
    found = []
    for record in (output or b"").split(_RECORD)[1:]:
        parts = record.split(_FIELD)
        if len(parts) < 3:
            continue
        message = _FIELD.join(parts[1:-1]).decode("utf-8", "replace").strip()
        paths = [path.lstrip("\n") for path in os.fsdecode(parts[-1]).split("\0")]
        kept = [p for p in paths if p and p.isprintable()]
        found.append((parts[0].decode(), message[:MAX_MESSAGE], kept))
    return found


def _put(db: sqlite3.Connection, commits: Sequence[tuple[str, str, list[str]]]) -> None:
    """Writes commits, the oldest first, numbered from 1."""
    words = [terms(message) for _, message, _ in commits]
    told = [(n, paths) for n, (_, _, paths) in enumerate(commits, 1) if 0 < len(paths) <= WIDE]
    rows = [(n, sha, len(paths), words[n - 1].count(" ") + 1) for n, (sha, _, paths) in enumerate(commits, 1)]
    db.executemany("INSERT INTO commits VALUES (?, ?, ?, ?)", rows)
    files = sorted({(file_number(path), n) for n, paths in told for path in paths})
    db.executemany("INSERT INTO commit_files VALUES (?, ?)", files)
    db.executemany("INSERT INTO messages (rowid, message) VALUES (?, ?)", [(n, words[n - 1]) for n, _ in told])


def cochanged(store: Store, path: str, limit: int = 200) -> list[tuple[str, int]]:
    """Indexed files that changed in the same commits as ``path``, with the number of such commits, most first."""
    sql = (
        "SELECT files.path, count(*) AS n FROM commit_files mine JOIN commit_files other ON "
        "other.commit_id = mine.commit_id JOIN files ON files.id = other.file_id AND files.skipped = '' "
        "WHERE mine.file_id = ? AND other.file_id <> mine.file_id GROUP BY files.path ORDER BY n DESC, files.path LIMIT ?"
    )
    return [(other, count) for other, count in store.rows(sql, (file_number(path), limit))]
