"""Symbols as bags of words for ranking, kept in memory for as long as their file stays the same."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from agent.index.extract import own_texts
from agent.index.words import split_identifier
from agent.languages import reader_of
from agent.retrieval.stemming import stem

if TYPE_CHECKING:
    from agent.index import Index
    from agent.index.entries import FileEntry, IndexedSymbol

NAME_WEIGHT, DOC_WEIGHT, OWNER_WEIGHT, PATH_WEIGHT = 4, 2, 1, 6
"""How often a word in the name, doc or enclosing class counts against one in the body, and one in the file's name."""

KEPT_FILES = 1000

_PARTS = frozenset(("enumerator",))
"""Kinds that are read with the symbol they are part of."""

_WORD = re.compile(r"\w+")


class Document(msgspec.Struct, frozen=True):
    """A symbol and its stemmed words with their weighted counts."""

    symbol: IndexedSymbol
    words: Counter[str]


_kept: OrderedDict[tuple[str, str, str], tuple[tuple[Document, ...], Counter[str]]] = OrderedDict()
_lock = threading.Lock()


def documents_of(index: Index, entry: FileEntry) -> tuple[Document, ...]:
    """The file's symbols that stand for themselves: no enumerators, each name once (the longest)."""
    return _read(index, entry)[0]


def words_beside(index: Index, entry: FileEntry) -> Counter[str]:
    """The words of the file's path and of what stands outside of its symbols."""
    return _read(index, entry)[1]


def _read(index: Index, entry: FileEntry) -> tuple[tuple[Document, ...], Counter[str]]:
    key = (str(index.root), entry.path, entry.sha)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    source, symbols = index.source(entry.path), index.symbols(entry.path)
    texts = own_texts(source, symbols)
    bodies = {id(symbol): texts.get(place, "") for place, symbol in enumerate(symbols, 1)}
    documents = tuple(Document(s, _words(s, bodies[id(s)])) for s in _standing(symbols, source, entry.path))
    made = documents, _counted(((PurePosixPath(entry.path).stem, PATH_WEIGHT), (texts.get(0, ""), 1)))
    with _lock:
        _kept[key] = made
        while len(_kept) > KEPT_FILES:
            _kept.popitem(last=False)
    return made


def candidates_of(index: Index, entry: FileEntry) -> list[Document]:
    """Those that retrieval may show: without prototypes of what the project defines elsewhere."""
    return [
        document
        for document in documents_of(index, entry)
        if document.symbol.kind != "prototype"
        or not index.has_function(document.symbol.name)
    ]


def _standing(symbols: list[IndexedSymbol], source: bytes, path: str) -> list[IndexedSymbol]:
    language = reader_of(path)
    found: dict[str, IndexedSymbol] = {}
    for symbol in symbols:
        local = language is not None and language.is_local(symbol.kind, symbol.start, source)
        if symbol.kind in _PARTS or local:
            continue
        old = found.get(symbol.key)
        if old is None or symbol.end - symbol.start > old.end - old.start:
            found[symbol.key] = symbol
    return list(found.values())


def _words(symbol: IndexedSymbol, body: str) -> Counter[str]:
    """A class is read with its fields and without its methods, which are symbols of their own; so are types and tables."""
    return _counted(
        ((symbol.name, NAME_WEIGHT), (symbol.parent, OWNER_WEIGHT), (symbol.doc, DOC_WEIGHT), (body, 1))
    )


def _counted(texts: Iterable[tuple[str, int]]) -> Counter[str]:
    """The stemmed words of weighted texts, identifiers split."""
    words: Counter[str] = Counter()
    for text, weight in texts:
        for word in _WORD.findall(text):
            for part in split_identifier(word):
                if len(part) > 1:
                    words[stem(part)] += weight
    return words
