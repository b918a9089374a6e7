"""A function put into a source file by syntax-tree range, the rest of the file byte for byte as it was."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from agent.c.declarations.functions import comment_above, definitions, find_definition, functions
from agent.c.declarations.signature import definition_head
from agent.c.syntax.tree import parse_c
from agent.c.writing.extract import Extracted
from agent.textfile import append_block, newline_of, styled

_WORD = re.compile(rb"[A-Za-z_]\w*")
_CONDITIONALS = frozenset({"preproc_if", "preproc_ifdef", "linkage_specification"})


def place_function(source: bytes, name: str, extracted: Extracted, earlier: Collection[str] = ()) -> bytes:
    """``source`` with the definition of ``name`` replaced by the extracted one, or added at its end when there is none.

    The comment above the function stays; helpers go before that comment; the file's newline style is kept. A static
    function that is called here and stands further down gets a prototype above. Includes are not touched: whether one is
    needed is for the compiler to say. Of the static functions ``earlier`` (as they were written), which came along with
    versions before this one, those go that it brings along itself, and those that nobody calls any more: an unused function
    is an error under ``-Werror``.
    """
    brought, known = _names_in(extracted.helpers), _names_in(earlier)
    placed = _placed(_without(source, brought & known), name, extracted)
    while orphans := [one for one in known - brought if _is_orphan(placed, one)]:
        placed = _without(placed, orphans)
    return placed


def _names_in(pieces: Collection[str]) -> set[str]:
    return {one.name for piece in pieces for one in functions(piece.encode())}


def _placed(source: bytes, name: str, extracted: Extracted) -> bytes:
    text = styled(source, extracted.function_text.strip("\n"))
    current = find_definition(source, name)
    if current is None:
        return append_block(source, _block(extracted.helpers, source) + text)
    start = current.doc_start if current.doc_start >= 0 else current.start
    types = [piece for piece in extracted.helpers if not functions(piece.encode())]
    private = [piece for piece in extracted.helpers if functions(piece.encode())]
    block = _block(private, source)
    placed = source[:start] + block + source[start : current.start] + text + source[current.end :]
    placed = insert_before_functions(placed, _block(types, source)) if types else placed
    own = [one.name for piece in private for one in functions(piece.encode())]
    return _with_prototypes(placed, {name, *own})


def _without(source: bytes, names: Collection[str]) -> bytes:
    """``source`` without the static functions ``names``: definitions and prototypes, with their comments."""
    for one in reversed([one for one in functions(source) if one.name in names and one.static]):
        start = one.doc_start if one.doc_start >= 0 else one.start
        source = source[:start].rstrip(b" \t") + source[one.end :].lstrip()
    return source


def _is_orphan(source: bytes, name: str) -> bool:
    """Whether a static function is defined and named nowhere else."""
    own = [one for one in functions(source) if one.name == name]
    outside = _WORD.findall(_without(source, [name]))
    return any(one.defined and one.static for one in own) and name.encode() not in outside


def _with_prototypes(source: bytes, callers: Collection[str]) -> bytes:
    """``source`` with prototypes of the static functions that ``callers`` call and nothing above them declares: a helper
    stands where the first function that needed it was written, which may be below the next one."""
    found = functions(source)
    missing: dict[str, str] = {}
    for caller in (one for one in found if one.defined and one.name in callers):
        words = set(_WORD.findall(source[caller.body_start : caller.body_end]))
        above = {one.name for one in found if one.start <= caller.start}
        below = [one for one in found if one.defined and one.static and not one.conditional and one.start > caller.start]
        called = (one for one in below if one.name.encode() in words and one.name not in above)
        missing.update((one.name, f"{definition_head(one)};") for one in called)
    return insert_before_functions(source, _block(["\n".join(missing.values())], source)) if missing else source


def _block(pieces: Sequence[str], source: bytes) -> bytes:
    newline = newline_of(source).encode()
    return b"".join(styled(source, piece.strip("\n")) + 2 * newline for piece in pieces)


def insert_before_functions(source: bytes, text: bytes) -> bytes:
    """``source`` with ``text`` before its first function or prototype and that one's comment, at the top level: types and
    macros stand where every function sees them, and never inside a conditional block."""
    for node in parse_c(source).children:
        inside = source[node.start_byte : node.end_byte]
        if node.type in ("function_definition", "declaration") or node.type in _CONDITIONALS:
            if not functions(inside):
                continue
            _, doc_start = comment_above(source, node)
            at = doc_start if doc_start >= 0 else node.start_byte
            return source[:at] + text + source[at:]
    return append_block(source, text)


def standing(source: bytes, name: str, extracted: Extracted) -> Extracted:
    """``extracted`` with its function and helpers as they stand in ``source`` now."""
    found = {one.name: source[one.start : one.end].decode("utf-8", "replace") for one in definitions(source)}
    helpers = []
    for text in extracted.helpers:
        own = next((one.name for one in definitions(text.encode())), "")
        helpers.append(found.get(own, text))
    text = found.get(name, extracted.function_text).replace("\r\n", "\n")
    return msgspec.structs.replace(extracted, function_text=text, helpers=tuple(helpers))


def definition_lines(source: bytes, name: str) -> range:
    """The lines of a definition (from 1), with one above it; none when there is none."""
    function = find_definition(source, name)
    return range(function.line - 1, source[: function.end].count(b"\n") + 2) if function is not None else range(0)


def new_lines(source: bytes, before: bytes) -> set[int]:
    """The lines of the definitions in ``source`` that ``before`` does not hold as they are."""
    new = [one for one in definitions(source) if source[one.start : one.end] not in before]
    return {line for one in new for line in range(one.line, source[: one.end].count(b"\n") + 2)}
