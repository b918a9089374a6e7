"""Inputs near those that tests use: a value changed a little, left out, doubled or exchanged.

The same inputs come out for the same tests: chance is seeded. What all inputs of the tests have in common (sorted, not
negative, not empty) is taken for what the code may rely on, and is kept: likely preconditions in the sense of Ernst,
Cockrell, Griswold and Notkin (IEEE Transactions on Software Engineering, 2001).
"""

from __future__ import annotations

import ast
import random
import re
import string
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

MOST = 80
LONGEST = 300
_TOKEN = re.compile(r"-?\d+(?:\.\d+)?|[A-Za-z]+|[^\sA-Za-z\d]|[ \t]+|\n")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LETTERS, _DIGITS = string.ascii_lowercase, string.digits
_TELLING = 3
"""From so many inputs on, what they have in common is taken for a precondition."""


class Input(msgspec.Struct, frozen=True):
    """An input as text. ``origin`` is the place of the seen input that it was made from; a seen one is its own."""

    text: str
    origin: int


def near_arguments(calls: Sequence[str]) -> list[Input]:
    """Calls as tuples of arguments in literals: those that were seen, then neighbours of them."""
    values = [ast.literal_eval(call) for call in calls]
    return _around(calls, lambda place, chance: repr(_near(values[place], chance)), ast.literal_eval)


def near_texts(texts: Sequence[str]) -> list[Input]:
    """Texts that a program may read: those that were seen, then neighbours of them by their numbers, words and signs."""

    def near(place: int, chance: random.Random) -> str:
        tokens = _TOKEN.findall(texts[place])
        for _ in range(chance.choice((1, 1, 2))):
            tokens = _with_one_changed(tokens, chance)
        return "".join(tokens)

    return _around(texts, near, _lines_of_numbers)


def _around(
    seen: Sequence[str], near: Callable[[int, random.Random], str], value_of: Callable[[str], Sequence[Any]]
) -> list[Input]:
    found = {text: place for place, text in enumerate(dict.fromkeys(seen))}
    kept = _common([value_of(text) for text in found]) if len(found) >= _TELLING else ()
    places = [seen.index(text) for text in found]
    chance = random.Random(7)
    for _ in range(6 * MOST):
        if not found or len(found) >= MOST:
            break
        place = chance.randrange(len(places))
        text = near(places[place], chance)
        if len(text) <= LONGEST and _keeps(value_of(text), kept):
            found.setdefault(text, place)
    return [Input(text, place) for text, place in found.items()][:MOST]


def _common(inputs: Sequence[Sequence[Any]]) -> tuple[frozenset[str], ...]:
    """What the values at each place of all inputs have in common; nothing where the inputs differ in length."""
    if len({len(one) for one in inputs}) != 1:
        return ()
    return tuple(frozenset.intersection(*map(_properties, values)) for values in zip(*inputs, strict=True))


def _keeps(values: Sequence[Any], kept: Sequence[frozenset[str]]) -> bool:
    if not kept:
        return True
    return len(values) == len(kept) and all(one <= _properties(value) for one, value in zip(kept, values, strict=True))


def _properties(value: Any) -> frozenset[str]:
    """What may be a precondition of a value."""
    if isinstance(value, (int, float)):
        return frozenset({"not negative"} if value >= 0 else ())
    if not isinstance(value, (list, tuple, str)):
        return frozenset()
    found = {f"length {len(value)}"} | ({"not empty"} if value else set())
    numbers = [one for one in value if isinstance(one, (int, float))]
    if value and len(numbers) == len(value) and min(numbers) >= 0:
        found.add("not negative")
    try:
        ordered = list(value) == sorted(value), list(value) == sorted(value, reverse=True)
    except TypeError:
        ordered = False, False
    return frozenset(found | ({"ascending"} if ordered[0] else set()) | ({"descending"} if ordered[1] else set()))


def _lines_of_numbers(text: str) -> list[Any]:
    """The numbers of each line; its first word where it holds none."""
    return [[float(one) for one in _NUMBER.findall(line)] or line.split()[:1] for line in text.splitlines()]


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
    return chance.choice((one.swapcase(), "a", chance.choice(_LETTERS), chance.choice(_DIGITS)))


def _near_number(text: str, chance: random.Random) -> str:
    if "." in text:
        value = float(text)
        return str(chance.choice((value + 1, value - 1, 0.0, -value)))
    number = int(text)
    return str(chance.choice((number + 1, number - 1, 0, -number, 10 * number, number + 10)))
