"""Code that answers the examples of its tests one by one instead of working them out, in any language with ``if`` and
``return``."""

from __future__ import annotations

import re
from collections.abc import Sequence

LEAST = 3
"""Answers that are copied: two cases such as those of 0 and 1 may begin what is worked out."""

_LITERAL = r"""-?\d[\w.]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'"""
_BRANCH = re.compile(
    rf"(?:\b(?:el)?if\s*\(?\s*\w+\s*==\s*|\bcase\s+)(?P<given>{_LITERAL})\s*\)?\s*:?\s*\{{?\s*return\s+(?P<result>{_LITERAL}|\w+)"
)
_EXAMPLE = re.compile(rf"\w+\((?P<given>{_LITERAL})\) → (?P<result>\S.*)")
_SUFFIX = re.compile(r"(?<=\d)[uUlLfF]+$")


def copied_answers(code: str, examples: Sequence[str]) -> tuple[str, ...]:
    """The answers in ``code`` for single values that stand in ``examples`` (``f(6) → 13``) as well, where these are all
    such answers that it has, and at least :data:`LEAST`; else ()."""
    known = {_pair(match) for one in examples if (match := _EXAMPLE.fullmatch(one.strip()))}
    branches = dict.fromkeys(_pair(match) for match in _BRANCH.finditer(code))
    if len(branches) < LEAST or not known.issuperset(branches):
        return ()
    return tuple(f"{given} → {result}" for given, result in branches)


def _pair(match: re.Match[str]) -> tuple[str, str]:
    given, result = (_SUFFIX.sub("", match[name].strip().strip("'\"")) for name in ("given", "result"))
    return given, result
