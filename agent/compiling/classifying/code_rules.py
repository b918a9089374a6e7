"""The rules for what no include mends: hidden names, signatures that disagree, missing bodies, faults of the code."""

from __future__ import annotations

from agent.compiling.classifying.classification import (
    ERROR_CAT_LOGIC_ERROR,
    ERROR_CAT_MISSING_DEFINITION,
    ERROR_CAT_SIGNATURE_MISMATCH,
    CompilerErrorClassification,
)
from agent.compiling.classifying.evidence import CompileEvidence
from agent.compiling.classifying.name_clash import library_clash, macro_clash
from agent.compiling.reading.diagnostics import plain_quotes
from agent.compiling.reading.signature_symptoms import (
    callback_mismatch,
    is_argument,
    leads_elsewhere,
    signature_detail,
    signature_symbol,
    taken_for_int,
)
from agent.compiling.reading.truncation import unread_lines
from agent.compiling.reading.wording import ERROR_WORDS
from agent.log_text import holds_any

_SIGNATURE = ("conflict", "linkage", "arity", "argument")
_FAULTS = ("order", "misspelt", "value", "tag_missing", "source_only", "opaque")


def hidden_name(e: CompileEvidence) -> CompilerErrorClassification | None:
    """A name whose header is there and hides it."""
    for finding in e.findings:
        if finding.outcome in ("hidden", "active") and e.counts(finding):
            e.answer(f"Is `{finding.name}` hidden although its header is there?", finding.detail)
            return e.done(ERROR_CAT_LOGIC_ERROR, finding.detail, flag=finding.flag, symbol=finding.name)
    return None


def signature_mismatch(e: CompileEvidence) -> CompilerErrorClassification | None:
    """A declaration that disagrees with a definition or a call."""
    question = "Do declaration and definition or call disagree?"
    implicit = {n for c in e.complaints if c.kind == "implicit" for n in c.names}
    for complaint in e.decisive:
        tcc_argument = e.facts.stops_at_first and is_argument(complaint)
        if complaint.kind not in _SIGNATURE and not callback_mismatch(complaint) and not tcc_argument:
            continue
        symbol = signature_symbol(complaint)
        if clash := library_clash(e, complaint, symbol):
            e.answer(question, clash.sentence)
            return e.done(ERROR_CAT_SIGNATURE_MISMATCH, clash.sentence, symbol=symbol, rename=clash.proposal)
        notes = " ".join(plain_quotes(n) for n in complaint.diagnostic.notes)
        if complaint.kind in ("conflict", "linkage") and (
            symbol in implicit or "previous implicit declaration" in notes
        ):
            detail = f"`{symbol}` is used above its declaration, taken for `int {symbol}()`: declare it first."
            e.answer("Do declaration and definition disagree?", detail)
            return e.done(ERROR_CAT_LOGIC_ERROR, detail, symbol=symbol)
        if leads_elsewhere(e.errors, complaint) or taken_for_int(e.complaints, complaint):
            continue
        detail = signature_detail(complaint, symbol)
        e.answer(question, detail)
        return e.done(ERROR_CAT_SIGNATURE_MISMATCH, detail, symbol=symbol)
    e.answer(question, "no")
    return None


def missing_definition(e: CompileEvidence) -> CompilerErrorClassification | None:
    """Something that is declared and used, and has no body."""
    question = "Is something declared but never defined?"
    for complaint in e.decisive:
        if complaint.kind == "never_defined":
            symbol = complaint.names[0] if complaint.names else ""
            detail = (
                f"`{symbol}` is declared static and used, but has no body."
                if symbol
                else "A static function has no body."
            )
            e.answer(question, detail)
            return e.done(ERROR_CAT_MISSING_DEFINITION, detail, symbol=symbol)
    for finding in e.findings:
        if finding.outcome == "undefined" and e.counts(finding) and not leads_elsewhere(e.errors, finding.symptom):
            e.answer(question, finding.detail)
            return e.done(ERROR_CAT_MISSING_DEFINITION, finding.detail, symbol=finding.name)
    e.answer(question, "no")
    return None


def logic_error(e: CompileEvidence) -> CompilerErrorClassification | None:
    """A fault of the code itself; None when a name or a message is left that no fact explains."""
    for complaint in e.decisive:
        if complaint.kind == "redefined" and (clash := library_clash(e, complaint, signature_symbol(complaint))):
            e.answer(f"What is wrong with `{clash.symbol}`?", clash.sentence)
            return e.done(ERROR_CAT_LOGIC_ERROR, clash.sentence, symbol=clash.symbol, rename=clash.proposal)
        if clash := macro_clash(e, complaint):
            e.answer(f"What is wrong with `{clash.symbol}`?", clash.sentence)
            return e.done(ERROR_CAT_LOGIC_ERROR, clash.sentence, symbol=clash.symbol)
    if gone := [f for f in e.findings if f.outcome == "vanished"]:
        detail = " ".join(dict.fromkeys(f.detail for f in gone))
        if any(e.counts(f) for f in gone):
            e.answer(f"What is wrong with `{gone[0].name}`?", detail)
            return e.done(ERROR_CAT_LOGIC_ERROR, detail, symbol=gone[0].name)
    for finding in e.findings:
        if finding.outcome in _FAULTS and e.counts(finding):
            e.answer(f"What is wrong with `{finding.name}`?", finding.detail)
            return e.done(ERROR_CAT_LOGIC_ERROR, finding.detail, symbol=finding.name)
    for finding in e.findings:
        if finding.outcome == "unknown" and finding.symptom.kind in ("implicit", "unknown_type") and e.counts(finding):
            e.answer(f"Does anything declare `{finding.name}`?", "no header and no file of the project does")
            return None
    if e.errors and all(c.kind == "other" and not plain_quotes(c.diagnostic.message).isascii() for c in e.errors):
        return None
    if unread := _unread(e):
        e.answer("Was the whole log read?", unread)
        return None
    e.answer("Is it a fault of the code itself?", "yes: nothing is missing and no declarations disagree")
    return e.done(ERROR_CAT_LOGIC_ERROR, None)


def _unread(e: CompileEvidence) -> str:
    """Why nothing can be said for certain about a log, "" when all of it was read."""
    lines = {c.diagnostic.line for c in e.complaints if c.diagnostic.line}
    if not lines:
        return "no: it names no line of the code in a known format"
    if all(c.kind == "other" for c in e.errors) and not holds_any(e.raw.lower(), ERROR_WORDS):
        return "no: no message in it says that it is an error"
    unread = unread_lines(e.raw, {d.line for d in e.diagnostics})
    return f"no: {unread} lines look like errors but are in no known format" if unread else ""
