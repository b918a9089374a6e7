"""Every state that a person's repository may be in when a run begins, each as a function that makes it so."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.workspace.support import git, make_repo

State = Callable[[Path], None]
STATES: dict[str, State] = {}


def state(make: State) -> State:
    """Register a state under its name."""
    STATES[make.__name__.strip("_").replace("_", " ")] = make
    return make


def commit(repo: Path, message: str = "More", **files: str) -> None:
    """Commit files; ``__`` in a name stands for a dot."""
    for name, text in files.items():
        (repo / name.replace("__", ".")).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--allow-empty", "-m", message)


def diverged(repo: Path) -> None:
    """Two branches that change the same line of a.c; ``main`` is checked out."""
    git(repo, "checkout", "-q", "-b", "other")
    commit(repo, a__c="int theirs;\n")
    git(repo, "checkout", "-q", "main")
    commit(repo, a__c="int mine;\n")


@state
def clean(repo: Path) -> None: ...


@state
def modified(repo: Path) -> None:
    (repo / "a.c").write_text("int edited;\n")


@state
def staged_and_modified_again(repo: Path) -> None:
    (repo / "a.c").write_text("int staged;\n")
    git(repo, "add", "a.c")
    (repo / "a.c").write_text("int edited;\n")


@state
def staged_new_then_deleted(repo: Path) -> None:
    (repo / "new.c").write_text("int n;\n")
    git(repo, "add", "new.c")
    (repo / "new.c").unlink()


@state
def deleted_in_the_tree(repo: Path) -> None:
    (repo / "dir" / "b.py").unlink()


@state
def deleted_in_the_index(repo: Path) -> None:
    git(repo, "rm", "-q", "--cached", "dir/b.py")


@state
def renamed(repo: Path) -> None:
    git(repo, "mv", "dir/b.py", "dir/c.py")


@state
def file_became_folder(repo: Path) -> None:
    (repo / "dir" / "b.py").unlink()
    (repo / "dir" / "b.py").mkdir()
    (repo / "dir" / "b.py" / "x").write_text("x\n")


@state
def intent_to_add(repo: Path) -> None:
    (repo / "new.c").write_text("int n;\n")
    git(repo, "add", "-N", "new.c")


@state
def assume_unchanged(repo: Path) -> None:
    git(repo, "update-index", "--assume-unchanged", "dir/b.py")
    (repo / "dir" / "b.py").write_text("b = 2\n")


@state
def skip_worktree(repo: Path) -> None:
    git(repo, "update-index", "--skip-worktree", "dir/b.py")
    (repo / "dir" / "b.py").unlink()


@state
def untracked_and_ignored(repo: Path) -> None:
    (repo / ".gitignore").write_text("*.o\n")
    (repo / "x.o").write_text("object")
    (repo / "note.txt").write_text("mine\n")


@state
def tracked_but_ignored(repo: Path) -> None:
    commit(repo, __gitignore="a.c\n")


@state
def mode_changed(repo: Path) -> None:
    (repo / "a.c").chmod(0o755)


@state
def link_to_a_file(repo: Path) -> None:
    (repo / "link.c").symlink_to("a.c")


@state
def link_out_of_the_repository(repo: Path) -> None:
    (repo / "out").symlink_to("/etc")


@state
def fifo_beside(repo: Path) -> None:
    os.mkfifo(repo / "pipe")


@state
def unborn(repo: Path) -> None:
    git(repo, "update-ref", "-d", "HEAD")


@state
def detached(repo: Path) -> None:
    git(repo, "checkout", "-q", "--detach")


@state
def orphan_branch(repo: Path) -> None:
    git(repo, "checkout", "-q", "--orphan", "fresh")


@state
def merge_in_conflict(repo: Path) -> None:
    diverged(repo)
    git(repo, "merge", "-q", "other", check=False)


@state
def rebase_in_conflict(repo: Path) -> None:
    diverged(repo)
    git(repo, "rebase", "-q", "other", check=False)


@state
def cherry_pick_in_conflict(repo: Path) -> None:
    diverged(repo)
    git(repo, "cherry-pick", "other", check=False)


@state
def revert_in_conflict(repo: Path) -> None:
    diverged(repo)
    git(repo, "revert", "--no-edit", "HEAD~1", check=False)


@state
def bisecting(repo: Path) -> None:
    for number in range(4):
        commit(repo, a__c=f"int v{number};\n")
    git(repo, "bisect", "start", "HEAD", "HEAD~4")


@state
def with_a_stash(repo: Path) -> None:
    (repo / "a.c").write_text("int stashed;\n")
    git(repo, "stash", "-q")


@state
def sparse_checkout(repo: Path) -> None:
    git(repo, "sparse-checkout", "set", "--no-cone", "/a.c")


@state
def linked_worktree_elsewhere(repo: Path) -> None:
    git(repo, "worktree", "add", "-q", str(repo.parent / "linked"), "-b", "linked")


@state
def missing_worktree(repo: Path) -> None:
    git(repo, "worktree", "add", "-q", str(repo.parent / "lost"), "-b", "lost")
    subprocess.run(["rm", "-rf", str(repo.parent / "lost")], check=True)


@state
def nested_repository(repo: Path) -> None:
    make_repo(repo / "vendor")


@state
def submodule(repo: Path) -> None:
    inner = make_repo(repo.parent / "inner")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(repo, "commit", "-q", "-m", "Submodule")


@state
def separate_git_dir(repo: Path) -> None:
    git(repo, "init", "-q", "--separate-git-dir", str(repo.parent / "elsewhere.git"))


@state
def worktree_setting_points_elsewhere(repo: Path) -> None:
    (repo.parent / "victim").mkdir()
    (repo.parent / "victim" / "mine.c").write_text("int mine;\n")
    git(repo, "config", "core.worktree", str(repo.parent / "victim"))


@state
def packed(repo: Path) -> None:
    git(repo, "gc", "-q")


@state
def alternates(repo: Path) -> None:
    other = make_repo(repo.parent / "objects")
    (repo / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (repo / ".git" / "objects" / "info" / "alternates").write_text(f"{other}/.git/objects\n")


@state
def index_locked(repo: Path) -> None:
    (repo / ".git" / "index.lock").touch()


@state
def index_broken(repo: Path) -> None:
    (repo / ".git" / "index").write_bytes(b"garbage")


@state
def index_missing(repo: Path) -> None:
    (repo / ".git" / "index").unlink()


@state
def object_missing(repo: Path) -> None:
    blob = git(repo, "rev-parse", "HEAD:dir/b.py").strip()
    (repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


@state
def head_broken(repo: Path) -> None:
    (repo / ".git" / "HEAD").write_text("garbage\n")


@state
def branch_named_cra(repo: Path) -> None:
    git(repo, "branch", "cra")


@state
def hooks_that_fail(repo: Path) -> None:
    for name in ("pre-commit", "commit-msg", "post-checkout", "post-commit", "reference-transaction", "post-index-change"):
        hook = repo / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\ntouch ../hook-ran\nexit 1\n")
        hook.chmod(0o755)


@state
def newlines_converted(repo: Path) -> None:
    commit(repo, __gitattributes="*.c text eol=crlf\n")
    (repo / "a.c").unlink()
    git(repo, "checkout", "-q", "a.c")


@state
def a_required_filter_that_is_missing(repo: Path) -> None:
    commit(repo, __gitattributes="*.bin filter=gone\n", x__bin="x\n")
    git(repo, "config", "filter.gone.clean", "no-such-program")
    git(repo, "config", "filter.gone.required", "true")


@state
def signing_demanded(repo: Path) -> None:
    git(repo, "config", "commit.gpgSign", "true")
    git(repo, "config", "gpg.program", "/bin/false")


@state
def sha256(repo: Path) -> None:
    subprocess.run(["rm", "-rf", str(repo / ".git")], check=True)
    git(repo, "init", "-q", "-b", "main", "--object-format=sha256")
    commit(repo, "Start")


@state
def shallow(repo: Path) -> None:
    commit(repo, a__c="int second;\n")
    kept = repo.parent / "full"
    repo.rename(kept)
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{kept}", str(repo)], check=True)
    git(repo, "checkout", "-q", "-B", "main")


@state
def replaced_commit(repo: Path) -> None:
    commit(repo, a__c="int second;\n")
    git(repo, "replace", "HEAD", "HEAD~1")


@state
def names_of_every_kind(repo: Path) -> None:
    for name in ("with space.c", "ünïcode.c", "-dash.c", "new\nline.c", "tab\t.c", 'quote".c', ":colon.c", "*star.c"):
        (repo / name).write_text("int x;\n")
    (Path(os.fsdecode(os.fsencode(repo) + b"/latin\xff.c"))).write_text("int x;\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Names")


@state
def read_only_git_folder(repo: Path) -> None:
    for folder, _, _ in os.walk(repo / ".git"):
        os.chmod(folder, 0o555)


@state
def deep_folders(repo: Path) -> None:
    place = repo
    for _ in range(120):
        place /= "d"
    place.mkdir(parents=True)
    (place / "x.c").write_text("int x;\n")
