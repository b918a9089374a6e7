"""A symbol of a C file rewritten or added, out of a model's reply."""

from __future__ import annotations

from agent.c.declarations.definitions import defined_names
from agent.c.declarations.functions import definitions, find_definition, functions
from agent.c.symbols.reader import parse
from agent.c.writing.extract import extract_function
from agent.c.writing.insertion import place_function
from agent.language.code_blocks import code_blocks
from agent.language.symbols import Symbol
from agent.textfile import append_block, read_text, styled


def replace(source: bytes, symbol: Symbol, reply: str, finish: str = "stop") -> tuple[bytes, str]:
    """(new bytes, "") or (``source``, why not). Helpers that the new version uses and the file lacks come along."""
    if symbol.kind in ("function", "prototype"):
        return _function(source, symbol, reply, finish)
    return _other(source, symbol, reply)


def definition_in(code: str, qualified_name: str) -> str:
    """The definition of a function in ``code``, the last one of several; "" when it has none."""
    source = code.encode()
    found = next((function for function in reversed(definitions(source)) if function.name == qualified_name), None)
    return "" if found is None else source[found.start : found.end].decode("utf-8", "replace")


def add(source: bytes, qualified_name: str, text: str) -> bytes:
    """``source`` with the definition ``text`` as its last."""
    del qualified_name
    return append_block(source, styled(source, text))


def _function(source: bytes, symbol: Symbol, reply: str, finish: str) -> tuple[bytes, str]:
    current = find_definition(source, symbol.name) or next(
        (function for function in functions(source) if function.name == symbol.name), None
    )
    if current is None:
        return source, f"The head of {symbol.name} could not be read."
    known = defined_names(source) - {symbol.name}
    extracted = extract_function(reply, current.head, known=known, finish=finish)
    if not extracted.ok:
        return source, " ".join(extracted.problems)
    return place_function(source, symbol.name, extracted), ""


def _other(source: bytes, symbol: Symbol, reply: str) -> tuple[bytes, str]:
    """A struct, union, enum, typedef, macro or global."""
    code = "\n\n".join(block.text for block in code_blocks(reply)).encode()
    matches = [new for new in parse(code).symbols if new.name == symbol.name]
    new = next((one for one in matches if one.kind == symbol.kind), matches[0] if matches else None)
    if new is None:
        return source, f"The reply does not define {symbol.name}. Reply with the whole new version of it."
    text = code[new.start : new.end].decode("utf-8", "replace")
    if not source[symbol.start : symbol.end].rstrip().endswith(b";"):
        text = text.rstrip().removesuffix(";")
    file = read_text(source)
    try:
        replacement = file.with_newlines(text).encode(file.encoding)
    except UnicodeEncodeError:
        return source, f"The file is written in {file.encoding}, which lacks a character of the new {symbol.name}."
    return source[: symbol.start] + replacement + source[symbol.end :], ""
