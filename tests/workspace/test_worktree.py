"""A run's place: what it starts from, and that the person's checkout stays as it is."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from agent.index.scan import list_files
from agent.workspace.clean_room import work_folder
from agent.workspace.git import GitError, WorkspaceError
from agent.workspace.paths import PathRefused
from agent.workspace.protected import is_writable
from agent.workspace.record import recorded
from agent.workspace.restoring import CheckoutGuard
from agent.workspace.worktree import Workspace
from tests.workspace.support import fingerprint, git, make_repo


async def test_clean_repository_starts_from_head(tmp_path):
    repo = make_repo(tmp_path / "repo")
    before = fingerprint(repo)
    space = await Workspace.create(repo, "r1")
    assert space.base == space.user_head == git(repo, "rev-parse", "HEAD").strip()
    assert not space.carried and space.notes == () and space.mode == "worktree"
    assert space.root == work_folder(repo) / "r1" and not space.root.is_relative_to(repo)
    assert (space.root / "dir" / "b.py").read_text() == "b = 1\n"
    assert git(space.root, "branch", "--show-current").strip() == "cra/r1"
    assert fingerprint(repo) == before
    assert git(repo, "status", "--porcelain") == ""


async def test_uncommitted_changes_are_carried_in_and_left_where_they_are(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n", "gone.c": "x\n", "moved.c": "m\n", ".gitignore": "*.o\n"})
    (repo / "a.c").write_text("int a = 2;\n")
    (repo / "staged.c").write_text("staged then changed\n")
    git(repo, "add", "staged.c")
    (repo / "staged.c").write_text("changed again\n")
    (repo / "new file ä.c").write_text("untracked\n")
    (repo / "junk.o").write_text("ignored\n")
    (repo / "gone.c").unlink()
    git(repo, "mv", "moved.c", "renamed.c")
    (repo / "script.sh").write_text("#!/bin/sh\n")
    (repo / "script.sh").chmod(0o755)
    os.symlink("a.c", repo / "link.c")
    before, status = fingerprint(repo), git(repo, "status", "--porcelain")
    space = await Workspace.create(repo, "r1")
    assert space.carried and space.base != space.user_head
    assert git(space.root, "rev-parse", "HEAD^").strip() == space.user_head
    found = {path.name for path in space.root.iterdir()} - {".git"}
    assert found == {"a.c", "staged.c", "new file ä.c", "renamed.c", "script.sh", "link.c", ".gitignore"}
    assert (space.root / "a.c").read_text() == "int a = 2;\n"
    assert (space.root / "staged.c").read_text() == "changed again\n"
    assert (space.root / "script.sh").stat().st_mode & stat.S_IXUSR
    assert os.readlink(space.root / "link.c") == "a.c"
    assert await space.diff() == "" and await space.changed_files() == []
    assert fingerprint(repo) == before
    assert git(repo, "status", "--porcelain") == status
    assert git(repo, "stash", "list") == ""


async def test_without_carrying_the_run_says_that_it_starts_from_head(tmp_path):
    repo = make_repo(tmp_path / "repo")
    (repo / "a.c").write_text("int a = 2;\n")
    space = await Workspace.create(repo, "r1", carry_uncommitted=False)
    assert (space.root / "a.c").read_text() == "int a;\n"
    assert "without the changes not yet committed" in space.notes[0]


async def test_commit_takes_the_change_and_not_what_builds_leave(tmp_path):
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    space.write_bytes("a.c", b"int a = 3;\n")
    space.write_bytes("src/new.c", b"int n;\n")
    (space.root / "program").write_bytes(b"\x7fELF")
    first = await space.commit("Step 1")
    assert first == await space.head() != space.base
    assert await space.commit("Nothing to do") == first
    assert git(space.root, "show", "--format=%an <%ae>", "--name-only", first).split("\n")[0].startswith("Clean Room <")
    assert await space.changed_files() == ["a.c", "src/new.c"]
    diff = await space.diff()
    assert "-int a;" in diff and "+int a = 3;" in diff and "+++ b/src/new.c" in diff and "program" not in diff


async def test_diff_shows_what_is_not_committed_yet(tmp_path):
    space = await Workspace.create(make_repo(tmp_path / "repo"), "r1")
    space.write_bytes("a.c", b"int z;\n")
    first = await space.commit("One")
    space.write_bytes("n.c", b"int n;\n")
    assert await space.changed_files() == ["a.c", "n.c"]
    assert await space.changed_files(first) == ["n.c"]


async def test_rollback_drops_later_commits_and_files(tmp_path):
    space = await Workspace.create(make_repo(tmp_path / "repo"), "r1")
    space.write_bytes("a.c", b"int one;\n")
    first = await space.commit("One")
    space.write_bytes("b.c", b"int two;\n")
    await space.commit("Two")
    space.write_bytes("c.c", b"int three;\n")
    await space.rollback(first)
    assert await space.head() == first
    assert not (space.root / "b.c").exists() and not (space.root / "c.c").exists()
    space.write_bytes("c.c", b"int three;\n")
    await space.rollback(space.base)
    assert await space.changed_files() == []
    with pytest.raises(WorkspaceError, match="not a commit of run"):
        await space.rollback("0" * 40)


async def test_ignored_files_that_were_written_stay_with_the_step_and_go_with_it(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n", ".gitignore": "*.gen.c\nbuild/\n"})
    space = await Workspace.create(repo, "r1")
    start = await space.head()

    def write_and_build():
        for path in ("one.gen.c", "build/two.c", "three.c"):
            space.write_bytes(path, b"int x;\n")
        for path in ("build/left.o", "left.gen.c", "left.c"):
            (space.top / path).write_text("left")

    write_and_build()
    await space.drop_leftovers()
    present = {path.relative_to(space.top).as_posix() for path in space.top.rglob("*.[co]")}
    assert present == {"a.c", "one.gen.c", "build/two.c", "three.c"}
    await space.rollback(start)
    assert {path.name for path in space.top.rglob("*.[co]")} == {"a.c"}
    write_and_build()
    await space.commit("Step")
    await space.drop_leftovers()
    assert set(await space.changed_files()) == {"one.gen.c", "build/two.c", "three.c"} == present - {"a.c"}
    await space.rollback(start)
    assert {path.name for path in space.top.rglob("*.[co]")} == {"a.c"}


async def test_works_without_a_name_with_hooks_signing_and_a_foreign_environment(tmp_path, monkeypatch):
    repo = make_repo(tmp_path / "repo")
    other = make_repo(tmp_path / "other")
    for hook in ("pre-commit", "post-checkout", "commit-msg", "reference-transaction", "post-index-change"):
        path = repo / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\nexit 1\n")
        path.chmod(0o755)
    git(repo, "config", "commit.gpgsign", "true")
    git(repo, "config", "user.useConfigOnly", "true")
    git(repo, "config", "core.autocrlf", "input")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "nonsense")
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    (repo / "n.c").write_text("n\n")
    before = fingerprint(other)
    space = await Workspace.create(repo, "r1")
    space.write_bytes("a.c", b"int b;\n")
    await space.commit("Step")
    assert (await space.apply_to_user_tree()).ok
    await space.discard()
    assert not (tmp_path / "hook-ran").exists()
    assert fingerprint(other) == before


async def test_repository_below_the_top_level(tmp_path):
    top = make_repo(tmp_path / "top", {"lib/x.c": "int x;\n", "app/main.c": "int main;\n"})
    space = await Workspace.create(top / "app", "r1")
    assert space.root == space.top / "app" and (space.top / "lib" / "x.c").exists()
    space.write_bytes("main.c", b"int changed;\n")
    space.write_bytes("new.c", b"int n;\n")
    await space.commit("Step")
    assert await space.changed_files() == ["main.c", "new.c"]
    assert "a/main.c" in await space.diff()
    with pytest.raises(PathRefused):
        space.resolve("../lib/x.c")
    assert (await space.apply_to_user_tree()).files == ("app/main.c", "app/new.c")
    assert (top / "app" / "new.c").read_text() == "int n;\n"


async def test_a_linked_worktree_can_hold_runs(tmp_path):
    repo = make_repo(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "-b", "feature", str(tmp_path / "linked"))
    (tmp_path / "linked" / "a.c").write_text("int linked;\n")
    before = fingerprint(tmp_path / "linked")
    space = await Workspace.create(tmp_path / "linked", "r1")
    assert (space.root / "a.c").read_text() == "int linked;\n"
    assert fingerprint(tmp_path / "linked") == before
    space.write_bytes("a.c", b"int more;\n")
    await space.commit("Step")
    assert (await space.apply_to_user_tree()).ok
    await space.discard()
    assert (repo / "a.c").read_text() == "int a;\n"
    assert (tmp_path / "linked" / "a.c").read_text() == "int more;\n"


async def test_no_commit_yet(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n"}, commit=False)
    before = fingerprint(repo)
    space = await Workspace.create(repo, "r1")
    assert "no commit yet" in space.notes[0] and space.user_head == ""
    assert (space.root / "a.c").read_text() == "int a;\n"
    assert fingerprint(repo) == before
    space.write_bytes("a.c", b"int b;\n")
    await space.commit("Step")
    assert (await space.apply_to_user_tree()).ok
    await space.discard()
    assert git(repo, "status", "--porcelain") == "?? a.c\n"


async def test_detached_head_stays_detached(tmp_path):
    repo = make_repo(tmp_path / "repo")
    git(repo, "checkout", "-q", "--detach")
    before = fingerprint(repo)
    space = await Workspace.create(repo, "r1")
    await space.keep()
    assert fingerprint(repo) == before


async def test_outside_git_a_copy(tmp_path):
    folder = tmp_path / "plain"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.c").write_bytes(b"int a;\r\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "node_modules").mkdir()
    os.mkfifo(folder / "pipe")
    before = fingerprint(folder)
    space = await Workspace.create(folder, "r1")
    assert space.mode == "copy" and "not a git repository" in space.notes[0]
    assert not (space.root / "node_modules").exists()
    space.write_bytes("src/a.c", b"int b;\r\n")
    assert (space.root / "src" / "a.c").read_bytes() == b"int b;\r\n"
    await space.commit("Step")
    assert "+int b;" in await space.diff()
    assert fingerprint(folder) == before
    assert (await space.apply_to_user_tree()).files == ("src/a.c",)
    assert (folder / "src" / "a.c").read_bytes() == b"int b;\r\n"
    assert not (folder / ".git").exists()
    await space.discard()
    assert not space.top.exists()


async def test_a_folder_that_an_outer_repository_does_not_track_is_copied(tmp_path):
    home = make_repo(tmp_path / "home", {"dotfile": "x\n"})
    (home / "project").mkdir()
    (home / "project" / "a.c").write_text("int a;\n")
    (home / "secret").write_text("not to be carried along\n")
    space = await Workspace.create(home / "project", "r1")
    assert space.mode == "copy"
    assert {path.name for path in space.top.iterdir()} == {"a.c"}


async def test_submodules_nested_repositories_and_large_files_are_named(tmp_path, monkeypatch):
    repo = with_submodule(tmp_path)
    git(repo, "submodule", "--quiet", "deinit", "--all")
    make_repo(repo / "nested")
    monkeypatch.setattr("agent.workspace.uncommitted.LARGEST_CARRIED", 1000)
    (repo / "weights.bin").write_bytes(b"0" * 2000)
    space = await Workspace.create(repo, "r1")
    notes = " ".join(space.notes)
    assert "vendor/inner" in notes and "nested/" in notes and "weights.bin" in notes
    assert not (space.root / "weights.bin").exists()
    space.write_bytes("a.c", b"int b;\n")
    await space.commit("Step")
    assert await space.changed_files() == ["a.c"]
    assert (await space.apply_to_user_tree()).files == ("a.c",)


def with_submodule(folder: Path) -> Path:
    """A repository with a submodule ``vendor/inner``, which has one of its own, ``deep``."""
    deep = make_repo(folder / "deep")
    inner = make_repo(folder / "inner")
    repo = make_repo(folder / "repo")
    allowed = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    git(inner, *allowed, "add", str(deep), "deep")
    git(inner, "commit", "-q", "-m", "Deep")
    git(repo, *allowed, "add", str(inner), "vendor/inner")
    git(repo, "commit", "-q", "-m", "Submodule")
    git(repo / "vendor" / "inner", *allowed, "update", "--init")
    return repo


@pytest.mark.parametrize("carried", [True, False])
async def test_files_of_submodules_are_there_to_be_read(tmp_path, carried):
    repo = with_submodule(tmp_path)
    (repo / "vendor/inner/a.c").write_text("int edited;\n")
    (repo / "vendor/inner/new.c").write_text("int untracked;\n")
    before = fingerprint(repo)
    space = await Workspace.create(repo, "r1", carried)
    inner = space.root / "vendor/inner"
    assert (inner / "a.c").read_text() == ("int edited;\n" if carried else "int a;\n")
    assert (inner / "new.c").exists() is carried and (inner / "deep/a.c").read_text() == "int a;\n"
    assert not (inner / ".git").exists() and "vendor/inner, vendor/inner/deep" in " ".join(space.notes)
    assert space.submodules == ("vendor/inner", "vendor/inner/deep")
    listed = list_files(space.root)
    assert {"vendor/inner/a.c", "vendor/inner/deep/a.c"} <= set(listed.paths) and "submodule" not in listed.skipped
    assert await space.changed_files() == [] and fingerprint(repo) == before


async def test_a_submodule_that_is_too_large_is_named(tmp_path, monkeypatch):
    repo = with_submodule(tmp_path)
    monkeypatch.setattr("agent.workspace.submodules.MOST_FILES", 2)
    space = await Workspace.create(repo, "r1")
    assert not (space.root / "vendor/inner/a.c").exists() and space.submodules == ()
    assert any("over 2 files" in note and "vendor/inner" in note for note in space.notes)


async def test_submodules_are_not_written_and_put_back_after_commands(tmp_path):
    repo = with_submodule(tmp_path)
    space = await Workspace.create(repo, "r1")
    inner = space.root / "vendor/inner"
    with pytest.raises(WorkspaceError, match="in the submodule vendor/inner"):
        space.write_bytes("vendor/inner/a.c", b"")
    assert not is_writable(space.root, "vendor/inner/deep/a.c", submodules=space.submodules)
    start = await space.head()
    untouched, kept = CheckoutGuard(space), (inner / "deep/a.c").stat().st_mtime_ns
    (inner / "a.c").write_text("int spoiled;\n")
    (inner / "left.o").write_text("what a build left\n")
    untouched.restore()
    assert (inner / "a.c").read_text() == "int a;\n" and (inner / "left.o").exists()
    assert (inner / "deep/a.c").stat().st_mtime_ns == kept  # make need not build it again
    await space.drop_leftovers()
    assert not (inner / "left.o").exists()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.c").write_text("int mine;\n")
    shutil.rmtree(inner)
    inner.symlink_to(outside)
    await space.rollback(start)
    assert not inner.is_symlink() and (inner / "deep/a.c").read_text() == "int a;\n"
    assert [path.name for path in outside.iterdir()] == ["mine.c"]
    shutil.rmtree(space.top)
    again = await Workspace.reopen(repo, "r1")
    assert (again.root / "vendor/inner/a.c").read_text() == "int a;\n"


async def test_an_unfinished_merge_is_taken_as_it_is(tmp_path):
    repo = make_repo(tmp_path / "repo")
    git(repo, "checkout", "-q", "-b", "other")
    (repo / "a.c").write_text("int theirs;\n")
    git(repo, "commit", "-qam", "Theirs")
    git(repo, "checkout", "-q", "main")
    (repo / "a.c").write_text("int ours;\n")
    git(repo, "commit", "-qam", "Ours")
    git(repo, "merge", "-q", "other", check=False)
    before = fingerprint(repo)
    space = await Workspace.create(repo, "r1")
    assert "A merge is not finished (a.c)" in space.notes[0]
    assert "<<<<<<<" in (space.root / "a.c").read_text()
    assert fingerprint(repo) == before


async def test_keep_leaves_the_branch_and_discard_removes_it(tmp_path):
    repo = make_repo(tmp_path / "repo")
    kept, gone = await Workspace.create(repo, "kept"), await Workspace.create(repo, "gone")
    for space in (kept, gone):
        space.write_bytes("a.c", f"int {space.run_id};\n".encode())
        await space.commit("Step")
    assert recorded(repo) == ["kept", "gone"]
    kept.write_bytes("half.c", b"int half;\n")
    assert "cra/kept" in await kept.keep()
    assert "deleted" in await gone.discard()
    assert git(repo, "branch", "--format=%(refname:short)").split() == ["cra/kept", "main"]
    assert git(repo, "show", "cra/kept:a.c") == "int kept;\n"
    assert git(repo, "show", "cra/kept:half.c") == "int half;\n"
    assert git(repo, "worktree", "list").count("\n") == 1
    assert recorded(repo) == [] and (repo / "a.c").read_text() == "int a;\n"


async def test_other_peoples_worktrees_survive_a_discard(tmp_path):
    repo = make_repo(tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "-b", "elsewhere", str(tmp_path / "linked"))
    (tmp_path / "linked").rename(tmp_path / "unplugged")
    space = await Workspace.create(repo, "r1")
    shutil.rmtree(space.top)
    await space.discard()
    (tmp_path / "unplugged").rename(tmp_path / "linked")
    assert git(tmp_path / "linked", "status", "--porcelain") == ""
    assert git(repo, "worktree", "list").count("\n") == 2


async def test_a_branch_that_is_checked_out_elsewhere_is_not_deleted(tmp_path):
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    git(repo, "worktree", "add", "-q", "-f", str(tmp_path / "look"), "cra/r1")
    with pytest.raises(WorkspaceError, match="checked out"):
        await space.discard()
    assert git(repo, "branch", "--list", "cra/r1") != ""


async def test_errors_are_sentences_and_change_nothing(tmp_path):
    repo = make_repo(tmp_path / "repo")
    (tmp_path / "file").write_text("x")
    await Workspace.create(repo, "r1")
    before = fingerprint(repo)
    git(repo, "branch", "cra/taken")
    for path, run, words in (
        (tmp_path / "nowhere", "r", "There is no folder"),
        (tmp_path / "file", "r", "is a file"),
        (repo, "r1", "in use"),
        (repo, "taken", "exists already"),
        (repo, "../x", "cannot name a run"),
        (repo, "", "cannot name a run"),
        (repo, "a..b", "cannot name a run"),
    ):
        with pytest.raises(WorkspaceError, match=words):
            await Workspace.create(path, run)
    git(tmp_path, "init", "-q", "--bare", "bare")
    with pytest.raises(GitError, match="bare repository"):
        await Workspace.create(tmp_path / "bare", "r")
    with pytest.raises(WorkspaceError, match="No unfinished run"):
        await Workspace.reopen(repo, "never")
    assert fingerprint(repo) == before
    assert recorded(repo) == ["r1"]


async def test_a_branch_named_cra_is_explained_and_leaves_nothing_behind(tmp_path):
    repo = make_repo(tmp_path / "repo")
    git(repo, "branch", "cra")
    with pytest.raises(WorkspaceError, match="rename it"):
        await Workspace.create(repo, "r1")
    assert recorded(repo) == [] and git(repo, "worktree", "list").count("\n") == 1


async def test_clean_room_that_is_a_link_is_refused(tmp_path):
    repo = make_repo(tmp_path / "repo")
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", repo / ".clean_room")
    with pytest.raises(WorkspaceError, match="symbolic link"):
        await Workspace.create(repo, "r1")
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_git_missing_means_a_clear_sentence(tmp_path, monkeypatch):
    repo = make_repo(tmp_path / "repo")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="Install git"):
        await Workspace.create(repo, "r1")
