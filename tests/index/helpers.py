"""Small real repositories for the index tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent.index import Index
from agent.retrieval.ranking import best_first, fuse
from agent.workspace.git import git_environment

_IDENTITY = [
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@example.org",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "init.defaultBranch=main",
]


def _environment() -> dict[str, str]:
    return {name: value for name, value in git_environment().items() if name != "GIT_ALLOW_PROTOCOL"}


def run_git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *_IDENTITY, *arguments], cwd=root, capture_output=True, text=True, check=True, env=_environment()
    )
    return done.stdout.strip()


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def repository(root: Path, files: dict[str, str], message: str = "first") -> Path:
    root.mkdir(parents=True, exist_ok=True)
    run_git(root, "init", "-q")
    write(root, files)
    if files:
        run_git(root, "add", "-A")
        run_git(root, "commit", "-q", "-m", message)
    return root


def commit(root: Path, files: dict[str, str], message: str) -> None:
    write(root, files)
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", message)


def found(index: Index, query: str, *, tests: bool | None = False) -> list[str]:
    """The paths that the index's rankings bring up, best first, each kind of evidence counting the same."""
    return best_first(fuse((1.0, scores) for scores in index.rankings(query, tests=tests).values()))
