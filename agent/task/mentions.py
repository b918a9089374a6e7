"""The names in a task's text: files, code, functions to write. Words only: whether a name exists is not checked here."""

from __future__ import annotations

import re
from collections.abc import Iterator

FILE_NAME = re.compile(r"[\w./+-]*\w\.(?:c|h|py|pyi)\b")
_CODE = re.compile(r"[`'\"]([A-Za-z_][\w.]*)(?:\(\))?[`'\"]|\b([A-Za-z_][\w.]*)\(|\b(?:struct|union)\s+(\w+)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_IMPLEMENTED = re.compile(
    r"\bimplement(?:ing|s)?\s+(?:the\s+)?(?:functions?\s+|methods?\s+)?[`'\"]?([A-Za-z_][\w.]*)(\s*\()?", re.I
)
_OBJECTS = re.compile(
    r"\b(?:implement|complete|finish|write|define|fix)(?:ing|s|es)?\s+"
    r"(.*?)(?:[.;:\n]|\b(?:in|of|for|with|so|from|as|to|that)\b|$)",
    re.I,
)

_NAMED = r"[`'\"]?(?P<{0}>[A-Za-z_]\w*(?:\.\w+)?)[`'\"]?(?P<{0}_call>\s?\([^()]*(?:\([^()]*\)[^()]*)*\))?"
_KIND = r"(?:functions?|methods?|helpers?|routines?|procedures?|propert(?:y|ies))"
_ADD = r"\b(?:add|creat|introduc|provid|writ|implement|defin|expos|need)(?:e|es|ing|s)?\b"
_PROSE = r"(?!(?:that|which|who|to|in|into|for|of|with|from|and|or|is|on|by|as|at|it|so|when|where|returning|taking)\b)"
_FIRST = re.compile(
    rf"{_ADD}[^.;:\n]{{0,40}}?\b{_KIND}\s+(?P<called>called\s+|named\s+)?{_PROSE}{_NAMED.format('a')}"
    rf"|{_ADD}\s+(?:(?:an?|the|new|another|static|public)\s+)*{_NAMED.format('b')}\s+{_KIND}\b"
    rf"|{_ADD}\s+(?:(?:an?|the|new|another)\s+)*[`'\"]?(?:[\w*]+\s+\**)+(?P<d>[A-Za-z_]\w*)(?P<d_call>\s?\()"
    rf"|{_ADD}\s+(?:(?:an?|the|new|another)\s+)*{_NAMED.format('e')}",
    re.I,
)
_NEXT = re.compile(rf"\s*(?:,\s*(?:and\s+)?|\s+and\s+)(?:an?\s+|the\s+)?{_NAMED.format('n')}", re.I)


def looks_like_code(name: str) -> bool:
    """Whether a name cannot be an English word: it holds an underscore, a digit, or a capital after its first letter."""
    return "_" in name.strip("_") or any(c.isdigit() or c.isupper() for c in name[1:])


def last_part(name: str) -> str:
    """The name without its class or module."""
    return name.rstrip(".").rsplit(".", 1)[-1]


def without_files(task: str) -> str:
    """The text with blanks for file names, of the same length: ``ring.h`` does not name a symbol ``ring``."""
    return FILE_NAME.sub(lambda found: " " * len(found.group()), task)


def words_in(task: str) -> set[str]:
    """Every word that could be a name."""
    return set(_NAME.findall(without_files(task)))


def code_names(task: str) -> set[str]:
    """Names written as code: in quotes, with parentheses, behind ``struct``."""
    return {last_part(name) for found in _CODE.findall(task) for name in found if name}


def object_names(task: str) -> set[str]:
    """Words right behind a verb that asks for code ("implement insert, lookup and size")."""
    return {name for found in _OBJECTS.findall(without_files(task)) for name in _NAME.findall(found)}


def implemented_names(task: str) -> Iterator[str]:
    """Names of functions to implement, as written: code after the word ``implement``."""
    for found in _IMPLEMENTED.finditer(task):
        name = last_part(found[1])
        if (found[2] or looks_like_code(name)) and not FILE_NAME.fullmatch(found[1]):
            yield found[1]


def added_names(task: str) -> Iterator[list[tuple[str, bool]]]:
    """The runs of names that the task asks to have added: for each name whether it is certainly a name (written as code,
    with parentheses, or after "called")."""
    text = without_files(task)
    for match in _FIRST.finditer(text):
        part = next(one for one in "abde" if match[one] is not None)
        run = [(match[part], bool(match[f"{part}_call"] or match["called"] or _quoted(text, match.start(part))))]
        position = match.end()
        while more := _NEXT.match(text, position):
            run.append((more["n"], bool(more["n_call"] or _quoted(text, more.start("n")))))
            position = more.end()
        yield run


def _quoted(text: str, start: int) -> bool:
    return start > 0 and text[start - 1] in "`'\""
