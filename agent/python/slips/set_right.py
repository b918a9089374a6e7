"""All rules on slips, one after the other."""

from __future__ import annotations

import ast
from collections.abc import Collection

from agent.language.nesting import UNREADABLE
from agent.python.slips.of_classes import (
    bare_members,
    exception_messages,
    hidden_methods,
    kept_values,
    left_out_parameters,
    missing_init,
    read_properties,
)
from agent.python.slips.of_functions import helpers_of_tests, inner_first, no_object, unused_parameter
from agent.python.slips.reading import Function, Reading, Rule
from agent.replacements import replaced

_RULES: tuple[Rule, ...] = (
    hidden_methods, bare_members, left_out_parameters, read_properties, exception_messages, kept_values, missing_init,
    no_object, inner_first, helpers_of_tests, unused_parameter,
)  # fmt: skip


def without_slips(source: bytes, name: str, callers: Collection[bytes] = ()) -> tuple[bytes, tuple[str, ...]]:
    """``source`` with the slips in the function or class ``name`` set right, and a sentence for each kind. ``callers`` are
    sources of tests. What cannot be read is left alone, and so is everything where a rule would leave what does not parse.

    Each rule is a function of :mod:`agent.python.slips.of_classes` or :mod:`agent.python.slips.of_functions`.
    """
    told: dict[str, None] = {}
    try:
        users = [ast.parse(one) for one in callers]
        reading = _read(source, name, users)
    except UNREADABLE:
        return source, ()
    if reading is None:
        return source, ()
    for rule in _RULES:
        try:
            mends = dict(rule(reading))
            after = _read(replaced(source, mends), name, users) if mends else None
        except UNREADABLE:
            continue
        if after is not None and after.source != source:
            source, reading = after.source, after
            told.update(dict.fromkeys(mends.values()))
    return source, tuple(told)


def _read(source: bytes, name: str, users: list[ast.Module]) -> Reading | None:
    """The definition of ``name``, None where there is none or where places in the file are not told by bytes of UTF-8."""
    if source.startswith(b"\xef\xbb\xbf") or b"\r" in source.replace(b"\r\n", b""):
        return None
    source.decode("utf-8")
    tree = ast.parse(source)
    found: ast.AST | None = tree
    for part in name.split("."):
        body = getattr(found, "body", [])
        found = next((one for one in body if isinstance(one, (ast.ClassDef, Function)) and one.name == part), None)
    return Reading(source, tree, found, users) if isinstance(found, (ast.ClassDef, Function)) else None
