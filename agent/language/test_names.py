"""Names of tests as runners print them."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[^\W\d]\w*")


def test_function(name: str) -> str:
    """The function's own name in what a runner prints: ``tests/t.py::T::test_x[1]``, ``test_x (tests.t.T)``, ``test_x``."""
    words = _WORDS.findall(name.split("[")[0].split(" (")[0])
    return words[-1] if words else name
