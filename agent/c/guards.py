"""Where a header's own include guard ends, told from a conditional that only looks like one."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)
_OPENING = re.compile(
    r"\s*(?:#[ \t]*pragma[ \t]+once\s*)?#[ \t]*if(?:ndef[ \t]+(?P<plain>\w+)|[ \t]+!\s*defined[ \t]*\(?[ \t]*(?P<long>\w+))"
    r"[^\n]*\n\s*#[ \t]*define[ \t]+(?P<set>\w+)[ \t]*1?[ \t]*(?:\n|\Z)"
)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.M)
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|endif)\b", re.M)
_CLOSING_BRACE = re.compile(
    r"^[ \t]*#[ \t]*if[^\n]*__cplusplus[^\n]*\n\s*\}[^\n]*\n[ \t]*#[ \t]*endif[^\n]*\s*\Z"
    r"|^[ \t]*\w*END_DECLS\w*[ \t]*;?\s*\Z",
    re.M,
)


def is_guarded(header: str) -> bool:
    """Whether a header begins with an include guard or holds ``#pragma once``."""
    text = _without_comments(header)
    return bool(_opening(text) or _PRAGMA.search(text))


def unclosed(header: str) -> int:
    """How many conditionals are open at the end of ``header``."""
    words = [match["word"] for match in _CONDITIONAL.finditer(_without_comments(header))]
    return max(0, len(words) - 2 * words.count("endif"))


def end_of_declarations(header: str) -> int:
    """The offset at which the last declaration of ``header`` may stand: inside its guard and its ``extern "C"`` block, and
    in no other conditional."""
    text = _without_comments(header)
    at = _guard_end(text)
    closing = _CLOSING_BRACE.search(text[:at])
    return closing.start() if closing else at


def _guard_end(text: str) -> int:
    """Where the line of the guard's ``#endif`` begins, the end of the text when there is no guard around all of it."""
    if not _opening(text):
        return len(text)
    depth = 0
    for match in _CONDITIONAL.finditer(text):
        depth += -1 if match["word"] == "endif" else 1
        if depth == 0:
            rest = text[match.end() :].partition("\n")[2]
            return len(text) if rest.strip() else match.start()
    return len(text)


def _opening(text: str) -> bool:
    found = _OPENING.match(text)
    return found is not None and found["set"] in (found["plain"], found["long"])


def _without_comments(text: str) -> str:
    """``text`` with comments as blanks, every offset and line kept."""
    return _COMMENT.sub(lambda match: match[0] if match[0][0] == '"' else re.sub(r"[^\n]", " ", match[0]), text)
