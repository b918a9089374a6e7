"""Constants of POSIX's ``math.h`` that ISO C lacks (``M_PI``): under ``-std=c99`` nobody defines them, so their value is
written."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable

from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk
from agent.replacements import Replacement, replaced
from agent.values import Diagnostic

VALUES = {
    "M_E": math.e, "M_LOG2E": 1 / math.log(2), "M_LOG10E": 1 / math.log(10), "M_LN2": math.log(2), "M_LN10": math.log(10),
    "M_PI": math.pi, "M_PI_2": math.pi / 2, "M_PI_4": math.pi / 4, "M_1_PI": 1 / math.pi, "M_2_PI": 2 / math.pi,
    "M_2_SQRTPI": 2 / math.sqrt(math.pi), "M_SQRT2": math.sqrt(2), "M_SQRT1_2": math.sqrt(0.5),
}  # fmt: skip
"""The names of POSIX.1-2017, ``<math.h>``."""

_UNDECLARED = re.compile(r"\b(M_\w+)\b.*undeclared|undeclared identifier .(M_\w+)")


def with_values(source: bytes, diagnostics: Iterable[Diagnostic], lines: Collection[int]) -> tuple[bytes, tuple[str, ...]]:
    """``source`` with these constants in the functions on ``lines`` (from 1) written as numbers, and a sentence for each."""
    found = (_UNDECLARED.search(one.message) for one in diagnostics)
    names = {match[1] or match[2] for match in found if match is not None} & VALUES.keys()
    edits: dict[Replacement, str] = {}
    for node in walk(parse_c(source)) if names else ():
        name = text_of(node) if node.type == "identifier" else ""
        if name in names and node.start_point[0] + 1 in lines:
            told = f"ISO C has no {name}; its value stands there now."
            edits[Replacement(node.start_byte, node.end_byte, f"{VALUES[name]!r}")] = told
    return replaced(source, edits), tuple(dict.fromkeys(edits.values()))
