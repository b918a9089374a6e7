"""Lines of a build log as the compiler printed them: without what runners, terminals and mail put in front or break up."""

from __future__ import annotations

import re

_STAMP = (
    r"(?:\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?|#\d+ \d+\.\d+|\[\d+[\d.:, TZ+-]*\]|\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|cargo:warning=|warning: [\w-]+@[\d.]+:|npm ERR!)"
)
"""What a runner of builds puts in front of each line and may change from line to line: a time, a step, a package."""
_STAMPED = re.compile(rf"\n*{_STAMP}([ \t]*)(?=\S)")
_SAME = re.compile(r"\n*((?:[ \t]+|(?:[>│|]|[\w./-]+ *\||\[[\w./ -]+\]|[\w.-]+>) ?)+)(?=\S)")
"""What may stand in front of all lines alike: blanks, a mark of quotation, a service's name."""
_INDENTED = re.compile(
    r"^\s+(?:[\w./\\+-]+\.\w+:\d+(?::\d+)?: (?:fatal |internal compiler )?(?:error|warning|note)\b"
    r"|\S*(?:ld|collect2|clang|gcc|cc)(?:-[\d.]+)?: |\S+:\([^)]+\): )"
)
_WRAPPED = re.compile(r"(?<=[ \[])\n {3}(?=[^\s^~|+])")
"""How gcc breaks a message that is longer than ``-fmessage-length``: behind a blank or a bracket, three blanks in."""


_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\n])", re.MULTILINE)
"""What a terminal does not show, for the rest of the line was written over it."""
_ORDINARY = re.compile(r"[^\s:|>\[@=!]+:(?!warning=)(?!\d\d:\d\d[.,\s])(?=[\s\d])(?! [\w-]+@\d)")
"""How output begins that nothing was put in front of: a file or a tool, and a colon."""


def plain_text(text: str) -> str:
    """A log without carriage returns, time stamps, quotation marks and the compiler's own line breaks."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text:
            text = text.replace("\r", "\n")
        if "\r" in text:
            text = _OVERWRITTEN.sub("", text)
    if not _ORDINARY.match(text):
        text = _unprefixed(text)
    if " \n   " in text or "[\n   " in text:
        text = _WRAPPED.sub("", text)
    return text


def _unprefixed(text: str) -> str:
    """``text`` without what stands in front of every line."""
    if stamped := _STAMPED.match(text):
        return re.sub(rf"^{_STAMP}[ \t]{{0,{len(stamped[1])}}}", "", text, flags=re.MULTILINE)
    if same := _SAME.match(text):
        lines = text.split("\n")
        mark = same[1].strip()
        filled = [line for line in lines if line.strip() and line.strip() != mark]
        front = _shared_start(filled)[: len(same[1])] if len(filled) > 1 else ""
        if front:
            return "\n".join(line.removeprefix(front) for line in lines)
    return text


def _shared_start(lines: list[str]) -> str:
    """The characters that all lines begin with."""
    low, high = min(lines), max(lines)
    return low[: next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))]


_PLACED = re.compile(
    r"\.(?:c|h|cc|hh|cpp|hpp|cxx|y|l|inc|def)(?:(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)): ?(?:fatal error|error|warning)\b"
    r"|:\([.*][^)\n]*\): )"
)
_PATH_END = re.compile(r"(?:[A-Za-z]:[\\/])?(?:[\w./\\][\w./\\+-]*)?$")
_INCLUSION = re.compile(r"^(?:In file included|\s+from |\S*ld\S*: )")
_MAX_PREFIXES = 6


def without_prefixes(text: str) -> str:
    """``text`` without what stands in front of located messages, also where it stands on some lines only (yocto, compose,
    nix, spack): it is read off the messages, then taken from every line that begins so, whatever its numbers are."""
    prefixes = dict.fromkeys(filter(None, (_before_path(text, m.start()) for m in _PLACED.finditer(text))))
    kinds = dict.fromkeys(_as_pattern(p) for p in prefixes if not _INCLUSION.match(p))
    for kind in list(kinds)[:_MAX_PREFIXES]:
        text = re.sub(rf"^{kind}", "", text, flags=re.MULTILINE)
    return text


def _before_path(text: str, end: int) -> str:
    """What stands in front of the path that ends at ``end``, from the beginning of its line."""
    line = text[text.rfind("\n", 0, end) + 1 : end]
    path = _PATH_END.search(line)
    return line[: path.start()] if path else line


def _as_pattern(prefix: str) -> str:
    """A pattern for a prefix: any number for a number, any blanks and quotation marks for such."""
    parts = re.findall(r"\d+|[ \t>]+|[^\d \t>]+", prefix)
    return "".join(r"\d+" if p[0].isdigit() else r"[ \t>]+" if p[0] in " \t>" else re.escape(p) for p in parts)


def is_indented_message(line: str) -> bool:
    """Whether a line that begins with a blank is a message all the same (a wheel's build, a test of cmake)."""
    return ": " in line and bool(_INDENTED.match(line))
