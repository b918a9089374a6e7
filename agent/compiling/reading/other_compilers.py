"""Messages of compilers that are neither gcc nor clang, in gcc's words: one reader then serves for all.

Forms: EDG front ends (TI, armcc, icc, pgcc, nvc, Renesas), IAR, Keil C51, MSVC, Open Watcom, Borland, SDCC, XC8, Cosmic,
cc65, Oracle Studio, IBM XL, and Vim's list of errors (``:help quickfix-window``).
Each is taken from the vendor's manual or from logs in public issues.
"""

from __future__ import annotations

import re

from agent.log_text import holds_any

_SIGNS_BESIDE_GCC = ('", line ', "): error", "): warning", "): Error: ", ": error: (")
"""Pieces of text that gcc and clang do not print and another compiler does in a form that looks like theirs."""
_SIGNS = (
    '", line ', "rror[", " IN LINE ", "PGC-", "NVC", "#error cp", ": error ", ": warning ", ": remark ", "! E", "! W",
    ": syntax error: ", ") : ", "):E0", "):F0", "Error E", "Warning W", " error|", " warning|",
)  # fmt: skip
"""Such pieces in a text that holds no message of gcc or clang."""
_SEVERITY = r"(?P<severity>(?:fatal |catastrophic )?error|warning|remark)"
_NUMBER = r"(?:\s?\[\w+\]|\s?#?[A-Z]{0,3}\d+(?:-[DE])?)?"
_COLUMN = r"(?:\.\d+| \(col(?:umn|\.)? \d+\))?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf'^"(?P<file>[^"]+)", line (?P<line>\d+){_COLUMN}:\s*{_SEVERITY}{_NUMBER}\s*:\s*(?:#\d+(?:-[DE])?:\s*)?'
        r"(?P<text>.*)$",
        rf'^"(?P<file>[^"]+)", line (?P<line>\d+){_COLUMN}:\s*(?:\d{{4}}-\d{{3}}\w?\s+\((?P<letter>[SEUWI])\)\s*)?'
        r"(?P<text>.*)$",
        rf'^"(?P<file>[^"]+)",(?P<line>\d+)\s+{_SEVERITY}\[\w+\]:\s*(?P<text>.*)$',
        r"^\*\*\* (?P<severity>(?:fatal )?error|warning) C\d+ IN LINE (?P<line>\d+) OF (?P<file>[^:]+): (?P<text>.*)$",
        r"^(?P<severity>error|warning|fatal) [EWF]\d+ (?P<file>\S+) (?P<line>\d+): (?P<text>.*)$",
        r"^(?P<file>[^\s(\"]+)\((?P<line>\d+)\): (?P<severity>error|warning)! [EW]\d+: (?P<text>.*)$",
        rf"^(?P<file>[^\s(\"]+)\((?P<line>\d+)(?:,\d+)?\)\s?:\s*{_SEVERITY}{_NUMBER}\s*:\s*(?P<text>.*)$",
        rf"^(?P<file>[^\s:\"]+):(?P<line>\d+): {_SEVERITY} \d+: (?P<text>.*)$",
        r"^(?P<file>[^\s:\"]+):(?P<line>\d+)(?::\d*)?: (?P<severity>error|warning): \(\d+\) (?P<text>.*)$",
        r"^(?P<file>[^\s:\"]+):(?P<line>\d+): (?P<text>syntax error: .*)$",
        r"^(?P<file>[^\s|\"]+)\|(?P<line>\d+)(?: col \d+)?[^|]*? (?P<severity>error|warning)\|\s*(?P<text>.*)$",
        r"^#(?P<severity>error|warning) cp\w+ (?P<file>[^\s:]+):(?P<line>\d+)(?:\(\d+\+?\))? (?P<text>.*)$",
        r"^(?P<file>[^\s:(\"]+)\((?P<line>\d+)\):(?P<letter>[EFW])\d{7}:(?P<text>.*)$",
        r"^(?:PGC|NVC(?:\+\+)?)-(?P<letter>[SWIF])-\d+-(?P<text>.*) \((?P<file>[^:()]+): (?P<line>\d+)\)$",
    )
)
_Q = r"[\"'`‘]?(?P<name>[A-Za-z_]\w*)[\"'’]?"
_IMPLICIT, _UNDECLARED = "implicit declaration of function '{}'", "'{}' undeclared"
_UNDEFINED = "invalid use of undefined type 'struct {}'"
_WORDS = tuple(
    (re.compile(pattern.replace("NAME", _Q), re.IGNORECASE), words)
    for pattern, words in (
        (r"function NAME (?:declared implicit\w*|(?:used )?implicit(?:ly)? declar\w+)", _IMPLICIT),
        (r"implicit function declaration:? NAME", _IMPLICIT),
        (r"^NAME:? undefined; assuming extern returning", _IMPLICIT),
        (r"^NAME\s?: missing function.prototype", _IMPLICIT),
        (r"prototype (?:found|given) for (?:function )?NAME", _IMPLICIT),
        (r"Call to function NAME with no prototype", _IMPLICIT),
        (r"^syntax error\s?: identifier NAME", "unknown type name '{}'"),
        (r"(?:uses|of|specifies) undefined (?:struct|union|class|type)(?:/union)? NAME", _UNDEFINED),
        (r"identifier NAME is undefined", _UNDECLARED),
        (r"^NAME\s?: (?:undeclared|undefined) identifier", _UNDECLARED),
        (r"(?:undefined|undeclared) (?:identifier|symbol|variable):? NAME", _UNDECLARED),
        (r"^NAME undefined$", _UNDECLARED),
        (r"^Illegal use of symbol, NAME$", _UNDECLARED),
        (r"^Symbol NAME has not been declared", _UNDECLARED),
        (r"^NAME\s?: redefinition; different", "conflicting types for '{}'"),
        (r"declaration is incompatible with \"[^\"(]*\bNAME\s*\(", "conflicting types for '{}'"),
        (r"^NAME\s?: too few (?:arguments|actual parameters)", "too few arguments to function '{}'"),
        (r"^NAME\s?: too many (?:arguments|actual parameters)", "too many arguments to function '{}'"),
    )
)
_NO_FILE = re.compile(
    r"(?:can(?:no|')t|could not|unable to) (?:open|find)[^\"']*[\"'](?P<file>[\w./+-]+)[\"']", re.IGNORECASE
)


def in_gcc_words(text: str) -> str:
    """``text`` with the lines of other compilers as gcc would print them; the same text where there are none."""
    signs = _SIGNS_BESIDE_GCC if ": error: " in text or ": warning: " in text else _SIGNS + _SIGNS_BESIDE_GCC
    if not holds_any(text, signs):
        return text
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    for form in _FORMS:
        if match := form.match(line.rstrip()):
            groups = match.groupdict()
            said = groups.get("severity") or ("warning" if (groups.get("letter") or "S").upper() in "WI" else "error")
            said = said.lower().replace("catastrophic", "fatal").replace("remark", "warning")
            said = "fatal error" if said == "fatal" else said
            message = match["text"].strip()
            if groups.get("severity") is None and groups.get("letter") is None and message.startswith("warning:"):
                said, message = "warning", message[8:].strip()
            return f"{match['file']}:{match['line']}: {said}: {_message(message)}"
    return line


def _message(message: str) -> str:
    if missing := _NO_FILE.search(message):
        return f"{missing['file']}: No such file or directory"
    for pattern, words in _WORDS:
        if match := pattern.search(message):
            return words.format(match["name"])
    return message
