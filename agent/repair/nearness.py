"""How near what a failing check got is to what it expects: that one of two faults in a check is mended shows only so."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from agent.repair.operators.told import quoted

_TOKEN = re.compile(r"\w+|\S")
_SIDES = re.compile(r"^(?:.*?Error: (?:\w+ differ: |assert )?|\w+ differ: |assert )(.+?) (?:==|!=) (.+)$", re.M)
_FEWEST, _MOST = 3, 400
"""Tokens of what is expected: fewer tell no direction, more take too long."""


def nearness(said: str) -> float:
    """How much the two texts, or values, that a check's message shows have in common, word by word: 1 where they are the
    same, 0 where it shows none."""
    sides = _SIDES.search(said)
    texts = [sides[1], sides[2]] if sides is not None else quoted(said)[:2]
    if len(texts) < 2:
        return 0.0
    one, other = (_TOKEN.findall(text)[:_MOST] for text in texts)
    if min(len(one), len(other)) < _FEWEST:
        return 0.0
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def nearer(before: Mapping[str, str], now: Mapping[str, str]) -> float:
    """By how much the messages of failing checks are nearer in sum than they were, by name; what is not told any more does
    not count. Negative where they are farther."""
    return sum(nearness(said) - nearness(before[name]) for name, said in now.items() if name in before)
