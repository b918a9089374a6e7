"""A name that the C library has taken: the project declares it too, with other types."""

from __future__ import annotations

import re
from typing import NamedTuple

from agent.compiling.classifying.evidence import CompileEvidence
from agent.compiling.reading.symptoms import Symptom

_LOCATED = re.compile(r"^(?P<file>[^\s:][^:]*):\d+: ")
_INCLUDE_FOLDER = re.compile(r"^.*/include/(?:[\w.]+-linux-\w+/|c\+\+/[\w.]+/)?(?P<header>.+)$")


class NameClash(NamedTuple):
    """A name that ``header`` of the C library declares and the project too; ``proposal`` is a name to use instead."""

    symbol: str
    header: str
    proposal: str

    @property
    def sentence(self) -> str:
        """What to do, for a person and for the retry prompt."""
        return (
            f"<{self.header}> declares `{self.symbol}` with other types, so the project cannot have a function of that name "
            f"where <{self.header}> is included: rename it, for example to `{self.proposal}`, in its declaration, its "
            "definition and its calls."
        )


def library_clash(e: CompileEvidence, complaint: Symptom, symbol: str) -> NameClash | None:
    """The clash behind a complaint about two declarations, None when both sides are the project's."""
    if not symbol or complaint.kind not in ("conflict", "linkage", "redefined"):
        return None
    d = complaint.diagnostic
    places = [d.file, *(m["file"] for note in d.notes if (m := _LOCATED.match(note)))]
    outside = [p for p in places if p and e.project.resolve(p) is None and _INCLUDE_FOLDER.match(p)]
    if not outside or not any(e.project.resolve(p) for p in places if p):
        return None
    header = _header(e, symbol, outside[0])
    return NameClash(symbol, header, _proposal(e, symbol))


def _header(e: CompileEvidence, symbol: str, path: str) -> str:
    """The header to name: the one that is included, not the internal part in which the declaration stands."""
    match = _INCLUDE_FOLDER.match(path)
    found = match["header"] if match else path
    active = e.project.active_headers(e.target)
    homes = [h.header for h in e.table.homes(symbol)]
    if found in active or (found in homes and not e.table.never(found)):
        return found
    return next((h for h in homes if h in active), homes[0] if homes else found)


def _proposal(e: CompileEvidence, symbol: str) -> str:
    """``text_getline`` for a ``getline`` that ``text.h`` declares; ``own_getline`` where no header does."""
    for header in e.project.headers():
        if e.project.mentions(header, symbol) and e.project.declared(header).has(symbol):
            stem = re.sub(r"\W", "_", header.rpartition("/")[2].rpartition(".")[0])
            return f"{stem}_{symbol}"
    return f"own_{symbol}"
