"""A whole symbol replaced by its syntax-tree range, whatever the new version was wrapped in."""

from __future__ import annotations

from agent.c.definitions import defined_names
from agent.c.extract import extract_function
from agent.c.insertion import place_function
from agent.c.symbols import reader as c_symbols
from agent.c.syntax import find_definition, functions
from agent.coding.replies.search_replace import EditResult, changed_lines
from agent.language.code_blocks import code_blocks
from agent.language.symbols import Symbol
from agent.python import replace as pyreplace
from agent.python import symbols as python_symbols
from agent.textfile import is_binary, read_text

_PARSERS = {"c": c_symbols.parse, "python": python_symbols.parse}


def find_symbol(source: bytes, language: str, qualified_name: str) -> Symbol | None:
    """The symbol of that name, definitions before prototypes; a method is found by its bare name if nothing else is."""
    found = _PARSERS[language](source).symbols
    named = [symbol for symbol in found if symbol.qualified == qualified_name]
    named = named or [symbol for symbol in found if symbol.name == qualified_name.rsplit(".", 1)[-1]]
    return min(named, key=lambda symbol: symbol.kind == "prototype", default=None)


def symbol_source(source: bytes, language: str, qualified_name: str) -> str:
    """The symbol's source text as it stands, "" when the file has no such symbol."""
    symbol = find_symbol(source, language, qualified_name)
    if symbol is None:
        return ""
    line_start = source.rfind(b"\n", 0, symbol.start) + 1
    start = line_start if not source[line_start : symbol.start].strip() else symbol.start
    return source[start : symbol.end].decode("utf-8", "replace").replace("\r\n", "\n")


def replace_symbol(
    source: bytes, language: str, qualified_name: str, new_text: str, *, path: str = "", finish: str = "stop"
) -> EditResult:
    """``source`` with the symbol replaced by the version of it in ``new_text``, a model's reply as it came.

    Helpers and (Python) imports that the new version uses and the file lacks come along. Newline style, encoding,
    indentation and everything outside are kept. C includes are left to the compiler. Never raises on a bad reply.
    """
    if is_binary(source):
        return EditResult(False, path, source, reason=f"{path or 'The file'} is binary and cannot be edited as text.")
    symbol = find_symbol(source, language, qualified_name)
    if symbol is None:
        return EditResult(False, path, source, reason=f"{path or 'The file'} has no symbol {qualified_name}.")
    if not new_text.strip() or not code_blocks(new_text):
        return EditResult(False, path, source, reason=f"The reply holds no code for {qualified_name}.")
    if language == "python":
        data, reason = pyreplace.replace(source, symbol, new_text, finish)
    elif symbol.kind in ("function", "prototype"):
        data, reason = _c_function(source, symbol, new_text, finish)
    else:
        data, reason = _c_other(source, symbol, new_text)
    if not reason and data == source:
        reason = f"The new version of {qualified_name} is the same as the old one."
        return EditResult(False, path, source, reason=reason, unchanged=True)
    if reason:
        return EditResult(False, path, source, reason=reason)
    removed, added = changed_lines(read_text(source).text, read_text(data).text)
    return EditResult(True, path, data, how="symbol", added=added, removed=removed)


def _c_function(source: bytes, symbol: Symbol, reply: str, finish: str) -> tuple[bytes, str]:
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


def _c_other(source: bytes, symbol: Symbol, reply: str) -> tuple[bytes, str]:
    """A struct, union, enum, typedef, macro or global."""
    code = "\n\n".join(block.text for block in code_blocks(reply)).encode()
    matches = [new for new in c_symbols.parse(code).symbols if new.name == symbol.name]
    new = next((one for one in matches if one.kind == symbol.kind), matches[0] if matches else None)
    if new is None:
        return source, f"The reply does not define {symbol.name}. Reply with the whole new version of it."
    text = code[new.start : new.end].decode("utf-8", "replace")
    if not source[symbol.start : symbol.end].rstrip().endswith(b";"):
        text = text.rstrip().removesuffix(";")
    file = read_text(source)
    try:
        styled = file.with_newlines(text).encode(file.encoding)
    except UnicodeEncodeError:
        return source, f"The file is written in {file.encoding}, which lacks a character of the new {symbol.name}."
    return source[: symbol.start] + styled + source[symbol.end :], ""
