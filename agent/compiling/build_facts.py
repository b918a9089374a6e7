"""What a compiler's command line says about the language it was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.compiler_flags import include_folders

_TELLING = frozenset(("-a", "-s", "--", "-D", "-U", "-i", "-p"))
"""How the flags begin that say something."""
_GCC_VERSION = re.compile(r"gcc-(\d+)")


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """What the command line says: ``strict`` is a -std without GNU extensions, ``defined`` the feature-test macros given
    by -D, ``windows`` a mingw or MSVC target, ``stops_at_first`` a compiler that prints one error only (tcc),
    ``include_dirs`` the folders searched for headers as given, ``guessed`` when nothing tells them; ``macros`` what -D
    defines, name to body, ``undefined`` what -U takes away, and ``forced`` the headers of -include."""

    strict: bool = False
    defined: frozenset[str] = frozenset()
    windows: bool = False
    c23: bool = False
    stops_at_first: bool = False
    include_dirs: tuple[str, ...] = ()
    guessed: bool = False
    macros: tuple[tuple[str, str], ...] = ()
    undefined: frozenset[str] = frozenset()
    forced: tuple[str, ...] = ()

    @classmethod
    def of(cls, flags: Sequence[str], compiler: str = "", *, guessed: bool = False) -> BuildFacts:
        """Read from flags and the compiler's name (``x86_64-w64-mingw32-gcc``, ``gcc-15``)."""
        return _read(tuple(flags), compiler, guessed)

    def with_macros(self, predefined: Mapping[str, str]) -> dict[str, str]:
        """``predefined`` (the compiler's own macros) as the flags leave them."""
        return {n: v for n, v in {**predefined, **dict(self.macros)}.items() if n not in self.undefined}


@lru_cache(maxsize=256)
def _read(flags: tuple[str, ...], compiler: str, guessed: bool) -> BuildFacts:
    """The facts of one command line; the files of a project have but a few different ones."""
    strict = c23 = False
    standard = ""
    defined: set[str] = set()
    undefined: set[str] = set()
    macros: list[tuple[str, str]] = []
    forced: list[str] = []
    for place, flag in enumerate(flags):
        if flag[:2] not in _TELLING:
            continue
        if flag == "-ansi":
            standard = "c90"
        elif flag.startswith(("-std=", "--std=")):
            standard = flag.split("=", 1)[1]
        elif flag == "-D" and place + 1 < len(flags):
            macros.append(_macro(flags[place + 1]))
        elif flag.startswith("-D"):
            macros.append(_macro(flag[2:]))
        elif flag == "-U" and place + 1 < len(flags):
            undefined.add(flags[place + 1])
        elif flag.startswith("-U"):
            undefined.add(flag[2:])
        elif flag.startswith("-include"):
            forced += [flag.removeprefix("-include")] if flag != "-include" else flags[place + 1 : place + 2]
        elif flag == "-pthread":
            defined.add("_REENTRANT")
    if standard:
        strict = not standard.startswith("gnu")
        c23 = standard[-2:] in ("2x", "23", "2y")
    elif match := _GCC_VERSION.search(compiler):
        c23 = int(match[1]) >= 15
    windows = "mingw" in compiler or compiler.endswith(("cl", "cl.exe"))
    stops = "tcc" in compiler[compiler.rfind("/") + 1 :] or "-Wfatal-errors" in flags or "-fmax-errors=1" in flags
    defined |= {name for name, _ in macros}
    return BuildFacts(
        strict, frozenset(defined), windows, c23, stops, tuple(include_folders(flags)), guessed, tuple(macros),
        frozenset(undefined), tuple(forced),
    )  # fmt: skip


def _macro(text: str) -> tuple[str, str]:
    """What ``-D`` defines: the name without parameters and the body, 1 when none is given."""
    name, _, body = text.partition("=")
    return name.split("(")[0], body if "=" in text else "1"
