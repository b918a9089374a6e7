"""How what stands behind a definition begins."""

from __future__ import annotations

import pytest

from agent.python.heads import heads_after

SOURCE = "def a(x):\n    pass\n\n\nclass B:\n    def c(self):\n        pass\n\n\nasync def d(y):\n    pass\n"


@pytest.mark.parametrize(
    ("name", "heads"),
    [("a", ("class B", "async def d(")), ("B", ("async def d(",)), ("d", ()), ("c", ()), ("B.c", ())],
)
def test_the_definitions_behind_one_are_told_by_their_heads(name: str, heads: tuple[str, ...]) -> None:
    assert heads_after(SOURCE, name) == heads


def test_what_cannot_be_read_has_none() -> None:
    assert heads_after("def (", "a") == ()
