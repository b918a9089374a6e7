"""Paths as people write them: the end of one, or the name of one, and which files go together."""

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
    """The file that a person means by ``written``: that very path, or the only one that ends so; "" otherwise."""
    found = [path for path in files if ends_with(path, written)]
    return written if written in found else found[0] if len(found) == 1 else ""


def pair_of(path: str, files: Iterable[str]) -> str:
    """The interface that goes with a unit among ``files``, or the unit that goes with an interface, no test; "" without."""
    language = reader_of(path)
    return language.counterpart(path, [one for one in files if not is_test_file(one)]) if language else ""
