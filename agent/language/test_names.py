"""Names of tests as runners print them."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[^\W\d]\w*")


def test_function(name: str) -> str:
    """The function's own name in what a runner prints: ``tests/t.py::T::test_x[1]``, ``test_x (tests.t.T)``, ``test_x``."""
    words = _WORDS.findall(name.split("[")[0].split(" (")[0])
    return words[-1] if words else name


def words_of_test(name: str) -> str:
    """What the name of a test function says in words, where it says more than what is tested: ``test_invalid_when_empty`` is
    "invalid when empty"; "" for ``test_parse`` and for what is no test."""
    words = re.sub(r"^test_?|_", " ", name).split() if name.startswith("test") else []
    return " ".join(words) if len(words) > 1 else ""
