"""Texts that a database and a JSON file can hold: without the lone surrogates of a model's answer or a file name."""

from __future__ import annotations

from typing import Any

import msgspec


def whole_characters(value: Any) -> Any:
    """A value whose texts can be stored: lone surrogates become ``?``, in lists and tables too."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {whole_characters(key): whole_characters(entry) for key, entry in value.items()}
    return [whole_characters(entry) for entry in value] if isinstance(value, list | tuple) else value


def as_json(value: Any) -> str:
    """The JSON of a value or struct."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(whole_characters(msgspec.to_builtins(value))).decode()
