"""What a complaint about a signature says: whose, and in what the two sides differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.c.declarations.declarators import KEYWORDS
from agent.c.words import holds_word
from agent.compiling.reading.diagnostics import plain_quotes
from agent.compiling.reading.symptoms import Symptom


def callback_mismatch(complaint: Symptom) -> bool:
    """Two function pointer types that differ: a callback whose signature is not the one asked for."""
    message = plain_quotes(complaint.diagnostic.message)
    return complaint.diagnostic.option.startswith("incompatible") and bool(
        re.search(r"\(\*\)\s*\(|\w\s*\([^)]*\)'", message)
    )


def is_argument(complaint: Symptom) -> bool:
    """Whether tcc, which calls every conversion an assignment, means an argument: a call and no `=` in the line."""
    if not re.match(r"assignment |cannot (?:convert|cast)", complaint.diagnostic.message):
        return False
    line = complaint.diagnostic.source_line
    return bool(re.search(r"\b\w+\s*\([^()]*\w[^()]*\)\s*;", line)) and not re.search(r"[^=!<>]=[^=]", line)


def leads_elsewhere(errors: Sequence[Symptom], complaint: Symptom) -> bool:
    """Whether an earlier error makes what follows doubtful: one of syntax, or for an argument, a type that is not known or a
    fault in the declaration of what is passed."""
    d = complaint.diagnostic
    for earlier in errors:
        if earlier is complaint:
            return False
        if earlier.diagnostic.line > d.line or earlier.diagnostic.file != d.file:
            continue
        if earlier.kind == "syntax" or (complaint.kind == "argument" and _spoils(earlier, d.source_line)):
            return True
    return False


def _spoils(earlier: Symptom, line: str) -> bool:
    """Whether an argument in ``line`` may be of the wrong type because of an earlier error."""
    if earlier.kind == "unknown_type":
        return True
    named = (n for n in earlier.names if n not in KEYWORDS)
    return earlier.kind in ("other", "redefined") and any(holds_word(line, n) for n in named)


def taken_for_int(complaints: Sequence[Symptom], complaint: Symptom) -> bool:
    """Whether an argument is wrong only because it is the call of a function that nobody declared, taken for ``int f()``."""
    d = complaint.diagnostic
    if complaint.kind != "argument" or not (d.option == "int-conversion" or "'int'" in plain_quotes(d.message)):
        return False
    return any(c.kind == "implicit" and (c.diagnostic.file, c.diagnostic.line) == (d.file, d.line) for c in complaints)


def signature_symbol(complaint: Symptom) -> str:
    message = plain_quotes(complaint.diagnostic.message)
    named = re.search(r"(?:function|for|argument \d+ of|declaration of) '(\w+)'", message)
    if named:
        return named[1]
    for note in complaint.diagnostic.notes:
        if match := re.search(r"'(\w+)' declared here|declaration of '(\w+)'", plain_quotes(note)):
            return match[1] or match[2]
    if (call := re.search(r"\b([A-Za-z_]\w*)\s*\(", complaint.diagnostic.source_line)) and complaint.kind == "arity":
        return call[1]
    return next((n for n in complaint.names if n), "")


def signature_detail(complaint: Symptom, symbol: str) -> str:
    what = {
        "conflict": "its declaration and its definition disagree",
        "linkage": "it is static in one place and not in the other",
        "arity": "a call passes a different number of arguments than it declares",
        "argument": "a call passes an argument of a different type than it declares",
    }.get(complaint.kind, "a function of a different type than declared is passed")
    name = f"`{symbol}`" if symbol else "A function"
    notes = "; ".join(complaint.diagnostic.notes[:2])
    return f"Signature of {name}: {what}. {complaint.diagnostic.message}." + (f" ({notes})" if notes else "")
