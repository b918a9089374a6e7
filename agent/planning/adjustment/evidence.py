"""What a failure's own text says about where it comes from. Facts that order the candidates; they do not replace a verdict.

Points, added up: 4 for a step's symbol as a call in the text (``ring_push(...)``), 3 for the symbol as a word, 2 for a test
whose name holds the symbol or the part of it that tells it from its siblings (``test_push`` for ``ring_push``) or the
operator that a special method of Python stands for (``a @ b`` for ``__matmul__``), 2 for one of the step's files with a
line number, 1 for a file's name alone, 1 for the step whose own result reported the failure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from agent.planning.adjustment.failures import Failure
from agent.planning.adjustment.special_methods import use_pattern
from agent.planning.schema import PlanStep

_TEST = re.compile(r"\btest\w*", re.I)


def evidence(failure: Failure, step: PlanStep, siblings: Sequence[PlanStep] = ()) -> int:
    """How strongly the text of a failure points at a step; 0 when it does not."""
    text = failure.signal.message
    score = 1 if failure.step_id == step.id else 0
    others = [_own(symbol) for other in siblings for symbol in other.target_symbols]
    score += max((symbol_evidence(text, _own(symbol), others) for symbol in step.target_symbols), default=0)
    return score + max((_of_file(text, path) for path in step.target_files), default=0)


def by_evidence(failure: Failure, steps: Sequence[PlanStep]) -> list[PlanStep]:
    """The steps, the best supported first; equals keep their order."""
    return sorted(steps, key=lambda step: -evidence(failure, step, steps))


def symbol_evidence(text: str, symbol: str, others: Sequence[str]) -> int:
    """The points that ``text`` gives a symbol by its own name (4, 3, 2 or 0); ``others`` are the siblings' names."""
    name = re.escape(symbol)
    if re.search(rf"(?<!\w){name}\s*\(", text):
        return 4
    if re.search(rf"(?<![\w/]){name}(?!\w|\.(?:c|h|py)\b)", text):
        return 3
    operator = use_pattern(symbol)
    if operator is not None and operator.search(text):
        return 2
    words = {word for test in _TEST.findall(text) for word in test.lower().split("_")}
    return 2 if _telling(symbol, others) <= words else 0


def _telling(symbol: str, others: Sequence[str]) -> set[str]:
    """The words of a name that tell it from its siblings: without the beginning it shares with one (``ring_``), or else
    without its first word, which usually is the library's."""
    words = symbol.lower().strip("_").split("_")
    alike = [other.lower().strip("_").split("_") for other in others if other != symbol]
    shared = max((_common(words, other) for other in alike), default=0) or 1
    return set(words[min(shared, len(words) - 1) :])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other)))


def _own(symbol: str) -> str:
    return symbol.rpartition(".")[2]


def _of_file(text: str, path: str) -> int:
    name = re.escape(PurePosixPath(path).name)
    if re.search(rf"(?<![\w-]){name}(?::\d+|\", line \d+)", text):
        return 2
    return 1 if re.search(rf"(?<![\w-]){name}(?![\w-])", text) else 0
