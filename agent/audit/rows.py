"""What is asked of a model, and the call as the log takes it down before it is answered."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from agent.verdict.identity import judgment_of, question_version

LabelSource = Literal["person", "overrule", "outcome"]
"""Who gave a label: a person at the labels, a person who overruled a verdict in a run, or what became of the change."""


class Question(msgspec.Struct, frozen=True):
    """What is asked. The prompt is ``examples + task_context + question``: what all tasks share, what all items share, the
    item. ``rank`` and ``facts`` are what the search knows of the item, which the model does not see. ``gap`` is the text
    before and after a gap that the model fills; the prompt is then only what the log shows of it. With ``no_circles`` an
    answer that goes round in circles ends early."""

    system: str
    task_context: str
    question: str
    item: str
    binary: bool = False
    schema: dict[str, Any] | None = None
    attempt: int = 1
    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    gap: tuple[str, str] | None = None
    rank: int | None = None
    facts: dict[str, float] = {}
    examples: str = ""
    no_circles: bool = False

    @property
    def prompt(self) -> str:
        """The user message."""
        return self.examples + self.task_context + self.question


class CallDraft(msgspec.Struct):
    """A question with what else is known of its call before it is answered."""

    asked: Question
    run_id: str
    seq: int
    stage: str
    model: str
    provider: str
    options: str
    cache_key: str | None = None
    adapter: str = ""

    @property
    def judgment(self) -> str | None:
        """The identity of a yes/no call's judgment; None for a text."""
        asked = self.asked
        return judgment_of(self.stage, asked.system, asked.task_context, asked.question) if asked.binary else None

    @property
    def question_version(self) -> str | None:
        """The version of a yes/no call's question."""
        return question_version(self.asked.system) if self.asked.binary else None
