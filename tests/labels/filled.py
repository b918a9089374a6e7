"""Logs with calls in them, as runs leave them."""

from __future__ import annotations

from pathlib import Path

from agent.audit.log import AuditLog, log_path
from agent.audit.rows import CallDraft, Question
from agent.models.types import Completion
from agent.verdict.decide import Verdict

SYSTEM = "Is it relevant?\nAnswer with one word, yes or no."


class Filled:
    """A log to which runs and calls are added by hand."""

    def __init__(self, folder: Path) -> None:
        self.repo = folder
        self.log = AuditLog(log_path(folder))
        self._seq = 0

    @property
    def path(self) -> Path:
        """The log's file."""
        return self.log.path

    def run(self, run_id: str, task: str = "", repo: str = "/r", **fields: object) -> None:
        """A run's row."""
        self.log.start_run(run_id, task=task or f"task of {run_id}", repo=repo, **fields)
        self.log.flush()

    def call(
        self,
        run_id: str,
        item: str,
        verdict: bool = True,
        p: float | None = None,
        *,
        stage: str = "scope",
        model: str = "m1",
        raw: str | None = None,
        question: str | None = None,
        task_context: str = "Task: t\n\n",
        system: str = SYSTEM,
        threshold: float | None = None,
        score: float | None = None,
        rank: int | None = None,
        facts: dict[str, float] | None = None,
        examples: str = "",
        **verdict_fields: object,
    ) -> int:
        """A yes/no call that was answered and settled. Returns its id."""
        self._seq += 1
        words = question or f"File: {item}"
        asked = Question(system, task_context, words, item, True, rank=rank, facts=facts or {}, examples=examples)
        draft = CallDraft(asked, run_id, self._seq, stage, model, "openai", "{}")
        call_id = self.log.insert_call(draft)
        text = raw if raw is not None else ("yes" if verdict else "no")
        self.log.answer_call(call_id, Completion(text, p, prompt_tokens=10, cached_tokens=5, completion_tokens=1, ms=12.0))
        score = score if score is not None else (p if threshold is not None else None)
        source = "threshold" if threshold is not None else "parsed"
        fields = {"source": source, **verdict_fields}
        self.log.settle_call(call_id, Verdict(verdict, score, threshold, **fields))  # type: ignore[arg-type]
        self.log.flush()
        return call_id

    def label(self, call_id: int, label: bool | None, source: str = "person", note: str = "") -> int:
        """A label."""
        made = self.log.add_label(call_id, label, source, note)  # type: ignore[arg-type]
        self.log.flush()
        return made
