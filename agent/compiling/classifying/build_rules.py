"""The rules for what failed before or after the compiler proper: a file that is not found, a link."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from agent.compiling.classifying.classification import ERROR_CAT_LOGIC_ERROR, CompilerErrorClassification
from agent.compiling.classifying.evidence import CompileEvidence
from agent.compiling.classifying.include_rules import include_result, macro_home
from agent.compiling.classifying.link_rules import classify_link
from agent.compiling.reading.symptoms import Symptom


def link_failure(e: CompileEvidence, link: Sequence[Symptom]) -> CompilerErrorClassification:
    """Undefined or doubled symbols: a header for a name used without one, else what the linker's facts say."""
    implicit = [c for c in e.complaints if c.kind == "implicit"]
    e.findings = [e.finder.find(c) for c in implicit]
    undefined = {n for c in link for n in c.names}
    caused = [f for f in e.findings if f.outcome == "include" and f.system and f.name in undefined]
    macros = [home for c in link if c.kind == "link_undefined" and (home := macro_home(e, c))]
    if caused and not e.table.library_flag(caused[0].name):
        return include_result(e, caused)
    if macros:
        return include_result(e, macros)
    verdict = classify_link(list(link), e.project, e.target, e.table, implicit)
    e.answer("Is a symbol undefined at link time?", verdict.detail)
    return e.done(verdict.category, verdict.detail, symbol=verdict.symbol, flag=verdict.flag)


def no_file(e: CompileEvidence, complaint: Symptom) -> CompilerErrorClassification:
    """An included file that is not found: a search path that is missing, or a name that is misspelt."""
    name = complaint.names[0] if complaint.names else "a file"
    base = name.rsplit("/", 1)[-1]
    flag = ""
    here = next((p for p in e.project.paths() if p.rsplit("/", 1)[-1] == base), None)
    if here is not None:
        flag = f"-I{here.rpartition('/')[0] or '.'}"
        detail = f"{name} is in the project at {here} but not on the search path: compile with {flag}."
    elif instead := e.table.vanished(name):
        detail = f"The C library does not have <{name}> any more: use {instead} instead."
    elif close := difflib.get_close_matches(name, [*e.table.headers, *e.project.headers()], 1, 0.75):
        detail = f"{name} does not exist; {close[0]} does: a misspelt header."
    else:
        detail = f"{name} does not exist in the project or on the search path."
    e.answer("Is an included file missing?", detail)
    return e.done(ERROR_CAT_LOGIC_ERROR, detail, flag=flag)
