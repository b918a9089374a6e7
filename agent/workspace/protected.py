"""Which files are tests: they are what a change is measured by, so a change may not touch them."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from agent.workspace.paths import PathRefused, resolve_inside

_FOLDERS = frozenset({"test", "tests", "testing", "unittest", "unittests", "acceptance"})
_NAMES = (
    "test_*.py", "*_test.py", "tests.py", "conftest.py", "pytest.ini", "tox.ini",
    "test_*.c", "*_test.c", "test-*.c", "*-test.c", "*_tests.c", "test.c", "tests.c", "check_*.c", "test_*.h",
)  # fmt: skip
_RUNNERS = frozenset({"makefile", "gnumakefile", "cmakelists.txt", "meson.build", "ctesttestfile.cmake", "demo.toml"})


def is_test_file(path: str) -> bool:
    """Whether a path (relative, with ``/``) is a test, a helper of tests, or what configures them."""
    pure = PurePosixPath(path)
    if any(part.casefold() in _FOLDERS for part in pure.parts[:-1]):
        return True
    return any(fnmatchcase(pure.name.casefold(), pattern) for pattern in _NAMES)


def is_protected(path: str, hidden: Iterable[str] = ()) -> bool:
    """Whether a model may not change ``path``: a test, a build file that runs the tests, or below one of ``hidden``."""
    pure = PurePosixPath(path)
    if is_test_file(path) or pure.name.casefold() in _RUNNERS:
        return True
    return is_hidden(path, hidden)


def is_writable(root: Path, path: str, hidden: Iterable[str] = ()) -> bool:
    """Whether a model may write a file at ``path`` below ``root``: not what :func:`is_protected` names, nothing that leads
    elsewhere, and a place where a file can be."""
    try:
        full = resolve_inside(root, path)
        return not is_protected(path, hidden) and not full.is_dir() and _can_hold_a_file(full.parent)
    except (PathRefused, OSError):  # OSError: a name that the file system does not take
        return False


def _can_hold_a_file(folder: Path) -> bool:
    there = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return there is not None and there.is_dir()


def is_hidden(path: str, hidden: Iterable[str]) -> bool:
    """Whether ``path`` is one of ``hidden`` (files, or folders with or without a final ``/``) or below it."""
    pure = PurePosixPath(path)
    return any(pure.is_relative_to(PurePosixPath(entry.rstrip("/"))) for entry in hidden if entry.strip("/"))


def protected_paths(root: Path, files: Iterable[str] | None = None, hidden: Iterable[str] = ()) -> set[str]:
    """The protected ones among ``files`` (default: all files below ``root`` except in dotted folders)."""
    hidden = tuple(hidden)
    if files is None:
        below = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        files = [path.as_posix() for path in below if not any(part.startswith(".") for part in path.parts[:-1])]
    return {path for path in files if is_protected(path, hidden)}
