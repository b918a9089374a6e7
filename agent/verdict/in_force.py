"""Which thresholds decide in a repository: those that ship with its models, the person's own, then the repository's."""

from __future__ import annotations

from pathlib import Path

from agent.config.schema import Config, user_config_path
from agent.models.store import default_thresholds, entry_of
from agent.verdict.threshold import Threshold, Thresholds, load_thresholds, thresholds_path


def thresholds_of(repo: Path, config: Config) -> Thresholds:
    """Shipped thresholds of every model that the configuration names, the person's own over them, the repository's last.

    The person's own are used where ``judgment.pool`` is on.

    Raises:
        ConfigError: a thresholds file cannot be read.
    """
    names = {config.models.coding, config.models.reasoning}
    names |= {o if isinstance(o, str) else o.model for o in config.models.overrides.values()}
    own = load_thresholds(own_thresholds_path()) if config.judgment.pool else []
    return Thresholds([*shipped_thresholds(names), *own, *load_thresholds(thresholds_path(repo))])


def own_thresholds_path() -> Path:
    """The person's own thresholds, for all repositories: beside their configuration."""
    return user_config_path().with_name("thresholds.toml")


def shipped_thresholds(models: set[str]) -> list[Threshold]:
    """The thresholds that ship with some models, each also under the model's official name, which is what a call logs."""
    return [
        Threshold(
            stage, known, default.threshold, default.rank_weight, default.n, note=default.note, question=default.question,
            origin="shipped",
        )
        for name in sorted(models - {""})
        for known in dict.fromkeys((name, _official(name)))
        for stage, default in default_thresholds(name).items()
    ]  # fmt: skip


def _official(name: str) -> str:
    entry = entry_of(name)
    return entry.name if entry is not None else name
