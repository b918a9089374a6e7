"""How compilers word things in the languages they speak (``wording.toml``): severities and fragments of messages."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from typing import Literal

Severity = Literal["error", "warning", "note", "fatal"]

_DATA = tomllib.loads(resources.files("agent.compiling.reading").joinpath("wording.toml").read_text("utf-8"))

SEVERITIES: dict[str, Severity] = {
    word.lower(): severity for severity, words in _DATA["severities"].items() for word in words
}
"""Severity by the word in front of a message, lower case."""

ERROR_WORDS = tuple(word for word, severity in SEVERITIES.items() if severity in ("error", "fatal"))
"""The words with which compilers call a message an error, lower case, in all their languages."""


def _kind(name: str) -> re.Pattern[str]:
    return re.compile("|".join(_DATA["kinds"][name]), re.IGNORECASE)


LINK_UNDEFINED = _kind("link_undefined")
LINK_MULTIPLE = _kind("link_multiple")
IMPLICIT = _kind("implicit")
UNDECLARED = _kind("undeclared")
UNKNOWN_TYPE = _kind("unknown_type")
CONFLICT = _kind("conflict")
LINKAGE = _kind("linkage")
ARITY = _kind("arity")
ARGUMENT = _kind("argument")
NEVER_DEFINED = _kind("never_defined")
INCOMPLETE = _kind("incomplete")
IN_PARAMETERS = _kind("in_parameters")
NO_FILE = _kind("no_file")
REDEFINED = _kind("redefined")
NO_MEMBER = _kind("no_member")
LABEL = _kind("label")
SYNTAX = _kind("syntax")
