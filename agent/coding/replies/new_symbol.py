"""A symbol that a file does not have yet, added where it belongs."""

from __future__ import annotations

from agent.coding.replies.search_replace import EditResult, changed_lines
from agent.language.code_blocks import code_blocks
from agent.languages import named
from agent.textfile import read_text


def add_symbol(
    source: bytes, language: str, qualified_name: str, reply: str, *, path: str = "", finish: str = "stop"
) -> EditResult:
    """``source`` with the reply's definition of the symbol added where the language puts it.

    Never raises on a bad reply.
    """

    def failed(reason: str) -> EditResult:
        return EditResult(False, path, source, reason=reason)

    if finish != "stop":
        return failed(f"The reply was cut off before {qualified_name} was complete. Write it shorter.")
    known = named(language)
    found = (known.definition_in(block.text, qualified_name) for block in code_blocks(reply))
    text = next((one for one in found if one), "")
    if not text:
        return failed(f"The reply does not define {qualified_name}.")
    data = known.add(source, qualified_name, text)
    problem = known.syntax_problem(data)
    if problem:
        return failed(f"With the new {qualified_name} the file is not valid {known.title}: {problem}")
    removed, added = changed_lines(read_text(source).text, read_text(data).text)
    return EditResult(True, path, data, how="symbol", added=added, removed=removed)
