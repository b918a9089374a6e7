"""What a run's place is, on disk, so that a killed run can be opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from agent.workspace.git import WorkspaceError
from agent.workspace.paths import write_atomically

FOLDER = ".clean_room"


class Record(msgspec.Struct, frozen=True):
    """``base`` is the commit the run's diff is taken against; ``user_head`` the person's HEAD then ("" if unborn).

    ``prefix`` is the repository path below git's top level, "" if it is the top level or a copy.
    """

    run: str
    mode: Literal["worktree", "copy"]
    branch: str
    base: str
    user_head: str = ""
    prefix: str = ""
    carried: bool = False
    notes: tuple[str, ...] = ()


def work_folder(repo: Path) -> Path:
    """``<repo>/.clean_room/work``, made when missing, with the ``.gitignore`` that hides ``.clean_room`` from git.

    Raises:
        WorkspaceError: it cannot be made there, or ``.clean_room`` is a link to somewhere else.
    """
    home = repo / FOLDER
    if home.is_symlink():
        raise WorkspaceError(f"{home} is a symbolic link. Remove it: runs are only kept inside the repository.")
    try:
        (home / "work").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"{home / 'work'} could not be made: {error.strerror}. Runs need to write there.") from error
    ignore = home / ".gitignore"
    if not ignore.exists():
        write_atomically(ignore, b"*\n")
    return home / "work"


def save(repo: Path, record: Record) -> None:
    """Write the record beside the run's folder."""
    write_atomically(work_folder(repo) / f"{record.run}.json", msgspec.json.format(msgspec.json.encode(record)) + b"\n")


def load(repo: Path, run: str) -> Record:
    """The record of a run.

    Raises:
        WorkspaceError: there is none, or it cannot be read.
    """
    path = repo / FOLDER / "work" / f"{run}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        raise WorkspaceError(f"No unfinished run {run!r} is recorded in {repo / FOLDER / 'work'}.") from None
    except (OSError, msgspec.MsgspecError) as error:
        raise WorkspaceError(f"The record of run {run!r} in {path} cannot be read: {error}.") from error


def forget(repo: Path, run: str) -> None:
    """Remove the record of a run, if there is one."""
    (repo / FOLDER / "work" / f"{run}.json").unlink(missing_ok=True)


def recorded(repo: Path) -> list[str]:
    """Ids of the runs whose place was neither kept nor discarded, oldest first."""
    folder = repo / FOLDER / "work"
    if not folder.is_dir():
        return []
    return [path.stem for path in sorted(folder.glob("*.json"), key=lambda p: (p.stat().st_mtime, p.name))]
