"""What the headers of the C library and of the system say about a name that a compiler does not know."""

from __future__ import annotations

import re

from agent.c.headers import Home
from agent.c.preprocessor.directives import FEATURE_MACROS
from agent.c.project import ProjectFiles
from agent.c.words import around, holds_word, is_called
from agent.compiling.classifying.findings import FailedCompile, NameFinding, Sought
from agent.compiling.reading.symptoms import Symptom

_PRINTED = re.compile(r"\w*(?:printf|scanf)\s*\([^()]*$")
_NUMBER = re.compile(r"\b(?:int|long|short|double|float|char|size_t)\b")
_LIKE_A_CONSTANT = re.compile(r"[A-Z]|_t$")


def in_library(at: FailedCompile, sought: Sought) -> NameFinding | None:
    """Headers outside the project declare it: they are to be included, or are and hide it."""
    homes = _homes(at, sought)
    if not homes:
        return None
    hinted = any(h.header in sought.symptom.diagnostic.includes for h in homes)
    if finding := _wrong_use(at, sought, homes, hinted):
        return finding
    primary = homes[0]
    if sought.symptom.kind == "syntax" and not hinted:
        active = at.project.active_headers(sought.file, sought.line)
        if any(h.header in active for h in homes):
            return None
    hidden = bool(primary.level) and primary.hidden(
        strict=at.facts.strict, defined=_feature_macros(at, sought.file)
    )
    if primary.header in at.project.active_headers(sought.file, sought.line):
        return _although_included(at, sought, primary, hidden)
    if hidden:
        return _hidden(at, sought, primary, included=False)
    headers = tuple(h.header for h in homes if h.header not in at.disproven)
    return sought.found("include", headers=headers, hinted=hinted) if headers else None


def _although_included(at: FailedCompile, sought: Sought, primary: Home, hidden: bool) -> NameFinding | None:
    """Why a name is not known although its header is included; None for one that libraries have dropped."""
    if at.table.vanished(sought.name):
        return None
    header = primary.header
    if _shadowed(at, header, sought.file):
        detail = f"A project file named {header} is found instead of the system's <{header}>."
        return sought.found("active", detail, (header,))
    if sought.symptom.kind == "syntax":
        return None
    if hidden or primary.level:
        return _hidden(at, sought, primary, included=True)
    detail = (
        f"<{header}> is included already and still `{sought.plain}` is not declared: this platform's header lacks it or "
        "another file of that name is found first."
    )
    return sought.found("active", detail, (header,))


def _homes(at: FailedCompile, sought: Sought) -> list[Home]:
    symptom = sought.symptom
    homes = list(at.table.homes(sought.name) or (at.table.microsoft(sought.name) if at.facts.windows else ()))
    system = None if at.facts.windows else at.system
    if not homes and system is not None and _worth_asking(sought):
        homes = [h for h in system.homes(sought.name) if not at.table.never(h.header)]
    for hint in symptom.diagnostic.includes:
        proper = at.table.proper(hint)
        known = any(h.header == proper for h in homes)
        if not known and not at.table.never(proper) and hinted_at(symptom, sought.plain):
            homes.append(Home(proper, "function", "", at.table.headers.get(proper, "gnu"), len(homes)))
    if not at.facts.windows:
        homes = [h for h in homes if h.group != "windows"]
    if system is not None:
        homes = [h for h in homes if system.exists(h.header)]
    return homes


def _worth_asking(sought: Sought) -> bool:
    """Whether all installed headers are to be searched for a name: not for what is most likely a forgotten variable."""
    kind = sought.symptom.kind
    return kind in ("implicit", "unknown_type") or sought.tag or bool(_LIKE_A_CONSTANT.search(sought.name))


def hinted_at(symptom: Symptom, plain: str) -> bool:
    """Whether the compiler's include hint speaks of the name ``plain``."""
    if symptom.names and symptom.names[0].removeprefix("struct ") == plain:
        return True
    return any(holds_word(note, plain) for note in symptom.diagnostic.notes)


def _wrong_use(at: FailedCompile, sought: Sought, homes: list[Home], hinted: bool) -> NameFinding | None:
    """A name that a header declares, used as what it is not: a forgotten local called ``time``, say."""
    kinds = {h.kind for h in homes}
    symptom, plain = sought.symptom, sought.plain
    if symptom.kind == "unknown_type" and not sought.tag and kinds <= {"function", "variable"}:
        return sought.found("value", f"`{plain}` is used as a type, but headers declare a function of that name.")
    if symptom.kind == "implicit" and kinds <= {"type", "variable"} and not hinted:
        return sought.found("value", f"`{plain}` is called, but headers declare no function of that name.")
    if symptom.kind not in ("undeclared", "implicit") or not kinds <= {"function"}:
        return None
    line = symptom.diagnostic.source_line
    if symptom.kind == "implicit" and (not line or is_called(line, plain)):
        return None
    if not _used_as_value(line or at.project.shape(sought.file).line_text(symptom.diagnostic.line), plain):
        return None
    detail = f"`{plain}` is used like a variable, but headers declare a function of that name: a local was meant."
    return sought.found("value", detail)


def _used_as_value(text: str, name: str) -> bool:
    """Whether the name stands in arithmetic, an assignment or a subscript rather than as a function or a callback."""
    sides = around(text, name)
    if sides is None or text.lstrip().startswith("#"):
        return False  # the body of a macro does not show its use
    before, after = sides
    if after.startswith("("):
        return False
    if _PRINTED.search(before):
        return True
    if before in ("", "{") and after[:1] in (",", "}"):
        return False  # an element of a list
    callback = before.endswith(("(", ",", "=", "&")) and not before.endswith("==") and after[:1] in (",", ")", ";")
    number = before.endswith("=") and bool(_NUMBER.search(before))
    return not callback or number


def _feature_macros(at: FailedCompile, file: str) -> set[str]:
    """Feature-test macros in force for ``file``: by -D, or defined above the first system header of it or of the target, in
    the file itself or in headers of the project that it or the command line includes there."""
    found = set(at.facts.defined & FEATURE_MACROS)
    forced = {path for named in at.facts.forced if (path := at.project.resolve(named))}
    for path in {file, at.target, *forced}:
        found |= _defined_first(at.project, path, set())[0]
    return found


def _defined_first(project: ProjectFiles, path: str, seen: set[str]) -> tuple[set[str], bool]:
    """The feature-test macros that ``path`` defines before a system header is read, and whether one is read."""
    shape = project.shape(path)
    if path in seen or not (shape.defined or shape.includes):
        return set(), False
    seen.add(path)
    found: set[str] = set()
    done = 0
    for include in (i for i in shape.includes if i.live):
        found |= {m for m, line in shape.defined.items() if m in FEATURE_MACROS and done < line < include.line}
        done = include.line
        inner = project.included_file(path, include.name)
        if inner is None:
            return found, True
        brought, ended = _defined_first(project, inner, seen)
        found |= brought
        if ended:
            return found, True
    return found | {m for m, line in shape.defined.items() if m in FEATURE_MACROS and line > done}, False


def _shadowed(at: FailedCompile, header: str, file: str) -> bool:
    found = at.project.included_file(file, header)
    return found is not None and any(i.name == header for i in at.project.shape(file).includes)


def _hidden(at: FailedCompile, sought: Sought, home: Home, *, included: bool) -> NameFinding:
    if shown := _shown_by_project(at, sought, home):
        return shown
    plain, macro, strict = sought.plain, home.feature_macro, at.facts.strict
    have = f"<{home.header}> is included already, but" if included else f"`{plain}` comes from <{home.header}>, which"
    hides = "the strict -std hides it" if strict else "it is hidden by default"
    detail = f"{have} declares `{plain}` only with a feature-test macro: {hides}. "
    detail += f"Compile with -D{macro} (or define it above the first include)"
    if strict and home.level not in ("gnu", "xopen"):
        detail += ", or use -std=gnu17 instead of the strict standard"
    if not included:
        detail += f"; {home.header} must be included too"
    return sought.found("hidden", f"{detail}.", (home.header,), flag=f"-D{macro}")


def _shown_by_project(at: FailedCompile, sought: Sought, home: Home) -> NameFinding | None:
    """A header of the project that defines the feature-test macro and is not included: it belongs above all others."""
    project = at.project
    macros = _feature_macros(at, sought.file)
    active = project.active_headers(sought.file)
    for header in project.headers():
        if header in active or header in at.disproven or b"_SOURCE" not in project.source(header):
            continue
        defined = FEATURE_MACROS.intersection(project.shape(header).defined)
        if defined and not home.hidden(strict=at.facts.strict, defined=macros | defined):
            first = min((i.line for i in project.shape(sought.file).includes if i.live), default=sought.line)
            return sought._replace(line=first).found("include", headers=(header,), system=False)
    return None
