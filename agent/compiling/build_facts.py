"""What a compiler's command line says about the language it was asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

_TELLING = frozenset(("-a", "-s", "--", "-D", "-I", "-i", "-p"))
"""How the flags begin that say something."""


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """What the command line says: ``strict`` is a -std without GNU extensions, ``defined`` the feature-test macros given
    by -D, ``windows`` a mingw or MSVC target, ``stops_at_first`` a compiler that prints one error only (tcc),
    ``include_dirs`` the -I and -iquote folders as given."""

    strict: bool = False
    defined: frozenset[str] = frozenset()
    windows: bool = False
    c23: bool = False
    stops_at_first: bool = False
    include_dirs: tuple[str, ...] = ()

    @classmethod
    def of(cls, flags: Sequence[str], compiler: str = "") -> BuildFacts:
        """Read from flags and the compiler's name (``x86_64-w64-mingw32-gcc``, ``gcc-15``)."""
        strict = c23 = False
        standard = ""
        defined: set[str] = set()
        dirs: list[str] = []
        for place, flag in enumerate(flags):
            if flag[:2] not in _TELLING:
                continue
            if flag == "-ansi":
                standard = "c90"
            elif flag.startswith(("-std=", "--std=")):
                standard = flag.split("=", 1)[1]
            elif flag == "-D" and place + 1 < len(flags):
                defined.add(flags[place + 1].split("=")[0])
            elif flag.startswith("-D"):
                defined.add(flag[2:].split("=")[0])
            elif flag in ("-I", "-iquote") and place + 1 < len(flags):
                dirs.append(flags[place + 1])
            elif flag.startswith("-I"):
                dirs.append(flag[2:])
            elif flag == "-pthread":
                defined.add("_REENTRANT")
        if standard:
            strict = not standard.startswith("gnu")
            c23 = standard[-2:] in ("2x", "23", "2y")
        elif match := re.search(r"gcc-(\d+)", compiler):
            c23 = int(match[1]) >= 15
        windows = "mingw" in compiler or compiler.endswith(("cl", "cl.exe"))
        stops = "tcc" in os.path.basename(compiler) or "-Wfatal-errors" in flags or "-fmax-errors=1" in flags
        return cls(strict, frozenset(defined), windows, c23, stops, tuple(dirs))
