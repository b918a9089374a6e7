"""What a model sees of a C file's surroundings: headers in a fixed order, the types at the top, what is already written."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

from agent.c.declarations.definitions import defined_names, pieces_of
from agent.c.declarations.functions import definitions
from agent.c.declarations.signature import definition_head
from agent.c.files import is_source
from agent.c.preprocessor.include_resolution import IncludeResolver
from agent.c.preprocessor.includes import includes_of
from agent.c.writing.stubs import find_stubs

_LICENCE = re.compile(r"\A\s*/\*(?:(?!\*/).)*?\b(?:copyright|licen[cs]e|SPDX)\b(?:(?!\*/).)*\*/\s*", re.S | re.I)


def headers_for(path: str, files: Mapping[str, bytes], *, first: str = "", limit: int = 12_000) -> dict[str, str]:
    """The project headers that ``path`` sees, directly or through others: ``first``, then in include order, within ``limit``
    characters together. What does not fit is left out from the end; a leading licence comment always is."""
    found: dict[str, str] = {}
    room = limit
    for header in reachable_headers(path, files, first=first):
        text = _LICENCE.sub("", files[header].decode("utf-8", "replace").replace("\r\n", "\n"))
        if len(text) > room and found:
            break
        found[header] = text[:limit]
        room -= len(text)
    return found


def reachable_headers(path: str, files: Mapping[str, bytes], *, first: str = "") -> list[str]:
    """The project headers that ``path`` includes, directly or through others, ``first`` in front, in include order."""
    resolver = IncludeResolver(files)
    order: list[str] = []
    queue = ([first] if first in files else []) + _included(path, files, resolver)
    while queue:
        header = queue.pop(0)
        if header not in order:
            order.append(header)
            queue += _included(header, files, resolver)
    return order


def _included(path: str, files: Mapping[str, bytes], resolver: IncludeResolver) -> list[str]:
    """The project headers that a file includes, by their project path, in order."""
    names = includes_of(files.get(path, b""))
    found = [resolver.resolve(include.name, path, system=include.system) for include in names]
    return list(dict.fromkeys(header for header in found if header))


def include_spelling(header: str, path: str, files: Mapping[str, bytes]) -> str:
    """How ``path`` should spell its include of ``header``: as the sources beside it do, else by where the two lie."""
    here = posixpath.dirname(path)
    beside = [one for one in sorted(files) if is_source(one) and posixpath.dirname(one) == here]
    return IncludeResolver(files).spelling(header, path, neighbours=beside, includes=lambda one: includes_of(files[one]))


def top_of_file(source: bytes) -> str:
    """Types, macros and globals of a source file in order, then the heads of its static functions."""
    pieces = [piece.text for piece in pieces_of(source) if piece.kind in ("type", "macro", "global")]
    heads = [definition_head(function) + ";" for function in definitions(source) if function.static]
    return "\n".join(pieces + heads)


def written_functions(source: bytes, name: str, *, limit: int = 3000) -> list[str]:
    """The definitions of ``source`` that are not stubs, ``name`` left out, in file order; the last ones that fit ``limit``
    characters, since they are likeliest to be about the same thing."""
    stubs = {function.name for function in find_stubs(source)}
    texts = [
        source[function.start : function.end].decode("utf-8", "replace").replace("\r\n", "\n")
        for function in definitions(source)
        if function.name not in stubs and function.name not in (name, "main")
    ]
    kept: list[str] = []
    for text in reversed(texts):
        limit -= len(text)
        if limit < 0:
            break
        kept.insert(0, text)
    return kept


def names_in_scope(path: str, headers: Sequence[str], files: Mapping[str, bytes]) -> set[str]:
    """Every name that ``path`` or one of ``headers`` defines, and the functions they declare: nothing of it is taken from a
    reply again."""
    names: set[str] = set()
    for one in (path, *headers):
        source = files.get(one, b"")
        names |= defined_names(source)
        if one != path:
            names |= {name for piece in pieces_of(source) for name in piece.names}
    return names
