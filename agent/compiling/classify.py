"""Why a compile failed, as far as facts can tell (seed 000; design section 10)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from agent.compiling.build_facts import BuildFacts
from agent.compiling.choose import choose_headers
from agent.compiling.diagnostics import ordered, parse_text, plain_quotes
from agent.compiling.findings import Finding, SystemNames
from agent.compiling.foresee import foreseen
from agent.compiling.headers import HeaderTable, header_table
from agent.compiling.linking import classify_link
from agent.compiling.names import NameFinder
from agent.compiling.project import ProjectFiles
from agent.compiling.signature_symptoms import (
    callback_mismatch,
    is_argument,
    leads_elsewhere,
    signature_detail,
    signature_symbol,
)
from agent.compiling.symptoms import Symptom, symptoms
from agent.compiling.verdict import (
    ERROR_CAT_LOGIC_ERROR,
    ERROR_CAT_MISSING_DEFINITION,
    ERROR_CAT_MISSING_INCLUDE,
    ERROR_CAT_SIGNATURE_MISMATCH,
    CompilerErrorClassification,
)
from agent.values import Diagnostic, ErrorCategory, Rung

_NAMED = ("implicit", "undeclared", "unknown_type", "incomplete", "in_parameters", "syntax")
_SIGNATURE = ("conflict", "linkage", "arity", "argument")
_LINK = ("link_undefined", "link_multiple", "link_library")
_FUNCTION_POINTER = re.compile(r"incompatible (?:function )?pointer type|incompatible types? in .*function")


class Deterministic(NamedTuple):
    """What facts alone say. ``classification`` is None when a name or a message is left that no fact explains; the
    findings and rungs then tell how far the facts went."""

    classification: CompilerErrorClassification | None
    findings: tuple[Finding, ...]
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
    table = table or header_table()
    found = tuple(ordered(parse_text(raw_error) if diagnostics is None else diagnostics))
    found = tuple(_with_source(d, project) for d in found)
    complaints = symptoms(found)
    ladder = _Ladder(raw_error, project, target, facts, table, system, disproven, complaints, found)
    ladder.foresee = foresee
    classification = ladder.climb()
    return Deterministic(classification, tuple(ladder.findings), tuple(ladder.rungs), found)


def _with_source(d: Diagnostic, project: ProjectFiles) -> Diagnostic:
    """A diagnostic with its source line, read from the project where the compiler printed none (tcc, JSON)."""
    if d.source_line or not d.line:
        return d
    file = project.resolve(d.file)
    line = project.shape(file).line_text(d.line) if file else ""
    return msgspec.structs.replace(d, source_line=line) if line else d


class _Ladder:
    """The deterministic rungs, tried from the most certain down."""

    def __init__(
        self,
        raw_error: str,
        project: ProjectFiles,
        target: str,
        facts: BuildFacts,
        table: HeaderTable,
        system: SystemNames | None,
        disproven: Sequence[str],
        complaints: list[Symptom],
        found: tuple[Diagnostic, ...],
    ) -> None:
        self.raw, self.project, self.target, self.table = raw_error, project, target, table
        self.finder = NameFinder(project, target, facts, table=table, system=system, disproven=disproven)
        self.facts = facts
        self.complaints = complaints
        self.diagnostics = found
        self.errors = [c for c in complaints if c.error]
        self.foresee = True
        self.findings: list[Finding] = []
        self.rungs: list[Rung] = []

    def climb(self) -> CompilerErrorClassification | None:
        if not self.complaints:
            return None
        link = [c for c in self.complaints if c.kind in _LINK]
        compile_errors = [c for c in self.errors if c.kind not in _LINK and c.diagnostic.line]
        if link and not compile_errors:
            return self._link(link)
        if missing := next((c for c in self.complaints if c.kind == "no_file"), None):
            return self._no_file(missing)
        self.findings = self._find_names()
        return self._includes() or self._hidden() or self._signature() or self._definition() or self._logic()

    def _find_names(self) -> list[Finding]:
        found: list[Finding] = []
        seen: set[tuple[str, str]] = set()
        for complaint in self.complaints:
            if complaint.kind not in _NAMED or not (complaint.names or complaint.diagnostic.source_line):
                continue
            if (
                complaint.kind == "syntax"
                and found
                and any(f.outcome == "include" for f in found)
                and not complaint.diagnostic.includes
            ):
                continue  # the parser stumbles on after a missing type
            key = (complaint.kind, complaint.names[0] if complaint.names else "")
            if key in seen and complaint.kind != "syntax":
                continue
            seen.add(key)
            found.append(self.finder.find(complaint))
        return found

    def _answer(self, question: str, answer: str) -> None:
        self.rungs.append(Rung(question, answer, "deterministic"))

    def _done(self, category: ErrorCategory, context: str | None = None, **more: object) -> CompilerErrorClassification:
        return CompilerErrorClassification(
            category,
            self.raw,
            diagnostic_context=context,
            path=tuple(self.rungs),
            diagnostics=self.diagnostics,
            **more,  # type: ignore[arg-type]
        )

    def _link(self, link: list[Symptom]) -> CompilerErrorClassification:
        implicit = [c for c in self.complaints if c.kind == "implicit"]
        self.findings = [self.finder.find(c) for c in implicit]
        undefined = {n for c in link for n in c.names}
        caused = [f for f in self.findings if f.outcome == "include" and f.system and f.name in undefined]
        macros = [c for c in link if c.kind == "link_undefined" and self._macro_home(c)]
        if caused and not self.table.library_flag(caused[0].name):
            return self._include_result(caused)
        if macros:
            return self._include_result([f for c in macros if (f := self._macro_home(c))])
        verdict = classify_link(link, self.project, self.target, self.table, implicit)
        self._answer("Is a symbol undefined at link time?", verdict.detail)
        return self._done(verdict.category, verdict.detail, symbol=verdict.symbol, flag=verdict.flag)

    def _macro_home(self, complaint: Symptom) -> Finding | None:
        """An undefined symbol that is really a standard macro, called without its header."""
        name = complaint.names[0] if complaint.names else ""
        homes = self.table.homes(name)
        if not homes or any(h.kind != "macro" for h in homes) or name in self.project_names(name):
            return None
        active = self.project.active_headers(self.target)
        if homes[0].header in active:
            return None
        line = self.project.shape(self.target).line_count + 1
        for number in range(1, line):
            if re.search(rf"\b{re.escape(name)}\b", self.project.shape(self.target).line_text(number)):
                line = number
                break
        return Finding("include", name, complaint, self.target, line, tuple(h.header for h in homes))

    def project_names(self, name: str) -> set[str]:
        """The names of the project's files that mention ``name``."""
        found: set[str] = set()
        for path in self.project.paths():
            if self.project.mentions(path, name):
                found |= self.project.declared(path).names()
        return found

    def _no_file(self, complaint: Symptom) -> CompilerErrorClassification:
        name = complaint.names[0] if complaint.names else "a file"
        base = name.rsplit("/", 1)[-1]
        here = [p for p in self.project.paths() if p.rsplit("/", 1)[-1] == base]
        if here:
            folder = here[0].rsplit("/", 1)[0] if "/" in here[0] else "."
            detail = f"{name} is in the project at {here[0]} but not on the search path: compile with -I{folder}."
            flag = f"-I{folder}"
        else:
            close = difflib.get_close_matches(name, [*self.table.headers, *self.project.headers()], 1, 0.75)
            detail = f"{name} does not exist" + (
                f"; {close[0]} does: a misspelt header." if close else " in the project or on the search path."
            )
            flag = ""
        self._answer("Is an included file missing?", detail)
        return self._done(ERROR_CAT_LOGIC_ERROR, detail, flag=flag)

    def _includes(self) -> CompilerErrorClassification | None:
        wanted = [f for f in self.findings if f.outcome == "include"]
        if self.errors:
            lines = {(c.diagnostic.file, c.diagnostic.line) for c in self.errors}
            decisive = [
                f
                for f in wanted
                if f.symptom.error or (f.symptom.diagnostic.file, f.symptom.diagnostic.line) in lines or self._explains(f)
            ]
            if not decisive:
                wanted_first = wanted
                if not wanted_first or any(c.kind not in ("other",) for c in self.errors):
                    self._answer("Does a header that is not included declare the missing name?", "no")
                    return None
        if not wanted:
            self._answer("Does a header that is not included declare the missing name?", "no")
            return None
        return self._include_result(wanted)

    def _explains(self, finding: Finding) -> bool:
        """Whether a warning-level missing name explains an error elsewhere: its type is what the error trips over."""
        plain = finding.name.removeprefix("struct ")
        return any(plain in c.diagnostic.message for c in self.errors)

    def _include_result(self, wanted: list[Finding]) -> CompilerErrorClassification:
        wanted = [*wanted, *self._foreseen(wanted)]
        includes = choose_headers(wanted, self.project, self.facts.include_dirs)
        for needed in includes:
            hint = (
                "the compiler's own hint"
                if needed.hinted
                else "the header table"
                if needed.system
                else "the project's headers"
            )
            self._answer(f"Which header declares {', '.join(f'`{s}`' for s in needed.symbols)}?", f"{needed.text} ({hint})")
        text = "; ".join(f"{n.text} is missing in {n.file} for {', '.join(n.symbols)}" for n in includes)
        return self._done(
            ERROR_CAT_MISSING_INCLUDE, f"{text}.", includes=tuple(includes), suggested_include=includes[0].header
        )

    def _foreseen(self, wanted: Sequence[Finding]) -> list[Finding]:
        """Further names that will be missing once the first ones are there: the compiler stopped, or lost the line."""
        if not self.errors or not wanted or not self.foresee:
            return []
        first = wanted[0]
        named = {f.name for f in wanted}
        stopped = len(self.errors) == 1 and self.facts.stops_at_first
        lines = None if stopped else {c.diagnostic.line for c in self.errors if c.diagnostic.line}
        more = foreseen(self.finder, first.file, first.symptom, lines)
        return [f for f in more if f.name not in named]

    def _hidden(self) -> CompilerErrorClassification | None:
        for finding in self.findings:
            if finding.outcome in ("hidden", "active") and (finding.symptom.error or not self.errors):
                self._answer(f"Is `{finding.name}` hidden although its header is there?", finding.detail)
                return self._done(ERROR_CAT_LOGIC_ERROR, finding.detail, flag=finding.flag, symbol=finding.name)
        return None

    def _signature(self) -> CompilerErrorClassification | None:
        pool = self.errors or self.complaints
        implicit = {n for c in self.complaints if c.kind == "implicit" for n in c.names}
        for complaint in pool:
            tcc_argument = self.facts.stops_at_first and is_argument(complaint)
            if complaint.kind not in _SIGNATURE and not callback_mismatch(complaint) and not tcc_argument:
                continue
            symbol = signature_symbol(complaint)
            notes = " ".join(plain_quotes(n) for n in complaint.diagnostic.notes)
            if complaint.kind in ("conflict", "linkage") and (
                symbol in implicit or "previous implicit declaration" in notes
            ):
                detail = f"`{symbol}` is used above its declaration, taken for `int {symbol}()`: declare it first."
                self._answer("Do declaration and definition disagree?", detail)
                return self._done(ERROR_CAT_LOGIC_ERROR, detail, symbol=symbol)
            if leads_elsewhere(self.errors, complaint):
                continue
            detail = signature_detail(complaint, symbol)
            self._answer("Do declaration and definition or call disagree?", detail)
            return self._done(ERROR_CAT_SIGNATURE_MISMATCH, detail, symbol=symbol)
        self._answer("Do declaration and definition or call disagree?", "no")
        return None

    def _definition(self) -> CompilerErrorClassification | None:
        pool = self.errors or self.complaints
        for complaint in pool:
            if complaint.kind == "never_defined":
                symbol = complaint.names[0] if complaint.names else ""
                detail = (
                    f"`{symbol}` is declared static and used, but has no body."
                    if symbol
                    else "A static function has no body."
                )
                self._answer("Is something declared but never defined?", detail)
                return self._done(ERROR_CAT_MISSING_DEFINITION, detail, symbol=symbol)
        for finding in self.findings:
            if finding.outcome == "undefined" and (finding.symptom.error or not self.errors):
                self._answer("Is something declared but never defined?", finding.detail)
                return self._done(ERROR_CAT_MISSING_DEFINITION, finding.detail, symbol=finding.name)
        self._answer("Is something declared but never defined?", "no")
        return None

    def _logic(self) -> CompilerErrorClassification | None:
        unexplained = [f for f in self.findings if f.outcome == "unknown" and f.symptom.kind in ("implicit", "unknown_type")]
        unexplained = [f for f in unexplained if f.symptom.error or not self.errors]
        for finding in self.findings:
            if finding.outcome in ("order", "misspelt", "value", "tag_missing", "source_only", "opaque") and (
                finding.symptom.error or not self.errors
            ):
                self._answer(f"What is wrong with `{finding.name}`?", finding.detail)
                return self._done(ERROR_CAT_LOGIC_ERROR, finding.detail, symbol=finding.name)
        if unexplained:
            self._answer(f"Does anything declare `{unexplained[0].name}`?", "no header and no file of the project does")
            return None
        unreadable = [c for c in self.errors if c.kind == "other" and not plain_quotes(c.diagnostic.message).isascii()]
        if unreadable and len(unreadable) == len(self.errors):
            return None
        self._answer("Is it a fault of the code itself?", "yes: nothing is missing and no declarations disagree")
        return self._done(ERROR_CAT_LOGIC_ERROR, None)
