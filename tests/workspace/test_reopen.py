"""A run that was killed is opened again, whatever it or git had half done."""

import shutil

import pytest

from agent.workspace.git import WorkspaceError
from agent.workspace.worktree import Workspace
from tests.workspace.support import git, make_repo


async def test_reopen_after_a_kill_keeps_commits_and_drops_the_half_step(tmp_path):
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    space.write_bytes("a.c", b"int done;\n")
    done = await space.commit("Done")
    space.write_bytes("a.c", b"int half;\n")
    space.write_bytes("half.c", b"int half;\n")
    (repo / ".git" / "worktrees" / "r1" / "index.lock").write_text("")
    again = await Workspace.reopen(repo, "r1")
    assert (again.base, await again.head(), again.carried) == (space.base, done, space.carried)
    assert (again.root / "a.c").read_text() == "int done;\n" and not (again.root / "half.c").exists()
    assert await again.commit("Nothing") == done


async def test_reopen_when_the_folder_was_removed_by_hand(tmp_path):
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    space.write_bytes("a.c", b"int done;\n")
    done = await space.commit("Done")
    shutil.rmtree(space.top)
    again = await Workspace.reopen(repo, "r1")
    assert await again.head() == done and (again.root / "a.c").read_text() == "int done;\n"
    shutil.rmtree(space.top)
    git(repo, "worktree", "prune")
    git(repo, "branch", "-D", "cra/r1")
    assert (await (await Workspace.reopen(repo, "r1")).head()) == space.base
    assert "deleted" in await again.discard()


# What `git worktree add` has written by the time it is killed, one step after the other.
_MADE = ["locked", "place/.git", "gitdir", "HEAD", "commondir", "HEAD on the branch", "index.lock"]


@pytest.mark.parametrize("steps", range(len(_MADE) + 1))
async def test_a_worktree_that_git_was_killed_in_the_middle_of_is_opened_whole(tmp_path, steps):
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    note = repo / ".git" / "worktrees" / "r1"
    left = {name: (note / name).read_text() for name in ("gitdir", "commondir")}
    left |= {"locked": "initializing", "HEAD": "0" * 40 + "\n", "HEAD on the branch": "ref: refs/heads/cra/r1\n"}
    left |= {"place/.git": (space.top / ".git").read_text(), "index.lock": ""}
    shutil.rmtree(space.top)
    shutil.rmtree(note)
    note.mkdir()
    space.top.mkdir()
    for step in _MADE[:steps]:
        where = space.top / ".git" if step == "place/.git" else note / step.split()[0]
        where.write_text(left[step])
    again = await Workspace.reopen(repo, "r1")
    assert await again.head() == space.base and (again.root / "a.c").is_file() and await again.changed_files() == []
    await again.discard()
    assert git(repo, "worktree", "list").count("\n") == 1 and git(repo, "branch", "--list", "cra/*").strip() == ""


@pytest.mark.parametrize("branch", [True, False])
async def test_locks_that_a_killed_git_left_on_the_runs_own_branch_are_in_nobodys_way(tmp_path, branch):
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    if not branch:  # killed in making it
        git(repo, "worktree", "remove", "--force", str(space.top))
        git(repo, "branch", "-D", "cra/r1")
    locks = [repo / ".git" / "refs" / "heads" / "cra" / "r1.lock"]
    locks += [repo / ".git" / "worktrees" / "r1" / name for name in ("index.lock", "HEAD.lock")] if branch else []
    for lock in locks:
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.write_text("")
    again = await Workspace.reopen(repo, "r1")
    again.write_bytes("a.c", b"int x;\n")
    assert await again.commit("Step") != space.base
    locks[0].write_text("")
    assert "deleted" in await again.discard()
    assert git(repo, "branch", "--list", "cra/*").strip() == ""


async def test_a_branch_checked_out_elsewhere_is_not_deleted(tmp_path):
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    git(repo, "worktree", "add", "-f", str(tmp_path / "mine"), "cra/r1")
    with pytest.raises(WorkspaceError, match="checked out"):
        await space.discard()
    assert "cra/r1" in git(repo, "branch", "--list", "cra/*")
