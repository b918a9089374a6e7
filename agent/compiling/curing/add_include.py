"""Putting an include into a file of the project: the one way in which a recovery does it."""

from __future__ import annotations

from collections.abc import Iterator

from agent.c.preprocessor.directives import FEATURE_MACROS, INCLUDES, Include
from agent.c.preprocessor.include_placement import IncludeEffects
from agent.c.preprocessor.includes import IncludeEdit, insert_include, places_in, spelled
from agent.c.project import ProjectFiles
from agent.compiling.generated import GRAMMARS, prologue


def add_include_to_file(
    file_path: str,
    header: str,
    project: ProjectFiles,
    *,
    system: bool,
    before_line: int | None = None,
    place: int = 0,
    brackets: bool = False,
) -> IncludeEdit:
    """Put an include of ``header`` into ``file_path`` so that it is live at ``before_line`` (1-based; None: the file's end).

    ``place`` is the index of one of :func:`places_for`; ``brackets`` names a header of the project in brackets. The file is
    changed in ``project`` and on disk, all or nothing, its mode, newlines and encoding kept; a header that is live there
    already changes nothing.

    Raises:
        ValueError: ``file_path`` is not a file of the project.
        OSError: the file cannot be written; it is then as it was.
    """
    if not project.has(file_path):
        raise ValueError(f"{file_path} is not a file of the project, so no include can be added to it.")
    source = project.source(file_path)
    if file_path.endswith(GRAMMARS):
        changed, line = _into_prologue(source, header, system)
        if changed != source:
            project.write(file_path, changed)
        return IncludeEdit(line, spelled(header, system), changed != source)
    lines = places_for(project, file_path, system=system, before_line=before_line)
    line = lines[min(place, len(lines) - 1)]
    changed, line = insert_include(source, header, system, before_line, project.macros, line=line, brackets=brackets)
    if changed != source:
        project.write(file_path, changed)
    return IncludeEdit(line, spelled(header, system or brackets), changed != source)


def _into_prologue(source: bytes, header: str, system: bool) -> tuple[bytes, int]:
    """A grammar with the include in its C prologue, a prologue made where there is none; and the include's line."""
    lines = source.split(b"\n")
    inside = prologue([line.decode("latin-1") for line in lines])
    if inside is None:
        new = [b"%{", spelled(header, system).encode(), b"%}"]
        return b"\n".join([*new, *lines]), 2
    first, end = inside
    piece = b"".join(line + b"\n" for line in lines[first:end])
    changed, line = insert_include(piece, header, system)
    return b"\n".join([*lines[:first], *changed.split(b"\n")[:-1], *lines[end:]]), first + line


def places_for(project: ProjectFiles, path: str, *, system: bool, before_line: int | None = None) -> list[int]:
    """The lines of ``path`` before which an include may go, best first; a grammar has one place only, in its prologue."""
    if path.endswith(GRAMMARS):
        return [1]

    def pragmas(include: Include) -> list[str]:
        return list(_pragmas(project, path, include, set()))

    def configures(include: Include) -> bool:
        found = project.included_file(path, include.name)
        return found is not None and bool(FEATURE_MACROS.intersection(project.shape(found).defined))

    around = IncludeEffects(pragmas, configures)
    source = project.source(path)
    return places_in(source, system=system, before_line=before_line, macros=project.macros, surroundings=around)


def _pragmas(project: ProjectFiles, includer: str, include: Include, seen: set[str]) -> Iterator[str]:
    """The pragmas that an include brings, those of what it includes with them, in order."""
    found = project.included_file(includer, include.name)
    if found is None or found in seen:
        return
    seen.add(found)
    shape = project.shape(found)
    includes = {i.line: i for i in shape.includes}
    for d in shape.directives:
        if d.live is False:
            continue
        if d.keyword == "pragma":
            yield d.argument
        elif d.keyword in INCLUDES and d.line in includes:
            yield from _pragmas(project, found, includes[d.line], seen)
