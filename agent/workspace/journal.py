"""A journal of old file contents, so that an interrupted apply can be undone."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from agent.workspace.clean_room import known_work_folder, work_folder
from agent.workspace.git import WorkspaceError
from agent.workspace.paths import write_atomically

_SUFFIX = ".apply"
LISTING = "journal.json"


class Old(msgspec.Struct):
    """A file as it was: ``kind`` is "absent", "file" (contents in ``saved``) or "link" (to ``link``).

    ``new`` is the hash of its new contents, ``folder`` the topmost folder that has to be made for it, "" if none. ``beside``
    is the name under which contents are written before they are moved into place."""

    path: str
    kind: str
    saved: str = ""
    link: str = ""
    mode: int = 0
    new: str = ""
    folder: str = ""
    beside: str = ""


class AppliedFiles(msgspec.Struct):
    """What an apply writes: the person's top folder, and the files in it as they were."""

    target: str
    files: list[Old]


class Journal:
    """Old contents of the files that one apply will replace; see :func:`recover`."""

    def __init__(self, repo: Path, run: str, target: Path) -> None:
        self._folder = work_folder(repo) / f"{run}{_SUFFIX}"
        self._folder.mkdir(exist_ok=True)
        self._lock = lock_of(self._folder)
        if self._lock is None:
            said = f"The changes of run {run} are being applied by another process right now. Try again when it is done."
            raise WorkspaceError(said)
        _undo_sealed(self._folder)
        self._listing = AppliedFiles(str(target), [])

    def remember(self, path: str, new: bytes | None) -> None:
        """Save what is at ``path`` now; ``new`` is what will be there (None: nothing)."""
        full = Path(self._listing.target) / path
        digest = "" if new is None else hashlib.sha256(new).hexdigest()
        beside = f".{full.name[:40]}.{secrets.token_hex(4)}.tmp"
        if full.is_symlink():
            old = Old(path, "link", link=os.readlink(full), new=digest)
        elif full.exists():
            saved = str(len(self._listing.files))
            write_atomically(self._folder / saved, full.read_bytes())
            old = Old(path, "file", saved=saved, mode=stat.S_IMODE(full.stat().st_mode), new=digest)
        else:
            old = Old(path, "absent", new=digest, folder=_missing(full.parent))
        old.beside = beside
        self._listing.files.append(old)

    def beside(self, path: str) -> Path:
        """The temporary path that a remembered file's new contents are written to before they are moved into place."""
        return next(_beside(self._listing, old) for old in self._listing.files if old.path == path)

    def seal(self) -> None:
        """Write the journal: from here on :func:`recover` undoes an interrupted apply."""
        write_atomically(self._folder / LISTING, msgspec.json.encode(self._listing))

    def undo(self) -> None:
        """Put the old contents back. What cannot be put back now is left to :func:`recover`."""
        try:
            _undo_sealed(self._folder)
        except BaseException:
            self.unlock()
            raise
        self._close()

    def done(self, keep: Path) -> None:
        """The apply succeeded and needs no recovery any more. The old contents move to ``keep``, for an undo."""
        shutil.rmtree(keep, ignore_errors=True)
        try:
            keep.parent.mkdir(parents=True, exist_ok=True)
            os.replace(self._folder, keep)
        except OSError:  # the change is applied, but cannot be undone
            (self._folder / LISTING).unlink()
        self._close()

    def _close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self.unlock()

    def unlock(self) -> None:
        """Give the lock back, as the end of the process does."""
        if self._lock is not None:
            self._lock.release()


def recover(repo: Path) -> list[str]:
    """Undo interrupted applies, and return the files put back. Files that the person changed since then are left alone.

    An apply that another process is carrying out holds its lock and is left alone.

    Raises:
        WorkspaceError: a journal cannot be read, or a file cannot be put back; the journal is then kept.
    """
    restored: list[str] = []
    work = known_work_folder(repo)
    for folder in sorted(work.glob(f"*{_SUFFIX}")) if work is not None else ():
        lock = lock_of(folder)
        if lock is None:
            continue
        with lock:
            restored += _undo_sealed(folder)
            shutil.rmtree(folder, ignore_errors=True)
    return restored


def _undo_sealed(folder: Path) -> list[str]:
    """Undo what the journal in ``folder`` lists, if it was sealed; the journal is removed before the old contents."""
    try:
        listing = msgspec.json.decode((folder / LISTING).read_bytes(), type=AppliedFiles)
    except FileNotFoundError:
        return []  # interrupted before the first file was written
    except (OSError, msgspec.MsgspecError) as error:
        raise WorkspaceError(
            f"An apply was interrupted and its journal {folder / LISTING} cannot be read ({error}). "
            "The old contents are in numbered files beside it; compare them with your files, then remove the folder."
        ) from error
    try:
        restored = put_back(folder, listing)
    except OSError as error:
        raise WorkspaceError(
            f"An apply was interrupted, and {listing.target} could not be put back as it was ({error}). "
            f"The old contents are kept in {folder}; fix that and start again."
        ) from error
    (folder / LISTING).unlink()
    return restored


def lock_of(folder: Path) -> FileLock | None:
    """The lock on a journal, until released or the process ends; None when somebody has it."""
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return lock


def put_back(folder: Path, listing: AppliedFiles) -> list[str]:
    """Write the old contents kept in ``folder`` back, of files still as the apply left them. Returns their paths."""
    restored = []
    for old in listing.files:
        full, beside = Path(listing.target) / old.path, _beside(listing, old)
        beside.unlink(missing_ok=True)
        found = digest(full)
        if old.kind == "absent" and found in (old.new, ""):
            full.unlink(missing_ok=True)
            _drop_made(full.parent, old.folder)
        if found != old.new:  # not written yet, or the person's own work since then
            continue
        if old.kind == "link":
            full.parent.mkdir(parents=True, exist_ok=True)
            os.symlink(old.link, beside)
            os.replace(beside, full)
        elif old.kind == "file":
            write_atomically(full, (folder / old.saved).read_bytes(), old.mode, beside)
        restored.append(old.path)
    return restored


def _beside(listing: AppliedFiles, old: Old) -> Path:
    full = Path(listing.target) / old.path
    return full.with_name(old.beside or f".{full.name[:40]}.undo.tmp")


def digest(full: Path) -> str:
    """The SHA-256 of a file, or of where a link leads; "" where there is none, "?" where it cannot be read."""
    if full.is_symlink():
        return hashlib.sha256(os.fsencode(os.readlink(full))).hexdigest()
    try:
        return hashlib.sha256(full.read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return "?"


def _missing(folder: Path) -> str:
    top = ""
    while not folder.exists():
        top, folder = str(folder), folder.parent
    return top


def _drop_made(folder: Path, made: str) -> None:
    while made and folder.is_relative_to(made):
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            return
        folder = folder.parent
