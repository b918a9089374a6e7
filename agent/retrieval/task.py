"""What a task says, from its words and the index alone; no model is asked here."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent.index.words import identifiers, query_words
from agent.languages import language_of, parser_for
from agent.retrieval.types import TaskFacts
from agent.task.intent import read_intent
from agent.values import TaskKind

if TYPE_CHECKING:
    from agent.index import Index
    from agent.index.entries import IndexedSymbol

MAX_KEYWORDS = 12
MAX_FILES_PER_NAME = 4
"""A name that fits more files than this names none of them."""

MAX_PATHS = 50
"""Paths looked up in one task; a pasted log may hold thousands."""

_PATH = re.compile(r"(?<![\w/.-])(?:[A-Za-z]:)?(?:\.{0,2}/)?(?:[\w.+-]+/)*[\w+-][\w.+-]*\.[A-Za-z]\w{0,7}(?![\w/])")
_TRACE = (
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)'),
    re.compile(r"(?<![\w/.-])(?P<path>[\w./+-]+\.\w{1,8}):(?P<line>\d+)(?=[:,)\s]|$)", re.MULTILINE),
)


def analyse(text: str, index: Index) -> TaskFacts:
    """Kind, keywords, places in error messages, and the files and symbols of the repository that the task names."""
    paths = [entry.path for entry in index.files()]
    named, missing = _named_paths(text, paths)
    names = tuple(identifiers(_without_paths(text, paths)))
    intent = read_intent(text)
    kind: TaskKind = "implement" if missing and intent.kind == "feature" and intent.creates else intent.kind
    traces = tuple(_traces(text, paths))
    return TaskFacts(
        text=text,
        kind=kind,
        keywords=_keywords(text, index),
        mentioned_files=named,
        new_files=missing,
        mentioned_symbols=tuple(_mentioned_symbols(names, index)),
        traces=traces,
    )


def match_path(wanted: str, paths: Iterable[str]) -> list[str]:
    """The repository's paths that end in ``wanted``, whole components only; an exact one stands alone.

    An absolute path (from a trace) fits the longest of its endings that exists.
    """
    known = list(paths)
    parts = [part for part in PurePosixPath(wanted.replace("\\", "/")).parts if part not in (".", "..", "/", "a", "b")]
    exact = "/".join(parts)
    if exact in known:
        return [exact]
    for start in range(len(parts)):
        ending = "/".join(parts[start:])
        found = [path for path in known if path == ending or path.endswith("/" + ending)]
        if found:
            return found
    return []


def _named_paths(text: str, paths: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(files of the repository that the text names, source files it names that are not there yet)."""
    found: dict[str, None] = {}
    missing: dict[str, None] = {}
    for match in itertools.islice(_PATH.finditer(_without_addresses(text)), MAX_PATHS):
        fits = match_path(match.group(), paths)
        if fits and len(fits) <= MAX_FILES_PER_NAME:
            found.update(dict.fromkeys(fits))
        elif not fits and not match.group().startswith(("/", "..")) and parser_for(language_of(match.group())):
            missing.setdefault(match.group().removeprefix("./"))
    return tuple(found), tuple(missing)


def _without_paths(text: str, paths: list[str]) -> str:
    """The text without file names, whose parts are not identifiers: ``ring.h`` does not name a symbol ``ring``."""
    return _PATH.sub(lambda m: " " if language_of(m.group()) or match_path(m.group(), paths) else m.group(), text)


def _without_addresses(text: str) -> str:
    return re.sub(r"\b(?:https?://|www\.)\S+", " ", text)


def _traces(text: str, paths: list[str]) -> list[tuple[str, int]]:
    found: dict[tuple[str, int], None] = {}
    for pattern in _TRACE:
        for match in itertools.islice(pattern.finditer(text), MAX_PATHS):
            fits = match_path(match["path"], paths)
            if len(fits) == 1:
                found.setdefault((fits[0], int(match["line"])))
    return list(found)


def _mentioned_symbols(names: tuple[str, ...], index: Index) -> list[str]:
    """``path:qualified`` of the definitions that a code-like word names. A dotted name is taken whole before its parts."""
    found: dict[str, None] = {}
    settled: set[str] = set()
    tests = {entry.path for entry in index.files() if entry.is_test} if names else set()
    for name in sorted(names, key=lambda n: -n.count(".")):
        if name in settled:
            continue
        owner, _, last = name.replace("::", ".").replace("->", ".").rpartition(".")
        hits = [hit for hit in index.find_symbols(last) if not owner or _belongs(hit, owner)]
        hits = _definitions(hits, tests)
        if hits and len({hit.path for hit in hits}) <= MAX_FILES_PER_NAME:
            settled.update((name, last))
            found.update(dict.fromkeys(hit.key for hit in hits))
    return list(found)


def _belongs(symbol: IndexedSymbol, owner: str) -> bool:
    """Whether ``owner`` in ``owner.name`` is the symbol's class or the module it stands in."""
    tail = owner.rsplit(".", 1)[-1]
    return symbol.parent.rsplit(".", 1)[-1] == tail or PurePosixPath(symbol.path).stem == tail


def _definitions(hits: list[IndexedSymbol], tests: set[str]) -> list[IndexedSymbol]:
    """Definitions outside tests where there are any; else whatever there is."""
    outside = [hit for hit in hits if hit.path not in tests] or hits
    return [hit for hit in outside if hit.kind != "prototype"] or outside


def _keywords(text: str, index: Index) -> tuple[str, ...]:
    """The telling words; two neighbours that the code joins count as one (context window → context_window)."""
    words = query_words(text)
    joined = [
        name
        for first, second in zip(_plain(text), _plain(text)[1:], strict=False)
        if (name := f"{first}_{second}") and index.find_symbols(name)
    ]
    return tuple(dict.fromkeys([*joined, *words]))[:MAX_KEYWORDS]


def _plain(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())
