"""Which header a C name comes from: the ranked table of canonical homes.

The table (``header_data.toml``, which names its sources) answers without any compiler; ``system_headers.py`` asks the
installed one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

_LEVELS = ("xopen_default", "posix", "xopen", "default", "gnu")
_KINDS = {"functions": "function", "macros": "macro", "types": "type", "tags": "tag", "variables": "variable"}

_MACRO_OF_LEVEL = {
    "posix": "_POSIX_C_SOURCE=200809L",
    "xopen": "_XOPEN_SOURCE=700",
    "xopen_default": "_XOPEN_SOURCE=700",
    "default": "_DEFAULT_SOURCE",
    "gnu": "_GNU_SOURCE",
}


class Home(NamedTuple):
    """A header that declares a name. ``level`` says what makes it visible ("" is always); ``group`` is c, posix, gnu or
    windows; ``rank`` 0 is the best home of the name."""

    header: str
    kind: str
    level: str
    group: str
    rank: int = 0

    @property
    def feature_macro(self) -> str:
        """The feature-test macro that shows the name under a strict ``-std``, "" when none is needed."""
        return _MACRO_OF_LEVEL.get(self.level, "")

    def hidden(self, *, strict: bool, defined: Iterable[str] = ()) -> bool:
        """Whether the name stays hidden although its header is included.

        ``strict`` is -std=c99 and the like (no GNU extensions); ``defined`` are the feature-test macros in force.
        """
        if not self.level:
            return False
        macros = set(defined)
        if "_GNU_SOURCE" in macros:
            return False
        satisfied = {
            "posix": {"_POSIX_C_SOURCE", "_XOPEN_SOURCE", "_DEFAULT_SOURCE", "_BSD_SOURCE", "_POSIX_SOURCE"},
            "xopen": {"_XOPEN_SOURCE"},
            "xopen_default": {"_XOPEN_SOURCE", "_DEFAULT_SOURCE", "_BSD_SOURCE", "_SVID_SOURCE"},
            "default": {"_DEFAULT_SOURCE", "_BSD_SOURCE", "_SVID_SOURCE"},
            "gnu": set(),
        }[self.level]
        if macros & satisfied:
            return False
        if not strict and self.level in ("posix", "xopen_default", "default"):
            # naming one standard switches the defaults off
            narrowed = macros & {"_POSIX_C_SOURCE", "_XOPEN_SOURCE", "_POSIX_SOURCE"}
            return bool(narrowed) and self.level != "posix"
        return True


class HeaderTable:
    """The data file, loaded once. Look-ups are dictionary reads."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._homes: dict[str, list[Home]] = {}
        self.headers: dict[str, str] = {}
        self.names_of: dict[str, set[str]] = {}
        self._never = frozenset(data["never"].split())
        self._never_prefixes = tuple(data["never_prefixes"].split())
        for header, sections in data["headers"].items():
            self.headers[header] = sections["group"]
            self.names_of[header] = self._load(header, sections)
        self._functions_by_length: dict[int, list[str]] = {}
        for name, homes in self._homes.items():
            if homes[0].kind == "function" and homes[0].group == "c":
                self._functions_by_length.setdefault(len(name), []).append(name)
        for name, more in data["also"].items():
            self._also(name, more.split())
        self._brings = {header: frozenset(more.split()) for header, more in data["brings"].items()}
        self._prefixes = [(prefix, homes.split()) for prefix, homes in data["prefixes"].items()]
        self._libraries: dict[str, str] = data["libraries"]
        self._library_functions = {n: lib for lib, names in data["library_functions"].items() for n in names.split()}
        self._link_prefixes: dict[str, str] = data["link_prefixes"]
        self._link_prefix = re.compile("|".join(map(re.escape, self._link_prefixes)))
        self._vanished: dict[str, str] = data["vanished"]
        self._microsoft = {n: header for header, names in data["microsoft"].items() for n in names.split()}

    def _load(self, header: str, sections: dict[str, str]) -> set[str]:
        group = sections["group"]
        names: set[str] = set()
        for key, words in sections.items():
            if key == "group":
                continue
            section, _, level = key.partition("_")
            kind = _KINDS[section]
            for word in words.split():
                name = f"struct {word}" if kind == "tag" else word
                self._homes.setdefault(name, []).append(Home(header, kind, level, group))
                names.add(name)
        return names

    def _also(self, name: str, more: list[str]) -> None:
        homes = self._homes.setdefault(name, [])
        kind = homes[0].kind if homes else "type"
        level = homes[0].level if homes else ""
        for header in more:
            if all(h.header != header for h in homes):
                homes.append(Home(header, kind, level, self.headers.get(header, "gnu"), len(homes)))
                self.names_of.setdefault(header, set()).add(name)

    def homes(self, name: str) -> tuple[Home, ...]:
        """The canonical homes of a name, best first. A struct's tag is asked for as ``struct stat``."""
        found = self._homes.get(name)
        if found:
            return tuple(found)
        for prefix, headers in self._prefixes:
            if name.startswith(prefix) and name != prefix:
                return tuple(Home(h, "macro", "", self.headers[h], i) for i, h in enumerate(headers))
        return ()

    def microsoft(self, name: str) -> tuple[Home, ...]:
        """The home of a name that only Microsoft's C library declares; () for others."""
        kind = "macro" if name.isupper() else "function"
        return (Home(self._microsoft[name], kind, "", "windows"),) if name in self._microsoft else ()

    def known(self, name: str) -> bool:
        """Whether any header of the table declares ``name``."""
        return name in self._homes

    def vanished(self, name: str) -> str:
        """What to write instead of a name (a tag as ``struct x``) or header that C libraries have dropped; "" for others."""
        return self._vanished.get(name, "")

    def one_slip_away(self, name: str) -> str | None:
        """A function of the C library that differs from ``name`` by one letter more, less, other, or swapped."""
        for length in (len(name), len(name) - 1, len(name) + 1):
            for known in self._functions_by_length.get(length, ()):
                if _one_slip(name, known):
                    return known
        return None

    def never(self, header: str) -> bool:
        """Whether a header must not be proposed: internal, obsolete, or a home by accident only."""
        return header in self._never or header.startswith(self._never_prefixes)

    def obsolete(self, header: str) -> bool:
        """Whether a header is one of those that only compile by accident (not: an internal part of another)."""
        return header in self._never

    def brings(self, header: str) -> frozenset[str]:
        """The headers whose names ``header`` brings along, as the standards promise."""
        return self._brings.get(header, frozenset())

    def proper(self, header: str) -> str:
        """The header to include instead of an internal, obsolete or C++ spelling (``sys/errno.h`` and ``cerrno`` are
        ``errno.h``)."""
        if "." not in header and header.startswith("c") and f"{header[1:]}.h" in self.headers:
            return f"{header[1:]}.h"
        if self.never(header):
            base = header.rsplit("/", 1)[-1]
            if base in self.headers and base != header:
                return base
        return header

    def library_flag(self, symbol: str) -> str:
        """The linker or compiler flag that brings ``symbol``, "" when no library is known to."""
        if symbol in self._library_functions:
            return _flag(self._library_functions[symbol])
        for home in self._homes.get(symbol, ()):
            if home.kind == "function" and home.header in self._libraries:
                return _flag(self._libraries[home.header])
        prefix = self._link_prefix.match(symbol)
        return self._link_prefixes[prefix[0]] if prefix else ""

    def library_of_header(self, header: str) -> str:
        """The flag of the library that a header belongs to, "" for the C library and unknown ones."""
        library = self._libraries.get(header)
        return _flag(library) if library else ""


def _one_slip(name: str, known: str) -> bool:
    """Whether one edit (insert, delete, replace, or swap of neighbours) makes ``known`` of ``name``."""
    start = 0
    while start < min(len(name), len(known)) and name[start] == known[start]:
        start += 1
    left, right = name[start:], known[start:]
    if left[1:] == right[1:] or left[1:] == right or left == right[1:]:
        return True
    return len(left) > 1 and left[:2] == right[1::-1] and left[2:] == right[2:]


def _flag(library: str) -> str:
    return "-pthread" if library == "pthread" else f"-l{library}"


@cache
def header_table() -> HeaderTable:
    """The table of this installation (about 30 ms the first time)."""
    text = resources.files("agent.c").joinpath("header_data.toml").read_text("utf-8")
    return HeaderTable(tomllib.loads(text))
