"""Missing headers that a compiler has not got to yet: it stopped at the first error, or stumbled within a line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.c.declarations.declarators import KEYWORDS
from agent.c.files import INCLUDED_SUFFIXES
from agent.compiling.classifying.findings import NameFinding
from agent.compiling.classifying.names import NameFinder
from agent.compiling.classifying.scope import local_names
from agent.compiling.reading.symptoms import Symptom

_WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w{2,}")


def foreseen(
    finder: NameFinder, file: str, like: Symptom, lines: Iterable[int] | None = None, known: Iterable[str] = ()
) -> list[NameFinding]:
    """Findings for names in ``file`` that headers of the project or canonical ones declare and no active header brings.

    ``lines`` limits the search (None: the whole file); ``like`` is the complaint that led here; ``known`` are names that
    were looked for already. Only names whose use fits their kind count: functions that are called, types, and macros in
    capitals.
    """
    project = finder.project
    shape = project.shape(file)
    wanted = sorted(set(lines)) if lines is not None else range(1, shape.line_count + 1)
    dead = {d.line for d in shape.directives}
    found: dict[str, NameFinding] = {}
    seen = set(known)
    for number in wanted:
        if number in dead or shape.dead(number):
            continue
        text = shape.masked_line(number)
        for match in _WORD.finditer(text):
            name = match[0]
            if name in seen or name in KEYWORDS:
                continue
            called = text[match.end() :].lstrip().startswith("(")
            finding = _missing(finder, name, called, file, number, like, text[: match.start()])
            if finding and not _its_own(finder, name, file):
                found[name] = finding
                seen.add(name)
    return list(found.values())


def _its_own(finder: NameFinder, name: str, file: str) -> bool:
    """Whether the file declares the name itself, at file scope or as a local."""
    declared = finder.project.declared(file)
    if declared.has(name) or name in declared.tags:
        return True
    return not name.isupper() and name in local_names(finder.project.shape(file).masked)


def _missing(
    finder: NameFinder, name: str, called: bool, file: str, line: int, like: Symptom, before: str
) -> NameFinding | None:
    tagged = re.search(r"\b(?:struct|union|enum)\s+$", before)
    owners = _owners(finder, name, file, tag=bool(tagged))
    name = f"struct {name}" if tagged else name
    if owners:
        return _own_header(finder, name, owners, file, line, like)
    homes = [h for h in finder.table.homes(name) if h.group != "windows"]
    if finder.system is not None and not finder.facts.windows:
        homes = [h for h in homes if finder.system.exists(h.header)]
    if not homes or any(h.level in ("gnu", "xopen") for h in homes[:1]):
        return None
    kind = homes[0].kind
    if (kind == "function" and not called) or (kind == "macro" and not (name[:3].isupper() or called)):
        return None
    if kind == "variable":
        return None
    active = finder.project.active_headers(file, line)
    if any(h.header in active for h in homes):
        return None
    return NameFinding("include", name, like, file, line, tuple(h.header for h in homes), True)


def _owners(finder: NameFinder, name: str, file: str, *, tag: bool) -> list[str]:
    """Other files of the project that declare ``name`` themselves."""
    project = finder.project
    found = []
    for path in project.paths():
        if path != file and project.mentions(path, name):
            declared = project.declared(path)
            if name in (declared.tags if tag else declared.names()):
                found.append(path)
    return found


def _own_header(finder: NameFinder, name: str, owners: list[str], file: str, line: int, like: Symptom) -> NameFinding | None:
    """The project header that brings ``name``; None when it is active already, or only a source file has the name."""
    active = finder.project.active_headers(file, line)
    plain = name.removeprefix("struct ")
    headers = tuple(o for o in owners if o.endswith(INCLUDED_SUFFIXES) and not finder.project.only_dead(o, plain))
    if not headers or any(h in active for h in headers):
        return None
    if plain != name and any(finder.project.has(h) and plain in finder.project.declared(h).declared_tags for h in active):
        return None  # an opaque type, of which pointers are enough
    return NameFinding("include", name, like, file, line, headers, False)
