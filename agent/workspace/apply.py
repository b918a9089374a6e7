"""Bring a run's changes into the person's files: a three-way merge file by file, all of it or nothing.

First everything is read, merged and checked in memory. Only if no file conflicts is a journal written (old contents
included), then each file is replaced in one go. An error on the way puts the old contents back; so does
:func:`recover` after a kill. The person's index, branch and stash are never touched.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import msgspec

from agent.atomic import mode_for
from agent.counts import plural
from agent.scratch import scratch_folder
from agent.workspace.git import WorkspaceError, paths, run_git
from agent.workspace.journal import Journal, recover
from agent.workspace.paths import write_atomically
from agent.workspace.undo import prune, undo_folder

__all__ = ["Apply", "ApplyResult", "recover"]

_LINK = "120000"
_SUBMODULE = "160000"


class ApplyResult(msgspec.Struct, frozen=True):
    """``text`` is the sentence to show; ``files`` were written, ``conflicts`` prevented it (paths from git's top level).

    ``merged`` are those of ``files`` that the person had also changed meanwhile.
    """

    ok: bool
    text: str
    files: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()


class _Side(msgspec.Struct, frozen=True):
    mode: str
    data: bytes


class _Change(msgspec.Struct, frozen=True):
    """What to do with a file; ``seen`` is what it was when the change was planned; ``data`` None deletes it."""

    path: str
    seen: _Side | None
    data: bytes | None
    mode: str = ""


class _Conflict(Exception):
    """Why a file cannot be merged."""


class Apply:
    """One apply. ``place`` is the run's checkout, ``target`` the person's top folder, ``repo`` where ``.clean_room`` is."""

    def __init__(self, place: Path, target: Path, repo: Path, run_id: str, base: str, plain: bool) -> None:
        self._place, self._target, self._repo, self._run = place, target, repo, run_id
        self._base, self._plain = base, plain

    def run(self) -> ApplyResult:
        """Apply, or say why not. Blocking.

        Raises:
            WorkspaceError: git or the disk failed; the person's files are as they were.
        """
        if not self._place.is_dir():
            kept = "" if self._plain else f" Its work is still on its branch; merge it with: git merge cra/{self._run}"
            raise WorkspaceError(f"The run's folder {self._place} is gone, so nothing was applied.{kept}")
        changes: list[_Change] = []
        conflicts: list[str] = []
        reasons: list[str] = []
        merged: list[str] = []
        touched = self._touched()
        for path in touched:
            try:
                change, both = self._plan(path)
            except _Conflict as reason:
                conflicts.append(path)
                reasons.append(f"{path}: {reason}")
                continue
            if change is not None:
                changes.append(change)
                merged += [path] if both else []
        if conflicts:
            text = "Nothing was applied, since your files changed in the same places. " + "; ".join(reasons[:5])
            return ApplyResult(False, f"{text}. {self._way_out()}", conflicts=tuple(conflicts))
        if not touched:
            return ApplyResult(True, "The run changed no file, so there was nothing to apply.")
        if not changes:
            return ApplyResult(True, "Your files have these changes already, so nothing was written.")
        self._write(changes)
        text = f"Applied to {plural(len(changes), 'file')}."
        if merged:
            text += f" Merged with your own edits in {', '.join(merged[:5])}."
        return ApplyResult(True, text, tuple(change.path for change in changes), merged=tuple(merged))

    def _way_out(self) -> str:
        if self._plain:
            return f"The work is still in {self._place}. Undo your changes and apply again, or copy over what you want."
        return (
            f"The work is still on the branch cra/{self._run}. Commit or undo your changes there and apply again, or merge "
            f"it yourself with: git merge cra/{self._run}"
        )

    def _touched(self) -> list[str]:
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules")
        return paths(run_git(self._place, "diff", *options, self._base, "HEAD"))

    def _plan(self, path: str) -> tuple[_Change | None, bool]:
        base, run = self._side(self._base, path), self._side("HEAD", path)
        user = self._user(path)
        if user is not None and base is not None:
            run, base = _in_style(run, base.data, user.data), _in_style(base, base.data, user.data)
        if user == run:
            return None, False
        if user == base:
            return _Change(path, user, run.data if run else None, run.mode if run else ""), False
        if base is None:
            raise _Conflict("the run adds it, and you have another file there")
        if user is None:
            raise _Conflict("the run changes it, and you deleted it")
        if run is None:
            raise _Conflict("the run deletes it, and you changed it")
        if _LINK in (base.mode, user.mode, run.mode):
            raise _Conflict("a symbolic link was changed on both sides")
        mode = run.mode if run.mode != base.mode else user.mode
        return _Change(path, user, self._merge(base.data, user.data, run.data), mode), True

    def _side(self, commit: str, path: str) -> _Side | None:
        listed = run_git(self._place, "--literal-pathspecs", "ls-tree", "-z", commit, "--", path).stdout
        if not listed:
            return None
        mode = listed.split(b" ", 1)[0].decode()
        if mode == _SUBMODULE:
            raise _Conflict("it is a submodule")
        filters = () if self._plain or mode == _LINK else ("--filters",)
        kind = filters or ("blob",)
        return _Side(mode, run_git(self._place, "cat-file", *kind, f"{commit}:{path}").stdout)

    def _user(self, path: str) -> _Side | None:
        full = self._target / path
        self._guard(full, path)
        try:
            info = full.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISLNK(info.st_mode):
            return _Side(_LINK, os.fsencode(os.readlink(full)))
        if not stat.S_ISREG(info.st_mode):
            raise _Conflict("there is a folder or a special file of that name")
        try:
            return _Side("100755" if info.st_mode & 0o100 else "100644", full.read_bytes())
        except OSError as error:
            raise _Conflict(f"it cannot be read ({error.strerror})") from error

    def _guard(self, full: Path, path: str) -> None:
        parent = full.parent
        while not parent.exists() and not parent.is_symlink():
            parent = parent.parent
        if not parent.is_dir():
            raise _Conflict(f"{parent.name} is a file, so no folder of that name can be made")
        if not parent.resolve().is_relative_to(self._target.resolve()):
            raise _Conflict(f"the folder of {path} is a link that leads out of the repository")

    def _merge(self, base: bytes, user: bytes, run: bytes) -> bytes:
        if b"\0" in base + user + run:
            raise _Conflict("it is a binary file that both sides changed")
        with tempfile.TemporaryDirectory(prefix="merge-", dir=scratch_folder()) as folder:
            names = []
            for name, data in (("yours", user), ("base", base), ("run", run)):
                (Path(folder) / name).write_bytes(data)
                names.append(str(Path(folder) / name))
            result = run_git(Path(folder), "merge-file", "-p", "-q", *names, check=False)
        if result.returncode != 0:
            raise _Conflict("the run and you changed the same lines")
        return result.stdout

    def _write(self, changes: list[_Change]) -> None:
        journal = self._journal = Journal(self._repo, self._run, self._target)
        try:
            for change in changes:
                journal.remember(change.path, change.data)
            journal.seal()
            for change in changes:
                if self._user(change.path) != change.seen:
                    raise WorkspaceError(f"{change.path} changed just now, so nothing was applied. Try again.")
                self._write_one(change)
        except BaseException as error:
            journal.undo()
            if isinstance(error, OSError | _Conflict):
                raise WorkspaceError(f"The changes could not be written ({error}); your files are as they were.") from error
            raise
        journal.done(undo_folder(self._repo, self._run))
        prune(self._repo)

    def _write_one(self, change: _Change) -> None:
        full, beside = self._target / change.path, self._journal.beside(change.path)
        if change.data is None:
            full.unlink()
            _drop_empty(full.parent, self._target)
        elif change.mode == _LINK:
            full.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(os.fsdecode(change.data), beside)
            os.replace(beside, full)
        else:
            now = mode_for(beside if full.is_symlink() else full)
            executable = change.mode == "100755"
            if executable != bool(now & 0o100):
                now = now | ((now & 0o444) >> 2) if executable else now & ~0o111
            write_atomically(full, change.data, now, beside)


def _in_style(side: _Side | None, base: bytes, user: bytes) -> _Side | None:
    """``side`` with the newlines the person's file has, where git would have checked it out with others."""
    if side is None or b"\0" in side.data:
        return side
    lone_base, lone_user = base.count(b"\n") - base.count(b"\r\n"), user.count(b"\n") - user.count(b"\r\n")
    if b"\r\n" in base and not lone_base and lone_user and b"\r\n" not in user:
        return _Side(side.mode, side.data.replace(b"\r\n", b"\n"))
    if b"\r\n" in user and not lone_user and lone_base and b"\r\n" not in base:
        return _Side(side.mode, side.data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    return side


def _drop_empty(folder: Path, top: Path) -> None:
    while folder != top:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
