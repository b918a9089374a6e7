"""The record of a run's place on disk, so that a killed run can be opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from agent.workspace.clean_room import known_work_folder, work_folder
from agent.workspace.git import WorkspaceError
from agent.workspace.paths import write_atomically
from agent.workspace.submodules import Submodule


class PlaceRecord(msgspec.Struct, frozen=True):
    """``base`` is the commit the run's diff is taken against; ``user_head`` the person's HEAD then ("" if unborn).

    ``prefix`` is the repository path below git's top level, "" if it is the top level or a copy. ``filters`` are the filter
    drivers of git that the repository's own files need. ``submodules`` are those whose files are in the place.
    """

    run: str
    mode: Literal["worktree", "copy"]
    branch: str
    base: str
    user_head: str = ""
    prefix: str = ""
    carried: bool = False
    notes: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    submodules: tuple[Submodule, ...] = ()


def save(repo: Path, record: PlaceRecord) -> None:
    """Write the record beside the run's folder."""
    write_atomically(work_folder(repo) / f"{record.run}.json", msgspec.json.format(msgspec.json.encode(record)) + b"\n")


def load(repo: Path, run: str) -> PlaceRecord:
    """The record of a run.

    Raises:
        WorkspaceError: there is none, or it cannot be read.
    """
    folder = known_work_folder(repo)
    path = (folder or Path()) / f"{run}.json"
    try:
        if folder is None:
            raise FileNotFoundError
        return msgspec.json.decode(path.read_bytes(), type=PlaceRecord)
    except FileNotFoundError:
        raise WorkspaceError(f"No unfinished run {run!r} of {repo} is recorded.") from None
    except (OSError, msgspec.MsgspecError) as error:
        raise WorkspaceError(f"The record of run {run!r} in {path} cannot be read: {error}.") from error


def forget(repo: Path, run: str) -> None:
    """Remove the record of a run, if there is one."""
    (work_folder(repo) / f"{run}.json").unlink(missing_ok=True)


def recorded(repo: Path) -> list[str]:
    """Ids of the runs whose place was neither kept nor discarded, oldest first."""
    folder = known_work_folder(repo)
    if folder is None:
        return []
    return [path.stem for path in sorted(folder.glob("*.json"), key=lambda p: (p.stat().st_mtime, p.name))]
