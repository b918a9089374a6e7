"""Sentences for errors in a configuration."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable
from typing import Any

import msgspec


class ConfigError(Exception):
    """A configuration value is wrong. ``str()`` names the file, the key, the fault and the nearest valid key."""

    def __init__(self, file: str, key: str, fault: str, suggestion: str = "") -> None:
        where = f"{file}: {key}: " if key else f"{file}: "
        hint = f". Did you mean {suggestion!r}?" if suggestion else "."
        super().__init__(where + fault.rstrip(".") + hint)
        self.file = file
        self.key = key
        self.fault = fault
        self.suggestion = suggestion


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word most like ``word``, or an empty string when none is close."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else ""


_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text in quotes"}


def expected_of(kind: Any) -> str:
    """A field's type and limits in words: ``a whole number of at least 1``."""
    base, metas = _unwrap(kind)
    for meta in metas:
        if meta.extra and "expected" in meta.extra:
            return str(meta.extra["expected"])
    origin = typing.get_origin(base)
    if origin is typing.Literal:
        values = [repr(v) if v != "" else "an empty text" for v in typing.get_args(base)]
        return values[0] if len(values) == 1 else "one of " + ", ".join(values)
    if origin is list:
        return "a list, each entry " + expected_of(typing.get_args(base)[0])
    if origin is dict:
        return "a table, each entry " + expected_of(typing.get_args(base)[1])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(expected_of(k) for k in typing.get_args(base))
    if isinstance(base, type) and issubclass(base, msgspec.Struct):
        return "a table with " + ", ".join(f.name for f in msgspec.structs.fields(base))
    return _NAMES.get(base, str(base)) + _limits(metas)


def _unwrap(kind: Any) -> tuple[Any, list[msgspec.Meta]]:
    if typing.get_origin(kind) is typing.Annotated:
        base, *metas = typing.get_args(kind)
        return base, [m for m in metas if isinstance(m, msgspec.Meta)]
    return kind, []


def _limits(metas: list[msgspec.Meta]) -> str:
    words = []
    for meta in metas:
        if meta.ge is not None:
            words.append(f"at least {meta.ge}")
        if meta.le is not None:
            words.append(f"at most {meta.le}")
        if meta.min_length:
            words.append("not empty")
    return (" of " if words and words[0] != "not empty" else ", " if words else "") + " and ".join(words)


def description_of(kind: Any) -> str:
    """The description that a field's ``Meta`` carries."""
    return next((m.description for m in _unwrap(kind)[1] if m.description), "")
