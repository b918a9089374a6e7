"""A call as the log takes it down before it is answered."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent.verdict.identity import judgment_of, question_version

LabelSource = Literal["person", "overrule", "outcome"]
"""Who gave a label: a person at the labels, a person who overruled a verdict in a run, or what became of the change."""


class CallDraft(msgspec.Struct):
    """A call as it is known before it is answered. The user message is ``examples + task_context + question``; ``rank``
    (from 1) and ``facts`` are what the search knows of the item."""

    run_id: str
    seq: int
    stage: str
    item: str
    binary: bool
    attempt: int
    system: str
    task_context: str
    question: str
    model: str
    provider: str
    options: str
    cache_key: str | None = None
    rank: int | None = None
    facts: dict[str, float] = {}
    examples: str = ""
    adapter: str = ""

    @property
    def judgment(self) -> str | None:
        """The identity of a yes/no call's judgment; None for a text."""
        return judgment_of(self.stage, self.system, self.task_context, self.question) if self.binary else None

    @property
    def question_version(self) -> str | None:
        """The version of a yes/no call's question."""
        return question_version(self.system) if self.binary else None
