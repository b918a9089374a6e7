"""Whether the person trusts a repository: until then it is only read, and none of its code runs.

Trust is given once for a path. It holds until the repository's own configuration or its test command changes, since these
decide what would run. It is kept in the person's state directory, never in the repository.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from pathlib import Path

import msgspec

from agent.atomic import replace_file
from agent.directories import data_directory, state_directory
from agent.regular_files import read_regular
from agent.workspace.checks import find_test_command
from agent.workspace.clean_room import CONFIG, FOLDER
from agent.workspace.git import WorkspaceError

_BELOW = "*"
"""In place of a fingerprint: everything in this folder is trusted, whatever it says."""


_DEMO = "demo"
"""In place of a fingerprint: a copy of a demo that the product made there."""


class _Trusted(msgspec.Struct):
    folders: dict[str, str] = {}


def is_trusted(repo: Path) -> bool:
    """Whether the person trusts ``repo`` as it is, or a folder that holds it. Copies of the product's demos are trusted.
    Blocking, some file reads."""
    repo = Path(os.path.realpath(repo))
    folders = _read().folders
    if is_own_demo(repo) or any(folders.get(str(place)) == _BELOW for place in (repo, *repo.parents)):
        return True
    known = folders.get(str(repo))
    return known is not None and known == fingerprint(repo)


def is_own_demo(repo: Path) -> bool:
    """Whether ``repo`` is a copy of a demo that the product made, in its data directory or where the person wanted it."""
    repo = Path(os.path.realpath(repo))
    demos = Path(os.path.realpath(data_directory() / "demos"))
    return repo.parent == demos or _read().folders.get(str(repo)) == _DEMO


def was_trusted(repo: Path) -> bool:
    """Whether it was trusted as it was before its configuration or test command changed, and is not now."""
    return str(Path(os.path.realpath(repo))) in _read().folders and not is_trusted(repo)


def trust_demo(copy: Path) -> None:
    """Remember that the product made this copy of a demo. Raises as :func:`trust`."""
    _write({**_read().folders, str(Path(os.path.realpath(copy))): _DEMO})


def trust(repo: Path, *, below: bool = False) -> None:
    """Remember that the person trusts ``repo`` as it is; with ``below`` every folder in it, whatever changes.

    Raises:
        WorkspaceError: the file cannot be written.
    """
    repo = Path(os.path.realpath(repo))
    _write({**_read().folders, str(repo): _BELOW if below else fingerprint(repo)})


def distrust(repo: Path) -> bool:
    """Forget that ``repo`` is trusted. Returns whether it was trusted itself, not through a folder that holds it."""
    repo = Path(os.path.realpath(repo))
    folders = dict(_read().folders)
    found = folders.pop(str(repo), None)
    if found is not None:
        _write(folders)
    return found is not None


def fingerprint(repo: Path) -> str:
    """A digest of what decides what would run: the configuration that the repository brings, and its test command."""
    found = hashlib.sha256(_config(repo))
    found.update(b"\0" + test_command(repo).encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def test_command(repo: Path) -> str:
    """The command that a run would measure with, from the repository's own configuration or as it is found."""
    try:
        section = tomllib.loads(_config(repo).decode("utf-8")).get("testing", {})
        configured = section.get("test_command", "") if isinstance(section, dict) else ""
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        configured = ""
    return find_test_command(repo, configured if isinstance(configured, str) else "")


def _config(repo: Path) -> bytes:
    path = repo / FOLDER / CONFIG
    try:
        return b"" if path.is_symlink() or path.parent.is_symlink() else read_regular(path)
    except OSError:
        return b""


def _place() -> Path:
    return state_directory() / "trusted.json"


def _read() -> _Trusted:
    try:
        return msgspec.json.decode(_place().read_bytes(), type=_Trusted)
    except (OSError, msgspec.MsgspecError):
        return _Trusted()


def _write(folders: dict[str, str]) -> None:
    data = msgspec.json.format(msgspec.json.encode(_Trusted(folders))) + b"\n"
    try:
        replace_file(_place(), data, mode=0o600)
    except OSError as error:
        raise WorkspaceError(f"{_place()} could not be written: {error.strerror}. Trust is kept there.") from error
