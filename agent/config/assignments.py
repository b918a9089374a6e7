"""Settings given on the command line as ``SECTION.KEY=VALUE``: TOML, but for the quotes around a text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

from agent.config.errors import ConfigError
from agent.config.schema import parse_values

Settings = dict[str, dict[str, Any]]
"""Raw values by section and key, as a configuration file holds them."""

SOURCE = "--set"
_MISSING = object()


def settings_from(words: Iterable[str]) -> Settings:
    """``words`` such as ``orchestrator.decomposed_planning=true``, checked like a configuration file; a later word wins.

    A key is spelled as in TOML (``models.overrides.scope.model``, ``ui.keys."run.step"``). Quotes around a text may be left
    out, since the shell takes them: ``models.coding=qwen3:1.7b``.

    Raises:
        ConfigError: no ``=``, an unknown section or key, or a value of the wrong kind.
    """
    total: Settings = {}
    for word in words:
        _merge_into(total, _setting(word))
    return total


def _setting(word: str) -> Settings:
    key, equals, text = word.partition("=")
    if not equals or "." not in key:
        raise ConfigError(SOURCE, "", f"expected SECTION.KEY=VALUE, such as coding.samples=2, found {word!r}")
    value = _toml_value(text)
    if value is _MISSING:
        return parse_values(_nested(key, text), SOURCE)
    try:
        return parse_values(_nested(key, value), SOURCE)
    except ConfigError as error:
        if isinstance(value, str):
            raise
        try:
            return parse_values(_nested(key, text), SOURCE)  # a text that looks like something else, as a model named 7
        except ConfigError:
            raise error from None


def _toml_value(text: str) -> Any:
    """What ``text`` is in TOML, or ``_MISSING`` when it is nothing but text."""
    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else _MISSING
    except tomllib.TOMLDecodeError:
        return _MISSING


def _nested(key: str, value: Any) -> Settings:
    """``{"a": {"b": value}}`` of the key ``a.b``, quoted parts as in TOML."""
    try:
        table: Any = tomllib.loads(f"{key} = 0") if "\n" not in key else None
    except tomllib.TOMLDecodeError:
        table = None
    inner = table
    while isinstance(inner, dict):
        (name, below), *more = inner.items()
        if more:
            break
        if below == 0:
            inner[name] = value
            return dict(table)
        inner = below
    raise ConfigError(SOURCE, "", f"expected SECTION.KEY before the =, such as coding.samples, found {key!r}")


def _merge_into(total: dict[str, Any], fresh: dict[str, Any]) -> None:
    for name, value in fresh.items():
        old = total.get(name)
        if isinstance(old, dict) and isinstance(value, dict):
            _merge_into(old, value)
        else:
            total[name] = value
