"""How plausible each of the edits that pass is: what they do with other inputs tells those apart that differ."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from agent.exit_codes import signal_of
from agent.repair.edit_words import AND
from agent.repair.edits import Candidate
from agent.repair.testbed import Probe

_MOST_SHOWN = 3
_FEW = 40
"""One in so many inputs may come out odd without telling anything."""

_DISORDER = ("raises", "does not end")
_SHOWN = 2
_TELLING = 3
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_VALUE = re.compile(r"-?\d+(?:\.\d+)?|\w+")


_TAKES_AWAY = frozenset({"statement-removed", "guard-removed", "fixed-condition"})
_TAKEN_AWAY = 0.6
"""Weight of an edit that takes away what the code does: most of those that pass weak checks are wrong (Qi, Long, Achour and
Rinard, ISSTA 2015)."""


_TOLD = frozenset({"told-case", "told-condition", "expected-text", "expected-rest", "expected-branch", "printed-order"})
_TOLD_MORE = 1.8
"""Weight of an edit that takes a text or a case from the contract or the checks: besides passing it agrees with what is
said, which an edit that passes by chance seldom does."""


def preference(candidate: Candidate) -> tuple[float, int]:
    """Sorts the edits that pass: the promise (suspicion of the line, frequency of the fault), then the size. An edit of the
    model's is weighed against its size, too: it may have replaced more than was wrong."""
    weight = candidate.rank if candidate.source != "combined" else candidate.rank / (4 + math.log1p(candidate.size))
    told = _TOLD_MORE if _TOLD.intersection(candidate.operator.split(AND)) and candidate.source == "operator" else 1.0
    return (-round(weight * told * (_TAKEN_AWAY if _takes_away(candidate) else 1.0), 3), candidate.size)


def _takes_away(candidate: Candidate) -> bool:
    old = sum(edit.end - edit.start for edit in candidate.edits)
    new = sum(len(edit.text.strip()) for edit in candidate.edits)
    return candidate.operator in _TAKES_AWAY or (old >= 12 and new < old / 3)


def odd_results(probes: Sequence[Probe], place: int) -> int:
    """With how many inputs a version (its place in ``results``) does something of another shape than what is right for the
    inputs of checks: no result, a result of another type, a text without the words that all right ones hold."""
    right = [text for probe in probes if probe.seen for text in probe.results[1:] if text]
    shapes = {_shape(text) for text in right}
    held = set.intersection(*({word for word in text.split() if word.isalpha()} for text in right)) if right else set()
    fewest = min((len(text.split()) for text in right), default=0)
    return sum(
        _shape(text) not in shapes or not held <= set(text.split()) or len(text.split()) < fewest
        for probe in probes if not probe.seen and (text := probe.results[place])
    )  # fmt: skip


def changed_results(probes: Sequence[Probe], place: int) -> int:
    """With how many inputs a version gives another result than the code as it is, where only crashes and endless loops are
    known to be wrong of that: what it computes else is taken for right (after Xiong et al., ICSE 2018). 0 where the code
    gives wrong results for inputs of checks, since its neighbours may be wrong as well."""
    wrong = [probe.results[0] for probe in probes if probe.seen and probe.results[0] != probe.results[place]]
    if not wrong or any(map(_ended, wrong)):
        return 0
    return sum(
        _ended(probe.results[0]) and probe.results[place] not in ("", probe.results[0])
        for probe in probes if not probe.seen
    )  # fmt: skip


def unordered_results(probes: Sequence[Probe], place: int) -> int:
    """With how many inputs a version gives another result than with the same values in another order, where the checks show
    that order does not matter: at least twice the right result is that of the same values otherwise ordered, and never
    another one (likely metamorphic properties; Su, Bell, Murphy and Kaiser, AST 2015)."""
    seen = _by_values([(probe.input, next(filter(None, probe.results[1:]), "")) for probe in probes if probe.seen])
    if sum(len(results) - 1 for results in seen) < _SHOWN or any(len(set(results)) > 1 for results in seen):
        return 0
    told = _by_values([(probe.input, probe.results[place]) for probe in probes if probe.results[place]])
    return sum(len(results) - max(map(results.count, results)) for results in told)


def foreign_results(probes: Sequence[Probe], place: int) -> int:
    """With how many inputs a version gives a number that the input does not hold, where all right results that are known,
    at least three, give only numbers of their inputs: a likely invariant (Ernst et al., IEEE Transactions on Software
    Engineering, 2001)."""
    right = [(_numbers(probe.input), _numbers(next(filter(None, probe.results[1:]), ""))) for probe in probes if probe.seen]
    if len(right) < _TELLING or not all(given and given <= held for held, given in right):
        return 0
    return sum(not _numbers(probe.results[place]) <= _numbers(probe.input) for probe in probes if not probe.seen)


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


def _by_values(told: Sequence[tuple[str, str]]) -> list[list[str]]:
    """The results grouped by the numbers and words of their inputs, in whatever order these stand."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for text, result in told:
        groups.setdefault(tuple(sorted(_VALUE.findall(text))), []).append(result)
    return list(groups.values())


def _ended(text: str) -> bool:
    """Whether a result tells of an end in order, and not by a signal."""
    exit_code = re.search(r" and exits with (\d+)$", text)
    return not text.startswith(_DISORDER) and (exit_code is None or signal_of(int(exit_code[1])) is None) and text != ""


def _shape(text: str) -> str:
    """What kind of result a text tells of: how it ended, or the type of what it gives."""
    word, _, value = text.partition(" ")
    return f"{word} {_kind(value)}" if word == "gives" else text if word != "prints" else word


def _kind(value: str) -> str:
    signs = {"[": "list", "(": "tuple", "{": "mapping or set", "'": "text", '"': "text", "b": "bytes"}
    if value[:1] in signs:
        return signs[value[0]]
    return value if value in ("True", "False", "None") or value.startswith("a ") else "number"


def alike(numbers: Sequence[int], probes: Sequence[Probe]) -> list[list[int]]:
    """The numbers grouped by what the edits do on all inputs, in their order; one group each where nothing was compared.
    ``probes`` hold the results in the order of ``numbers``, after that of the code as it is."""
    if not probes:
        return [[number] for number in numbers]
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, number in enumerate(numbers, 1):
        groups.setdefault(tuple(probe.results[place] for probe in probes), []).append(number)
    return list(groups.values())


def implausible(groups: Sequence[list[int]], numbers: Sequence[int], probes: Sequence[Probe]) -> set[int]:
    """The first of each group that does something of an odd shape, changes what was right, lets the order of values
    matter or gives numbers from nowhere, with more inputs than others do; where even the best does so, with more than twice
    as many."""
    places = {group[0]: numbers.index(group[0]) + 1 for group in groups}
    against = (odd_results, changed_results, unordered_results, foreign_results)
    odd = {number: sum(count(probes, place) for count in against) for number, place in places.items()}
    least = min(odd.values(), default=0)
    return {number for number, count in odd.items() if count > 2 * least + len(probes) // _FEW}


def plausible_first(groups: Sequence[list[int]], numbers: Sequence[int], probes: Sequence[Probe]) -> list[list[int]]:
    """The groups in their order, the implausible ones last."""
    odd = implausible(groups, numbers, probes)
    return sorted(groups, key=lambda group: group[0] in odd)


def fused(candidate: Candidate, p_yes: float | None) -> float:
    """Evidence and the model's answer in one number: the promise of the edit times P(yes), which is taken for even where the
    server does not tell it."""
    return -preference(candidate)[0] * (0.5 if p_yes is None else p_yes)


def telling(probes: Sequence[Probe], one: int, other: int) -> list[Probe]:
    """The inputs on which two versions (places in ``results``) differ, the plainest first: both have a result, and short."""

    def odd(text: str) -> bool:
        return text.startswith(_DISORDER)

    found = [probe for probe in probes if probe.results[one] != probe.results[other]
             and probe.results[one] and probe.results[other]]  # fmt: skip
    return sorted(found, key=lambda probe: (odd(probe.results[one]) + odd(probe.results[other]), len(probe.input)))


def difference(probes: Sequence[Probe], numbers: Sequence[int], one: int, other: int) -> str:
    """A line that tells an input on which two edits differ, and what each does with it; "" when none was found."""
    first, second = numbers.index(one) + 1, numbers.index(other) + 1
    found = telling(probes, first, second)
    if not found:
        return ""
    return f"{found[0].input}: edit {one} {found[0].results[first]}, edit {other} {found[0].results[second]}"


def examples(probes: Sequence[Probe], numbers: Sequence[int], one: int) -> list[str]:
    """What one edit does with inputs that tell the edits apart, at most three."""
    place = numbers.index(one) + 1
    apart = [probe for probe in probes if len(set(probe.results[1:])) > 1 and probe.results[place]]
    apart.sort(key=lambda probe: (-len(set(probe.results[1:])), len(probe.input)))
    return [f"{probe.input} {probe.results[place]}" for probe in apart[:_MOST_SHOWN]]
