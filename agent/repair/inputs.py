"""Inputs near those that tests use: a value changed a little, left out, doubled or exchanged.

The same inputs come out for the same tests: chance is seeded.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from typing import Any

MOST = 80
LONGEST = 300
_TOKEN = re.compile(r"-?\d+(?:\.\d+)?|[A-Za-z]+|[^\sA-Za-z\d]|[ \t]+|\n")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def near_arguments(calls: Sequence[str]) -> list[str]:
    """Calls as tuples of arguments in literals: those that were seen, then neighbours of them."""
    found = dict.fromkeys(calls)
    chance = random.Random(7)
    values = [ast.literal_eval(call) for call in calls]
    for _ in range(6 * MOST):
        if not values or len(found) >= MOST:
            break
        text = repr(_near(chance.choice(values), chance))
        if len(text) <= LONGEST:
            found.setdefault(text)
    return list(found)[:MOST]


def _near(arguments: tuple[Any, ...], chance: random.Random) -> tuple[Any, ...]:
    if not arguments:
        return arguments
    changed = list(arguments)
    for _ in range(chance.choice((1, 1, 2))):
        place = chance.randrange(len(changed))
        changed[place] = _other(changed[place], changed, chance)
    return tuple(changed)


def _other(value: Any, around: Sequence[Any], chance: random.Random) -> Any:
    """Another value of the same type; sometimes that of a neighbour."""
    mates = [one for one in around if type(one) is type(value) and one != value]
    if mates and chance.random() < 0.2:
        return chance.choice(mates)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice((value + 1, value - 1, 0, 1, 2 * value, -value, value + 10))
    if isinstance(value, float):
        return chance.choice((value + 1, value / 2, 0.0, -value))
    if isinstance(value, str):
        return "".join(_changed(list(value), chance, lambda one: _sign(one, chance)))
    if isinstance(value, (list, tuple)):
        items = _changed(list(value), chance, lambda one: _other(one, value, chance))
        return type(value)(items)
    if isinstance(value, (set, frozenset)):
        items = sorted(value, key=repr)
        return type(value)(_changed(list(items), chance, lambda one: _other(one, items, chance)))
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        if chance.random() < 0.3:
            return {one: other for one, other in value.items() if one != key}
        return {**value, key: _other(value[key], list(value.values()), chance)}
    return value


def _changed(items: list[Any], chance: random.Random, other: Any) -> list[Any]:
    """A list with one item left out, doubled, replaced, moved, or all of them turned round."""
    if not items:
        return items
    place = chance.randrange(len(items))
    way = chance.randrange(6)
    if way == 0:
        return items[:place] + items[place + 1 :]
    if way == 1:
        return items[: place + 1] + items[place:]
    if way == 2:
        second = chance.randrange(len(items))
        items[place], items[second] = items[second], items[place]
        return items
    if way == 3:
        return items[: place + 1]
    try:
        items[place] = other(items[place])
    except TypeError:
        return items[::-1]
    return items


def near_texts(texts: Sequence[str]) -> list[str]:
    """Texts that a program may read: those that were seen, then neighbours of them by their numbers, words and signs."""
    found = dict.fromkeys(texts)
    chance = random.Random(7)
    for _ in range(6 * MOST):
        if not texts or len(found) >= MOST:
            break
        tokens = _TOKEN.findall(chance.choice(texts))
        for _ in range(chance.choice((1, 1, 2))):
            tokens = _with_one_changed(tokens, chance)
        text = "".join(tokens)
        if len(text) <= LONGEST:
            found.setdefault(text)
    return list(found)[:MOST]


def _with_one_changed(tokens: list[str], chance: random.Random) -> list[str]:
    places = [place for place, token in enumerate(tokens) if token.strip()]
    if not places:
        return tokens
    changed = list(tokens)
    place = chance.choice(places)
    mates = [other for other in places if bool(_NUMBER.fullmatch(tokens[other])) == bool(_NUMBER.fullmatch(tokens[place]))]
    other = chance.choice(mates)
    way = chance.random()
    if way < 0.25:
        changed[place], changed[other] = tokens[other], tokens[place]
    elif way < 0.4:
        changed[place] = tokens[other]
    elif _NUMBER.fullmatch(tokens[place]):
        changed[place] = _near_number(tokens[place], chance)
    else:
        changed[place] = "".join(_changed(list(tokens[place]), chance, lambda one: _sign(one, chance)))
    return changed


def _sign(one: str, chance: random.Random) -> str:
    return chance.choice((one.swapcase(), "a", "y", "1"))


def _near_number(text: str, chance: random.Random) -> str:
    if "." in text:
        value = float(text)
        return str(chance.choice((value + 1, value - 1, 0.0, -value)))
    number = int(text)
    return str(chance.choice((number + 1, number - 1, 0, -number, 10 * number, number + 10)))


