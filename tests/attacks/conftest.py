"""Attackers as fixtures: a hostile model's code that runs as a check, a hostile repository, and ways to be shut in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.workspace.isolation import Isolation, Walls, isolation, wrap
from agent.workspace.sandbox import run_command
from agent.workspace.worktree import Workspace
from tests.workspace.support import make_repo

KINDS: tuple[Isolation, ...] = ("bwrap", "bwrap-net", "unshare", "none")


@pytest.fixture(params=KINDS)
async def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Isolation:
    """Each way a machine may be able to shut a command in; those that do not work on this one are skipped."""
    wanted: Isolation = request.param
    try:
        probe = await asyncio.create_subprocess_exec(*wrap(wanted, ["true"], tmp_path, Walls((tmp_path,))))
        works = await probe.wait() == 0
    except FileNotFoundError:
        works = False
    if not works:
        pytest.skip(f"{wanted} does not work here")
    monkeypatch.setattr("agent.workspace.sandbox.isolation", lambda: wanted)
    return wanted


@pytest.fixture
def walled(kind: Isolation) -> bool:
    """Whether the file system is shut in too."""
    return kind in ("bwrap", "bwrap-net")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A person's repository."""
    return make_repo(tmp_path / "repo")


@pytest.fixture
async def space(repo: Path) -> Workspace:
    """The place of a run on it."""
    return await Workspace.create(repo, "r1")


Check = Callable[[str], object]


@pytest.fixture
def as_check(space: Workspace) -> Callable[[str], object]:
    """Runs a shell script as a check of the run: what code under test can do, it can."""

    async def run(script: str) -> str:
        return (await run_command(["/bin/sh", "-c", script], space.root, 60)).output

    return run


def best() -> Isolation:
    """The strongest kind of this machine."""
    return isolation()
