"""The part of a long output that decides."""

from __future__ import annotations

import re

from agent.compiling.reading.diagnostics import HEAD, SEVERITY_WORD, TOOL, is_noise, severity_of
from agent.compiling.reading.wording import LINK_MULTIPLE, LINK_UNDEFINED, SEVERITIES
from agent.log_text import without_escapes

_DECISIVE = re.compile(
    r"(?i)\b(?:fatal error|error|undefined reference|undefined symbol|multiple definition|conflicting types)\b|"
    r"Fehler|erreur|エラー|ошибка|错误|error:"
)


def decisive_excerpt(text: str, limit: int = 500) -> str:
    """At most ``limit`` characters of ``text`` centred on the line that decides: the first error, else the first warning.

    Escape codes are gone, cuts fall on line ends where that loses little.
    """
    text = without_escapes(text).strip("\n")
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    place = _decisive_line(lines)
    chosen, used = [lines[place][:limit]], min(len(lines[place]), limit)
    before, after = place - 1, place + 1
    while before >= 0 or after < len(lines):
        grown = False
        if after < len(lines) and used + len(lines[after]) + 1 <= limit:
            chosen.append(lines[after])
            used += len(lines[after]) + 1
            after += 1
            grown = True
        else:
            after = len(lines)
        if before >= 0 and used + len(lines[before]) + 1 <= limit:
            chosen.insert(0, lines[before])
            used += len(lines[before]) + 1
            before -= 1
            grown = True
        elif before >= 0:
            before = -1
        if not grown:
            break
    return "\n".join(chosen)


def _decisive_line(lines: list[str]) -> int:
    warning = None
    for place, line in enumerate(lines):
        if is_noise(line) or line[:1] in (" ", "\t"):
            continue
        match = HEAD.match(line) or TOOL.match(line)
        severity = severity_of(match["rest"])[0] if match and match["rest"].strip() else ""
        if severity in ("error", "fatal"):
            known = SEVERITY_WORD.match(match["rest"]) if match else None
            if (
                (known and known["word"].strip().lower() in SEVERITIES)
                or LINK_UNDEFINED.search(line)
                or LINK_MULTIPLE.search(line)
            ):
                return place
        if severity == "warning" and warning is None:
            warning = place
    for place, line in enumerate(lines):
        if _DECISIVE.search(line) and not is_noise(line) and line[:1] not in (" ", "\t"):
            return place
    return warning or 0
