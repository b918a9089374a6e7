"""A failed compile, cured where facts allow: includes proven, heads rewritten, libraries named; else what to do next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

import msgspec

from agent.c.preprocessor.conditions import FALLBACK_MACROS
from agent.compiling.build import Build
from agent.compiling.classifying.classification import CompilerErrorClassification, NeededInclude
from agent.compiling.classifying.deterministic import Deterministic, deterministic_check
from agent.compiling.classifying.questions import ClassifyLlm, classify_compiler_error, undecided, without_facts
from agent.compiling.compiler import CompileOutcome
from agent.compiling.curing.include_trials import MAX_RECOMPILES, Proof, fix_includes
from agent.compiling.curing.link_recovery import LinkRecovered, link_with_recovery
from agent.compiling.curing.signatures import disagreement, rewrite_head
from agent.compiling.generated import Generated
from agent.compiling.reading.diagnostics import render
from agent.compiling.reading.symptoms import symptom_of
from agent.events import ErrorClassified, IncludeAdded, RecoveryDone
from agent.values import Diagnostic, ErrorCategory

__all__ = ["LinkRecovered", "Recovered", "Recovery"]

Action = Literal["compiled", "include", "signature", "implement_first", "retry"]


class Recovered(msgspec.Struct, frozen=True):
    """What compiling one file came to, recoveries included.

    ``includes`` are those put in and kept, as (file, header) pairs. ``action`` is ``compiled`` (nothing was wrong),
    ``include`` or ``signature`` (cured by one), ``implement_first`` (``needs`` names what must be defined before) or
    ``retry``; ``attempt_consumed`` says whether the failure counts as a try of the function. ``context`` is for the retry
    prompt: current diagnostics with their lines, and what the classification knows.
    """

    ok: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    includes: tuple[tuple[str, str], ...] = ()
    action: Action = "compiled"
    attempt_consumed: bool = False
    needs: str = ""
    context: str = ""
    classification: CompilerErrorClassification | None = None


class Recovery:
    """Compiles files of one build and recovers. ``llm`` asks the three questions when ``decomposed`` (the toggle
    ``decomposed_error_classification``) is on; with it off only includes are fixed and the retry is the plain one. With
    ``facts`` off only headers that the model names are tried."""

    def __init__(
        self,
        build: Build,
        *,
        llm: ClassifyLlm | None = None,
        decomposed: bool = False,
        signature_source: Literal["header", "definition"] = "header",
        facts: bool = True,
    ) -> None:
        self.facts = facts
        self.build = build
        self.llm = llm if decomposed else None
        self.decomposed = decomposed
        self.signature_source = signature_source

    async def compile(self, path: str, symbol: str = "", signature: str = "") -> Recovered:
        """Compile ``path`` (relative to the build's root) after ``symbol`` was changed in it, and recover what can be.

        Files are changed only by includes and heads that a recompile proved. Never raises for broken code.

        Raises:
            ModelError: if a question is to be asked and the model cannot be.
        """
        self.build.project.forget()
        if path not in self.build.project.paths():
            self.build.refresh()
        outcome = await self.build.compile(path, symbol)
        self.build.project.use_macros(self.build.facts(path).with_macros(self.build.system.macros or FALLBACK_MACROS))
        if outcome.ok and not _implicit(outcome):
            return Recovered(True, outcome.diagnostics)
        run = _Run(self, path, symbol, signature)
        return await run.recover(outcome)

    async def link(self, paths: Sequence[str], *, shared: bool = False, libraries: Sequence[str] = ()) -> LinkRecovered:
        """Link the objects of ``paths``; libraries that undefined references ask for are added, with a notice."""
        return await link_with_recovery(self.build, paths, shared=shared, libraries=libraries)


def _implicit(outcome: CompileOutcome) -> bool:
    """A compiler that only warns about undeclared functions still left one undeclared."""
    return any(symptom_of(d).kind == "implicit" for d in outcome.diagnostics)


class _Run:
    """The recovery of one failed compile."""

    def __init__(self, recovery: Recovery, path: str, symbol: str, signature: str) -> None:
        self.recovery, self.build = recovery, recovery.build
        self.path, self.symbol, self.signature = path, symbol, signature
        self.kept: list[NeededInclude] = []
        self.disproven: set[str] = set()
        self.recompiles = 0
        self.generated: Generated | None = None

    async def recover(self, outcome: CompileOutcome) -> Recovered:
        self.generated = await asyncio.to_thread(self.build.generated, self.path)
        if self.generated and self.generated.command:
            self.build.project.add(self.generated.source)
        first = await asyncio.to_thread(self._check, outcome)
        if not self.recovery.facts:
            first = without_facts(first)
        if first.classification and first.classification.category == "missing_include":
            self._classified(first.classification)
        if self.generated and not self.generated.command and first.classification and first.classification.includes:
            return self._cannot_make_again(outcome, first.classification)
        if self.recovery.facts:
            outcome = await self._includes(outcome)
        if outcome.ok and not _implicit(outcome):
            return self._cured("missing_include", "include", self._include_action(), outcome)
        if self.kept:
            self._done("missing_include", self._include_action(), ok=False, consumed=False)
        if not self.recovery.decomposed:
            return self._retry(outcome, None)
        verdict = await self._classify(outcome)
        if verdict.category == "missing_include" and verdict.includes:
            outcome, verdict = await self._proposed(outcome, verdict)
            if outcome.ok:
                return self._cured("missing_include", "include", self._include_action(), outcome)
        if verdict.category == "signature_mismatch":
            return await self._signature(outcome, verdict)
        if verdict.category == "missing_definition" and verdict.symbol and verdict.symbol != self.symbol:
            self._done("missing_definition", f"{verdict.symbol} must be defined first", ok=False, consumed=False)
            return self._result(outcome, "implement_first", verdict, consumed=False, needs=verdict.symbol)
        self._done(verdict.category, "retry with the diagnostics", ok=False, consumed=True)
        return self._retry(outcome, verdict)

    def _check(self, outcome: CompileOutcome) -> Deterministic:
        return deterministic_check(
            outcome.stderr,
            self.build.project,
            self.path,
            diagnostics=outcome.diagnostics,
            facts=self.build.facts(self.path),
            system=self.build.system,
            disproven=tuple(self.disproven),
            foresee=False,
        )

    async def _includes(self, outcome: CompileOutcome, first: Sequence[NeededInclude] = ()) -> CompileOutcome:
        """Missing includes to a fixed point; no attempt is consumed, whatever comes of it."""

        def tried(needed: NeededInclude, line: int, kept: bool) -> None:
            how = "model" if first and needed in first else "deterministic"
            self.build.emit(IncludeAdded(needed.file, needed.header, line, needed.text, how, kept, self.symbol))

        proof: Proof = await fix_includes(
            self.build.project,
            self.path,
            self._compile_again,
            outcome,
            facts=self.build.facts(self.path),
            system=self.build.system,
            on_trial=tried,
            limit=max(0, MAX_RECOMPILES - self.recompiles),
            first=first,
            made_from={self.generated.output: self.generated.source} if self.generated else None,
        )
        if self.generated and not proof.kept and proof.recompiles:
            await self.build.make_again(self.generated)
        self.recompiles += proof.recompiles
        self.kept += proof.kept
        self.disproven |= set(proof.disproven)
        return proof.outcome

    async def _compile_again(self) -> CompileOutcome:
        """Compile the file as it is now; a generated one is made again first."""
        if self.generated:
            await self.build.make_again(self.generated)
        return await self.build.compile(self.path, self.symbol)

    def _cannot_make_again(self, outcome: CompileOutcome, verdict: CompilerErrorClassification) -> Recovered:
        """An include is missing in a file that is generated, in a way that cannot be followed here."""
        assert self.generated is not None
        said = self.generated.sentence(", ".join(n.text for n in verdict.includes))
        self._done("missing_include", said, ok=False, consumed=True)
        return self._retry(outcome, verdict, said)

    async def _classify(self, outcome: CompileOutcome) -> CompilerErrorClassification:
        verdict = await classify_compiler_error(
            outcome.stderr, self.build.project, self.path, llm=self.recovery.llm, diagnostics=outcome.diagnostics,
            facts=self.build.facts(self.path), system=self.build.system, disproven=tuple(self.disproven),
            function=self.symbol, signature=self.signature, foresee=False, use_facts=self.recovery.facts,
        )  # fmt: skip
        self._classified(verdict)
        return verdict

    async def _proposed(
        self, outcome: CompileOutcome, verdict: CompilerErrorClassification
    ) -> tuple[CompileOutcome, CompilerErrorClassification]:
        """Try the header that the model named; when it does not help, the error counts as one of logic."""
        before = len(self.kept)
        outcome = await self._includes(outcome, verdict.includes)
        if outcome.ok:
            return outcome, verdict
        if len(self.kept) > before:
            check = await asyncio.to_thread(self._check, outcome)
            rest = check.classification or undecided(outcome.stderr, check)
        else:
            rest = CompilerErrorClassification(
                "logic_error", outcome.stderr, how="recompile", path=verdict.path, diagnostics=outcome.diagnostics,
                diagnostic_context=f"{verdict.includes[0].text} was tried and did not help.",
            )  # fmt: skip
        self._classified(rest)
        return outcome, rest

    async def _signature(self, outcome: CompileOutcome, verdict: CompilerErrorClassification) -> Recovered:
        """Rewrite the side that configuration calls wrong; keep it only if the complaints fell."""
        if verdict.rename:
            self._done("signature_mismatch", f"rename {verdict.symbol} to {verdict.rename}", ok=False, consumed=True)
            return self._retry(outcome, verdict)
        project, symbol = self.build.project, verdict.symbol or self.symbol
        heads = disagreement(project, self.path, symbol) if symbol else None
        saved = {p: project.source(p) for p in project.paths() if symbol and project.mentions(p, symbol)}
        edit = rewrite_head(project, self.path, symbol, self.recovery.signature_source) if symbol else None
        if edit is not None:
            after = await self.build.compile(self.path, self.symbol)
            if after.ok:
                return self._cured(
                    "signature_mismatch", "signature", f"{edit.path}:{edit.line} rewritten to `{edit.after}`", after
                )
            if _errors(after) < _errors(outcome):
                outcome = after
            else:
                for path, source in saved.items():
                    if project.source(path) != source:
                        project.write(path, source)
        self._done("signature_mismatch", "retry with both signatures", ok=False, consumed=True)
        shown = ""
        if heads and (heads.prototype or heads.definition):
            shown = f"Declared ({heads.prototype_at}): {heads.prototype};\n"
            shown += f"Defined ({heads.definition_at}): {heads.definition}\n"
        return self._retry(outcome, verdict, shown)

    def _cured(self, category: ErrorCategory, action: Action, what: str, outcome: CompileOutcome) -> Recovered:
        self._done(category, what, ok=True, consumed=False)
        return self._result(outcome, action, None, consumed=False)

    def _retry(self, outcome: CompileOutcome, verdict: CompilerErrorClassification | None, shown: str = "") -> Recovered:
        """A try of the function is spent. The prompt gets the current diagnostics, never those of before a fix."""
        return self._result(outcome, "retry", verdict, consumed=True, shown=shown)

    def _result(
        self,
        outcome: CompileOutcome,
        action: Action,
        verdict: CompilerErrorClassification | None,
        *,
        consumed: bool,
        needs: str = "",
        shown: str = "",
    ) -> Recovered:
        parts = [shown.strip(), (verdict.diagnostic_context or "") if verdict else "", render(outcome.diagnostics)]
        return Recovered(
            outcome.ok,
            outcome.diagnostics,
            tuple((n.file, n.header) for n in self.kept),
            action,
            consumed,
            needs,
            "\n".join(p for p in parts if p),
            verdict,
        )

    def _include_action(self) -> str:
        return ", ".join(f"{n.text} added to {n.file}" for n in self.kept)

    def _classified(self, verdict: CompilerErrorClassification) -> None:
        self.build.emit(
            ErrorClassified(
                self.path,
                verdict.category,
                verdict.how,
                verdict.path,
                verdict.suggested_include or "",
                verdict.headers,
                verdict.diagnostic_context or "",
                self.symbol,
            )
        )

    def _done(self, category: ErrorCategory, action: str, *, ok: bool, consumed: bool) -> None:
        self.build.emit(RecoveryDone(self.path, category, action, ok, consumed, self.symbol))


def _errors(outcome: CompileOutcome) -> int:
    return sum(1 for d in outcome.diagnostics if d.severity in ("error", "fatal"))
