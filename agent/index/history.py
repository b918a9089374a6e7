"""What earlier commits tell: which files change together, and which files a message in plain words led to.

Only ancestors of HEAD are read, in one bounded ``git log`` pass; later refreshes read the commits since the last one seen.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from agent.index.scan import git
from agent.index.store import Store
from agent.index.words import searchable

MAX_COMMITS = 2000
WIDE = 50
"""A commit that touches more files than this says nothing about which belong together (design section 8)."""

_RECORD = b"\x1e"
_FIELD = b"\x1f"


def refresh_history(store: Store, root: Path, max_commits: int = MAX_COMMITS) -> int:
    """Reads the commits not yet known; returns how many. No git, no commits and shallow clones are all fine."""
    head = (git(root, "rev-parse", "--verify", "-q", "HEAD^{commit}") or b"").decode().strip()
    seen = store.meta("history_head")
    if head == seen:
        return 0
    since = seen if seen and head and git(root, "merge-base", "--is-ancestor", seen, head) is not None else ""
    found = _log(root, f"{since}..{head}" if since else head, max_commits) if head else []
    with store.writing() as db:
        if not since:
            for table in ("commits", "commit_files", "commits_fts"):
                db.execute(f"DELETE FROM {table}")
        for sha, time, message, paths in reversed(found):
            _put(db, sha, time, message, paths)
        _trim(db, max_commits)
        db.execute("INSERT OR REPLACE INTO meta VALUES ('history_head', ?)", (head,))
    return len(found)


def _log(root: Path, what: str, limit: int) -> list[tuple[str, int, str, list[str]]]:
    """(sha, commit time, message, paths relative to ``root``), newest first. Merges carry no paths and are left out."""
    output = git(
        root, "log", f"-n{limit}", "--no-merges", "--no-renames", "--no-ext-diff", "--no-color", "--no-show-signature",
        "--relative", "-z", "--name-only", "--format=%x1e%H%x1f%ct%x1f%B%x1f", what, "--",
    )  # fmt: skip
    found = []
    for record in (output or b"").split(_RECORD)[1:]:
        parts = record.split(_FIELD)
        if len(parts) < 4:
            continue
        message = _FIELD.join(parts[2:-1]).decode("utf-8", "replace").strip()
        paths = [os.fsdecode(p).lstrip("\n") for p in parts[-1].split(b"\0")]
        kept = [p for p in paths if p and p.isprintable()]
        found.append((parts[0].decode(), int(parts[1] or 0), message, kept))
    return found


def _put(db: sqlite3.Connection, sha: str, time: int, message: str, paths: list[str]) -> None:
    cursor = db.execute(
        "INSERT OR IGNORE INTO commits (sha, time, width, message) VALUES (?, ?, ?, ?)",
        (sha, time, len(paths), message),
    )
    if cursor.rowcount < 1 or len(paths) > WIDE:
        return
    commit = cursor.lastrowid
    db.executemany("INSERT OR IGNORE INTO commit_files VALUES (?, ?)", [(commit, path) for path in paths])
    if paths:
        db.execute("INSERT INTO commits_fts (rowid, message) VALUES (?, ?)", (commit, searchable(message)))


def _trim(db: sqlite3.Connection, keep: int) -> None:
    """Forgets the oldest commits beyond the bound."""
    old = db.execute("SELECT id FROM commits ORDER BY id DESC LIMIT -1 OFFSET ?", (keep,)).fetchall()
    for (commit,) in old:
        db.execute("DELETE FROM commits WHERE id = ?", (commit,))
        db.execute("DELETE FROM commit_files WHERE commit_id = ?", (commit,))
        db.execute("DELETE FROM commits_fts WHERE rowid = ?", (commit,))


def cochanged(store: Store, path: str, limit: int = 200) -> list[tuple[str, int]]:
    """Indexed files that changed in the same commits as ``path``, with the number of such commits, most first."""
    sql = (
        "SELECT other.path, count(*) AS n FROM commit_files mine JOIN commit_files other ON "
        "other.commit_id = mine.commit_id "
        "JOIN files ON files.path = other.path AND files.skipped = '' "
        "WHERE mine.path = ? AND other.path <> ? GROUP BY other.path ORDER BY n DESC, other.path LIMIT ?"
    )
    return [(other, count) for other, count in store.rows(sql, (path, path, limit))]
