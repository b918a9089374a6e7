"""Paths that a model names, and files written whole or not at all."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from agent.atomic import replace_file
from agent.workspace.git import WorkspaceError


class PathRefused(WorkspaceError):
    """A path leads out of the place where the run may write."""


def resolve_inside(root: Path, path: str) -> Path:
    """The absolute path of ``path`` below ``root``.

    The path is relative to ``root``, with ``/`` between names; it need not exist. Symbolic links are followed, and
    refused when they lead out.

    Raises:
        PathRefused: it is empty, absolute, goes up with ``..``, names a ``.git``, or leaves ``root`` through a link.
    """
    shown = path if len(path) <= 200 else path[:200] + "…"
    if not path or not path.strip():
        raise PathRefused("An empty path was given where a file inside the repository is needed.")
    if "\0" in path or "\n" in path:
        raise PathRefused(f"The path {shown!r} holds a character that no file name here may hold.")
    if "\\" in path and "/" not in path:
        raise PathRefused(f"The path {shown!r} uses backslashes. Write it with / and relative to the repository.")
    pure = PurePosixPath(path)
    if pure.is_absolute() or path.startswith("~") or (len(path) > 1 and path[1] == ":"):
        raise PathRefused(f"The path {shown!r} is absolute. Only paths relative to the repository are allowed.")
    parts = [part for part in pure.parts if part != "."]
    if not parts:
        raise PathRefused(f"The path {shown!r} names the repository itself, not a file in it.")
    if ".." in parts:
        raise PathRefused(f"The path {shown!r} goes up with '..'. Only paths inside the repository are allowed.")
    _refuse_reserved(parts, shown)
    base = root.resolve()
    try:
        real = base.joinpath(*parts).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise PathRefused(f"The path {shown!r} cannot be followed: {error}.") from error
    if not real.is_relative_to(base):
        raise PathRefused(f"The path {shown!r} leads out of the repository through a symbolic link, so it is refused.")
    _refuse_reserved(list(real.relative_to(base).parts), shown)
    return real


def _refuse_reserved(parts: list[str], shown: str) -> None:
    # Case-insensitive file systems would let ".GIT" through; git itself guards against the same spellings.
    if any(part.casefold() in (".git", ".clean_room") or part.casefold().startswith(".git:") for part in parts):
        raise PathRefused(f"The path {shown!r} reaches into .git or .clean_room, which no change may touch.")


def write_atomically(path: Path, data: bytes, mode: int | None = None, beside: Path | None = None) -> None:
    """:func:`agent.atomic.replace_file`, with a sentence for the person when it cannot be done.

    Raises:
        WorkspaceError: the file could not be written; what was there is unchanged.
    """
    try:
        replace_file(path, data, mode=mode, beside=beside)
    except OSError as error:
        raise WorkspaceError(f"{path} could not be written: {error.strerror}. Nothing there was changed.") from error
