"""Thresholds: the rule that turns a model's P(yes), the search's rank and known facts into a score, and the score into a
verdict. Shipped with a model, or fitted to a person's labels (``.clean_room/thresholds.toml``)."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import tomli_w

from agent.atomic import replace_file
from agent.config.errors import ConfigError
from agent.workspace.clean_room import private_file


class Threshold(msgspec.Struct, frozen=True, omit_defaults=True):
    """``score >= threshold`` means yes, for one stage and model.

    The score is ``sigmoid(bias + slope * logit(P(yes)) + rank_weight / rank + sum of weight * fact)``; with the defaults it
    is P(yes) itself. ``question`` is the version of the question that it was fitted on ("" for any); it does not apply to
    another wording. ``n`` labels of ``tasks`` tasks; ``recall`` and ``kept`` are shares (0 to 1) measured on tasks left out
    of the fit, ``gain`` the lower and upper end of the 95 % interval of its gain over the rule that was in force before;
    ``accuracy`` is balanced."""

    stage: str
    model: str
    threshold: float
    rank_weight: float = 0.0
    n: int = 0
    accuracy: float | None = None
    note: str = ""
    question: str = ""
    slope: float = 1.0
    bias: float = 0.0
    facts: dict[str, float] = {}
    tasks: int = 0
    recall: float | None = None
    kept: float | None = None
    gain: tuple[float, float] | None = None
    origin: str = ""

    @property
    def plain(self) -> bool:
        """Whether the score is P(yes) itself."""
        return self.rank_weight == 0.0 and self.slope == 1.0 and self.bias == 0.0 and not self.facts

    def score(self, p_yes: float, rank: int | None, facts: Mapping[str, float]) -> float | None:
        """The score, 0 to 1; None if it needs a rank that the call does not have."""
        if self.plain:
            return p_yes
        if self.rank_weight and rank is None:
            return None
        total = self.bias + self.slope * logit(p_yes) + (self.rank_weight / rank if rank else 0.0)
        return sigmoid(total + sum(weight * facts.get(name, 0.0) for name, weight in self.facts.items()))


class _File(msgspec.Struct):
    threshold: list[Threshold] = []


class Thresholds:
    """A look-up by stage and model; later entries win, so a person's own come after the shipped ones."""

    def __init__(self, entries: Iterable[Threshold]) -> None:
        entries = list(entries)
        self.entries = {(entry.stage, entry.model): entry for entry in entries}
        self._shipped = {(entry.stage, entry.model): entry for entry in entries if entry.origin == "shipped"}

    def get(self, stage: str, model: str) -> Threshold | None:
        """The threshold of a stage and model, or None: then the parsed text decides."""
        return self.entries.get((stage, model))

    def shipped(self, stage: str, model: str) -> Threshold | None:
        """The threshold that ships with the model, in force or not."""
        return self._shipped.get((stage, model))


def logit(p: float) -> float:
    """The log odds of a probability, bounded at one in a million."""
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1.0 - p))


def sigmoid(x: float) -> float:
    """The probability of log odds."""
    return 1.0 / (1.0 + math.exp(-max(-500.0, min(500.0, x))))


def thresholds_path(repo: Path) -> Path:
    """A repository's own thresholds."""
    return private_file(repo, "thresholds.toml")


def load_thresholds(path: Path) -> list[Threshold]:
    """The entries of a thresholds file; none if it does not exist.

    Raises:
        ConfigError: if it is not readable as ``[[threshold]]`` tables.
    """
    if not path.is_file():
        return []
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).threshold
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(str(path), "threshold", f"expected [[threshold]] tables: {error}") from None


def save_thresholds(path: Path, entries: Iterable[Threshold]) -> None:
    """Write a thresholds file whole or not at all."""
    text = tomli_w.dumps({"threshold": [_without_none(msgspec.to_builtins(entry)) for entry in entries]})
    replace_file(path, text.encode("utf-8"))


def _without_none(table: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in table.items() if value is not None}
