"""Why a file or symbol was found, for people and programs: where it comes from, and the evidence with its share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

_TIER_KINDS = {0: "plan", 1: "task", 2: "edges", 3: "together", 4: "words"}
"""What speaks for a file of a tier that has no evidence of its own."""


def explained(files: Sequence[ScopedFile], symbols: Sequence[ScopedSymbol]) -> dict[str, dict[str, Any]]:
    """For each file and symbol its place in the ranking, how it came into question, and its reasons, strongest first.

    Each reason has its ``kind``, its ``share`` of the score (0 to 1) and the same in words (``means``). What no evidence
    speaks for has one: how its file came into question.
    """
    return {
        "files": {
            file.path: {"rank": file.rank, "tier": file.tier, "place": file.reason, "reasons": _of_file(file)}
            for file in files
        },
        "symbols": {
            symbol.key: {
                "rank": symbol.rank, "level": symbol.reason,
                "reasons": _listed(symbol.reasons or (Reason("file", 1.0),), _SYMBOL_WORDS),
            }
            for symbol in symbols
        },
    }  # fmt: skip


def _of_file(file: ScopedFile) -> list[dict[str, Any]]:
    kind = _TIER_KINDS[file.tier]
    return _listed(file.reasons, WORDS) if file.reasons else _listed([Reason(kind, 1.0)], {kind: file.reason})


def _listed(reasons: Sequence[Reason], words: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"kind": r.kind, "share": r.share, "means": words.get(r.kind, r.kind)} for r in reasons]
