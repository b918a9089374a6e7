"""Whether a compiler gave up, or a log was cut, before the end of the file: what comes after was never looked at."""

from __future__ import annotations

import re
from collections.abc import Collection

from agent.compiling.reading.diagnostics import HEAD
from agent.log_text import holds_any

_GAVE_UP = (
    "too many errors", "stopping now", "compilation terminated due to", "compilation aborted due to", "-fmax-errors=",
    "-ferror-limit=", "fatal-errors",
)  # fmt: skip
_CUT_MARKS = ("...", "…", "truncated", "omitted")
_LEFT_OUT = re.compile(
    r"^\W*(?:(?:\d+ )?(?:lines |output |characters )?(?:truncated|omitted|skipped|snip(?:ped)?)\b[^:]*|…|\.\.\.\W*)$",
    re.MULTILINE | re.IGNORECASE,
)
_LEAVING_OUT = ("...", "…", "trunc", "Trunc", "TRUNC", "omitted", "skipped", "snip")
_NUMBERED = re.compile(r"^\s*\d+ \|")
_CARET = re.compile(r"\|\s*[~^]")


_FRAGMENT = re.compile(r"\s*(?:\d+ \||\||[~^]+\s*$)|\S.*\[-W[\w=-]+\]$")


_LOOKS_LOCATED = re.compile(
    r"\.(?<=[\w/\\.+-]\.)(?:c|h|y|l|cc|hh|cpp|hpp|C|H|inc)\b[\"']?\s*(?:[:(,]|, line )\s*(?P<line>\d+)\b"
    r"[^\n]{0,40}?\b(?i:errors?|undefined|undeclared|fatal|fehler|erreur)\b"
)


def unread_lines(text: str, lines: Collection[int]) -> int:
    """How many lines of a log look like a located error and are none of the source ``lines`` that were understood."""
    return len({int(m["line"]) for m in _LOOKS_LOCATED.finditer(text)} - set(lines))


def cut_before(text: str) -> bool:
    """Whether the beginning of a log is missing: it starts with a source line, a caret, or the rest of a message."""
    first = text.lstrip("\n").partition("\n")[0]
    if HEAD.match(first):
        return False
    return bool(_FRAGMENT.match(first)) or first.count("‘") != first.count("’") or first.count("'") % 2 == 1


def cut_within(text: str) -> bool:
    """Whether somebody left out a part in the middle and said so."""
    return holds_any(text, _LEAVING_OUT) and bool(_LEFT_OUT.search(text))


def gave_up(text: str) -> bool:
    """Whether the compiler says that it stopped at its limit of errors."""
    return holds_any(text[-400:], _GAVE_UP)


def cut_off(text: str) -> bool:
    """Whether the end of a log is missing: it ends within a line, or below a source line whose caret is not there."""
    if not text:
        return False
    end = text[-1000:].rstrip("\r\n")
    last = end[end.rfind("\n") + 1 :]
    if last.rstrip("]). \t").lower().endswith(_CUT_MARKS) or last.endswith("..."):
        return True
    if _NUMBERED.match(last):
        return True
    if text.endswith("\n"):
        return False
    lines = end.rsplit("\n", 12)
    if last.lstrip().startswith("|") and len(lines) > 1 and _NUMBERED.match(lines[-2]):
        return not _CARET.match(last.lstrip())
    quoted = any(_NUMBERED.match(line) for line in lines[:-1])
    return quoted and bool(HEAD.match(last))
