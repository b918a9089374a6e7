"""Undo an applied change, as long as the files are as the apply left them: all of it or nothing.

An apply leaves the old contents of the files that it wrote in the folder ``undo`` beside the runs' places, those of the
last :data:`KEPT` applies. The files are compared with what the apply wrote before anything is put back.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

from agent.workspace.clean_room import claim
from agent.workspace.git import WorkspaceError
from agent.workspace.journal import LISTING, AppliedFiles, digest, lock_of, put_back

KEPT = 20
"""Applies that can be taken back; the old contents of earlier ones are deleted."""


def undo_folder(repo: Path, run: str) -> Path:
    """Where the old contents of what a run's apply replaced are kept."""
    return _all(repo) / run


def _all(repo: Path) -> Path:
    """The folder is in the state directory, beside the runs' places, so that files of a clone are never put back."""
    state = claim(repo, make=False).state
    return (state or Path(os.devnull)) / "undo"


def can_undo(repo: Path, run: str) -> bool:
    """Whether there is something to take back; :func:`undo` says whether it still fits."""
    return (undo_folder(repo, run) / LISTING).is_file()


def prune(repo: Path) -> None:
    """Delete the old contents of all but the newest applies."""
    folders = [folder for folder in _all(repo).glob("*") if folder.is_dir()]
    for folder in sorted(folders, key=lambda folder: folder.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)


def undo(repo: Path, run: str) -> tuple[bool, str]:
    """Put the files back as they were before the apply. Returns whether it was done, and a sentence. Blocking.

    Raises:
        WorkspaceError: the disk failed. Another call continues.
    """
    folder = undo_folder(repo, run)
    if not can_undo(repo, run):
        return False, f"There is nothing to take back: run {run} was not applied here, or too long ago."
    lock = lock_of(folder)
    if lock is None:
        return False, f"The change of run {run} is being taken back by another process right now."
    with lock:
        try:
            listing = msgspec.json.decode((folder / LISTING).read_bytes(), type=AppliedFiles)
            other = [old.path for old in listing.files if not _fits(folder, listing, old.path)]
            if other:
                names = ", ".join(other[:5]) + (f" and {len(other) - 5} more" if len(other) > 5 else "")
                return False, f"Nothing was taken back, since you changed {names} after the apply. Undo that first."
            files = put_back(folder, listing)
        except (OSError, msgspec.MsgspecError) as error:
            raise WorkspaceError(
                f"The change could not be taken back completely ({error}). The old contents are in {folder}; try again."
            ) from error
        shutil.rmtree(folder, ignore_errors=True)
    return True, f"Taken back: {len(files)} file{'s are' if len(files) != 1 else ' is'} as before the apply."


def _fits(folder: Path, listing: AppliedFiles, path: str) -> bool:
    """Whether a file is as the apply left it, or put back already by an undo that was cut off."""
    old = next(old for old in listing.files if old.path == path)
    found = digest(Path(listing.target) / path)
    if found == old.new:
        return True
    if old.kind == "absent":
        return found == ""
    return old.kind == "file" and found == digest(folder / old.saved)
