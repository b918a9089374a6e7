"""A whole symbol replaced by its syntax-tree range, whatever the new version was wrapped in."""

from __future__ import annotations

from agent.coding.replies.search_replace import EditResult, changed_lines
from agent.language.code_blocks import code_blocks
from agent.language.symbols import Symbol
from agent.languages import named, parser_for
from agent.textfile import is_binary, read_text


def find_symbol(source: bytes, language: str, qualified_name: str) -> Symbol | None:
    """The symbol of that name, definitions before prototypes; a method is found by its bare name if nothing else is."""
    parser = parser_for(language)
    found = parser(source).symbols if parser else ()
    same = [symbol for symbol in found if symbol.qualified == qualified_name]
    same = same or [symbol for symbol in found if symbol.name == qualified_name.rsplit(".", 1)[-1]]
    return min(same, key=lambda symbol: symbol.kind == "prototype", default=None)


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
    data, reason = named(language).replace(source, symbol, new_text, finish)
    if not reason and data == source:
        reason = f"The new version of {qualified_name} is the same as the old one."
        return EditResult(False, path, source, reason=reason, unchanged=True)
    if reason:
        return EditResult(False, path, source, reason=reason)
    removed, added = changed_lines(read_text(source).text, read_text(data).text)
    return EditResult(True, path, data, how="symbol", added=added, removed=removed)
