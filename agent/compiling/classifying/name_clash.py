"""A name that the C library has taken: the project declares it too, with other types, or where a macro stands."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from agent.compiling.classifying.evidence import CompileEvidence
from agent.compiling.reading.symptoms import Symptom, name_at

_LOCATED = re.compile(r"^(?P<file>[^\s:][^:]*):\d+: ")
_INCLUDE_FOLDER = re.compile(r"^.*/include/(?:[\w.]+-linux-\w+/|c\+\+/[\w.]+/)?(?P<header>.+)$")

_LONGEST_LINE = 400
"""Characters looked at of a line: declarations are shorter, and generated lines may be of any length."""

What = Literal["function", "type", "variable", "macro"]


class NameClash(NamedTuple):
    """A name that ``header`` of the C library has as ``what`` and the project too; ``proposal`` is a name to use instead."""

    symbol: str
    header: str
    proposal: str
    what: What = "function"

    @property
    def sentence(self) -> str:
        """What to do, for a person and for the retry prompt."""
        home, name = f"<{self.header}>", f"`{self.symbol}`"
        rename = f"rename it, for example to `{self.proposal}`"
        if self.what == "macro":
            return (
                f"{name} is a macro where {home} is included, so the compiler does not see that name but what the macro "
                f"stands for: {rename}, wherever the project declares and uses it."
            )
        if self.what == "type":
            return (
                f"{home} defines the type {name} already, and otherwise: use that one and take the project's own definition "
                f"away, or {rename}, wherever it is used."
            )
        return (
            f"{home} declares {name} with other types, so the project cannot have a {self.what} of that name "
            f"where {home} is included: {rename}, in its declaration, its definition and its "
            f"{'calls' if self.what == 'function' else 'uses'}."
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
    kinds = {home.kind for home in e.table.homes(symbol)}
    what: What = "type" if "type" in kinds else "variable" if kinds & {"variable", "macro"} else "function"
    return NameClash(symbol, _header(e, symbol, outside[0]), _proposal(e, symbol), what)


def macro_clash(e: CompileEvidence, complaint: Symptom) -> NameClash | None:
    """The clash behind a syntax error at the place where the project declares a name that an included header has as a macro:
    ``enum token { EOF }``. The compiler points at the name and speaks of what the macro stands for."""
    d = complaint.diagnostic
    name = name_at(d.source_line, d.column)
    if not name or complaint.kind not in ("syntax", "other") or re.search(rf"\b{name}\b", d.message):
        return None
    active = e.project.active_headers(e.target)
    header = next((home.header for home in e.table.homes(name) if home.header in active), "")
    if not header or ("expected identifier" not in d.message and not _declares(d.source_line[:_LONGEST_LINE], name)):
        return None
    return NameClash(name, header, _proposal(e, name), "macro")


def _declares(line: str, name: str) -> bool:
    """Whether a line of C declares ``name``: behind words that can be a type, or as a parameter in a function's head."""
    typed = rf"(?:[A-Za-z_]\w*[\s*]+)+{name}\s*"
    own = rf"(?:^|[;{{])\s*(?!(?:return|else|case|goto)\b){typed}[;,=(\[:]"
    parameter = rf"^\s*(?:[A-Za-z_]\w*[\s*]+)+\w+\s*\((?:[^()]*,)?\s*{typed}[,)\[]"
    return bool(re.search(own, line) or re.search(parameter, line))


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
    prefix = "own"
    for header in e.project.headers():
        if e.project.mentions(header, symbol) and e.project.declared(header).has(symbol):
            prefix = re.sub(r"\W", "_", header.rpartition("/")[2].rpartition(".")[0])
            break
    return f"{prefix.upper() if symbol.isupper() else prefix}_{symbol}"
