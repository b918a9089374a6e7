"""A question to a model, and its call as the log records it before the answer."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from agent.verdict.identity import judgment_of, question_version

LabelSource = Literal["person", "overrule", "outcome"]
"""Where a label comes from: a person who labelled, a person who overruled a verdict in a run, or the applied change."""


class Question(msgspec.Struct, frozen=True):
    """A question to a model. The prompt is ``examples + task_context + question``: what all tasks share, what all items
    share, the item. ``rank`` and ``facts`` are what the search knows of the item; the model does not see them. ``gap`` is
    the text before and after a gap that the model fills; the prompt is then only shown in the log. With ``no_circles`` an
    answer that repeats itself without end is cut off."""

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
    """A call before it is answered: the question, its place in the run, and the model that is asked."""

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
