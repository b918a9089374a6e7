"""Real changes as a benchmark: read them, check out their parent commits, score a ranking."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec


class Commit(msgspec.Struct, frozen=True):
    """One row of the commits file: the request in plain words, and what the real change touched."""

    id: str
    repo: str
    language: str
    parent_commit: str
    task: str
    gold_files: tuple[str, ...]
    gold_symbols: tuple[str, ...] = ()


def load(path: Path, only: Collection[str] = ()) -> list[Commit]:
    """The changes of a JSONL file, or those whose id or repository contains one of ``only``."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows = [msgspec.convert(json.loads(line), Commit, strict=False) for line in lines]
    return [row for row in rows if not only or any(word in row.id or word in row.repo for word in only)]


def clone_of(clones: Path, repo: str) -> Path:
    """The clone of ``owner/name`` below ``clones``: ``owner+name``, ``owner/name`` or ``name``.

    Raises:
        SystemExit: if there is none.
    """
    owner, _, name = repo.partition("/")
    for folder in (clones / f"{owner}+{name}", clones / owner / name, clones / name):
        if folder.is_dir():
            return folder
    raise SystemExit(f"There is no clone of {repo} in {clones}. Clone it there as {owner}+{name}, with its history.")


def checkout(clones: Path, row: Commit) -> Path:
    """A working copy at the parent commit below ``clones/parents``. It holds the history up to that commit and no more."""
    target = clones / "parents" / row.id
    if not (target / ".git").exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        source = clone_of(clones, row.repo)
        _git("clone", "-q", "--shared", "--no-checkout", "--no-tags", str(source), str(target))
        _git("-C", str(target), "checkout", "-q", "--detach", row.parent_commit)
        _git("-C", str(target), "remote", "remove", "origin")
        branches = _git("-C", str(target), "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        if branches:
            _git("-C", str(target), "branch", "-q", "-D", *branches)
    return target


def committed(root: Path) -> int:
    """When the commit that is checked out was made, in seconds since 1970."""
    return int(_git("-C", str(root), "log", "-1", "--format=%ct"))


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def recall(gold: Sequence[str], found: Sequence[str], k: int | None = None) -> float:
    """The share of ``gold`` among the first ``k`` found."""
    return len(set(gold) & set(found[:k])) / len(set(gold))


def mean(values: Sequence[float]) -> float:
    """The average, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0
