"""A function put into a source file by syntax-tree range, the rest of the file byte for byte as it was."""

from __future__ import annotations

from agent.c.extract import Extracted
from agent.c.syntax import comment_above, find_definition, functions, parse_c
from agent.textfile import newline_of, to_newline

_CONDITIONALS = frozenset({"preproc_if", "preproc_ifdef", "linkage_specification"})


def place_function(source: bytes, name: str, extracted: Extracted) -> bytes:
    """``source`` with the definition of ``name`` replaced by the extracted one, or added at its end when there is none.

    The comment above the function stays; helpers go before that comment; the file's newline style is kept. Includes are not
    touched: whether one is needed is for the compiler to say.
    """
    newline = newline_of(source)
    text = _bytes(extracted.function_text, newline, source)
    current = find_definition(source, name)
    if current is None:
        return append_definition(source, _block(list(extracted.helpers), newline, source) + text)
    start = current.doc_start if current.doc_start >= 0 else current.start
    types = [piece for piece in extracted.helpers if not functions(piece.encode())]
    private = [piece for piece in extracted.helpers if functions(piece.encode())]
    block = _block(private, newline, source)
    placed = source[:start] + block + source[start : current.start] + text + source[current.end :]
    return insert_before_functions(placed, _block(types, newline, source)) if types else placed


def _block(pieces: list[str], newline: str, source: bytes) -> bytes:
    return b"".join(_bytes(piece, newline, source) + 2 * newline.encode() for piece in pieces)


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
    return append_definition(source, text)


def append_definition(source: bytes, text: bytes, blank_lines: int = 1) -> bytes:
    """``source`` with ``text`` after its last line and ``blank_lines``. For source files, not for guarded headers."""
    newline = newline_of(source).encode()
    body = source.rstrip(b" \t\r\n")
    if not body:
        return text.strip() + newline
    return source[: len(body)] + (blank_lines + 1) * newline + text.strip() + newline


def _bytes(text: str, newline: str, source: bytes) -> bytes:
    """``text`` in the file's newline style and encoding (UTF-8 unless the file is Latin-1 and can hold it)."""
    styled = to_newline(text.strip("\n"), newline)
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return styled.encode("latin-1")
        except UnicodeEncodeError:
            pass
    return styled.encode()
