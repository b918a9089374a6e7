"""Demo repositories: small projects to try a run on.

Each is a folder with a ``demo.toml`` and, for its git history, a ``history.toml``. A demo is copied to the person's
data directory and made a repository there; the sources are never worked on.
"""

from __future__ import annotations

import errno
import secrets
import shutil
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from agent.directories import DATA_VARIABLE, data_directory
from agent.workspace import sweeping
from agent.workspace.git import WorkspaceError, run_git
from agent.workspace.paths import resolve_inside

_HISTORY = "history.toml"
_LEFT_OUT = {_HISTORY, "__pycache__", "build", ".clean_room", ".git", ".pytest_cache"}
_AUTHOR = {
    "GIT_AUTHOR_NAME": "Demo Author",
    "GIT_AUTHOR_EMAIL": "demo@localhost",
    "GIT_COMMITTER_NAME": "Demo Author",
    "GIT_COMMITTER_EMAIL": "demo@localhost",
}


class Demo(msgspec.Struct, frozen=True):
    """A demo. ``path`` is its folder; ``hidden`` lists paths (folders end in ``/``) that no model may be shown;
    ``settings`` are what its copies are configured with, by section and key."""

    name: str
    title: str
    task: str
    language: str
    path: Path
    test_command: str = ""
    hidden: tuple[str, ...] = ()
    settings: dict[str, dict[str, Any]] = {}


class _Commit(msgspec.Struct):
    date: str
    message: str
    files: list[str] = []
    older: dict[str, str] = {}


class _History(msgspec.Struct):
    commit: list[_Commit]


def list_demos() -> list[Demo]:
    """All demos, by name."""
    return [load_demo(path.parent.name) for path in sorted(_sources().glob("*/demo.toml"))]


def load_demo(name: str) -> Demo:
    """The demo ``name``, with ``path`` at its source.

    Raises:
        WorkspaceError: there is none of that name; the sentence lists all names.
    """
    source = _sources()
    if not (source / name / "demo.toml").is_file() or Path(name).name != name:
        names = ", ".join(path.parent.name for path in sorted(source.glob("*/demo.toml")))
        raise WorkspaceError(f"There is no demo {name!r}. There are: {names}.")
    return read_demo(source / name, name)


def read_demo(folder: Path, name: str = "") -> Demo:
    """The demo in ``folder`` (a source or a copy), from its ``demo.toml``.

    Raises:
        WorkspaceError: the file is missing or invalid.
    """
    try:
        raw = tomllib.loads((folder / "demo.toml").read_text(encoding="utf-8"))
        return msgspec.convert({"name": name or folder.name, "path": folder} | raw, Demo, dec_hook=lambda _, value: value)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise WorkspaceError(f"{folder / 'demo.toml'} cannot be read: {error}") from error


def create_demo(name: str, destination: Path | None = None) -> Path:
    """Copy demo ``name`` and give it a git history; returns the new repository.

    Goes to ``destination`` (must be new or empty), else to ``demos/<name>-N`` in the data directory. Dates are fixed, so
    that the history is the same each time. It is made in a temporary folder beside and then renamed, so that an unfinished
    one is never taken for a demo. Blocking, some 100 ms.

    Raises:
        WorkspaceError: no such demo, no place to write, or no git.
    """
    demo = load_demo(name)
    commits = _commits(demo)
    wanted = data_directory() / "demos" / name if destination is None else _checked(Path(destination))
    home = wanted if destination is not None and wanted.exists() else wanted.parent
    making = home / f".{name}.{secrets.token_hex(4)}.tmp"
    try:
        home.mkdir(parents=True, exist_ok=True)
        sweeping.sweep(home, (".*.tmp",))
        making.mkdir()
    except OSError as error:
        raise WorkspaceError(
            f"No demo could be made in {home}: {error.strerror}."
            + (f" Set {DATA_VARIABLE} to a folder that can be written." if destination is None else "")
        ) from error
    try:
        _fill(making, demo, commits)
        return _settle(making, wanted) if destination is None else _take(making, wanted)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def _fill(place: Path, demo: Demo, commits: list[_Commit]) -> None:
    """The demo's files and its history."""
    listed = _listed(demo.path)
    run_git(place, "init", "-q")
    run_git(place, "symbolic-ref", "HEAD", "refs/heads/main")
    for index, commit in enumerate(commits):
        last = index == len(commits) - 1
        for path, text in commit.older.items():
            _put(place, path, text.lstrip("\n").encode())
        for path in [*commit.files, *(listed if last else ())]:
            _put(place, path, (demo.path / path).read_bytes(), (demo.path / path).stat().st_mode)
        dates = {"GIT_AUTHOR_DATE": commit.date, "GIT_COMMITTER_DATE": commit.date}
        run_git(place, "add", "-A", "-f")
        run_git(place, "commit", "-q", "--no-verify", "-m", commit.message, env=_AUTHOR | dates)


def _settle(making: Path, wanted: Path) -> Path:
    """Rename ``making`` to the first free name ``wanted-N``. Two at once cannot both get it, since a folder that is not
    empty is not replaced."""
    number = 1
    while True:
        place = wanted.with_name(f"{wanted.name}-{number}")
        if not place.exists():
            try:
                return making.rename(place)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise WorkspaceError(f"No demo could be made in {place.parent}: {error.strerror}.") from error
        number += 1


def _take(making: Path, place: Path) -> Path:
    """Move ``making`` to ``place``. Into an existing folder its entries are moved, ``.git`` last."""
    try:
        if not place.exists():
            return making.rename(place)
        for entry in sorted(making.iterdir(), key=lambda path: path.name == ".git"):
            entry.rename(place / entry.name)
        making.rmdir()
    except OSError as error:
        raise WorkspaceError(f"No demo could be made in {place}: {error.strerror}. Give a new folder.") from error
    return place


def _sources() -> Path:
    """``demo_repos`` beside the package: in a checkout and, as installed, in site-packages."""
    folder = Path(__file__).resolve().parents[2] / "demo_repos"
    if not folder.is_dir():
        raise WorkspaceError(f"The demo repositories are missing from this installation ({folder}). Install it again.")
    return folder


def _checked(place: Path) -> Path:
    """``place``, when it is new or empty."""
    try:
        if place.exists() and any(place.iterdir()):
            raise WorkspaceError(f"{place} is not empty, so no demo was put there. Give a new folder.")
    except OSError as error:
        raise WorkspaceError(f"No demo could be made in {place}: {error.strerror}.") from error
    return place.resolve()


def _commits(demo: Demo) -> list[_Commit]:
    path = demo.path / _HISTORY
    if not path.is_file():
        return [_Commit("2026-01-05T09:00:00+00:00", f"{demo.title}: the beginning")]
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _History).commit
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise WorkspaceError(f"{path} cannot be read: {error}") from error


def _listed(source: Path) -> Iterable[str]:
    """Every file of the demo that belongs into a copy, relative to ``source``."""
    found = (path.relative_to(source) for path in sorted(source.rglob("*")) if path.is_file())
    return [path.as_posix() for path in found if not _LEFT_OUT & set(path.parts)]


def _put(place: Path, path: str, data: bytes, mode: int = 0o644) -> None:
    full = resolve_inside(place, path)
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(data)
    full.chmod(0o755 if mode & 0o100 else 0o644)
