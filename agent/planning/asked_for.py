"""Whether a task asks for what is declared and not there yet, and for which of it. Words and names only; no model.

The rule, in this order (design section 9, facts first):

1. A task that wants something else besides (rename, refactor, remove, port, add a new thing) is not for facts alone.
2. A task that repairs (fix, bug, wrong, crash) is for facts only if it names an open point.
3. "Implement NAME" with a name that is no open point wants something new: not for facts.
4. With an implementing word (implement, complete, stub, missing functions, declared functions, make the tests pass) the
   open points of the files it names are asked for, or all of them if it names none. Files of tests do not narrow this.
5. If it does not speak of the whole ("the functions declared", "all", "stubs") and names open points, it is only those.
6. Without an implementing word, naming an open point in a repair is enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from agent.planning.schema import OpenPoint
from agent.workspace.protected import is_test_file

_OTHER_WORK = re.compile(
    r"\b(?:renam|refactor|remov|delet|migrat|deprecat|optimi[sz]|convert|replac)(?:e|es|ed|ing|)\b(?!\s*\()"
    r"|\bport\s+\w+\s+to\b"
    r"|\b(?:add|creat|introduc)(?:e|ing|)\s+(?:an?|another|new|support|some|unit|more|tests?|logging|docs?|documentation)\b"
    r"|\bnew\s+(?:function|method|class|file|option|flag|command|feature|module)s?\b",
    re.I,
)
REPAIR = re.compile(
    r"\b(?:fix(?:es|ing)?|bugs?|buggy|wrong(?:ly)?|incorrect(?:ly)?|off[- ]by[- ]one|crash(?:es|ing)?|leaks?|segfaults?|"
    r"regressions?|broken|misbehav\w+|debug)\b",
    re.I,
)
_IMPLEMENT = re.compile(
    r"\bimplement\w*|\bre-?implement\w*|\bstubs?\b|\bstubbed\b|\bunimplemented\b|\bplaceholders?\b|\bNotImplemented\w*"
    r"|\bnot\s+(?:yet\s+)?(?:implemented|written|defined)\b"
    r"|\b(?:complete|finish|write|define|fill\s+in|fill\s+out|code)\s+(?:up\s+)?(?:the|all|every|each|this|these|its)\b"
    r"|\bfill\s+(?:in|out)\b"
    r"|\bmissing\s+(?:functions?|methods?|bod(?:y|ies)|definitions?|implementations?|parts?|pieces)\b"
    r"|\bundefined\s+(?:functions?|references?|symbols?)\b"
    r"|\b(?:functions?|methods?|prototypes?|interface)\s+declared\b|\bdeclared\s+(?:functions?|methods?|in)\b"
    r"|\btests?\s+(?:\w+\s+)?pass\b|\bpass\s+(?:all\s+)?(?:the\s+)?tests?\b",
    re.I,
)
_WHOLE = re.compile(
    r"\b(?:all|every|each|everything|whole|rest|remaining)\b|\bstubs\b|\bmissing\s+\w+s\b|\bdeclared\s+in\b"
    r"|\bthe\s+(?:\w+\s+)?(?:functions|methods|bodies|stubs|prototypes|interface|library|module)\b|\btests?\s+(?:\w+\s+)?pass\b",
    re.I,
)
FILE_NAME = re.compile(r"[\w./+-]*\w\.(?:c|h|py|pyi)\b")
_OBJECT = re.compile(
    r"\bimplement(?:ing|s)?\s+(?:the\s+)?(?:functions?\s+|methods?\s+)?[`'\"]?([A-Za-z_][\w.]*)(\s*\()?", re.I
)
_OBJECTS = re.compile(
    r"\b(?:implement|complete|finish|write|define|fix)(?:ing|s|es)?\s+"
    r"(.*?)(?:[.;:\n]|\b(?:in|of|for|with|so|from|as|to|that)\b|$)",
    re.I,
)
_MARKED = re.compile(r"[`'\"]([A-Za-z_][\w.]*)(?:\(\))?[`'\"]|\b([A-Za-z_][\w.]*)\(|\b(?:struct|union)\s+(\w+)")
_NAME = re.compile(r"[A-Za-z_]\w*")


def asked_for(task: str, points: Sequence[OpenPoint]) -> tuple[OpenPoint, ...]:
    """The open points that the task asks to have written, in their order; empty when the rule says it is not for facts."""
    if not points or _OTHER_WORK.search(task):
        return ()
    named = named_points(task, points)
    implementing = bool(_IMPLEMENT.search(task))
    if REPAIR.search(task):
        return named
    if not implementing or _wants_something_new(task, points):
        return ()
    if named and not _WHOLE.search(task):
        return named
    files = [path for path in FILE_NAME.findall(task) if not is_test_file(path)]
    return tuple(p for p in points if not files or any(_lives_in(p, path) for path in files))


def named_points(task: str, points: Sequence[OpenPoint]) -> tuple[OpenPoint, ...]:
    """Open points named in the task. A name that could be an English word counts only where it must be meant: written as
    code, or a function right after the verb ("implement insert, lookup and size")."""
    prose = set(_NAME.findall(FILE_NAME.sub(" ", task)))
    marked = {_last(name) for found in _MARKED.findall(task) for name in found if name}
    objects = {name for found in _OBJECTS.findall(FILE_NAME.sub(" ", task)) for name in _NAME.findall(found)}
    whole = bool(_WHOLE.search(task))

    def meant(point: OpenPoint) -> bool:
        name = _last(point.name)
        if name in marked or (name in prose and looks_like_code(name)):
            return True
        return point.kind == "function" and name in objects and not whole

    return tuple(point for point in points if meant(point))


def looks_like_code(name: str) -> bool:
    """Whether a name cannot be an English word: it holds an underscore, a digit, or a capital behind its first letter."""
    return "_" in name.strip("_") or any(c.isdigit() or c.isupper() for c in name[1:])


def _wants_something_new(task: str, points: Sequence[OpenPoint]) -> bool:
    names = {_last(p.name) for p in points}
    for found in _OBJECT.finditer(task):
        name, call = _last(found[1]), found[2]
        if (call or looks_like_code(name)) and name not in names and not FILE_NAME.fullmatch(found[1]):
            return True
    return False


def _lives_in(point: OpenPoint, path: str) -> bool:
    """Whether ``path``, as a person writes it, names the point's file, its header, or the pair of either."""
    written = PurePosixPath(path)
    for own in (point.path, point.header):
        real = PurePosixPath(own)
        same = real.parts[-len(written.parts) :] == written.parts
        if own and (same or (real.stem == written.stem and {real.suffix, written.suffix} <= {".c", ".h"})):
            return True
    return False


def _last(name: str) -> str:
    return name.rstrip(".").rsplit(".", 1)[-1]
