"""Read fields of a reply that may hold anything: a value of the right type, or a harmless default."""

from __future__ import annotations

import json
from typing import Any

import msgspec

LARGEST_COUNT = 2**53 - 1
"""Larger counts are not real, and the log keeps integers of 64 bits."""


def parse_json(raw: bytes) -> Any:
    """The value of a JSON text, None when it is none."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    # Some servers send what JSON does not allow: bytes that are not UTF-8, half a surrogate pair, NaN among probabilities.
    try:
        return json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def table(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; empty when it is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list | tuple) else []


def count(value: Any) -> int:
    """A count that is not negative; 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_COUNT:
        return 0
    return int(value)


def text(value: Any) -> str:
    """A string, or the texts of a list of content parts, with what cannot be encoded (half a surrogate pair) as ``?``.

    Raises:
        TypeError: it is neither, and not null.
    """
    if value is None:
        return ""
    if isinstance(value, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in value]
        return "".join(text(part) for part in parts if isinstance(part, str))
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value.encode("utf-8", "replace").decode()
