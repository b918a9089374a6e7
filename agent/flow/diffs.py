"""Counting in unified diffs."""

from __future__ import annotations


def count_lines(diff: str) -> tuple[int, int]:
    """(added, removed) lines of a unified diff, file headers left out."""
    added = removed = 0
    in_hunk = False
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk:
            added += line.startswith("+")
            removed += line.startswith("-")
    return added, removed
