"""The worktree's ``.git`` under attack: no program of the attacker runs outside the sandbox, and git never falls back to the
person's repository."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent.index import Index, IndexUnavailable
from agent.launch import trust_question
from agent.workspace.git import CheckoutChanged, WorkspaceError, run_git
from agent.workspace.restoring import CheckoutGuard
from agent.workspace.worktree import Workspace
from tests.workspace.support import fingerprint, git, make_repo

Check = Callable[[str], Awaitable[str]]

EVIL_CONFIG = """
[core]
	repositoryformatversion = 0
	fsmonitor = {program}
	hooksPath = {folder}
	worktree = {elsewhere}
[filter "evil"]
	clean = {program}
	smudge = {program}
	required = true
[diff]
	external = {program}
[gpg]
	program = {program}
[log]
	showSignature = true
"""


def plant(place: Path, program: Path, elsewhere: Path) -> str:
    """A script that puts a repository of the attacker into ``place``, with every setting that runs a program."""
    config = EVIL_CONFIG.format(program=program, folder=program.parent, elsewhere=elsewhere)
    return f"""
    rm -rf {place}/.git || mv {place}/.git {place}/.moved
    git init -q {place} 2>&1
    cat > {place}/.git/config <<'END'
{config}
END
    echo '* filter=evil diff=evil' > {place}/.gitattributes
    """


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that leaves a mark when somebody runs it."""
    made = tmp_path / "bin" / "post-checkout"
    made.parent.mkdir()
    made.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    made.chmod(0o755)
    return made


async def everything(space: Workspace) -> None:
    """What the product does with git in a run's place."""
    space.write_bytes("a.c", b"int changed;\n")
    await space.diff()
    await space.changed_files()
    start = await space.commit("Step")
    CheckoutGuard(space).restore()
    Index.open(space.root, db_path=space.repo.parent / "index.sqlite").refresh()
    await space.drop_leftovers()
    await space.rollback(start)


async def test_a_repository_in_its_place_runs_nothing(
    tmp_path: Path, repo: Path, space: Workspace, as_check: Check, program: Path
) -> None:
    before, elsewhere = fingerprint(repo), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.c").write_text("int theirs;\n")
    await as_check(plant(space.top, program, elsewhere))
    try:
        await everything(space)
    except CheckoutChanged as error:
        assert "Your repository was not touched" in str(error)
    assert not (tmp_path / "ran").exists()
    assert fingerprint(repo) == before and (elsewhere / "a.c").read_text() == "int theirs;\n"


async def test_a_repository_below_the_place_runs_nothing(
    tmp_path: Path, repo: Path, as_check: Check, space: Workspace, program: Path
) -> None:
    before = fingerprint(repo)
    await as_check(plant(space.top / "dir", program, tmp_path))
    await everything(space)
    assert not (tmp_path / "ran").exists() and fingerprint(repo) == before


async def test_a_repository_in_a_submodules_folder_runs_nothing(tmp_path: Path, program: Path) -> None:
    inner = make_repo(tmp_path / "inner")
    repo = make_repo(tmp_path / "repo")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    (repo / ".gitmodules").write_text((repo / ".gitmodules").read_text() + "\tignore = none\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Submodule")
    space = await Workspace.create(repo, "r1")
    os.system(plant(space.top / "sub", program, tmp_path))
    os.system(f"cd {space.top}/sub && git -c core.fsmonitor=false -c core.hooksPath=/dev/null commit -q --allow-empty -m x")
    (tmp_path / "ran").unlink(missing_ok=True)
    await everything(space)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("loss", ["rm -rf .git", "cd / && rm -rf {top}", "git clean -ffdxq; rm -f .git", "mv .git dotgit"])
async def test_a_place_that_is_gone_ends_the_run_and_not_the_persons_work(
    repo: Path, space: Workspace, as_check: Check, loss: str, walled: bool
) -> None:
    (repo / "a.c").write_text("int my_edit;\n")
    before = fingerprint(repo)
    await as_check(loss.format(top=space.top))
    if walled:
        assert (space.top / ".git").is_file()  # it can only be read in there
        return
    for attempt in (space.commit("x"), space.diff(), space.rollback(space.base), space.drop_leftovers()):
        with pytest.raises((WorkspaceError, FileNotFoundError)):
            await attempt
    assert fingerprint(repo) == before
    assert "kept on the branch" in await space.keep()


async def test_a_worktree_removed_by_git_itself(repo: Path, space: Workspace) -> None:
    (repo / "a.c").write_text("int my_edit;\n")
    git(repo, "worktree", "remove", "--force", str(space.top))
    before = fingerprint(repo)
    for attempt in (space.commit("x"), space.rollback(space.base), space.drop_leftovers(), space.diff()):
        with pytest.raises(CheckoutChanged, match=r"is gone.*Your repository was not touched"):
            await attempt
    assert fingerprint(repo) == before
    again = await Workspace.reopen(repo, "r1")
    assert (again.root / "a.c").read_text() == "int a;\n"


async def test_another_folder_in_its_place(tmp_path: Path, repo: Path, space: Workspace) -> None:
    before = fingerprint(repo)
    shutil.move(space.top, tmp_path / "moved")
    os.symlink(repo, space.top)
    for attempt in (space.commit("x"), space.rollback(space.base), space.drop_leftovers(), space.diff()):
        with pytest.raises(CheckoutChanged, match="was replaced"):
            await attempt
    await space.discard()
    assert fingerprint(repo, refs=False) == before[:1] or fingerprint(repo) == before
    assert (repo / "a.c").exists() and (tmp_path / "moved" / "a.c").exists()


async def test_a_copy_outside_git_has_no_repository_within_reach(tmp_path: Path, as_check: Check, program: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.c").write_text("int a;\n")
    space = await Workspace.create(folder, "r1")
    assert not (space.top / ".git").exists()
    os.system(plant(space.top, program, tmp_path))
    (tmp_path / "ran").unlink(missing_ok=True)
    with pytest.raises(CheckoutChanged):
        await space.commit("x")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("setting", ["filter", "core.fsmonitor", "diff.external", "core.worktree", "log.showSignature"])
async def test_a_repository_whose_own_configuration_runs_programs(
    tmp_path: Path, repo: Path, program: Path, setting: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.c").write_text("int mine;\n")
    if setting == "filter":
        for name in ("clean", "smudge"):
            git(repo, "config", f"filter.evil.{name}", str(program))
    else:
        git(repo, "config", setting, {"core.worktree": str(elsewhere)}.get(setting, str(program)))
    git(repo, "config", "gpg.program", str(program)) if setting == "log.showSignature" else None
    Index.open(repo, db_path=tmp_path / "index.sqlite").refresh()
    space = await Workspace.create(repo, "r1")
    await everything(space)
    assert (await space.apply_to_user_tree()).ok and (repo / "a.c").read_text() == "int changed;\n"
    assert os.listdir(elsewhere) == ["mine.c"] and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("condition", ["onbranch:cra/**", "gitdir:**/worktrees/**", "onbranch:**"])
@pytest.mark.parametrize("known", [False, True])
async def test_a_filter_that_counts_in_the_runs_place_only(
    tmp_path: Path, repo: Path, program: Path, condition: str, known: bool
) -> None:
    """Neither one that nobody was told of, nor one that takes the name of another."""
    (tmp_path / "evil").write_text(f'[filter "f"]\n\tclean = {program}\n\tsmudge = {program}\n\trequired = true\n')
    (repo / ".gitattributes").write_text("*.c filter=f\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Attributes")
    if condition == "onbranch:**":  # it would count in the person's own checkout as well
        git(repo, "checkout", "-q", "--detach")
    git(repo, "config", f"includeIf.{condition}.path", str(tmp_path / "evil"))
    if known:
        git(repo, "config", "filter.f.clean", "cat")
    space = await Workspace.create(repo, "r1")
    assert known == any("the filter f (cat)" in note for note in space.notes)
    await everything(space)
    assert (await Workspace.reopen(repo, "r1")).root.is_dir()
    assert not (tmp_path / "ran").exists()


async def test_a_filter_that_cannot_be_switched_off_is_refused(tmp_path: Path, repo: Path, program: Path) -> None:
    git(repo, "config", "filter.x=y.clean", str(program))
    (repo / ".gitattributes").write_text("* filter=x=y\n")
    os.utime(repo / "a.c", (1, 1))
    with pytest.raises(IndexUnavailable, match="x=y"):
        Index.open(repo, db_path=tmp_path / "i.sqlite").refresh()
    with pytest.raises(WorkspaceError, match=r"filter 'x=y'.*without the sign ="):
        await Workspace.create(repo, "r1")
    assert not (tmp_path / "ran").exists()


async def test_a_filter_that_the_persons_own_files_need_is_said(tmp_path: Path, repo: Path) -> None:
    git(repo, "config", "filter.upper.clean", "tr A-Z a-z")
    git(repo, "config", "filter.upper.smudge", "tr a-z A-Z")
    (repo / ".gitattributes").write_text("*.c filter=upper\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Attributes")
    assert "Git runs the filter upper (tr A-Z a-z, tr a-z A-Z), outside of these walls" in trust_question(repo)
    space = await Workspace.create(repo, "r1")
    assert any("Git runs the filter upper" in note for note in space.notes)
    assert (space.root / "a.c").read_text() == "INT A;\n"


def test_git_never_looks_further_up(tmp_path: Path) -> None:
    make_repo(tmp_path)
    (tmp_path / "below").mkdir()
    assert run_git(tmp_path / "below", "rev-parse", "HEAD", check=False).returncode != 0
