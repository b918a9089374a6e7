"""What the project itself says about a name that a compiler does not know."""

from __future__ import annotations

import re

from agent.c.files import is_header
from agent.c.project import ProjectFiles
from agent.compiling.classifying.findings import FailedCompile, NameFinding, Sought
from agent.compiling.classifying.scope import close_name, close_tag


def in_own_file(at: FailedCompile, sought: Sought) -> NameFinding | None:
    """The file that uses the name declares it too: below its use, or as a tag."""
    plain, file, kind = sought.plain, sought.file, sought.symptom.kind
    if at.project.mentions_once(file, plain):
        return None
    own = at.project.declared(file)
    if sought.tag:
        return sought.found("order", f"`{sought.name}` is defined in {file}, below its use.") if plain in own.tags else None
    if kind == "syntax":
        return sought.found("unknown") if own.has(plain) else None
    if own.has(plain) and not _taken_back(at.project, sought):
        if (theirs := in_project_headers(at, sought)) and theirs.outcome == "include":
            return theirs  # defined below, and declared in the file's own header
        return sought.found(
            "order",
            f"`{plain}` is declared in {file} itself, below its first use (or in a part that is not compiled); "
            "declare it above.",
        )
    if kind == "unknown_type" and (plain in own.tags or plain in own.declared_tags) and not at.table.known(plain):
        return sought.found("tag_missing", f"`{plain}` is a tag: write `struct {plain}`.")
    return None


def _taken_back(project: ProjectFiles, sought: Sought) -> bool:
    """Whether the name is a macro of the file that an ``#undef`` takes back above its use."""
    told = [
        d.keyword
        for d in project.shape(sought.file).directives
        if d.keyword in ("define", "undef")
        and d.line < sought.line
        and d.argument.partition("(")[0].split()[:1] == [sought.plain]
    ]
    return told[-1:] == ["undef"]


def in_project_headers(at: FailedCompile, sought: Sought) -> NameFinding | None:
    """Headers of the project declare it: they are to be included, or are and hide it."""
    plain, file, kind = sought.plain, sought.file, sought.symptom.kind
    homes, tag_homes = _homes(at, sought)
    if not homes:
        if tag_homes and not at.table.known(plain):
            return sought.found("tag_missing", f"`{plain}` is a tag ({tag_homes[0]}): write `struct {plain}`.")
        return None
    active = at.project.active_headers(file, sought.line)
    if live := [h for h in homes if h in active]:
        detail = (
            f"{live[0]} is included already and mentions `{plain}`: it stays hidden by a condition, by a guard that clashes "
            "with another header's, or by headers that include each other."
        )
        return sought.found("active", detail, (live[0],), system=False)
    usable = [h for h in _to_include(at, homes) if h not in at.disproven and file not in at.project.active_headers(h)]
    usable = usable or homes
    if kind == "syntax" and not any(
        plain in declared.macros or plain in declared.types for declared in map(at.project.declared, usable)
    ):
        return None
    folder = _folder(file)
    usable.sort(key=lambda h: (not h.endswith((".h", ".hh")), _folder(h) != folder, h.count("/"), len(h)))
    around = [h for h in umbrellas(at.project, usable[0]) if h not in usable and h not in at.disproven and h != file]
    return sought.found("include", headers=(*usable, *around), system=False)


_PRIVATE = re.compile(r'IWYU\s+pragma:\s*private(?:\s*,\s*include\s*[<"]([^>"]+)[>"])?')
"""A header that says which one to include instead (include-what-you-use, "IWYU pragmas")."""


def _to_include(at: FailedCompile, homes: list[str]) -> list[str]:
    """The headers to include for what ``homes`` declare: one that refuses to be included by itself, or says that it is
    private, is reached through the header that includes it."""
    found: dict[str, None] = {}
    for home in homes:
        text = at.project.shape(home).text
        private = _PRIVATE.search(text) if "IWYU" in text else None
        if private is None and not _refuses(at.project, home):
            found.setdefault(home)
            continue
        named = at.project.included_file(home, private[1]) if private and private[1] else None
        for header in [named] if named else umbrellas(at.project, home) or [home]:
            found.setdefault(header)
    return list(found)


_POINTS_ELSEWHERE = re.compile(
    r"pragma\s+(?:GCC\s+)?message\b.*(?:\b(?:direct(?:ly)?|instead|private|internal)\b|\.h\b)", re.IGNORECASE
)
"""A ``#pragma message`` that is about which header to include."""


def _refuses(project: ProjectFiles, header: str) -> bool:
    """Whether an ``#error``, a ``#warning`` or a message about another header is met when one is included by itself."""
    shape = project.shape(header)
    live = [d for d in shape.directives if d.live is True]
    return any(d.keyword in ("error", "warning") for d in live) or any(
        d.keyword == "pragma" and _POINTS_ELSEWHERE.search(shape.line_text(d.line)) for d in live
    )


def umbrellas(project: ProjectFiles, header: str) -> list[str]:
    """The headers of the project that include ``header`` and do not refuse to be included, nearest first. One that refuses
    too is reached through those that include it."""
    found: list[str] = []
    seen, inner = {header}, [header]
    while inner and not found:
        outer = [h for h in _including(project, inner) if h not in seen]
        seen.update(outer)
        found = [h for h in outer if not _refuses(project, h)]
        inner = outer
    return sorted(found, key=lambda h: (_folder(h) != _folder(header), h.count("/"), len(h)))


def _including(project: ProjectFiles, headers: list[str]) -> list[str]:
    """The headers of the project that include one of ``headers``."""
    stems = [header.rpartition("/")[2].split(".")[0] for header in headers]
    return [
        other
        for other in project.headers()
        if any(project.mentions(other, stem) for stem in stems)
        and any(i.live and project.included_file(other, i.name) in headers for i in project.shape(other).includes)
    ]


def _homes(at: FailedCompile, sought: Sought) -> tuple[list[str], list[str]]:
    """Other headers of the project that declare the name, and those that declare it only as a tag."""
    plain = sought.plain
    homes, tag_homes = [], []
    for header in at.project.headers():
        if header == sought.file or not at.project.mentions(header, plain):
            continue
        declared = at.project.declared(header)
        if plain in declared.tags if sought.tag else declared.has(plain):
            if not _for_other_systems(at, header, sought):
                homes.append(header)
        elif not sought.tag and sought.symptom.kind == "unknown_type" and plain in declared.tags:
            tag_homes.append(header)
    return homes or ([] if tag_homes else _at_second_look(at, sought)), tag_homes


def _at_second_look(at: FailedCompile, sought: Sought) -> list[str]:
    """Headers whose syntax tree declares a name that no header seems to: macros hide some from the quick scan."""
    if sought.symptom.kind == "syntax":
        return []
    return [
        header
        for header in at.project.headers()
        if header != sought.file
        and at.project.mentions(header, sought.plain)
        and sought.name in at.project.at_second_look(header)
        and not at.project.only_dead(header, sought.plain)
    ]


def _for_other_systems(at: FailedCompile, header: str, sought: Sought) -> bool:
    """Whether a header declares a library's name only for systems that lack it, and does not bring the library's header."""
    library = at.table.homes(sought.name)
    if not library or not at.project.only_dead(header, sought.plain):
        return False
    brought = at.project.active_headers(header)
    return not any(h.header in brought for h in library)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def elsewhere(at: FailedCompile, sought: Sought) -> NameFinding:
    """No header declares it: a source file that defines it, a name in scope that is close, or nothing."""
    symptom, plain = sought.symptom, sought.plain
    if (instead := at.table.vanished(sought.name)) and not _source_defines(at, sought):
        spelled = re.search(rf"\b(?:struct|union|enum) {plain}\b", symptom.diagnostic.source_line) if sought.tag else None
        name = spelled[0] if spelled else sought.name
        detail = f"`{name}` is no longer declared by the C library: use {instead} instead."
        return sought.found("vanished", detail)
    if sought.tag:
        return _tag_elsewhere(at, sought)
    if symptom.kind == "unknown_type" and at.table.known(f"struct {plain}"):
        return sought.found("tag_missing", f"`{plain}` is a tag: write `struct {plain}`.")
    if symptom.kind == "syntax":
        return sought.found("unknown")
    for path in at.project.paths():
        if path != sought.file and not is_header(path) and at.project.mentions(path, plain):
            declared = at.project.declared(path)
            if declared.defines(plain) or plain in declared.types or plain in declared.macros:
                detail = f"`{plain}` is defined in {path}, but no header declares it: add a declaration to one."
                return sought.found("source_only", detail)
    if symptom.kind == "implicit" and (headers := _wrapped_in_macros(at, sought)):
        return sought.found("include", headers=headers, system=False)
    message = symptom.diagnostic.message
    close = close_name(at.project, at.table, sought.file, plain, message, function=symptom.kind == "implicit")
    if close:
        return sought.found(
            "misspelt", f"No header declares `{plain}`; `{close}` is in scope and close: a misspelling."
        )
    return sought.found("unknown")


def _source_defines(at: FailedCompile, sought: Sought) -> bool:
    """Whether some file of the project has the name after all."""
    declared = (at.project.declared(p) for p in at.project.paths() if at.project.mentions(p, sought.plain))
    return any(sought.plain in (one.tags if sought.tag else one.names()) for one in declared)


def _wrapped_in_macros(at: FailedCompile, sought: Sought) -> tuple[str, ...]:
    """Headers that are not included and seem to declare a function within a macro: ``EXPORT(int f(void)) {``."""
    pattern = re.compile(rf"^[A-Za-z_][^#;={{}}\n]*[\w*,()][ *]*\b{re.escape(sought.plain)}[ \t]*\(", re.MULTILINE)
    active = at.project.active_headers(sought.file, sought.line)
    return tuple(
        h for h in at.project.headers()
        if h not in active and at.project.mentions(h, sought.plain) and pattern.search(at.project.shape(h).masked)
    )  # fmt: skip


def _tag_elsewhere(at: FailedCompile, sought: Sought) -> NameFinding:
    plain = sought.plain
    for path in at.project.paths():
        if path != sought.file and at.project.mentions(path, plain) and plain in at.project.declared(path).tags:
            return sought.found("opaque", f"`{sought.name}` is defined only inside {path}: its members are private there.")
    if close := close_tag(at.project, sought.file, plain):
        detail = f"`{sought.name}` is defined nowhere; `struct {close}` is close: a misspelling."
        return sought.found("misspelt", detail)
    return sought.found("undefined", f"`{sought.name}` is declared but defined nowhere in the project.")
