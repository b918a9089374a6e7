"""Searches that end soon: with a few operators there are a few edits, however busy the machine is."""

from __future__ import annotations

from agent.repair.operators import OPERATORS
from agent.repair.synthesis import OPERATOR


def only(*names: str) -> dict[str, list[str]]:
    """Settings of ``[repair]`` that switch all operators off but these."""
    every = {*OPERATORS, OPERATOR}
    assert every.issuperset(names)
    return {"operators_off": sorted(every.difference(names))}
