"""Paths as people write them: whole, or only the end of one; and which files belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from agent.languages import reader_of
from agent.workspace.protected import is_test_file


def ends_with(real: str, written: str) -> bool:
    """Whether ``written`` is ``real`` or the end of it, whole components only."""
    parts = PurePosixPath(written).parts
    return bool(parts) and PurePosixPath(real).parts[-len(parts) :] == parts


def meant(written: str, files: Sequence[str]) -> str:
    """The file that a person means by ``written``: that very path, or the only one that ends with it; "" otherwise."""
    found = [path for path in files if ends_with(path, written)]
    return written if written in found else found[0] if len(found) == 1 else ""


def pair_of(path: str, files: Iterable[str]) -> str:
    """The interface that belongs to a unit, or the unit that belongs to an interface, among ``files`` that are no tests; ""
    where there is none."""
    language = reader_of(path)
    return language.counterpart(path, [one for one in files if not is_test_file(one)]) if language else ""
