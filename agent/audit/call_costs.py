"""What the calls of a stage took, as measured in a repository's log."""

from __future__ import annotations

from statistics import median

import msgspec

from agent.audit.reader import LogReader

_CALLS = 4000
"""The newest calls looked at."""
_QUERY = (
    "select stage, coalesce(model, ''), ms, coalesce(prompt_tokens, 0), coalesce(completion_tokens, 0) from calls"
    " where cached = 0 and ms > 0 order by id desc limit ?"
)


class Measured(msgspec.Struct, frozen=True):
    """Medians over ``calls`` calls: milliseconds, tokens sent, tokens answered."""

    calls: int
    ms: float
    tokens_in: float
    tokens_out: float


def measured(reader: LogReader) -> dict[tuple[str, str], Measured]:
    """(Stage, model) to what its newest calls took.

    Raises:
        LogError: the log cannot be read.
    """
    found: dict[tuple[str, str], list[tuple[float, int, int]]] = {}
    for stage, model, ms, tokens_in, tokens_out in reader.select(_QUERY, _CALLS):
        found.setdefault((stage, model), []).append((ms, tokens_in, tokens_out))
    return {key: Measured(len(rows), *(median(values) for values in zip(*rows, strict=True))) for key, rows in found.items()}
