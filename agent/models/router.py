"""Which model answers a stage, and the pooled provider that speaks to it."""

from __future__ import annotations

from typing import Any

import msgspec

from agent.config.errors import ConfigError, nearest
from agent.config.schema import Models, Override
from agent.models.concurrency import Flight
from agent.models.embedded import EmbeddedProvider, Resolve
from agent.models.http import JsonClient
from agent.models.ollama import OllamaProvider
from agent.models.openai import OpenAIProvider
from agent.models.replay import Lookup, ReplayProvider
from agent.models.store import entry_of, require_model
from agent.models.systemone import SystemOneProvider
from agent.models.types import ModelInfo, ModelTarget, Provider, StatusCallback
from agent.stages import BINARY_MAX_TOKENS, GROUPS, STAGES, stage_of

_SERVERS: dict[str, Any] = {"openai": OpenAIProvider, "ollama": OllamaProvider, "systemone": SystemOneProvider}


class Router:
    """Resolves a stage by its own override, its group's, then its role's default.

    Args:
        models: the ``[models]`` section.
        status: told (loading | ready | unreachable | notice, text) by every provider.
        lookup: recorded answers for the provider ``replay``.
        resolve: where an embedded model's file is; the store by default.

    Raises:
        ConfigError: an override names no stage, or its reply does not fit its window.
    """

    def __init__(
        self,
        models: Models,
        *,
        status: StatusCallback | None = None,
        lookup: Lookup | None = None,
        resolve: Resolve = require_model,
    ) -> None:
        self.models = models
        self._status = status or (lambda *_: None)
        self._lookup = lookup
        self._resolve = resolve
        self._providers: dict[tuple[str, str], Provider] = {}
        self._targets: dict[str, ModelTarget] = {}
        self._flights: dict[tuple[str, str], Flight] = {}
        self._check_overrides()

    def target(self, stage: str) -> ModelTarget:
        """The stage's model and limits."""
        found = self._targets.get(stage)
        if found is None:
            found = self._targets[stage] = self._resolve_target(stage)
        return found

    def provider(self, target: ModelTarget) -> Provider:
        """The provider for a target; one per protocol and address, and one for all embedded models."""
        key = (target.provider, target.base_url)
        found = self._providers.get(key)
        if found is None:
            found = self._providers[key] = self._make(target)
        return found

    def flight(self, target: ModelTarget) -> Flight:
        """The slots at the target's server: ``models.concurrency`` of them, or as many as it answers best."""
        key = (target.provider, target.base_url)
        found = self._flights.get(key)
        if found is None:
            wanted = self.models.concurrency
            single = target.provider in ("embedded", "replay")
            found = self._flights[key] = Flight((1 if single else None) if wanted == "auto" else wanted)
            client = getattr(self.provider(target), "client", None)
            if isinstance(client, JsonClient):
                client.refused = found.refused
        return found

    def targets(self) -> dict[tuple[str, str, str], tuple[ModelTarget, list[str]]]:
        """The different models in use: (provider, base_url, model) to the target with the largest window and the
        stages that it answers."""
        found: dict[tuple[str, str, str], tuple[ModelTarget, list[str]]] = {}
        for stage in STAGES:
            target = self.target(stage)
            key = (target.provider, target.base_url, target.model)
            largest, stages = found.get(key, (target, []))
            stages.append(stage)
            found[key] = (max(largest, target, key=lambda t: t.context_window), stages)
        return found

    async def check(self) -> list[tuple[ModelTarget, ModelInfo]]:
        """Whether each model in use can answer. Never raises; loads no embedded model."""
        return [(target, await self.provider(target).check(target)) for target, _ in self.targets().values()]

    def escalated(self, stage: str, failed: int) -> ModelTarget:
        """Who writes after ``failed`` versions: the stage's own model, or ``models.escalate`` from ``escalate_after`` on."""
        target, models = self.target(stage), self.models
        if not models.escalate or failed < models.escalate_after:
            return target
        entry = entry_of(models.escalate) if target.provider == "embedded" else None
        return msgspec.structs.replace(target, model=entry.name if entry else models.escalate, adapter="")

    async def aclose(self) -> None:
        """Close connections and end child processes. The router can be used again afterwards."""
        providers, self._providers, self._flights = list(self._providers.values()), {}, {}
        for provider in providers:
            await provider.aclose()

    def _make(self, target: ModelTarget) -> Provider:
        if target.provider == "embedded":
            return EmbeddedProvider(self._resolve, contexts=self._windows(), speculative=self.models.speculative,
                                    adapters=self._adapters(),
                                    status=self._status)  # fmt: skip
        if target.provider == "replay":
            return ReplayProvider(self._lookup)
        made: Provider = _SERVERS[target.provider](target.base_url, status=self._status)
        return made

    def _windows(self) -> dict[str, int]:
        """The largest window any stage wants of each embedded model."""
        windows: dict[str, int] = {}
        for target in map(self.target, STAGES):
            if target.provider == "embedded":
                windows[target.model] = max(target.context_window, windows.get(target.model, 0))
        return windows

    def _adapters(self) -> dict[str, tuple[str, ...]]:
        """The adapters that stages want of each embedded model."""
        found: dict[str, set[str]] = {}
        for target in map(self.target, STAGES):
            if target.provider == "embedded" and target.adapter:
                found.setdefault(target.model, set()).add(target.adapter)
        return {model: tuple(sorted(names)) for model, names in found.items()}

    def _resolve_target(self, stage: str) -> ModelTarget:
        models, known = self.models, stage_of(stage)
        override = self._override(stage, known.group)
        provider = override.provider or models.provider
        own_server = provider != models.provider or bool(override.base_url and override.base_url != models.base_url)
        model = override.model or (models.coding if known.role == "coding" else models.reasoning)
        if provider == "embedded":
            entry = entry_of(model)
            model = entry.name if entry is not None else model
        return ModelTarget(
            provider=provider,
            model=model,
            base_url=override.base_url or ("" if own_server else models.base_url),
            context_window=override.context_window or models.context_window,
            max_tokens=override.max_tokens or (BINARY_MAX_TOKENS if known.binary else models.max_tokens),
            temperature=models.temperature,
            seed=models.seed,
            thinking=models.thinking,
            keep_alive=models.keep_alive,
            # A key goes only to the server it was configured for.
            api_key_env=override.api_key_env or ("" if own_server else models.api_key_env),
            adapter=override.adapter or ("" if override.model else models.adapter),
        )

    def _override(self, stage: str, group: str) -> Override:
        """The group's override under the stage's own: what the stage leaves out comes from its group."""
        chain = [self.models.overrides[name] for name in (group, stage) if name in self.models.overrides]
        merged: dict[str, Any] = {}
        for entry in chain:
            table = {"model": entry} if isinstance(entry, str) else msgspec.structs.asdict(entry)
            merged |= {key: value for key, value in table.items() if value}
        return Override(**merged)

    def _check_overrides(self) -> None:
        known = (*STAGES, *GROUPS)
        for name in self.models.overrides:
            if name not in known:
                fault = "there is no such stage or group of stages"
                raise ConfigError("configuration", f"models.overrides.{name}", fault, nearest(name, known))
        for stage in STAGES:
            target = self.target(stage)
            if target.max_tokens >= target.context_window:
                fault = (
                    f"a reply of up to {target.max_tokens} tokens (stage {stage}) leaves no room for a prompt in a window "
                    f"of {target.context_window}: lower max_tokens or raise context_window"
                )
                raise ConfigError("configuration", "models", fault)
