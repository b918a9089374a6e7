"""Exchanges the code of functions that are loaded, so that a candidate needs no new collection of the tests.

Standard library only: it stands beside ``warm_worker`` in the project's own interpreter. Where an exchange could behave
otherwise than loading the new text would (something outside of function bodies differs, a function ran while modules were
loaded, threads run), it is refused, and the candidate is loaded the long way.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import types
from collections.abc import Mapping
from typing import Any

_OPTIMIZED = 0x1
"""Flag of code that belongs to a function; a module's and a class's lack it (inspect.CO_OPTIMIZED)."""


class LiveCode:
    """The loaded functions of a project below ``tree``. Make it before the project is loaded, then :meth:`loaded`."""

    def __init__(self, tree: str) -> None:
        self._tree = tree + os.sep
        self._ran: dict[int, types.CodeType] = {}
        self._functions: dict[tuple[str, str, int], list[types.FunctionType]] = {}
        self._files: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        sys.setprofile(self._note)

    def _note(self, frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & _OPTIMIZED:
            self._ran[id(code)] = code

    def loaded(self) -> bool:
        """The project is loaded: find its functions. False when threads run already, which a fork would lose."""
        sys.setprofile(None)
        ran = {_key(code) for code in self._ran.values() if self._path(code)}
        self._ran = {}
        gc.collect()
        for one in gc.get_objects():
            if isinstance(one, types.FunctionType) and self._path(one.__code__):
                self._files[self._path(one.__code__)] = one.__code__.co_filename
                if _key(one.__code__) not in ran:
                    self._functions.setdefault(_key(one.__code__), []).append(one)
        gc.freeze()
        return threading.active_count() == 1

    def _path(self, code: types.CodeType) -> str:
        name = code.co_filename
        if name not in self._paths:
            full = os.path.realpath(name) if name[:1] != "<" else ""
            self._paths[name] = full[len(self._tree) :] if full.startswith(self._tree) else ""
        return self._paths[name]

    def function(self, path: str, name: str) -> types.FunctionType | None:
        """The loaded function of a module; None when there is none, or more than one."""
        found = [
            one for functions in self._functions.values() for one in functions
            if one.__qualname__ == name and self._path(one.__code__) == path
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def exchange(self, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
        """Give loaded functions the code of the new texts (path to text). False, with nothing changed, where it would not
        be the same as loading them.

        Raises:
            SyntaxError: a new text does not parse.
        """
        wanted: list[tuple[types.FunctionType, types.CodeType]] = []
        for path, text in after.items():
            name = self._files.get(path)
            if name is None:
                return False
            old = compile(before[path], name, "exec", dont_inherit=True)
            pairs = _changed(old, compile(text, name, "exec", dont_inherit=True))
            if pairs is None:
                return False
            for one, new in pairs:
                functions = self._functions.get(_key(one), [])
                if not functions or one.co_freevars != new.co_freevars:
                    return False
                wanted += [(function, new) for function in functions]
        for function, new in wanted:
            function.__code__ = new
        return True


def _key(code: types.CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_name, code.co_firstlineno


def _changed(old: types.CodeType, new: types.CodeType) -> list[tuple[types.CodeType, types.CodeType]] | None:
    """The functions that differ, (old, new); None when something that is carried out on loading differs."""
    same = (
        old.co_code == new.co_code and old.co_names == new.co_names and old.co_varnames == new.co_varnames
        and len(old.co_consts) == len(new.co_consts)
    )  # fmt: skip
    if not same:
        return None
    found: list[tuple[types.CodeType, types.CodeType]] = []
    for one, other in zip(old.co_consts, new.co_consts, strict=True):
        if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
            if one == other:
                continue
            if one.co_name != other.co_name:
                return None
            if one.co_flags & _OPTIMIZED:
                found.append((one, other))
                continue
            inside = _changed(one, other)
            if inside is None:
                return None
            found += inside
        elif type(one) is not type(other) or repr(one) != repr(other):
            return None
    return found
