"""Why a file or symbol was found, for people and programs: where it comes from, and the evidence with its share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.retrieval.filerank import WORDS
from agent.retrieval.types import Reason, ScopedFile, ScopedSymbol

_SYMBOL_WORDS = {
    "words": "its text has the task's words",
    "related": "its text has the task's words or related ones",
    "file": "its file was found",
    "name": "its name has the task's words",
    "calls": "it calls or is called by symbols found",
    "named": "the task names it",
    "trace": "an error trace in the task stands in it",
}


def explained(files: Sequence[ScopedFile], symbols: Sequence[ScopedSymbol]) -> dict[str, dict[str, Any]]:
    """For each file and symbol its place in the ranking, how it came into question, and its reasons, strongest first.

    Each reason has its ``kind``, its ``share`` of the score (0 to 1) and the same in words (``means``).
    """
    return {
        "files": {
            file.path: {"rank": file.rank, "tier": file.tier, "place": file.reason, "reasons": _listed(file.reasons, WORDS)}
            for file in files
        },
        "symbols": {
            symbol.key: {"rank": symbol.rank, "level": symbol.reason, "reasons": _listed(symbol.reasons, _SYMBOL_WORDS)}
            for symbol in symbols
        },
    }


def _listed(reasons: Sequence[Reason], words: dict[str, str]) -> list[dict[str, Any]]:
    return [{"kind": r.kind, "share": r.share, "means": words.get(r.kind, r.kind)} for r in reasons]
