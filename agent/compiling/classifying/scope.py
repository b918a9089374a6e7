"""Names in scope at a place: what a misspelt one may have meant."""

from __future__ import annotations

import difflib
import re

from agent.c.declarations.declarators import KEYWORDS
from agent.c.headers import HeaderTable
from agent.c.project import ProjectFiles

_LOCAL = re.compile(
    r"(?<=[\w*])(?<!\breturn)(?<!\bcase)(?<!\belse)(?<!\bgoto)\s+\**([A-Za-z_]\w*)\s*(?:[=;,\[)])"
)
_SUGGESTED = re.compile(r"did you mean ['‘`](\w+)['’]")
_SHORTEST = 5
"""Letters of the shortest library name that one slip is looked for in, its header included or not."""


def local_names(masked: str) -> set[str]:
    """Names that look declared inside functions: a word before ``=``, ``;``, ``,``, ``)`` or ``[`` with a word before it."""
    return set(_LOCAL.findall(masked))


def names_in_scope(project: ProjectFiles, table: HeaderTable, file: str, *, functions_only: bool) -> set[str]:
    """What ``file`` can name: its own declarations and locals, those of live project headers and of live system headers."""
    names: set[str] = set()
    active = project.active_headers(file)
    for path in [file, *(h for h in active if project.has(h))]:
        declared = project.declared(path)
        names |= (declared.functions.keys() | declared.macros) if functions_only else declared.names()
    for header in active:
        names |= {n for n in table.names_of.get(header, ()) if not n.startswith("struct ")}
    return names if functions_only else names | local_names(project.shape(file).masked)


def close_name(
    project: ProjectFiles, table: HeaderTable, file: str, name: str, message: str, *, function: bool
) -> str | None:
    """The name that ``name`` is probably a misspelling of, None when nothing in scope is close.

    A compiler's "did you mean" counts only when that name is in scope: it also offers fread for a missing read.
    """
    if len(name) < 3:
        return None
    scope = names_in_scope(project, table, file, functions_only=function)
    scope.discard(name)
    suggested = _SUGGESTED.search(message)
    if suggested and (suggested[1] in scope or suggested[1] in KEYWORDS):
        return suggested[1]
    same = {s.lower(): s for s in scope}
    if name.lower() in same:
        return same[name.lower()]
    near = [s for s in scope if abs(len(s) - len(name)) <= 3]
    close = difflib.get_close_matches(name, near, 1, 0.75 if len(name) > 5 else 0.8)
    return close[0] if close else table.one_slip_away(name) if function and len(name) >= _SHORTEST else None


def close_tag(project: ProjectFiles, file: str, tag: str) -> str | None:
    """A tag in scope that ``tag`` is probably a misspelling of."""
    found = set(project.declared(file).tags)
    for header in project.active_headers(file):
        if project.has(header):
            found |= project.declared(header).tags
    close = difflib.get_close_matches(tag, sorted(found - {tag}), 1, 0.84)
    return close[0] if close else None


def tag_behind(project: ProjectFiles, name: str) -> str | None:
    """The tag of a typedef name that the project declares, as ``struct x``."""
    pattern = re.compile(rf"typedef\s+(?:const\s+)?(?:struct|union|enum)\s+(\w+)\s*\**\s*{re.escape(name)}\s*;")
    for path in project.paths():
        if project.mentions(path, name) and (match := pattern.search(project.shape(path).masked)):
            return f"struct {match[1]}"
    return None
