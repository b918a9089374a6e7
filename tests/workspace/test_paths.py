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
from agent.workspace.textfile import decode
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


async def test_writing_keeps_mode_newlines_mark_and_encoding(tmp_path):
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    cases = {
        "dos.c": (b"int a;\r\nint b;\r\n", "int c;\nint d;\n", b"int c;\r\nint d;\r\n"),
        "bom.c": (b"\xef\xbb\xbfint a;\n", "int \u00e4;\n", b"\xef\xbb\xbfint \xc3\xa4;\n"),
        "latin.c": (b"/* \xe4 */\n", "/* \u00e4\u00f6 */\n", b"/* \xe4\xf6 */\n"),
        "latin-new.c": (b"/* \xe4 */\n", "/* \u00e4 \u20ac */\n", "/* \u00e4 \u20ac */\n".encode()),
        "coded.py": (b"# coding: cp1252\n'\x80'\n", "# coding: cp1252\n'\u20ac1'\n", b"# coding: cp1252\n'\x801'\n"),
        "no-end.c": (b"int a;", "int b;", b"int b;"),
        "mac.c": (b"a\rb\r", "a\nc\n", b"a\rc\r"),
    }  # fmt: skip
    for name, (old, new, expected) in cases.items():
        (space.root / name).write_bytes(old)
        (space.root / name).chmod(0o750)
        assert space.write(name, new).read_bytes() == expected, name
        assert stat.S_IMODE((space.root / name).stat().st_mode) == 0o750
        assert space.read(name) == new
    (space.root / "mixed.c").write_bytes(b"a\r\nb\nc\r\n")
    space.write("mixed.c", space.read("mixed.c").replace("b", "B"))
    assert (space.root / "mixed.c").read_bytes() == b"a\r\nB\nc\r\n"


async def test_what_cannot_be_read_or_written_is_a_sentence(tmp_path):
    space = await Workspace.create(make_repo(tmp_path / "repo"), "r1")
    (space.root / "image.png").write_bytes(b"\x89PNG\0\0")
    for path, words in (("image.png", "binary"), ("nowhere.c", "no file"), ("dir", "folder")):
        with pytest.raises(WorkspaceError, match=words):
            space.read(path)
    with pytest.raises(WorkspaceError, match="folder"):
        space.write("dir", "x")
    with pytest.raises(WorkspaceError, match="could not be written"):
        space.write("a.c/b.c", "x")
    assert (space.root / "a.c").read_text() == "int a;\n"


@given(st.binary(max_size=200))
def test_every_text_survives_a_round_trip(data):
    try:
        file = decode(data)
    except ValueError:
        assert b"\0" in data
        return
    assert file.encode() == data


def test_a_failed_write_leaves_the_old_file_and_no_scraps(tmp_path, monkeypatch):
    path = tmp_path / "a.c"
    path.write_text("old")

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WorkspaceError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_text() == "old" and [entry.name for entry in tmp_path.iterdir()] == ["a.c"]
