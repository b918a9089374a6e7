"""``POST /v1/systemone``: decision models, which answer typed questions about a state with probabilities.

The wire shape (served by llama.cpp, Ollama 0.35 and later, LiteLLM, vLLM and others): the request holds ``model``,
``state`` and ``questions`` by id, each with ``type`` and ``instructions``; the reply holds ``answers`` by the same ids, of a
``noul`` question ``{"type": "noul", "noul": P(true)}``, and ``usage``.
"""

from __future__ import annotations

from typing import Any

from agent.models import faults, reply_fields
from agent.models.server import HttpProvider
from agent.models.types import Completion, CompletionRequest, ModelError, ModelInfo, ModelTarget

YES_AT = 0.5
"""The P(yes) from which the answer's text is yes; the verdict may use a fitted threshold."""


class SystemOneProvider(HttpProvider):
    """One decision server. It answers yes/no questions only."""

    name = "systemone"
    default_url = "http://127.0.0.1:11434"

    def __init__(self, base_url: str = "", **kwargs: Any) -> None:
        super().__init__(base_url.rstrip("/").removesuffix("/systemone").removesuffix("/v1"), **kwargs)

    async def ask(self, request: CompletionRequest) -> Completion:
        if not request.yes_no:
            raise ModelError(
                "protocol",
                f"The stage {request.stage!r} wants text, but the provider systemone only answers yes/no questions.",
                f"Give {request.stage!r} another provider in models.overrides, and keep systemone for the yes/no stages.",
            )
        target = request.target
        state, question = state_and_question(request.system, request.task_context, request.question or request.prompt)
        body = {"model": target.adapter or target.model, "state": state, "questions": {"q1": question}}
        reply = await self.client.post("/v1/systemone", body, target)
        answers, usage = reply.get("answers"), reply_fields.table(reply.get("usage"))
        p = _probability(answers.get("q1") if isinstance(answers, dict) else None)
        if p is None:
            raise faults.not_json(self.base_url + "/v1/systemone", repr(reply).encode("utf-8", "replace"))
        return Completion(
            text="yes" if p >= YES_AT else "no",
            p_yes=p,
            model=target.model,
            provider=self.name,
            prompt_tokens=reply_fields.count(usage.get("input_tokens")),
            completion_tokens=reply_fields.count(usage.get("output_tokens")),
        )

    async def inspect(self, target: ModelTarget) -> ModelInfo:
        """Asks one tiny question: only the answer shows that the model decides."""
        request = CompletionRequest(
            system="Is this a greeting?", prompt="Good morning.", task_context="Good morning.", stage="check", target=target,
            yes_no=True,
        )  # fmt: skip
        await self.ask(request)
        return ModelInfo(ok=True, text=f"The decision model {target.model} at {self.base_url} answers.",
                         yes_no_probability=True)  # fmt: skip


def state_and_question(system: str, task_context: str, item: str) -> tuple[str, dict[str, str]]:
    """The state and the question of a request, as exports write them too (``agent/labels/export_formats.py``). The task
    context is the state, and the item belongs to the question; without a task context the item is the state."""
    about = item if task_context else ""
    return task_context or item, {"type": "noul", "instructions": f"{system}\n\n{about}".strip()}


def _probability(answer: Any) -> float | None:
    p = answer.get("noul") if isinstance(answer, dict) else None
    return float(p) if isinstance(p, int | float) and not isinstance(p, bool) and 0 <= p <= 1 else None
