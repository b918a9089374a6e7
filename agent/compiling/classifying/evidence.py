"""What is known about one failed compile while it is classified, and the way that led to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.compiling.classifying.classification import CompilerErrorClassification
from agent.compiling.classifying.findings import NameFinding
from agent.compiling.classifying.names import NameFinder
from agent.compiling.reading.symptoms import Symptom
from agent.values import Diagnostic, ErrorCategory, Rung

LINK = ("link_undefined", "link_multiple", "link_library")
"""Kinds of symptoms that a linker has."""


class CompileEvidence:
    """Complaints, what was found out about their names, and the questions answered so far.

    ``foresee``: names that the compiler did not get to are looked for as well.
    """

    def __init__(
        self, raw: str, finder: NameFinder, complaints: Sequence[Symptom], diagnostics: tuple[Diagnostic, ...],
        foresee: bool,
    ) -> None:  # fmt: skip
        self.raw, self.finder = raw, finder
        self.project, self.target, self.table, self.facts = finder.project, finder.target, finder.table, finder.facts
        self.complaints, self.diagnostics, self.foresee = complaints, diagnostics, foresee
        self.errors = [c for c in complaints if c.error]
        self.findings: list[NameFinding] = []
        self.rungs: list[Rung] = []

    @property
    def decisive(self) -> Sequence[Symptom]:
        """The errors, or the warnings where there is no error."""
        return self.errors or self.complaints

    def counts(self, finding: NameFinding) -> bool:
        """Whether a finding is about what failed: an error, or a warning where there is no error."""
        return finding.symptom.error or not self.errors

    def answer(self, question: str, answer: str) -> None:
        """One more question that facts have answered."""
        self.rungs.append(Rung(question, answer, "deterministic"))

    def done(self, category: ErrorCategory, context: str | None = None, **more: Any) -> CompilerErrorClassification:
        """The classification, with all that led to it."""
        return CompilerErrorClassification(
            category, self.raw, diagnostic_context=context, path=tuple(self.rungs), diagnostics=self.diagnostics, **more
        )
