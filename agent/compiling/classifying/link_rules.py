"""What an error of the linker means: a body that is missing, a library that is not named, or the build."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

from agent.c.headers import HeaderTable
from agent.c.project import ProjectFiles
from agent.compiling.reading.symptoms import Symptom
from agent.values import ErrorCategory


class LinkVerdict(NamedTuple):
    """The category of a failed link, a sentence why, the symbol it hangs on and the flag that would help, if any."""

    category: ErrorCategory
    detail: str
    symbol: str = ""
    flag: str = ""


_START = frozenset({"main", "_main", "WinMain", "WinMain@16"})


def classify_link(
    link: Sequence[Symptom],
    project: ProjectFiles,
    target: str,
    table: HeaderTable,
    implicit: Sequence[Symptom] = (),
) -> LinkVerdict:
    """The first undefined symbol that the project declares and nobody defines decides; then libraries and the build.

    A symbol of a library, a missing ``main``, an ``inline`` without its external definition, a second definition and a
    file that was left out of the link are no missing definitions.
    """
    verdicts = link_verdicts(link, project, target, table, implicit)
    missing = next((v for v in verdicts if v.category == "missing_definition"), None)
    return missing or verdicts[0]


def link_verdicts(
    link: Sequence[Symptom],
    project: ProjectFiles,
    target: str,
    table: HeaderTable,
    implicit: Sequence[Symptom] = (),
) -> list[LinkVerdict]:
    """What each complaint of the linker means."""
    return [_one(c, project, target, table, implicit) for c in link]


def _one(
    complaint: Symptom, project: ProjectFiles, target: str, table: HeaderTable, implicit: Sequence[Symptom]
) -> LinkVerdict:
    symbol = complaint.names[0] if complaint.names else ""
    if complaint.kind == "link_multiple":
        return LinkVerdict(
            "logic_error",
            f"`{symbol}` is defined more than once: keep one definition, and only declare it (extern) in headers.",
            symbol,
        )
    if complaint.kind == "link_library":
        return LinkVerdict(
            "logic_error",
            f"The linker does not find the library `{symbol}`: install it, or give its folder with -L.",
            symbol,
        )
    if symbol in _START:
        return LinkVerdict(
            "logic_error",
            "There is no `main` in what is linked: link with the file that has it, or only compile (-c).",
            symbol,
        )
    if symbol.startswith("_Z"):
        detail = f'`{symbol}` is a C++ name: declare the function `extern "C"` on the C++ side, or link with its file.'
        return LinkVerdict("logic_error", detail, symbol)
    names = (symbol, symbol.removeprefix("_"))
    for name in names:
        if verdict := _in_project(name, project, target):
            return verdict
    headers = list(project.active_headers(target))
    for name in names:
        if flag := table.library_flag(name):
            return _library(name, flag)
    if flag := _library_of_headers(symbol, project, headers, table):
        return _library(symbol, flag)
    if instead := next((i for name in names if (i := table.vanished(name))), ""):
        return LinkVerdict("logic_error", f"The C library does not have `{symbol}` any more: use {instead} instead.", symbol)
    if table.known(symbol) and not _declared_in_project(symbol, project):
        return LinkVerdict(
            "logic_error", f"`{symbol}` is a system function that this platform's C library does not have.", symbol
        )
    return _undeclared(symbol, project, target, table, implicit)


def _library(symbol: str, flag: str) -> LinkVerdict:
    return LinkVerdict("logic_error", f"`{symbol}` is in a library that is not linked: add {flag}.", symbol, flag)


def _in_project(symbol: str, project: ProjectFiles, target: str) -> LinkVerdict | None:
    for path in project.paths():
        if not project.mentions(path, symbol):
            continue
        declared = project.declared(path)
        if not declared.defines(symbol):
            continue
        if symbol in declared.inlines and symbol not in declared.statics:
            return LinkVerdict(
                "logic_error",
                f"`{symbol}` is `inline` in {path} and has no external definition: make it `static inline`, or add "
                "`extern inline` in one file.",
                symbol,
            )
        if symbol in declared.statics:
            return LinkVerdict("logic_error", f"`{symbol}` is static in {path}, so other files cannot reach it.", symbol)
        if path != target:
            return LinkVerdict(
                "logic_error",
                f"`{symbol}` is defined in {path}, which is not linked: add it to the link.",
                symbol,
                path,
            )
        return LinkVerdict("logic_error", f"`{symbol}` is defined in {path}, but in a part that is not compiled.", symbol)
    return None


def _declared_in_project(symbol: str, project: ProjectFiles) -> bool:
    for path in project.paths():
        if project.mentions(path, symbol):
            declared = project.declared(path)
            if symbol in declared.functions or symbol in declared.variables:
                return True
    return False


def _library_of_headers(symbol: str, project: ProjectFiles, headers: Sequence[str], table: HeaderTable) -> str:
    """The library of an included third-party header, for a symbol that the project itself does not declare."""
    if _declared_in_project(symbol, project):
        return ""
    return next((flag for h in headers if h not in table.headers and (flag := table.library_of_header(h))), "")


def _undeclared(
    symbol: str, project: ProjectFiles, target: str, table: HeaderTable, implicit: Sequence[Symptom]
) -> LinkVerdict:
    if not _declared_in_project(symbol, project):
        scope: set[str] = set()
        for path in project.paths():
            scope |= set(project.declared(path).functions)
        for header in project.active_headers(target):
            scope |= {n for n in table.names_of.get(header, ()) if not n.startswith("struct ")}
        scope.discard(symbol)
        close = difflib.get_close_matches(symbol, sorted(scope), 1, 0.8)
        if close and any(re.search(rf"\b{re.escape(symbol)}\b", n) for c in implicit for n in c.names):
            return LinkVerdict(
                "logic_error", f"`{symbol}` is declared nowhere; `{close[0]}` is close: a misspelling.", symbol
            )
    return LinkVerdict("missing_definition", f"`{symbol}` is declared but defined nowhere in the project.", symbol)
