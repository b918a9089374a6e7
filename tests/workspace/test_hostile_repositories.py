"""Repositories as they are found in the wild: what a run cannot take along is said, and nothing ends in a traceback."""

import os
import subprocess
from pathlib import Path

import pytest

from agent.index import Index
from agent.workspace import uncommitted
from agent.workspace.checks import find_test_command
from agent.workspace.clean_room import work_folder
from agent.workspace.git import WorkspaceError
from agent.workspace.worktree import Workspace
from tests.workspace.support import fingerprint, git, make_repo


async def test_lfs_without_its_program_leaves_pointers_as_the_persons_checkout_has_them(tmp_path, monkeypatch):
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n", "big.bin": "version https://git-lfs.github.com/spec/v1\n"})
    (repo / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "LFS")
    for name in ("clean", "smudge", "process"):
        git(repo, "config", f"filter.lfs.{name}", f"git-lfs {name} -- %f")
    git(repo, "config", "filter.lfs.required", "true")
    os.utime(repo / "big.bin", (1, 1))
    monkeypatch.setattr("agent.workspace.git.shutil.which", lambda name: None if name == "git-lfs" else f"/usr/bin/{name}")
    before = fingerprint(repo)
    space = await Workspace.create(repo, "r1")
    assert (space.root / "big.bin").read_text().startswith("version https://git-lfs")
    space.write_bytes("a.c", b"int b;\n")
    await space.commit("Change")
    assert (await space.apply_to_user_tree()).files == ("a.c",)
    (repo / "a.c").write_text("int a;\n")
    assert fingerprint(repo)[0] == before[0]


async def test_newlines_that_git_would_refuse_to_convert(tmp_path):
    repo = make_repo(tmp_path / "repo")
    git(repo, "config", "core.safecrlf", "true")
    git(repo, "config", "core.autocrlf", "input")
    (repo / "new.c").write_bytes(b"int n;\r\n")
    space = await Workspace.create(repo, "r1")
    space.write_bytes("new.c", ((space.root / "new.c").read_text() + "int m;\n").encode())
    await space.commit("Change")
    assert (await space.apply_to_user_tree()).ok
    assert (repo / "new.c").read_bytes() == b"int n;\r\nint m;\r\n"


async def test_submodules_that_every_command_would_follow(tmp_path):
    other = make_repo(tmp_path / "other", {"sub.c": "int s;\n"})
    repo = make_repo(tmp_path / "repo")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "vendor/sub")
    git(repo, "commit", "-q", "-m", "Submodule")
    git(repo, "config", "submodule.recurse", "true")
    space = await Workspace.create(repo, "r1")
    start = await space.head()
    space.write_bytes("a.c", b"int b;\n")
    await space.commit("Change")
    await space.rollback(start)
    assert ((await Workspace.reopen(repo, "r1")).root / "a.c").read_text() == "int a;\n"


async def test_names_that_are_no_text_are_written_as_escapes(tmp_path, monkeypatch):
    monkeypatch.setattr(uncommitted, "LARGEST_CARRIED", 10)
    repo = make_repo(tmp_path / "repo")
    Path(os.fsdecode(os.fsencode(repo) + b"/big\xff\n\x1b[31m.bin")).write_bytes(b"x" * 11)
    make_repo(Path(os.fsdecode(os.fsencode(repo) + b"/nested\xfe")))
    space = await Workspace.create(repo, "r1")
    assert "nested\\xfe/" in space.notes[0] and "big\\xff\\n\\x1b[31m.bin" in space.notes[1]
    assert (await Workspace.reopen(repo, "r1")).notes == space.notes


async def test_a_repository_below_a_name_that_is_no_utf_8_is_refused(tmp_path):
    repo = make_repo(Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff")))
    with pytest.raises(WorkspaceError, match=r"r\\xff holds bytes that are not UTF-8.*Rename"):
        await Workspace.create(repo, "r1")
    assert not (repo / ".clean_room").exists()


def _pipe(repo):
    (repo / "a.c").unlink()
    os.mkfifo(repo / "a.c")


def _filter(repo):
    (repo / ".gitattributes").write_text("*.c filter=bad\n")
    git(repo, "config", "filter.bad.clean", "false")
    git(repo, "config", "filter.bad.required", "true")


@pytest.mark.parametrize("spoil", [_pipe, _filter])
async def test_what_git_cannot_add_names_the_way_around(tmp_path, spoil):
    repo = make_repo(tmp_path / "repo")
    spoil(repo)
    with pytest.raises(WorkspaceError, match=r"cannot be taken along; git says: .*workspace\.carry_uncommitted = false"):
        await Workspace.create(repo, "r1")
    assert git(repo, "branch", "--list", "cra/*") == "" and os.listdir(work_folder(repo)) == []
    space = await Workspace.create(repo, "r2", carry_uncommitted=False)
    assert (space.root / "a.c").read_text() == "int a;\n"


async def test_bare_repositories_and_broken_ones(tmp_path):
    repo = make_repo(tmp_path / "repo")
    subprocess.run(["git", "clone", "-q", "--bare", str(repo), str(tmp_path / "bare")], check=True)
    for place in (tmp_path / "bare", tmp_path / "bare" / "refs", repo / ".git"):
        with pytest.raises(WorkspaceError, match="is a bare repository, or git's own folder"):
            await Workspace.create(place, "r1")
    (repo / ".git" / "HEAD").write_text("garbage\n")
    space = await Workspace.create(repo, "r1")
    assert space.mode == "copy" and space.notes[0].startswith("git cannot read the repository in")


async def test_folders_nested_deeper_than_python_recurses(tmp_path, monkeypatch):
    repo = make_repo(tmp_path / "repo")
    with monkeypatch.context() as inside:
        inside.chdir(repo)
        for name in ["tests", *["d"] * 1500]:
            os.mkdir(name)
            os.chdir(name)
        Path("test_x.py").write_text("def test_x(): pass\n")
        os.chdir(repo)
    assert find_test_command(repo) == ""
    assert "a.c" in {entry.path for entry in _indexed(repo, tmp_path)}
    space = await Workspace.create(repo, "r1")
    space.write_bytes("a.c", b"int b;\n")
    await space.commit("Change")
    assert (await space.apply_to_user_tree()).files == ("a.c",)
    await space.discard()
    assert not space.top.exists()
    subprocess.run(["rm", "-rf", str(repo)], check=True)  # pytest's own sweep recurses


def _indexed(repo, folder):
    index = Index.open(repo, db_path=folder / "index.sqlite")
    index.refresh()
    return index.files()
