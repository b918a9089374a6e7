"""A repository's folder ``.clean_room``: proven to be made on this machine before anything in it is read or written.

A clone can bring a folder of that name along, with a log, a journal or links that somebody else made. A folder that Clean
Room made has an id that the person's state directory also holds; a folder without one is moved aside and not read. Only
``config.toml`` may come with a repository, since its settings are limited (``agent.config.authority``).

Worktrees and journals are in the state directory, not here, where code under check could reach them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import stat
from pathlib import Path

import msgspec

from agent.atomic import replace_file
from agent.counts import plural
from agent.directories import STATE_VARIABLE, state_directory
from agent.workspace.git import WorkspaceError, discover, paths, run_git, shown

FOLDER = ".clean_room"
CONFIG = "config.toml"

_MARKER = "owner"
_OWNER = "owner.json"
_ASIDE = "foreign-"
_NOT_STATE = frozenset({CONFIG, ".gitignore"})
_NOT_TAKEN = frozenset({"work", _MARKER})
"""What ``adopt`` does not take over."""


class NotOurs(WorkspaceError):
    """``.clean_room`` holds something that Clean Room did not make and cannot move aside. The sentence says what to do."""


class Claim(msgspec.Struct, frozen=True):
    """``folder`` is the repository's ``.clean_room``; ``state`` its folder in the state directory, None as long as nothing
    was kept for this repository."""

    folder: Path
    state: Path | None = None


class _Owner(msgspec.Struct):
    """Where the folder that bears the id is: the repository's path, device and inode of its ``.clean_room``."""

    path: str
    device: int = 0
    inode: int = 0


def private_file(repo: Path, *names: str) -> Path:
    """The path of a file of ours in ``.clean_room``, which need not exist. No folder is made; a foreign one is moved aside.

    Raises:
        NotOurs: the folder is a link, tracked by git, or cannot be moved aside.
    """
    return claim(repo, make=False).folder.joinpath(*names)


def work_folder(repo: Path) -> Path:
    """Where the runs of ``repo`` have their places, records and journals; made when missing.

    Raises:
        WorkspaceError: it cannot be made.
    """
    state = claim(repo).state
    assert state is not None
    try:
        (state / "work").mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"{state / 'work'} could not be made: {error.strerror}. Runs need to write there.") from error
    return state / "work"


def known_work_folder(repo: Path) -> Path | None:
    """As :func:`work_folder`, but nothing is made; None where no run was ever started."""
    state = claim(repo, make=False).state
    return state / "work" if state is not None and (state / "work").is_dir() else None


def claim(repo: Path, *, make: bool = True) -> Claim:
    """Prove that ``.clean_room`` of ``repo`` is ours; with ``make`` it is made when missing. Blocking.

    Raises:
        NotOurs: it is a link, holds links, is tracked by git, or holds what can neither be used nor moved aside.
        WorkspaceError: it cannot be made there.
    """
    repo = Path(os.path.realpath(repo))
    home = repo / FOLDER
    try:
        info = os.lstat(home)
    except FileNotFoundError:
        return _made(repo, home) if make else Claim(home)
    except OSError as error:
        raise WorkspaceError(f"{home} cannot be read: {error.strerror}.") from error
    if stat.S_ISLNK(info.st_mode):
        raise NotOurs(f"{home} is a symbolic link. Remove it: a repository's files are only kept inside it.")
    if not stat.S_ISDIR(info.st_mode):
        raise NotOurs(f"{home} is a file, so nothing can be kept there. Remove it or move it away.")
    _refuse_tracked(repo, home)
    state = _state_of(repo, home, info)
    if state is None:
        _move_aside(repo, home)
        return _made(repo, home) if make else Claim(home)
    _refuse_links(home)
    return Claim(home, state)


_notices: dict[Path, list[str]] = {}


def take_notices(repo: Path | None = None) -> tuple[str, ...]:
    """Sentences about what was moved aside in ``repo`` (None: anywhere). Each is returned once: the caller shows it."""
    places = [*_notices] if repo is None else [Path(os.path.realpath(repo))]
    return tuple(text for place in places for text in _notices.pop(place, ()))


def adopt(repo: Path) -> list[str]:
    """Take over what was moved aside (made by another machine, say), since the person asks for it.
    Returns the names taken over.

    Raises:
        NotOurs: it holds links, or git tracks it.
        WorkspaceError: nothing was moved aside.
    """
    repo = Path(os.path.realpath(repo))
    home = claim(repo).folder
    aside = [path for path in home.iterdir() if path.name.startswith(_ASIDE)]
    aside.sort(key=lambda path: path.stat().st_mtime_ns)
    taken: list[str] = []
    for folder in reversed(aside):
        _refuse_links(folder, skip="")
        for entry in sorted(folder.iterdir()):
            if entry.name not in _NOT_TAKEN and not os.path.lexists(home / entry.name):
                os.rename(entry, home / entry.name)
                taken.append(entry.name)
    if not taken:
        raise WorkspaceError(f"Nothing was moved aside in {home} that could be taken over.")
    return taken


def holds_aside(repo: Path) -> bool:
    """Whether state that was moved aside in ``repo``, an existing folder, still waits to be taken over."""
    home = repo / FOLDER
    if home.is_symlink() or not home.is_dir():
        return False
    aside = [path for path in home.iterdir() if path.name.startswith(_ASIDE) and path.is_dir() and not path.is_symlink()]
    return any(entry.name not in _NOT_TAKEN for folder in aside for entry in folder.iterdir())


def forget_repository(repo: Path) -> None:
    """Remove what the state directory keeps for a repository that is deleted."""
    with contextlib.suppress(WorkspaceError):
        state = claim(repo, make=False).state
        if state is not None:
            shutil.rmtree(state, ignore_errors=True)


def _made(repo: Path, home: Path) -> Claim:
    """A new folder, or one without an owner: it gets an id."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        info = os.lstat(home)
        number = secrets.token_hex(16)
        state = state_directory() / "repositories" / number
        state.mkdir(mode=0o700, parents=True)
        replace_file(state / _OWNER, msgspec.json.encode(_Owner(str(repo), info.st_dev, info.st_ino)), mode=0o600)
        try:
            handle = os.open(home / _MARKER, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:  # another process was faster; its id counts
            (state / _OWNER).unlink()
            state.rmdir()
            return claim(repo)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(number + "\n")
        if not os.path.lexists(home / ".gitignore"):
            replace_file(home / ".gitignore", b"*\n")
    except OSError as error:
        where = error.filename or home
        raise WorkspaceError(
            f"{where} could not be made: {error.strerror}. Runs need to write there and in {state_directory()} "
            f"({STATE_VARIABLE} names another place)."
        ) from error
    return Claim(home, state)


def _state_of(repo: Path, home: Path, info: os.stat_result) -> Path | None:
    """The state folder that belongs to ``home``; None where its id is missing or not known for this place."""
    marker = home / _MARKER
    try:
        if not stat.S_ISREG(os.lstat(marker).st_mode):
            return None
        number = marker.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    if len(number) != 32 or not set(number) <= set("0123456789abcdef"):
        return None
    state = state_directory() / "repositories" / number
    try:
        owner = msgspec.json.decode((state / _OWNER).read_bytes(), type=_Owner)
    except (OSError, msgspec.MsgspecError):
        return None
    here = _Owner(str(repo), info.st_dev, info.st_ino)
    if owner.path != here.path and (owner.device, owner.inode) != (here.device, here.inode):
        return None  # a copy of the repository: the id is that of the other one
    if owner != here:  # the repository was moved, or its folder put back from a backup
        with contextlib.suppress(OSError):
            replace_file(state / _OWNER, msgspec.json.encode(here), mode=0o600)
    return state


def _move_aside(repo: Path, home: Path) -> None:
    found = [entry for entry in sorted(home.iterdir()) if entry.name not in _NOT_STATE and not entry.name.startswith(_ASIDE)]
    if not found:
        return
    number = 1
    while os.path.lexists(home / f"{_ASIDE}{number}"):
        number += 1
    aside = home / f"{_ASIDE}{number}"
    try:
        aside.mkdir()
        for entry in found:
            os.rename(entry, aside / entry.name)
    except OSError as error:
        raise NotOurs(
            f"{home} was not made by Clean Room on this machine and could not be moved aside ({error.strerror}), so it is "
            "not read. Remove it, or make it writable."
        ) from error
    names = ", ".join(shown(entry.name) for entry in found[:5]) + (" and more" if len(found) > 5 else "")
    _notices.setdefault(repo, []).append(
        f"{home} held {names}, which Clean Room did not make on this machine for this repository. Nothing of it was read; "
        f"it is now in {aside}. If it is yours, take it back with: cra trust --state {shlex.quote(str(repo))}"
    )


_untracked: dict[Path, int] = {}
"""Repositories that track nothing in the folder, with the time of their index when that was found (nanoseconds)."""


def _refuse_tracked(repo: Path, home: Path) -> None:
    found = discover(repo)
    if found is None:
        return
    try:
        stamp = (found.git_dir / "index").stat().st_mtime_ns
    except OSError:
        stamp = 0
    if _untracked.get(repo) == stamp:  # asked often, and the answer is in the index
        return
    listed = paths(run_git(repo, "--literal-pathspecs", "ls-files", "-z", "--", FOLDER, check=False))
    names = [name for name in listed if name.removeprefix(f"{FOLDER}/") not in _NOT_STATE]
    if names:
        raise NotOurs(
            f"Git tracks {plural(len(names), 'file')} in {home} ({shown(names[0])}), so they came "
            "with the repository. Nothing there is read or written. Remove them from git with: "
            f"git rm -r --cached {FOLDER}"
        )
    _untracked[repo] = stamp


def _refuse_links(folder: Path, skip: str = _ASIDE) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if skip and entry.name.startswith(skip):
                continue
            if entry.is_symlink():
                raise NotOurs(f"{shown(entry.path)} is a symbolic link. There may be none in {FOLDER}. Remove it.")
            if entry.is_dir(follow_symlinks=False):
                _refuse_links(Path(entry.path))
