"""Make, find and remove a run's place: a worktree with its branch, or a copy."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from agent.folders import WHAT_TO_DO, no_folder
from agent.workspace import copying, record, submodules, sweeping, uncommitted
from agent.workspace.clean_room import take_notices, work_folder
from agent.workspace.git import (
    WHOLE,
    GitError,
    WorkspaceError,
    allow_filters,
    filters_needed,
    forget,
    register,
    run_git,
    shown,
    text,
    top_level,
)
from agent.workspace.journal import recover
from agent.workspace.record import PlaceRecord

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HISTORY = ".git"
"""Ends the name of the repository of a copy, which lies beside it."""

_RESERVED_ENDINGS = (".lock", ".json", ".apply", copying.PARTIAL, _HISTORY)


def make(given: Path, run_id: str, carry_uncommitted: bool) -> tuple[Path, PlaceRecord]:
    """The repository's real path and the record of a new place for run ``run_id``. Blocking.

    Raises:
        WorkspaceError: no such folder, a run id in use, nothing can be written there, or git refuses.
    """
    repo = _checked_repo(given)
    if not _RUN_ID.fullmatch(run_id) or run_id.endswith((*_RESERVED_ENDINGS, ".")) or ".." in run_id:
        raise WorkspaceError(f"{run_id!r} cannot name a run. Use letters, digits, dots, dashes and underscores.")
    top = _holding(repo)
    work = work_folder(repo)
    if (work / run_id).exists() or (work / f"{run_id}.json").exists():
        raise WorkspaceError(f"The run id {run_id} is in use in {work}. Reopen that run, or choose another id.")
    recover(repo)
    begun = (f"{run}{ending}" for run in record.recorded(repo) for ending in (copying.PARTIAL, _HISTORY))
    sweeping.sweep(work, (f"*{copying.PARTIAL}", f"*{_HISTORY}", f"{uncommitted.SCRATCH}*", ".*.tmp"), begun)
    aside = take_notices(repo)
    if top is None:
        return repo, _copied(repo, work, run_id, aside)
    return repo, _branched(repo, top, work, run_id, carry_uncommitted, aside)


def find(given: Path, run_id: str) -> tuple[Path, PlaceRecord]:
    """The repository's real path and the record of a run that was killed; its checkout is made again if needed. Blocking.

    Raises:
        WorkspaceError: no such run, or its branch is gone.
    """
    repo = _checked_repo(given)
    entry = record.load(repo, run_id)
    recover(repo)
    place = work_folder(repo) / run_id
    if entry.mode == "copy":
        partial = _partial(place)
        if partial.is_dir() and not place.exists():
            os.rename(partial, place)
        if not _is_checkout(repo, place, entry):
            raise WorkspaceError(f"The copy of run {run_id} in {place} is gone or incomplete. Start the task again.")
    elif not _is_checkout(repo, place, entry):
        forget(place)
        _remove_tree(place)
        _drop_branch_lock(repo, entry.branch)
        if _has_branch(repo, entry.branch):
            _check_out(repo, place, entry)
        elif run_git(repo, "cat-file", "-e", f"{entry.base}^{{commit}}", check=False).returncode == 0:
            _add_worktree(repo, place, entry)
        else:
            raise WorkspaceError(f"The branch {entry.branch} of run {run_id} is gone. Start the task again.")
    _drop_locks(place, entry.branch)
    return repo, entry


def remove_copy(repo: Path, run_id: str) -> None:
    """Remove a run's copy and its record, so that after a kill either both are visible or neither."""
    place = work_folder(repo) / run_id
    partial = _partial(place)
    forget(place)
    if place.exists():
        _remove_tree(partial)
        os.rename(place, partial)
    record.forget(repo, run_id)
    _remove_tree(_history_of(place))
    _remove_tree(partial)


def remove_worktree(repo: Path, place: Path) -> None:
    """Remove a run's worktree and git's note of it; other worktrees, even missing ones, are left alone."""
    forget(place)
    _remove_tree(place)
    note = _note_of(repo, place)
    if note is not None:
        shutil.rmtree(note, ignore_errors=True)


def delete_branch(repo: Path, branch: str) -> None:
    """Delete a run's branch if it is there.

    Raises:
        WorkspaceError: git refuses, since it is checked out somewhere else.
    """
    if not _has_branch(repo, branch):
        return
    _drop_branch_lock(repo, branch)
    held = f"branch refs/heads/{branch}" in text(run_git(repo, "worktree", "list", "--porcelain")).splitlines()
    # Not `git branch -D`: that also locks the person's configuration file, for a section that does not exist.
    if held or run_git(repo, "update-ref", "-d", f"refs/heads/{branch}", check=False).returncode != 0:
        raise WorkspaceError(f"The branch {branch} could not be deleted. Is it checked out? Try: git branch -D {branch}")


def _has_branch(repo: Path, branch: str) -> bool:
    return run_git(repo, "rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False).returncode == 0


def _checked_repo(repo: Path) -> Path:
    if why := no_folder(repo):
        raise WorkspaceError(f"{why} {WHAT_TO_DO}")
    real = repo.resolve()
    try:
        str(real).encode()
    except UnicodeEncodeError:
        raise WorkspaceError(
            f"The path {shown(str(real))} holds bytes that are not UTF-8, which the log cannot store. Rename the folder."
        ) from None
    return real


def _holding(repo: Path) -> Path | None:
    """The top of the work tree that tracks files of ``repo``; None where there is none."""
    top = top_level(repo)
    if top is None or top == repo:
        return top
    return top if run_git(repo, "ls-files", "-z", "--", ".").stdout else None


def _copied(repo: Path, work: Path, run_id: str, aside: tuple[str, ...]) -> PlaceRecord:
    branch = f"cra/{run_id}"
    why = f"git cannot read the repository in {repo}" if (repo / ".git").exists() else f"{repo} is not a git repository"
    notes = [*aside, f"{why}, so the run works on a copy of it."]
    partial = _partial(work / run_id)
    _remove_tree(partial)
    try:
        notes += copying.copy_tree(repo, partial)
        base = copying.start_history(partial, _history_of(work / run_id), branch)
        entry = PlaceRecord(run_id, "copy", branch, base, notes=tuple(notes))
        record.save(repo, entry)  # from here on the copy is whole, and `find` gives it its name if this process cannot
        os.rename(partial, work / run_id)
        register(work / run_id, _history_of(work / run_id))
    except BaseException:
        record.forget(repo, run_id)
        _remove_tree(partial)
        _remove_tree(_history_of(work / run_id))
        raise
    return entry


def _partial(place: Path) -> Path:
    return place.with_name(place.name + copying.PARTIAL)


def _history_of(place: Path) -> Path:
    return place.with_name(place.name + _HISTORY)


def _remove_tree(place: Path) -> None:
    """Remove a folder that a run made. Of a link in its place only the link is removed."""
    if place.is_symlink():
        place.unlink()
        return
    try:
        shutil.rmtree(place, ignore_errors=True)
    except RecursionError:  # folders nested deeper than Python can follow
        subprocess.run(["rm", "-rf", "--", str(place)], check=False, capture_output=True)


def _branched(
    repo: Path, top: Path, work: Path, run_id: str, carry_uncommitted: bool, aside: tuple[str, ...]
) -> PlaceRecord:
    branch = f"cra/{run_id}"
    if _has_branch(top, branch):
        raise WorkspaceError(
            f"The branch {branch} exists already. Choose another run id, or delete it: git branch -D {branch}"
        )
    head = run_git(top, "rev-parse", "-q", "--verify", "HEAD^{commit}", check=False)
    user_head = text(head) if head.returncode == 0 else ""
    filters = filters_needed(top)
    allow_filters(top, tuple(filters))
    notes = [*aside, *_about(top, user_head, carry_uncommitted)]
    for name, command in filters.items():
        notes.append(f"Git runs the filter {name} ({shown(command)}), as in your own checkout.")
    taken = _snapshot(top, work, carry_uncommitted)
    notes += taken.notes
    inner, missing = submodules.taken_along(top, work, carry_uncommitted)
    notes += _about_submodules([one.path for one in inner], missing)
    base, carried = user_head, False
    if not user_head or taken.tree != text(run_git(top, "rev-parse", f"{user_head}^{{tree}}")):
        parent = ["-p", user_head] if user_head else []
        base = text(run_git(top, "commit-tree", taken.tree, *parent, "-m", "Carried in: changes that were not committed"))
        carried = carry_uncommitted
    prefix = _prefix(repo, top)
    entry = PlaceRecord(
        run_id, "worktree", branch, base, user_head, prefix, carried, tuple(notes), tuple(filters), tuple(inner)
    )
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
    return notes


def _about_submodules(inner: list[str], missing: list[str]) -> list[str]:
    notes = []
    if inner:
        notes.append(f"The files of submodules are read in the run and not changed: {uncommitted.some(inner)}.")
    if missing:
        notes.append(
            f"Submodules that are not checked out, or hold over {submodules.MOST_FILES:,} files, are not included in the "
            f"run: {uncommitted.some(missing)}."
        )
    return notes


def _is_changed(top: Path) -> bool:
    status = run_git(top, "status", "--porcelain", "--ignore-submodules", check=False)
    return status.returncode != 0 or bool(status.stdout)  # a filter that fails had something to filter


def _snapshot(top: Path, work: Path, carry_uncommitted: bool) -> uncommitted.Snapshot:
    try:
        return uncommitted.snapshot(top, work, carry_uncommitted)
    except GitError as error:
        words = error.stderr.splitlines()[0] if error.stderr else str(error)
        raise WorkspaceError(
            f"What is not committed in {top} cannot be taken along; git says: {words.rstrip('.')}. Fix that, or leave "
            "uncommitted changes out of the run with workspace.carry_uncommitted = false."
        ) from error


def _add_worktree(top: Path, place: Path, entry: PlaceRecord) -> None:
    try:
        run_git(top, "update-ref", f"refs/heads/{entry.branch}", entry.base, "0" * len(entry.base))
    except GitError as error:
        raise WorkspaceError(
            f"The branch {entry.branch} could not be made: {error.stderr or error}. "
            "If there is a branch named 'cra', rename it."
        ) from error
    _check_out(top, place, entry)
    if not (place / entry.prefix).is_dir():  # a folder without a tracked file
        (place / entry.prefix).mkdir(parents=True)


def _check_out(repo: Path, place: Path, entry: PlaceRecord) -> None:
    """Make the worktree of the run's branch at ``place``, and remember it."""
    run_git(repo, "-c", WHOLE, "worktree", "add", "-q", "-f", "-f", "--no-checkout", str(place), entry.branch)
    note = _note_of(repo, place)
    if note is None:
        raise WorkspaceError(f"git made no worktree in {place}. Run git worktree prune in {repo}, then try again.")
    register(place, note, filters=entry.filters)
    run_git(place, "reset", "-q", "--hard")  # only now, when filters that git would run on writing are switched off
    submodules.write_files(place, entry.submodules)


def _note_of(repo: Path, place: Path) -> Path | None:
    """Git's folder for the worktree at ``place``, as the person's repository has it; None when it has none.

    The worktree's own files are not read for this: code that ran there could have written them.
    """
    notes = repo / text(run_git(repo, "rev-parse", "--git-path", "worktrees"))
    for note in notes.glob("*/gitdir"):
        if note.read_text(encoding="utf-8", errors="replace").strip() == str(place / ".git"):
            return note.parent.resolve()
    return None


def _is_checkout(repo: Path, place: Path, entry: PlaceRecord) -> bool:
    """Whether git can go on there; it is then remembered. A `worktree add` that was killed may leave a HEAD of zeros."""
    if place.is_symlink() or not place.is_dir():
        return False
    note = _history_of(place) if entry.mode == "copy" else _note_of(repo, place)
    if note is None or not (note / "HEAD").is_file():
        return False
    if (note / "HEAD").read_text(encoding="utf-8", errors="replace").strip() != f"ref: refs/heads/{entry.branch}":
        return False
    link = place / ".git"
    expected = entry.mode == "copy" or (
        not link.is_symlink() and link.is_file() and link.read_bytes().strip() == b"gitdir: " + os.fsencode(note)
    )
    if not expected or (entry.mode == "copy" and os.path.lexists(link)):
        return False
    register(place, note, filters=entry.filters)
    return run_git(place, "rev-parse", "-q", "--verify", "HEAD^{commit}", check=False).returncode == 0


def _drop_locks(top: Path, branch: str) -> None:
    """A killed git leaves its locks; nobody else works in a run's own place and on its branch, so they can go."""
    for name in ("index.lock", "HEAD.lock"):
        _drop(top, name)
    _drop_branch_lock(top, branch)


def _drop_branch_lock(top: Path, branch: str) -> None:
    _drop(top, f"refs/heads/{branch}.lock")


def _drop(top: Path, name: str) -> None:
    (top / text(run_git(top, "rev-parse", "--git-path", name))).unlink(missing_ok=True)
