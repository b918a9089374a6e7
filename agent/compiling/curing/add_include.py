"""Putting an include into a file of the project: the one way in which a recovery does it."""

from __future__ import annotations

from collections.abc import Iterator

from agent.c.preprocessor.directives import FEATURE_MACROS, INCLUDES, Include
from agent.c.preprocessor.include_placement import Surroundings
from agent.c.preprocessor.includes import IncludeEdit, insert_include, places_in, spelled
from agent.c.project import ProjectFiles


def add_include_to_file(
    file_path: str,
    header: str,
    project: ProjectFiles,
    *,
    system: bool,
    before_line: int | None = None,
    place: int = 0,
) -> IncludeEdit:
    """Put an include of ``header`` into ``file_path`` so that it is live at ``before_line`` (1-based; None: the file's end).

    ``place`` is the index of one of :func:`places_for`. The file is changed in ``project`` and on disk, all or nothing, its
    mode, newlines and encoding kept; a header that is live there already changes nothing.

    Raises:
        ValueError: ``file_path`` is no file of the project.
        OSError: the file cannot be written; it is then as it was.
    """
    if not project.has(file_path):
        raise ValueError(f"{file_path} is not a file of the project, so no include can be added to it.")
    lines = places_for(project, file_path, system=system, before_line=before_line)
    source = project.source(file_path)
    line = lines[min(place, len(lines) - 1)]
    changed, line = insert_include(source, header, system, before_line, project.macros, line=line)
    if changed != source:
        project.write(file_path, changed)
    return IncludeEdit(line, spelled(header, system), changed != source)


def places_for(project: ProjectFiles, path: str, *, system: bool, before_line: int | None = None) -> list[int]:
    """The lines of ``path`` before which an include may go, best first; a header in brackets that is the project's own is no
    system header here."""

    def pragmas(include: Include) -> list[str]:
        return list(_pragmas(project, path, include, set()))

    def configures(include: Include) -> bool:
        found = project.included_file(path, include.name)
        return found is not None and bool(FEATURE_MACROS.intersection(project.shape(found).defined))

    around = Surroundings(pragmas, configures)
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
