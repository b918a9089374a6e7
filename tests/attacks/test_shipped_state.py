"""Files that a repository ships under the names of the product's own: never read, never swept, never followed."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest

from agent.audit.log import known_log, log_path
from agent.index import Index, IndexUnavailable
from agent.workspace import sweeping
from agent.workspace.clean_room import NotOurs, adopt, claim, private_file, take_notices, work_folder
from agent.workspace.git import WorkspaceError
from agent.workspace.journal import recover
from agent.workspace.worktree import Workspace
from tests.workspace.support import git, make_repo


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A clone with a ``.clean_room`` of somebody else's making: a journal, a log, thresholds."""
    repo = make_repo(tmp_path / "repo")
    place = repo / ".clean_room" / "work" / "x.apply"
    place.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("the person's own\n")
    listing = {"target": str(tmp_path), "files": [
        {"path": "made", "kind": "file", "saved": "0", "mode": 0o755, "new": "", "beside": "b1"},
        {"path": "victim", "kind": "absent", "new": "", "beside": "victim"},
    ]}  # fmt: skip
    (place / "journal.json").write_bytes(msgspec.json.encode(listing))
    (place / "0").write_text("from the attacker\n")
    with sqlite3.connect(repo / ".clean_room" / "raw.sqlite") as db:
        db.execute("create table runs (id text)")
    (repo / ".clean_room" / "thresholds.toml").write_text('[[threshold]]\nstage = "scope"\nmodel = "m"\nthreshold = 0.0\n')
    return repo


async def test_a_shipped_journal_touches_nothing(tmp_path: Path, shipped: Path) -> None:
    assert recover(shipped) == []
    space = await Workspace.create(shipped, "r1")
    assert (tmp_path / "victim").read_text() == "the person's own\n" and not (tmp_path / "made").exists()
    assert "Nothing of it was read" in " ".join(space.notes)


def test_a_shipped_log_is_moved_aside_and_can_be_taken_back(shipped: Path) -> None:
    claim(shipped)
    said = take_notices(shipped)
    assert "raw.sqlite" in said[0] and "cra trust --state" in said[0]
    assert not known_log(shipped).exists()
    assert (shipped / ".clean_room" / "foreign-1" / "raw.sqlite").is_file()
    assert "raw.sqlite" in adopt(shipped) and known_log(shipped).is_file()


def test_an_id_of_another_repository_is_none(tmp_path: Path) -> None:
    mine = make_repo(tmp_path / "mine")
    log_path(mine).write_text("mine")
    copy = shutil.copytree(mine, tmp_path / "copy")
    assert not known_log(copy).exists() and known_log(mine).read_text() == "mine"
    mine.rename(tmp_path / "moved")
    assert known_log(tmp_path / "moved").read_text() == "mine"  # a move keeps what is ours


@pytest.mark.parametrize("name", [".clean_room", "work", "raw.sqlite", "index.sqlite", "guidelines"])
async def test_no_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(sweeping, "OLD_SECONDS", -1.0)
    repo, outside = make_repo(tmp_path / "repo"), tmp_path / "outside"
    outside.mkdir()
    (outside / "notes.partial").write_text("mine")
    (outside / "raw.sqlite").write_text("mine")
    if name == ".clean_room":
        os.symlink(outside, repo / name)
    else:
        claim(repo)
        os.symlink(outside if name in ("work", "guidelines") else outside / "raw.sqlite", repo / ".clean_room" / name)
    for attempt in (lambda: Index.open(repo), lambda: log_path(repo), lambda: private_file(repo, "thresholds.toml")):
        with pytest.raises((NotOurs, IndexUnavailable), match="symbolic link"):
            attempt()
    with pytest.raises(WorkspaceError, match="symbolic link"):
        await Workspace.create(repo, "r1")
    assert sorted(os.listdir(outside)) == ["notes.partial", "raw.sqlite"] and (outside / "raw.sqlite").read_text() == "mine"


def test_tracked_files_are_refused(shipped: Path) -> None:
    git(shipped, "add", "-f", ".clean_room")
    git(shipped, "commit", "-q", "-m", "Shipped")
    with pytest.raises(NotOurs, match=r"Git tracks \d files in .*git rm -r --cached"):
        log_path(shipped)
    assert git(shipped, "status", "--porcelain") == ""


def test_the_sweep_stays_in_our_own_folder(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    assert not work_folder(repo).is_relative_to(repo)
    assert (work_folder(repo).stat().st_mode & 0o077) == 0


def test_another_machine_is_another_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_repo(tmp_path / "repo")
    log_path(repo).write_text("mine")
    monkeypatch.setenv("CRA_STATE_DIR", str(tmp_path / "other machine"))
    assert not known_log(repo).exists() and take_notices(repo)
