"""How a run's place comes to be, is found again, and goes: worktree and branch, or copy."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from agent.workspace import carry, copying, leftovers, record
from agent.workspace.git import GitError, WorkspaceError, run_git, shown, text, top_level
from agent.workspace.journal import recover
from agent.workspace.record import Record

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def make(given: Path, run_id: str, carry_uncommitted: bool) -> tuple[Path, Record]:
    """The repository's real path and the record of a new place for run ``run_id``. Blocking.

    Raises:
        WorkspaceError: no such folder, a run id in use, nothing can be written there, or git refuses.
    """
    repo = _checked_repo(given)
    if not _RUN_ID.fullmatch(run_id) or run_id.endswith((".lock", ".")) or ".." in run_id:
        raise WorkspaceError(f"{run_id!r} cannot name a run. Use letters, digits, dots, dashes and underscores.")
    top = _holding(repo)
    work = record.work_folder(repo)
    if (work / run_id).exists() or (work / f"{run_id}.json").exists():
        raise WorkspaceError(f"The run id {run_id} is in use in {work}. Reopen that run, or choose another id.")
    recover(repo)
    begun = (f"{run}{copying.PARTIAL}" for run in record.recorded(repo))
    leftovers.sweep(work, (f"*{copying.PARTIAL}", f"{carry.SCRATCH}*", ".*.tmp"), begun)
    return repo, _copied(repo, work, run_id) if top is None else _branched(repo, top, work, run_id, carry_uncommitted)


def find(given: Path, run_id: str) -> tuple[Path, Record]:
    """The repository's real path and the record of a run that was killed, its checkout there again. Blocking.

    Raises:
        WorkspaceError: no such run, or its branch is gone.
    """
    repo = _checked_repo(given)
    entry = record.load(repo, run_id)
    recover(repo)
    place = repo / record.FOLDER / "work" / run_id
    if entry.mode == "copy":
        partial = _partial(place)
        if partial.is_dir() and not place.exists():
            os.rename(partial, place)
        if not _is_checkout(place):
            raise WorkspaceError(f"The copy of run {run_id} in {place} is gone or incomplete. Start the task again.")
    elif not _is_checkout(place):
        shutil.rmtree(place, ignore_errors=True)
        _drop_branch_lock(repo, entry.branch)
        if _has_branch(repo, entry.branch):
            run_git(repo, "worktree", "add", "-q", "-f", "-f", str(place), entry.branch)
        elif run_git(repo, "cat-file", "-e", f"{entry.base}^{{commit}}", check=False).returncode == 0:
            _add_worktree(repo, place, entry)
        else:
            raise WorkspaceError(f"The branch {entry.branch} of run {run_id} is gone. Start the task again.")
    _drop_locks(place, entry.branch)
    return repo, entry


def remove_copy(repo: Path, run_id: str) -> None:
    """Remove a run's copy and its record: killed on the way, both are still there, or neither for anybody who looks."""
    place = repo / record.FOLDER / "work" / run_id
    partial = _partial(place)
    if place.exists():
        shutil.rmtree(partial, ignore_errors=True)
        os.rename(place, partial)
    record.forget(repo, run_id)
    shutil.rmtree(partial, ignore_errors=True)


def remove_worktree(repo: Path, place: Path) -> None:
    """Remove a run's worktree and git's note of it; other worktrees, even missing ones, are left alone."""
    run_git(repo, "worktree", "remove", "--force", "--force", str(place), check=False)
    if place.exists():
        shutil.rmtree(place, ignore_errors=True)
    notes = repo / text(run_git(repo, "rev-parse", "--git-path", "worktrees"))
    for note in notes.glob("*/gitdir"):
        if note.read_text(encoding="utf-8", errors="replace").strip() == str(place / ".git"):
            shutil.rmtree(note.parent, ignore_errors=True)


def delete_branch(repo: Path, branch: str) -> None:
    """Delete a run's branch if it is there.

    Raises:
        WorkspaceError: git refuses, since it is checked out somewhere else.
    """
    if not _has_branch(repo, branch):
        return
    _drop_branch_lock(repo, branch)
    held = f"branch refs/heads/{branch}" in text(run_git(repo, "worktree", "list", "--porcelain")).splitlines()
    # Not `git branch -D`: that takes the lock of the person's configuration file as well, for a section that is not there.
    if held or run_git(repo, "update-ref", "-d", f"refs/heads/{branch}", check=False).returncode != 0:
        raise WorkspaceError(f"The branch {branch} could not be deleted. Is it checked out? Try: git branch -D {branch}")


def _has_branch(repo: Path, branch: str) -> bool:
    return run_git(repo, "rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False).returncode == 0


def _checked_repo(repo: Path) -> Path:
    if not repo.exists():
        raise WorkspaceError(f"There is no folder {repo}. Give the path of the repository to work on.")
    if not repo.is_dir():
        raise WorkspaceError(f"{repo} is a file. Give the path of the repository to work on.")
    real = repo.resolve()
    try:
        str(real).encode()
    except UnicodeEncodeError:
        raise WorkspaceError(
            f"The path {shown(str(real))} holds bytes that are no UTF-8, which no log can carry. Rename the folder."
        ) from None
    return real


def _holding(repo: Path) -> Path | None:
    """The top of the work tree that ``repo`` belongs to; a folder that an outer repository does not track is none of it."""
    top = top_level(repo)
    if top is None or top == repo:
        return top
    return top if run_git(repo, "ls-files", "-z", "--", ".").stdout else None


def _copied(repo: Path, work: Path, run_id: str) -> Record:
    branch = f"cra/{run_id}"
    why = f"git cannot read the repository in {repo}" if (repo / ".git").exists() else f"{repo} is not a git repository"
    notes = [f"{why}, so the run works on a copy of it."]
    partial = _partial(work / run_id)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        notes += copying.copy_tree(repo, partial)
        base = copying.start_history(partial, branch)
        entry = Record(run_id, "copy", branch, base, notes=tuple(notes))
        record.save(repo, entry)  # from here on the copy is whole, and `find` gives it its name if this process cannot
        os.rename(partial, work / run_id)
    except BaseException:
        record.forget(repo, run_id)
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return entry


def _partial(place: Path) -> Path:
    return place.with_name(place.name + copying.PARTIAL)


def _branched(repo: Path, top: Path, work: Path, run_id: str, carry_uncommitted: bool) -> Record:
    branch = f"cra/{run_id}"
    if _has_branch(top, branch):
        raise WorkspaceError(
            f"The branch {branch} is there already. Choose another run id, or delete it: git branch -D {branch}"
        )
    head = run_git(top, "rev-parse", "-q", "--verify", "HEAD^{commit}", check=False)
    user_head = text(head) if head.returncode == 0 else ""
    notes = list(_about(top, user_head, carry_uncommitted))
    taken = _snapshot(top, work, carry_uncommitted)
    notes += taken.notes
    base, carried = user_head, False
    if not user_head or taken.tree != text(run_git(top, "rev-parse", f"{user_head}^{{tree}}")):
        parent = ["-p", user_head] if user_head else []
        base = text(run_git(top, "commit-tree", taken.tree, *parent, "-m", "Carried in: changes that were not committed"))
        carried = carry_uncommitted
    entry = Record(run_id, "worktree", branch, base, user_head, _prefix(repo, top), carried, tuple(notes))
    record.save(repo, entry)
    try:
        _add_worktree(top, work / run_id, entry)
    except BaseException:
        remove_worktree(repo, work / run_id)
        delete_branch(repo, branch)
        record.forget(repo, run_id)
        raise
    return entry


def _prefix(repo: Path, top: Path) -> str:
    relative = repo.relative_to(top).as_posix()
    return "" if relative == "." else relative


def _about(top: Path, user_head: str, carry_uncommitted: bool) -> list[str]:
    notes = []
    if not user_head:
        notes.append("The repository has no commit yet, so the run starts from the files as they are.")
    elif not carry_uncommitted and _is_changed(top):
        notes.append(f"The run starts from the last commit ({user_head[:12]}), without the changes not yet committed.")
    if inner := carry.submodules(top):
        notes.append(f"Submodules are not included in the run: {', '.join(map(shown, inner[:5]))}.")
    return notes


def _is_changed(top: Path) -> bool:
    status = run_git(top, "status", "--porcelain", "--ignore-submodules", check=False)
    return status.returncode != 0 or bool(status.stdout)  # a filter that fails: then there was something to filter


def _snapshot(top: Path, work: Path, carry_uncommitted: bool) -> carry.Snapshot:
    try:
        return carry.snapshot(top, work, carry_uncommitted)
    except GitError as error:
        words = error.stderr.splitlines()[0] if error.stderr else str(error)
        raise WorkspaceError(
            f"What is not committed in {top} cannot be taken along; git says: {words.rstrip('.')}. Mend that, or leave "
            "uncommitted changes out of the run with workspace.carry_uncommitted = false."
        ) from error


def _add_worktree(top: Path, place: Path, entry: Record) -> None:
    try:
        run_git(top, "update-ref", f"refs/heads/{entry.branch}", entry.base, "0" * len(entry.base))
    except GitError as error:
        raise WorkspaceError(
            f"The branch {entry.branch} could not be made: {error.stderr or error}. "
            "If there is a branch named 'cra', rename it."
        ) from error
    run_git(top, "worktree", "add", "-q", "-f", str(place), entry.branch)
    if not (place / entry.prefix).is_dir():  # a folder without a single file in git
        (place / entry.prefix).mkdir(parents=True)


def _is_checkout(place: Path) -> bool:
    """Whether git can go on there. A `worktree add` that was killed may leave a HEAD of nothing but zeros."""
    if not (place / ".git").exists():
        return False
    top = run_git(place, "rev-parse", "--show-toplevel", check=False)
    head = run_git(place, "rev-parse", "-q", "--verify", "HEAD^{commit}", check=False)
    return top.returncode == head.returncode == 0 and Path(text(top)).resolve() == place.resolve()


def _drop_locks(top: Path, branch: str) -> None:
    """A killed git leaves its locks; nobody else works in a run's own place and on its branch, so they can go."""
    for name in ("index.lock", "HEAD.lock"):
        _drop(top, name)
    _drop_branch_lock(top, branch)


def _drop_branch_lock(top: Path, branch: str) -> None:
    _drop(top, f"refs/heads/{branch}.lock")


def _drop(top: Path, name: str) -> None:
    (top / text(run_git(top, "rev-parse", "--git-path", name))).unlink(missing_ok=True)
