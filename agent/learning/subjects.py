"""What an evaluation can choose from: models, stages with labelled questions, and test rows of exports."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from agent.audit.reader import LogReader
from agent.config.schema import Config
from agent.labels.export import ExportError, held_out
from agent.labels.items import Item, load_items
from agent.learning.scores import labelled
from agent.models.store import list_models
from agent.stages import STAGES
from agent.workspace.clean_room import private_file

AS_CONFIGURED = ""
"""The name that stands for each stage's own model, as a run would ask it."""


class LabelledStage(msgspec.Struct, frozen=True):
    """A stage with ``count`` labelled questions; ``ms`` is the median time of its calls so far, 0 where unknown."""

    stage: str
    count: int
    ms: float = 0.0


class HeldOut(msgspec.Struct, frozen=True):
    """The test rows of an export in ``folder``; ``judgments`` are theirs."""

    folder: Path
    judgments: frozenset[str]


class Subjects(msgspec.Struct, frozen=True):
    """The choices. ``models`` begins with ``AS_CONFIGURED``."""

    models: tuple[str, ...]
    stages: tuple[LabelledStage, ...]
    exports: tuple[HeldOut, ...] = ()

    def seconds(self, models: int, stages: Sequence[str]) -> float | None:
        """An estimate of the seconds it takes to ask ``models`` models the labelled questions of ``stages``, one call at a
        time; None where a stage has no timed call yet."""
        chosen = [one for one in self.stages if one.stage in stages]
        if not chosen or not all(one.ms for one in chosen):
            return None
        return models * sum(one.count * one.ms for one in chosen) / 1000


def subjects(reader: LogReader, repo: Path, config: Config) -> Subjects:
    """The models of the configuration, of the local store and of the log; the stages with labels; the exports with test
    rows in the repository's own folder.

    Raises:
        LogError: the log cannot be read.
    """
    items = load_items(reader)
    return Subjects(tuple(_models(items, config)), tuple(_stages(items)), tuple(exports_of(repo)))


def aimed(config: Config, name: str, provider: str = "", base_url: str = "", concurrency: int = 0) -> Config:
    """The configuration with every stage on one model (``MODEL+ADAPTER`` names an adapter) and without overrides.
    ``AS_CONFIGURED`` leaves it as it is."""
    models = config.models
    if name:
        model, _, adapter = name.partition("+")
        models = msgspec.structs.replace(models, coding=model, reasoning=model, adapter=adapter, overrides={})
    if provider or base_url:
        kept = provider or models.provider
        models = msgspec.structs.replace(models, provider=kept, base_url=base_url, overrides={})
    if concurrency:
        models = msgspec.structs.replace(models, concurrency=concurrency)
    return msgspec.structs.replace(config, models=models)


def exports_of(repo: Path) -> list[HeldOut]:
    """The exports in a repository's folder ``.clean_room/exports`` with test rows, by name."""
    folder = private_file(repo, "exports")
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        try:
            found.append(HeldOut(path, held_out(path)))
        except ExportError:
            continue
    return found


def _models(items: Iterable[Item], config: Config) -> list[str]:
    models = config.models
    own = [models.coding, models.reasoning, *(o if isinstance(o, str) else o.model for o in models.overrides.values())]
    here = [listed.entry.name for listed in list_models() if listed.path is not None and models.provider == "embedded"]
    seen = sorted({item.model for item in items if item.provider == models.provider})
    return list(dict.fromkeys([AS_CONFIGURED, *(name for name in [*own, *here, *seen] if name)]))


def _stages(items: Sequence[Item]) -> list[LabelledStage]:
    """In the order of the table of stages."""
    known: dict[str, set[str]] = {}
    for item in labelled(items):
        known.setdefault(item.stage, set()).add(item.judgment)
    times: dict[str, list[float]] = {}
    for item in items:
        if item.ms > 0 and not item.cached:
            times.setdefault(item.stage, []).append(item.ms)
    order = [name for name in STAGES if name in known] + sorted(known.keys() - STAGES.keys())
    return [LabelledStage(n, len(known[n]), statistics.median(times[n]) if n in times else 0.0) for n in order]
