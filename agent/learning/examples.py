"""Labelled examples at the head of a stage's yes/no questions (``judgment.examples``).

They are chosen once a run for each stage and wording of the question, so that the prefix stays byte-identical and a server
keeps it cached. None of them comes from the run's own task, so that no item is shown its own answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from agent.audit.log import LogError
from agent.audit.reader import LogReader
from agent.labels.pairs import Choice, Pair, load_pairs
from agent.verdict.identity import question_version

LONGEST = 1200
"""Characters of one example; longer ones are not shown, since they would crowd out the item."""


class Example(msgspec.Struct, frozen=True):
    """A labelled judgment as it may be shown. ``doubt`` is how far the model's P(yes) lies from the label (0 to 1)."""

    task: str
    context: str
    item: str
    label: bool
    doubt: float
    judgment: str


class LabelledExamples:
    """The examples of one run, from the labels in a log. Call it with a stage and its system prompt."""

    def __init__(self, log: Path, count: int, task: str, repo: str = "") -> None:
        self._log, self._count, self._own = log, count, f"{repo}\x00{task}"
        self._texts: dict[tuple[str, str], str] = {}

    def __call__(self, stage: str, system: str) -> str:
        """The text before the task context; "" with too few labels."""
        key = (stage, system)
        if self._count and key not in self._texts:
            self._texts[key] = render(choose(self._read(stage, system), self._count, self._own))
        return self._texts.get(key, "")

    def _read(self, stage: str, system: str) -> list[Example]:
        try:
            reader = LogReader(self._log)
        except LogError:
            return []
        try:
            pairs, _ = load_pairs(reader, Choice(stages=(stage,)))
        finally:
            reader.close()
        version = question_version(system)
        return [example_of(pair) for pair in pairs if pair.question_version == version]


def example_of(pair: Pair) -> Example:
    """A labelled pair as an example."""
    doubt = 0.5 if pair.p_yes is None else abs(float(pair.label) - pair.p_yes)
    return Example(pair.task, pair.task_context.strip(), pair.question.strip(), pair.label, doubt, pair.judgment)


def choose(examples: Iterable[Example], count: int, own_task: str) -> list[Example]:
    """As many yes as no, from other tasks than the run's own. Those come first that the model answers right and with the
    greatest certainty; no task gives a second one before every task gave one. Where one answer has too few, both are fewer.
    Yes and no alternate; the same examples give the same choice."""
    usable = [e for e in examples if e.task != own_task and len(e.context) + len(e.item) <= LONGEST]
    sides = {value: _spread([e for e in usable if e.label is value]) for value in (True, False)}
    each = min(count // 2, len(sides[True]), len(sides[False]))
    return [sides[value][place] for place in range(each) for value in (True, False)]


def _spread(examples: list[Example]) -> list[Example]:
    seen: dict[str, int] = {}
    ordered = []
    for example in sorted(examples, key=lambda e: (e.doubt, e.judgment)):
        turn = seen[example.task] = seen.get(example.task, 0) + 1
        ordered.append((turn, example.doubt, example.judgment, example))
    return [row[-1] for row in sorted(ordered, key=lambda row: row[:3])]


def render(examples: Sequence[Example]) -> str:
    """The examples as the prompt shows them; "" for none."""
    if not examples:
        return ""
    shown = [f"{e.context}\n\n{e.item}\nAnswer: {'yes' if e.label else 'no'}" for e in examples]
    return "Examples with their right answers:\n\n" + "\n\n".join(shown) + "\n\nNow answer this one.\n\n"
