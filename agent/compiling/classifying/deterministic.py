"""Why a compile failed, as far as facts can tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from agent.c.headers import HeaderTable
from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.classifying.build_rules import link_failure, no_file
from agent.compiling.classifying.classification import CompilerErrorClassification
from agent.compiling.classifying.code_rules import hidden_name, logic_error, missing_definition, signature_mismatch
from agent.compiling.classifying.evidence import LINK, CompileEvidence
from agent.compiling.classifying.findings import NameFinding, SystemNames
from agent.compiling.classifying.include_rules import find_names, missing_include
from agent.compiling.classifying.names import NameFinder
from agent.compiling.reading.diagnostics import ordered, render
from agent.compiling.reading.structured import read_output
from agent.compiling.reading.symptoms import symptoms
from agent.values import Diagnostic, Rung


class Deterministic(NamedTuple):
    """What facts alone say. ``classification`` is None when a name or a message is left that no fact explains; the
    findings and rungs then tell how far the facts went."""

    classification: CompilerErrorClassification | None
    findings: tuple[NameFinding, ...]
    rungs: tuple[Rung, ...]
    diagnostics: tuple[Diagnostic, ...]


def deterministic_check(
    raw_error: str,
    project: ProjectFiles,
    target: str,
    *,
    diagnostics: Sequence[Diagnostic] | None = None,
    facts: BuildFacts | None = None,
    table: HeaderTable | None = None,
    system: SystemNames | None = None,
    disproven: Sequence[str] = (),
    foresee: bool = True,
) -> Deterministic:
    """Classify from the compiler's words, the project's files and the header knowledge; no compile, no model.

    ``target`` is the compiled file's path in ``project``. ``diagnostics`` spare parsing ``raw_error`` where a structured
    format was read already. ``disproven`` are headers that a recompile showed not to help. ``foresee`` adds headers for
    names that the compiler did not get to; off where a recompile will tell.
    """
    facts = facts or BuildFacts()
    found = tuple(ordered(read_output(raw_error) if diagnostics is None else diagnostics))
    found = tuple(_with_source(d, project) for d in found)
    raw_error = raw_error or render(found)
    finder = NameFinder(project, target, facts, table=table, system=system, disproven=disproven)
    evidence = CompileEvidence(raw_error, finder, symptoms(found), found, foresee)
    classification = _apply_rules(evidence)
    return Deterministic(classification, tuple(evidence.findings), tuple(evidence.rungs), found)


def _apply_rules(e: CompileEvidence) -> CompilerErrorClassification | None:
    """The rules, from the most certain down; the first that knows the answer ends it."""
    if not e.complaints:
        return None
    link = [c for c in e.complaints if c.kind in LINK]
    if link and not any(c.kind not in LINK and c.diagnostic.line for c in e.errors):
        return link_failure(e, link)
    if missing := next((c for c in e.complaints if c.kind == "no_file"), None):
        return no_file(e, missing)
    e.findings = find_names(e)
    return missing_include(e) or hidden_name(e) or signature_mismatch(e) or missing_definition(e) or logic_error(e)


def _with_source(d: Diagnostic, project: ProjectFiles) -> Diagnostic:
    """A diagnostic with its source line, read from the project where the compiler printed none (tcc, JSON)."""
    if d.source_line or not d.line:
        return d
    file = project.resolve(d.file)
    line = project.shape(file).line_text(d.line) if file else ""
    return msgspec.structs.replace(d, source_line=line) if line else d
