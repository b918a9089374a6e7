"""The rules that end in an include: names that headers declare and the file does not include."""

from __future__ import annotations

from collections.abc import Sequence

from agent.c.words import holds_word, is_called
from agent.compiling.classifying.choose import choose_headers
from agent.compiling.classifying.classification import ERROR_CAT_MISSING_INCLUDE, CompilerErrorClassification
from agent.compiling.classifying.evidence import CompileEvidence
from agent.compiling.classifying.findings import NameFinding
from agent.compiling.classifying.foresee import foreseen
from agent.compiling.reading.diagnostics import plain_quotes
from agent.compiling.reading.log_lines import plain_text
from agent.compiling.reading.symptoms import Symptom
from agent.compiling.reading.truncation import cut_before, cut_off, cut_within, gave_up

_QUESTION = "Does a header that is not included declare the missing name?"
_NAMED = ("implicit", "undeclared", "unknown_type", "incomplete", "in_parameters", "syntax")


def find_names(e: CompileEvidence) -> list[NameFinding]:
    """What can be found out about the names in the complaints, each name once."""
    found: list[NameFinding] = []
    seen: set[tuple[str, str]] = set()
    for complaint in e.complaints:
        if complaint.kind not in _NAMED or not (complaint.names or complaint.diagnostic.source_line):
            continue
        key = (complaint.kind, complaint.names[0] if complaint.names else "")
        if key in seen and complaint.kind != "syntax":
            continue
        seen.add(key)
        finding = e.finder.find(complaint)
        if complaint.kind == "syntax" and any(f.outcome == "include" for f in found) and not _new(e, finding, found):
            continue  # the parser stumbles on after a missing type
        found.append(finding)
    return found or _silently_int(e)


def _silently_int(e: CompileEvidence) -> list[NameFinding]:
    """Functions that a compiler took for ``int f()`` without a word (C90, ``-w``), so that only their value offends."""
    found: dict[str, NameFinding] = {}
    for complaint in e.decisive:
        d = complaint.diagnostic
        file = e.project.resolve(d.file)
        if complaint.kind not in ("other", "argument") or not file or not d.line or "(" not in d.source_line:
            continue
        if d.option == "int-conversion" or "'int'" in plain_quotes(d.message):
            for finding in foreseen(e.finder, file, complaint, (d.line,)):
                if is_called(d.source_line, finding.name):
                    found.setdefault(finding.name, finding)
    return list(found.values())


def _new(e: CompileEvidence, finding: NameFinding, found: Sequence[NameFinding]) -> bool:
    """Whether a name near a later syntax error is missing in its own right: hinted at, or a name that no line above uses
    without a complaint."""
    if finding.outcome != "include":
        return False
    if finding.hinted:
        return True
    plain = finding.name.removeprefix("struct ")
    if any(f.name == finding.name for f in found) or not finding.file:
        return False
    shape = e.project.shape(finding.file)
    blamed = {c.diagnostic.line for c in e.complaints}
    return not any(
        holds_word(shape.masked_line(n), plain) for n in range(1, finding.symptom.diagnostic.line) if n not in blamed
    )


def missing_include(e: CompileEvidence) -> CompilerErrorClassification | None:
    """An include that a finding asks for, if it explains an error."""
    wanted = [f for f in e.findings if f.outcome == "include"]
    if wanted and (not e.errors or _explain(e, wanted) or all(c.kind == "other" for c in e.errors)):
        return include_result(e, wanted)
    e.answer(_QUESTION, "no")
    return None


def _explain(e: CompileEvidence, wanted: Sequence[NameFinding]) -> bool:
    """Whether one of the names explains an error: it is one, stands in the line of one, or is the type that the error
    trips over."""
    lines = {(c.diagnostic.file, c.diagnostic.line) for c in e.errors}
    for finding in wanted:
        d = finding.symptom.diagnostic
        if finding.symptom.error or (d.file, d.line) in lines:
            return True
        plain = finding.name.removeprefix("struct ")
        if any(plain in c.diagnostic.message for c in e.errors):
            return True
    return False


def include_result(e: CompileEvidence, wanted: Sequence[NameFinding]) -> CompilerErrorClassification:
    """The fewest headers that bring all the names."""
    includes = choose_headers([*wanted, *_foreseen(e, wanted)], e.project, e.facts.include_dirs)
    for needed in includes:
        by = "the header table" if needed.system else "the project's headers"
        by = "the compiler's own hint" if needed.hinted else by
        e.answer(f"Which header declares {', '.join(f'`{s}`' for s in needed.symbols)}?", f"{needed.text} ({by})")
    text = "; ".join(f"{n.text} is missing in {n.file} for {', '.join(n.symbols)}" for n in includes)
    return e.done(
        ERROR_CAT_MISSING_INCLUDE, f"{text}.", includes=tuple(includes), suggested_include=includes[0].header
    )


def _foreseen(e: CompileEvidence, wanted: Sequence[NameFinding]) -> list[NameFinding]:
    """Further names that will be missing once the first ones are there: the compiler stopped, or lost the line."""
    if not wanted or not e.foresee:
        return []
    first = wanted[0]
    named = {f.name for f in wanted}
    known = [f.name for f in wanted if f.file == first.file]
    found = foreseen(e.finder, first.file, first.symptom, _unseen_lines(e, first.file), known)
    return [f for f in found if f.name not in named]


def _unseen_lines(e: CompileEvidence, file: str) -> set[int] | None:
    """The lines of ``file`` in which names may be missing without a complaint: those with an error, and all below the last
    one where compiler or log ended early. None (all lines) for a compiler that stops at the first error."""
    lines = {c.diagnostic.line for c in e.errors if c.diagnostic.line}
    if len(e.errors) == 1 and e.facts.stops_at_first:
        return None
    text = plain_text(e.raw)
    early, late, within = cut_before(text), gave_up(text) or cut_off(text), cut_within(text)
    if early or late or within:
        seen = [c.diagnostic.line for c in e.complaints if e.project.resolve(c.diagnostic.file) == file]
        first, last = min(seen, default=1), max(seen, default=0)
        lines |= set(range(first)) if early else set()
        lines |= set(range(first, last)) if within else set()
        lines |= set(range(last + 1, e.project.shape(file).line_count + 1)) if late else set()
    return lines


def macro_home(e: CompileEvidence, complaint: Symptom) -> NameFinding | None:
    """The header of an undefined symbol that is really a standard macro, called without it."""
    name = complaint.names[0] if complaint.names else ""
    homes = e.table.homes(name)
    if not homes or any(h.kind != "macro" for h in homes) or _in_project(e, name):
        return None
    if homes[0].header in e.project.active_headers(e.target):
        return None
    shape = e.project.shape(e.target)
    used = (n for n in range(1, shape.line_count + 1) if holds_word(shape.line_text(n), name))
    line = next(used, shape.line_count + 1)
    return NameFinding("include", name, complaint, e.target, line, tuple(h.header for h in homes))


def _in_project(e: CompileEvidence, name: str) -> bool:
    """Whether a file of the project declares ``name``."""
    return any(e.project.mentions(path, name) and e.project.declared(path).has(name) for path in e.project.paths())
