"""Ollama by its native ``/api/chat``: its ``/v1`` ignores the window, so a prompt would be cut silently."""

from __future__ import annotations

from functools import partial
from typing import Any

from agent.models import faults, reply_fields
from agent.models.openai import TOP_LOGPROBS
from agent.models.probability import p_yes
from agent.models.server import HttpProvider, finish_of, messages_of
from agent.models.streamed_reply import OllamaPieces
from agent.models.types import Completion, CompletionRequest, ModelError, ModelInfo, ModelTarget
from agent.thinking import with_thinking

CHAT = "/api/chat"
GENERATE = "/api/generate"
YES_NO_FORMAT = {"type": "string", "enum": ["yes", "no"]}


class OllamaProvider(HttpProvider):
    """One Ollama server. ``logprobs`` came late (2025-11) and ``think`` is refused for some models: both are dropped
    once a server or model has refused them."""

    name = "ollama"
    default_url = "http://127.0.0.1:11434"

    def __init__(self, base_url: str = "", **kwargs: Any) -> None:
        super().__init__(base_url.rstrip("/").removesuffix("/v1"), **kwargs)
        self._refused: set[tuple[str, str]] = set()
        self._with_logprobs: bool | None = None

    async def ask(self, request: CompletionRequest) -> Completion:
        target = request.target
        if request.suffix is not None:
            return await self._fill(request)
        try:
            reply = await self._post(request)
        except ModelError as error:
            refused = next((name for name in ("think", "logprobs") if name in str(error).lower()), "")
            if error.kind != "protocol" or not refused or (target.model, refused) in self._refused:
                raise
            self._refused.add((target.model, refused))
            reply = await self._post(request)
        return self._read(request, reply)

    async def _fill(self, request: CompletionRequest) -> Completion:
        """Fill in the middle by ``/api/generate`` with a ``suffix``, which only models with the capability *insert* take.

        Raises:
            ModelError: ``no_infill`` if this model cannot.
        """
        target, whole = request.target, self.body(request)
        body = {key: whole[key] for key in ("model", "options", "keep_alive")}
        body |= {"prompt": request.prompt, "suffix": request.suffix, "stream": False}
        try:
            reply = await self.client.post(GENERATE, body, target)
        except ModelError as error:
            if error.kind != "protocol":
                raise
            raise faults.no_infill(target.model, str(error)) from None
        used = reply_fields.count(reply.get("eval_count"))
        return Completion(
            text=reply_fields.text(reply.get("response")),
            model=target.model,
            provider=self.name,
            finish=finish_of(str(reply.get("done_reason") or "stop"), used, target.max_tokens),
            prompt_tokens=reply_fields.count(reply.get("prompt_eval_count")),
            completion_tokens=used,
            load_ms=reply_fields.count(reply.get("load_duration")) / 1e6,
        )

    async def _post(self, request: CompletionRequest) -> dict[str, Any]:
        pieces = None if request.progress is None else partial(OllamaPieces, self.base_url + CHAT, request.progress)
        return await self.client.post(CHAT, self.body(request), request.target, pieces=pieces)

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """The request in JSON: every limit is sent."""
        target = request.target
        options: dict[str, Any] = {
            "num_ctx": target.context_window,
            "num_predict": target.max_tokens,
            "temperature": target.temperature if request.temperature is None else request.temperature,
            "seed": target.seed if request.seed is None else request.seed,
        }
        if request.stop:
            options["stop"] = list(request.stop)
        body: dict[str, Any] = {
            "model": target.adapter or target.model,
            "messages": messages_of(request),
            "stream": request.progress is not None,
            "options": options,
            "keep_alive": _keep_alive(target.keep_alive),
            "think": target.thinking,
            "truncate": False,
        }
        if request.schema is not None:
            body["format"] = request.schema
        elif request.yes_no:
            body["format"] = YES_NO_FORMAT
        if request.yes_no:
            body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        refused = {name for model, name in self._refused if model == target.model}
        if "logprobs" in refused:
            refused.add("top_logprobs")
        return {key: value for key, value in body.items() if key not in refused}

    def _read(self, request: CompletionRequest, reply: dict[str, Any]) -> Completion:
        target = request.target
        try:
            message = reply["message"]
            text, thinking = reply_fields.text(message.get("content")), reply_fields.text(message.get("thinking"))
        except (KeyError, TypeError, AttributeError):
            raise faults.not_json(self.base_url, repr(reply).encode("utf-8", "replace")) from None
        if request.yes_no:
            self._with_logprobs = bool(reply.get("logprobs"))
        used, read = reply_fields.count(reply.get("eval_count")), reply_fields.count(reply.get("prompt_eval_count"))
        finish = finish_of(str(reply.get("done_reason") or "stop"), used, target.max_tokens)
        return Completion(
            text=with_thinking(text, thinking),
            p_yes=p_yes(reply.get("logprobs")) if request.yes_no and not thinking else None,
            model=target.model,
            provider=self.name,
            # A prompt that fills the whole window was cut by it: nothing was left for a reply.
            finish="context" if read >= target.context_window else finish,
            prompt_tokens=read,
            completion_tokens=used,
            load_ms=reply_fields.count(reply.get("load_duration")) / 1e6,
        )

    async def inspect(self, target: ModelTarget) -> ModelInfo:
        status, tags = await self.client.get("/api/tags", target.api_key_env)
        if status != 200 or not isinstance(tags, dict):
            said = faults.message_of(tags)
            raise faults.of_status(self.name, self.base_url, target.model, target.api_key_env, status, said)
        names = tuple(str(m.get("name") or m.get("model") or "") for m in reply_fields.tables(tags.get("models")))
        if target.model not in names and f"{target.model}:latest" not in names:
            info = self.missing(target.model)
            return ModelInfo(ok=False, text=info.text, hint=info.hint, models=names)
        return ModelInfo(
            ok=True,
            text=f"Ollama at {self.base_url} has {target.model}.",
            models=names,
            context_window=await self._trained_window(target),
            yes_no_probability=self._with_logprobs,
        )

    async def _trained_window(self, target: ModelTarget) -> int | None:
        try:
            shown = await self.client.post("/api/show", {"model": target.adapter or target.model}, target, retries=0)
        except ModelError:
            return None
        found = (v for k, v in reply_fields.table(shown.get("model_info")).items() if k.endswith(".context_length"))
        return reply_fields.count(next(found, None)) or None


def _keep_alive(text: str) -> str | int:
    """Ollama takes a duration (``30m``) or a number of seconds (-1 keeps the model for good)."""
    return int(text) if text.lstrip("-").isdigit() else text
