"""``/v1/chat/completions``: llama-server, vLLM, SGLang, LM Studio and other servers with this protocol."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from pathlib import PurePath
from typing import Any

from agent.models import faults, reply_fields
from agent.models.http import LOADING_SECONDS
from agent.models.probability import p_yes
from agent.models.server import HttpProvider, finish_of, messages_of
from agent.models.streamed_reply import OpenAIPieces
from agent.models.types import Completion, CompletionRequest, ModelError, ModelInfo, ModelTarget
from agent.thinking import with_thinking

CHAT = "/v1/chat/completions"
INFILL = "/infill"
YES_NO_GRAMMAR = 'root ::= "yes" | "no"'
TOP_LOGPROBS = 20
"""The most that OpenAI's protocol allows; enough for every spelling of two words."""


class OpenAIProvider(HttpProvider):
    """One OpenAI-style server. What it can do beyond the protocol is found out once, by what else it answers."""

    name = "openai"
    default_url = "http://127.0.0.1:8080"

    def __init__(self, base_url: str = "", **kwargs: Any) -> None:
        super().__init__(base_url.rstrip("/").removesuffix("/v1"), **kwargs)
        self._kind = ""
        self._version = ""
        self._window: int | None = None
        self._probing = asyncio.Lock()
        self._refused: set[str] = set()
        self._counted: dict[bool, bool] = {}
        self._adapters: dict[str, int] | None = None
        self._last_adapter = ""

    async def kind(self, target: ModelTarget) -> str:
        """``llama``, ``vllm``, ``sglang`` or ``plain``; asked once per server.

        Raises:
            ModelError: if nobody answers.
        """
        if self._kind:
            return self._kind
        async with self._probing:
            if not self._kind:
                self._kind = await self._probe(target)
        return self._kind

    async def _probe(self, target: ModelTarget) -> str:
        status, props = await self.client.get("/props", target.api_key_env)
        loop = asyncio.get_running_loop()
        patience = loop.time() + target.first_byte_timeout
        while status == 503 and loop.time() < patience:  # llama-server says so while it loads its model
            self._tell("loading", target.model)
            await asyncio.sleep(LOADING_SECONDS)
            status, props = await self.client.get("/props", target.api_key_env)
        if status == 200 and isinstance(props, dict):
            settings = reply_fields.table(props.get("default_generation_settings"))
            self._window = reply_fields.count(settings.get("n_ctx")) or None
            return "llama"
        status, version = await self.client.get("/version", target.api_key_env)
        if status == 200 and isinstance(version, dict) and "version" in version:
            self._version = str(version["version"])
            return "vllm"
        status, _ = await self.client.get("/get_model_info", target.api_key_env)
        return "sglang" if status == 200 else "plain"

    async def ask(self, request: CompletionRequest) -> Completion:
        target = request.target
        try:
            kind = await self.kind(target)
        except ModelError:
            kind = ""  # the request itself is retried and tells what is wrong
        if kind == "llama" and target.adapter:
            await self._require_adapter(target)
        if request.suffix is not None:
            return await self._fill(request, kind)
        body = self.body(request, kind)
        try:
            reply = await self._post(body, request)
        except ModelError as error:
            extra = _extra_named(str(error), body) if error.kind == "protocol" else ""
            if not extra:
                raise
            self._refused.add(extra)
            reply = await self._post(self.body(request, kind), request)
        return self._read(request, reply)

    async def _require_adapter(self, target: ModelTarget) -> None:
        """Learn the numbers under which llama-server holds its adapters (``GET /lora-adapters``).

        Raises:
            ModelError: ``missing`` if it does not hold the one that is wanted.
        """
        if self._adapters is None:
            status, rows = await self.client.get("/lora-adapters", target.api_key_env)
            found = reply_fields.tables(rows) if status == 200 else []
            self._adapters = {PurePath(str(row.get("path", ""))).name: reply_fields.count(row.get("id")) for row in found}
        name = PurePath(target.adapter).name
        if name not in self._adapters:
            raise ModelError(
                "missing",
                f"The server at {self.base_url} has not loaded the adapter {name}.",
                f"Start it with --lora {name} --lora-init-without-apply, or take the adapter out of the configuration.",
            )

    async def _fill(self, request: CompletionRequest, kind: str) -> Completion:
        """Fill in the middle by llama-server's ``/infill``, which puts the model's own tokens around the two sides.

        Raises:
            ModelError: ``no_infill`` if this server or its model cannot.
        """
        target = request.target
        if kind != "llama" or INFILL in self._refused:
            raise faults.no_infill(target.model, f"{_TITLES[kind]} has no {INFILL}.")
        body: dict[str, Any] = {
            "input_prefix": request.prompt,
            "input_suffix": request.suffix,
            "n_predict": target.max_tokens,
            "temperature": target.temperature if request.temperature is None else request.temperature,
            "seed": target.seed if request.seed is None else request.seed,
            "stop": list(request.stop),
            "cache_prompt": True,
        }
        try:
            reply = await self.client.post(INFILL, body, target)
        except ModelError as error:
            if error.kind != "protocol":
                raise
            self._refused.add(INFILL)
            raise faults.no_infill(target.model, str(error)) from None
        used = reply_fields.count(reply.get("tokens_predicted"))
        timings = reply_fields.table(reply.get("timings"))
        return Completion(
            text=reply_fields.text(reply.get("content")),
            model=target.model,
            provider=self.name,
            finish=finish_of("length" if reply.get("stop_type") == "limit" else "stop", used, target.max_tokens),
            prompt_tokens=reply_fields.count(reply.get("tokens_evaluated")),
            cached_tokens=reply_fields.count(timings.get("cache_n")),
            completion_tokens=used,
        )

    async def _post(self, body: dict[str, Any], request: CompletionRequest) -> dict[str, Any]:
        streamed = body.get("stream") is True
        pieces = partial(OpenAIPieces, self.base_url + CHAT, request.progress, request.no_circles) if streamed else None
        reply = await self.client.post(CHAT, body, request.target, pieces=pieces)
        self._counted[streamed] = isinstance(reply.get("usage"), dict) or isinstance(reply.get("timings"), dict)
        return reply

    def _may_stream(self, request: CompletionRequest, kind: str) -> bool:
        """Whether the answer is shown while it is written, or may be cut off. Only llama-server supports that: it stops when
        the connection is closed, and sends its token counts with each piece. A server that counts the tokens of a whole
        reply but not of a stream is asked for whole replies: the figures must not depend on whether a person watches."""
        counts = self._counted.get(True, True) or not self._counted.get(False, True)
        wanted = request.progress is not None or (request.no_circles and kind == "llama")
        return wanted and counts and "stream" not in self._refused

    def body(self, request: CompletionRequest, kind: str) -> dict[str, Any]:
        """The request in JSON, with what this kind of server understands and has not refused before."""
        target = request.target
        served = target.adapter if target.adapter and kind != "llama" else target.model
        body: dict[str, Any] = {
            "model": served,
            "messages": messages_of(request),
            "max_tokens": target.max_tokens,
            "temperature": target.temperature if request.temperature is None else request.temperature,
            "seed": target.seed if request.seed is None else request.seed,
            "stream": self._may_stream(request, kind),
        }
        if body["stream"]:
            body["stream_options"] = {"include_usage": True}
            body |= {"timings_per_token": True} if kind == "llama" and request.no_circles else {}
        if request.stop:
            body["stop"] = list(request.stop)
        if kind == "llama":
            body["cache_prompt"] = target.adapter == self._last_adapter  # a prefix belongs to its adapter
            self._last_adapter = target.adapter
            if target.adapter and self._adapters is not None:
                body["lora"] = [{"id": self._adapters[PurePath(target.adapter).name], "scale": 1.0}]
        if kind in ("llama", "vllm", "sglang"):
            body["chat_template_kwargs"] = {"enable_thinking": target.thinking}
        if request.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": request.schema, "strict": True},
            }
        if request.yes_no:
            body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS, **self._yes_no(kind)}
        return {key: value for key, value in body.items() if key not in self._refused}

    def _yes_no(self, kind: str) -> dict[str, Any]:
        if kind == "llama":
            return {"grammar": YES_NO_GRAMMAR}
        if kind == "vllm":  # guided_choice went away in 0.12, structured_outputs came in 0.11 (vLLM documentation)
            modern = _version(self._version) >= (0, 11)
            return {"structured_outputs": {"choice": ["yes", "no"]}} if modern else {"guided_choice": ["yes", "no"]}
        return {"regex": "(yes|no)"} if kind == "sglang" else {}

    def _read(self, request: CompletionRequest, reply: dict[str, Any]) -> Completion:
        try:
            choice = reply["choices"][0]
            message = choice["message"]
            text = reply_fields.text(message.get("content"))
            thinking = reply_fields.text(message.get("reasoning_content") or message.get("reasoning"))
            reason = str(choice.get("finish_reason") or "stop")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise faults.not_json(self.base_url, repr(reply).encode("utf-8", "replace")) from None
        usage, timings = reply_fields.table(reply.get("usage")), reply_fields.table(reply.get("timings"))
        details = reply_fields.table(usage.get("prompt_tokens_details"))
        used = reply_fields.count(usage.get("completion_tokens") or timings.get("predicted_n"))
        cached = reply_fields.count(details.get("cached_tokens") or timings.get("cache_n"))
        read = reply_fields.count(usage.get("prompt_tokens")) or reply_fields.count(timings.get("prompt_n")) + cached
        chances = reply_fields.table(choice.get("logprobs")).get("content")
        return Completion(
            text=with_thinking(text, thinking),
            p_yes=p_yes(chances) if request.yes_no and not thinking else None,
            model=request.target.model,
            provider=self.name,
            finish=finish_of(reason, used, request.target.max_tokens),
            prompt_tokens=read,
            cached_tokens=cached,
            completion_tokens=used,
        )

    async def count_tokens(self, text: str, target: ModelTarget) -> int | None:
        """By ``/tokenize`` where the server has it (llama-server takes ``content``, vLLM ``prompt``)."""
        kind = await self.kind(target)
        if kind not in ("llama", "vllm"):
            return None
        body = {"content": text} if kind == "llama" else {"model": target.model, "prompt": text}
        reply = await self.client.post("/tokenize", body, target)
        tokens = reply.get("tokens")
        return len(tokens) if isinstance(tokens, list) else reply_fields.count(reply.get("count")) or None

    async def inspect(self, target: ModelTarget) -> ModelInfo:
        status, reply = await self.client.get("/v1/models", target.api_key_env)
        if status != 200:
            said = faults.message_of(reply)
            raise faults.of_status(self.name, self.base_url, target.model, target.api_key_env, status, said)
        names = tuple(str(m.get("id", "")) for m in reply_fields.tables(reply_fields.table(reply).get("data")))
        kind = await self.kind(target)
        # llama-server serves the one model it was started with, whatever name is asked for.
        if kind != "llama" and names and target.model not in names:
            error = faults.not_pulled(self.name, self.base_url, target.model)
            return ModelInfo(ok=False, text=str(error), hint=f"{error.hint} It has: {', '.join(names[:8])}.",
                             models=names)  # fmt: skip
        if self._window is not None and self._window < target.context_window:
            return ModelInfo(
                ok=False, models=names, context_window=self._window,
                text=f"The server at {self.base_url} runs with a window of {self._window:,} tokens, "
                f"models.context_window asks for {target.context_window:,}.",
                hint=f"Start it with -c {target.context_window}, or set models.context_window to {self._window}.",
            )  # fmt: skip
        return ModelInfo(ok=True, text=f"{_TITLES[kind]} at {self.base_url} is ready.", models=names,
                         context_window=self._window, yes_no_probability=True if kind != "plain" else None)  # fmt: skip


_TITLES = {"llama": "llama-server", "vllm": "vLLM", "sglang": "SGLang", "plain": "The model server", "": "The server"}
_EXTRAS = ("stream_options", "top_logprobs", "logprobs", "chat_template_kwargs", "grammar", "structured_outputs",
           "guided_choice", "regex", "response_format", "cache_prompt", "seed")  # fmt: skip


def _extra_named(said: str, body: dict[str, Any]) -> str:
    """The optional field of ``body`` that an error complains about."""
    streams = "stream" if body.get("stream") and re.search(r"\bstream(?:ing)?\b", said, re.I) else ""
    return next((name for name in _EXTRAS if name in body and name in said), streams)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
