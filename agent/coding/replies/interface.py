"""The reply of ``interface_enum`` as a type, and what of it can be laid down."""

from __future__ import annotations

import re

import msgspec


class FunctionIdea(msgspec.Struct, frozen=True):
    """A function of an interface: its name and a sentence on what it does."""

    name: str
    does: str = ""


class HeaderIdea(msgspec.Struct, frozen=True):
    """A header of an interface."""

    path: str
    functions: list[FunctionIdea]
    purpose: str = ""
    types: list[str] = []


class Interface(msgspec.Struct, frozen=True):
    """The reply of ``interface_enum``."""

    headers: list[HeaderIdea]


def check_interface(interface: Interface) -> None:
    """Refuse an interface that cannot be laid down. Raises ValueError with a sentence for the re-ask."""
    if not interface.headers or not any(header.functions for header in interface.headers):
        raise ValueError("it names no header with functions")
    for header in interface.headers:
        problem = bad_path(header.path)
        if problem:
            raise ValueError(problem)
        bad = [one.name for one in header.functions if not re.fullmatch(r"[A-Za-z_]\w*", one.name)]
        if bad:
            raise ValueError(f"{bad[0]!r} is not a C function name")


def bad_path(path: str) -> str:
    """Why ``path`` cannot be a header of the project, "" when it can."""
    clean = re.fullmatch(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.h", path)
    return "" if clean and ".." not in path else f"{path!r} is not a path of a header inside the project"
