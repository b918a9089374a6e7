"""Which files of a project are C, and which source goes with which header."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

SOURCE_SUFFIXES = (".c",)
HEADER_SUFFIXES = (".h",)
INCLUDED_SUFFIXES = (".h", ".hh", ".hpp", ".inc", ".def")
"""What C sources include, headers of C++ and lists of macros among them."""


def is_source(path: str) -> bool:
    """Whether a path is that of a C source file."""
    return path.endswith(SOURCE_SUFFIXES)


def is_header(path: str) -> bool:
    """Whether a path is that of a C header."""
    return path.endswith(HEADER_SUFFIXES)


def counterpart(path: str, files: Iterable[str], shared: Mapping[str, int] | None = None) -> str:
    """For a header the source among ``files`` that goes with it, for a source the header; "" when there is none.

    The same stem decides; then how many functions the two have in common (``shared``: path to count), so that a header
    declares what a source of another name defines; then how near the two lie.
    """
    if not is_source(path) and not is_header(path):
        return ""
    wanted = HEADER_SUFFIXES if is_source(path) else SOURCE_SUFFIXES
    stem, here = _stem(path), posixpath.dirname("/" + path)
    found = [one for one in files if one.endswith(wanted) and (_stem(one) == stem or (shared and shared.get(one)))]

    def worth(other: str) -> tuple[bool, int, int, int, str]:
        near = len(posixpath.commonpath([here, posixpath.dirname("/" + other)]))
        return _stem(other) != stem, -(shared or {}).get(other, 0), -near, len(other), other

    return min(found, key=worth, default="")


def new_source_for(header: str) -> str:
    """The path of a source to be made for a header: beside it, in ``src`` where headers live in ``include``."""
    folder, name = posixpath.split(header)
    parts = folder.split("/")
    if "include" in parts:
        folder = "/".join([*parts[: parts.index("include")], "src"])
    return posixpath.join(folder, posixpath.splitext(name)[0] + SOURCE_SUFFIXES[0])


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]
