"""Paths a model names, and text that is written back as it was found."""

import contextlib
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.workspace.git import WorkspaceError
from agent.workspace.paths import PathRefused, resolve_inside, write_atomically
from agent.workspace.worktree import Workspace
from tests.workspace.support import make_repo


@pytest.mark.parametrize(
    "path",
    [
        "", " ", "/etc/passwd", "../x", "a/../../x", "..", ".", "./", "~/x", "C:/x", "..\\x", "a\0b", "a\nb",
        ".git/config", ".GIT/hooks/pre-commit", "sub/.git/config", ".clean_room/raw.sqlite", "a/.Git/x", ".git",
    ],
)  # fmt: skip
def test_paths_that_lead_out_are_refused(tmp_path, path):
    with pytest.raises(PathRefused):
        resolve_inside(tmp_path, path)


def test_links_are_followed_inside_and_refused_outside(tmp_path):
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    os.symlink("real", root / "alias")
    os.symlink(tmp_path / "out", root / "away")
    os.symlink(tmp_path / "out" / "secret", root / "file")
    os.symlink("loop", root / "loop")
    os.symlink(".git", root / "hidden")
    assert resolve_inside(root, "alias/x.c") == (root / "real" / "x.c").resolve()
    for path in ("away/x.c", "file", "hidden/config", "away"):
        with pytest.raises(PathRefused):
            resolve_inside(root, path)


@given(st.text(max_size=40))
def test_whatever_is_resolved_is_inside(text):
    root = Path("/nowhere/root")
    with contextlib.suppress(PathRefused):
        assert resolve_inside(root, text).is_relative_to(root)


async def test_writing_keeps_the_mode(tmp_path):
    space = await Workspace.create(make_repo(tmp_path / "repo"), "r1")
    (space.root / "a.c").chmod(0o750)
    assert space.write_bytes("a.c", b"int b;\r\n").read_bytes() == b"int b;\r\n"
    assert stat.S_IMODE((space.root / "a.c").stat().st_mode) == 0o750


async def test_what_cannot_be_written_is_a_sentence(tmp_path):
    space = await Workspace.create(make_repo(tmp_path / "repo"), "r1")
    with pytest.raises(WorkspaceError, match="folder"):
        space.write_bytes("dir", b"x")
    with pytest.raises(WorkspaceError, match="could not be written"):
        space.write_bytes("a.c/b.c", b"x")
    assert (space.root / "a.c").read_text() == "int a;\n"



def test_a_failed_write_leaves_the_old_file_and_no_scraps(tmp_path, monkeypatch):
    path = tmp_path / "a.c"
    path.write_text("old")

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WorkspaceError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_text() == "old" and [entry.name for entry in tmp_path.iterdir()] == ["a.c"]
