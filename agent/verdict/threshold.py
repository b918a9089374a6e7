"""Thresholds per (stage, model): shipped defaults, and what the person's labels say (``.clean_room/thresholds.toml``)."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import msgspec
import tomli_w

from agent.atomic import replace_file
from agent.config.errors import ConfigError


class Threshold(msgspec.Struct, frozen=True, omit_defaults=True):
    """``score >= threshold`` means yes. ``n`` labels it rests on, ``accuracy`` balanced and leave-one-out (0 to 1)."""

    stage: str
    model: str
    threshold: float
    rank_weight: float = 0.0
    n: int = 0
    accuracy: float | None = None
    note: str = ""


class _File(msgspec.Struct):
    threshold: list[Threshold] = []


class Thresholds:
    """A look-up by stage and model; a person's own beat the shipped ones."""

    def __init__(self, entries: list[Threshold]) -> None:
        self.entries = {(entry.stage, entry.model): entry for entry in entries}

    def get(self, stage: str, model: str) -> Threshold | None:
        """The threshold for a stage and model, or None: then the parsed text decides."""
        return self.entries.get((stage, model))


def thresholds_path(repo: Path) -> Path:
    """A repository's own thresholds."""
    return repo / ".clean_room" / "thresholds.toml"


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


def save_thresholds(path: Path, entries: list[Threshold]) -> None:
    """Write a thresholds file whole or not at all."""
    text = tomli_w.dumps({"threshold": [msgspec.to_builtins(entry) for entry in entries]})
    replace_file(path, text.encode("utf-8"))


def combined_score(p_yes: float, rank: int | None, rank_weight: float) -> float:
    """``sigmoid(logit(p_yes) + rank_weight / rank)`` (design section 6); ``p_yes`` itself without rank or weight."""
    if rank is None or rank_weight == 0.0:
        return p_yes
    p = min(max(p_yes, 1e-6), 1 - 1e-6)
    return 1.0 / (1.0 + math.exp(-(math.log(p / (1.0 - p)) + rank_weight / rank)))
