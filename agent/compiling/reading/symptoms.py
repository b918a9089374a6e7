"""What a diagnostic complains about, whatever compiler and language it is from: the kind and the names in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from agent.compiling.reading import wording
from agent.compiling.reading.diagnostics import plain_quotes
from agent.values import Diagnostic

Kind = Literal[
    "implicit", "undeclared", "unknown_type", "incomplete", "in_parameters", "syntax", "no_file", "conflict", "linkage",
    "arity", "argument", "never_defined", "link_undefined", "link_multiple", "link_library", "redefined",
    "no_member", "label", "other",
]  # fmt: skip

_QUOTED = re.compile(r"'([^']+)'")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_TAG = re.compile(r"\b(?:struct|union|enum) ([A-Za-z_]\w*)")
_LINK_NAME = re.compile(
    r"(?:undefined reference to|undefined symbol:?|unresolved external symbol|duplicate symbol:?|multiple definition of"
    r"|unknown symbol)"
    r"\s+'?(?:__imp__?)?([A-Za-z_$.][\w$.]*)",
    re.IGNORECASE,
)
_LINK_LIBRARY = re.compile(
    r"(?:(?:cannot find|unable to find library|library not found for|could not find library|library '\S+' not found)"
    r"\s*'?(?:-l)?|(?:^|\s|')-l)([\w.+-]*)",
    re.IGNORECASE,
)
_NO_SUCH = re.compile(r"'?[\w./+-]+\.\w+'?: ")
"""How every language of gcc begins to say that an included file is not there: its name first."""
_FILE_NAME = re.compile(r"'?([\w./+-]+\.\w+)'?(?::\s|'? (?:file )?not found|: No such)")

_ENGLISH: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(text, re.IGNORECASE))  # type: ignore[misc]
    for kind, text in (
        ("implicit", r"implicit declaration of|implicitly declaring|call to undeclared"),
        ("unknown_type", r"unknown type name|must use '(?:struct|enum|union)' tag"),
        ("label", r"\blabel\b"),
        ("undeclared", r"undeclared|(?:is|was) not declared"),
        ("link_undefined", r"undefined reference to|undefined symbol|unresolved external"),
        ("link_multiple", r"multiple definition of|duplicate symbol|defined twice"),
        ("link_library", r"cannot find -l|unable to find library|library not found for|(?:^|\s|')-l[\w.+-]+'?(?:$|:|\s)"),
        ("no_file", r"no such file or directory|file not found|include file '[^']+' not found|'[^']+' file not found"),
    )
)
_SIGNATURES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("conflict", wording.CONFLICT),
    ("linkage", wording.LINKAGE),
    ("never_defined", wording.NEVER_DEFINED),
    ("arity", wording.ARITY),
    ("argument", wording.ARGUMENT),
    ("in_parameters", wording.IN_PARAMETERS),
    ("incomplete", wording.INCOMPLETE),
    ("redefined", wording.REDEFINED),
    ("no_member", wording.NO_MEMBER),
    ("syntax", wording.SYNTAX),
)
_FOREIGN: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("implicit", wording.IMPLICIT),
    ("unknown_type", wording.UNKNOWN_TYPE),
    ("label", wording.LABEL),
    ("never_defined", wording.NEVER_DEFINED),
    ("undeclared", wording.UNDECLARED),
    ("link_undefined", wording.LINK_UNDEFINED),
    ("link_multiple", wording.LINK_MULTIPLE),
    ("no_file", wording.NO_FILE),
)
_OPTIONS: dict[str, Kind] = {
    "implicit-function-declaration": "implicit",
    "builtin-declaration-mismatch": "other",
    "visibility": "in_parameters",
    "undefined-internal": "never_defined",
    "undefined-inline": "never_defined",
    "implicit-int": "syntax",
}


class Symptom(NamedTuple):
    """A complaint: its kind, the names it is about (best first; a tag as ``struct x``), and the diagnostic."""

    kind: Kind
    names: tuple[str, ...]
    diagnostic: Diagnostic

    @property
    def error(self) -> bool:
        """Whether the compiler stopped for it."""
        return self.diagnostic.severity in ("error", "fatal")


def symptom_of(diagnostic: Diagnostic) -> Symptom:
    """The complaint in one diagnostic."""
    message = plain_quotes(diagnostic.message)
    kind = _kind(_QUOTED.sub(_template, message), diagnostic.option)
    if kind == "other" and diagnostic.severity == "fatal" and _NO_SUCH.match(message):
        kind = "no_file"
    return Symptom(kind, _names(kind, message, diagnostic), diagnostic)


def symptoms(diagnostics: Iterable[Diagnostic]) -> list[Symptom]:
    """All complaints, in the order given."""
    return [symptom_of(d) for d in diagnostics if d.severity != "note"]


_TEMPLATE_WORDS = frozenset({"'struct'", "'enum'", "'union'", "'static'", "'int'"})


def _template(match: re.Match[str]) -> str:
    """A quoted name as a placeholder, so that one message form is looked at once; what forms speak of is kept."""
    quoted = match[0]
    if quoted in _TEMPLATE_WORDS:
        return quoted
    if quoted.startswith("'-l"):
        return "'-lx'"
    return "'x()'" if "(" in quoted else "'x'"


@lru_cache(maxsize=4096)
def _kind(message: str, option: str) -> Kind:
    """The kind of a message whose names are placeholders."""
    if "implicit declaration of built-in" in message:
        return "implicit"
    if (kind := _OPTIONS.get(option)) and not (
        kind == "syntax" and "type specifier" not in message and "defaults" not in message
    ):
        return kind
    for kind, pattern in _ENGLISH:
        if pattern.search(message):
            if kind == "undeclared" and "label" in message:
                return "label"
            return kind
    if not message.isascii():
        for kind, pattern in _FOREIGN:
            if pattern.search(message):
                return kind
    for kind, pattern in _SIGNATURES:
        if pattern.search(message):
            return kind
    if message.isascii():
        for kind, pattern in _FOREIGN:
            if pattern.search(message):
                return kind
    return "other"


def _names(kind: Kind, message: str, d: Diagnostic) -> tuple[str, ...]:
    if kind in ("link_undefined", "link_multiple"):
        return _link_names(message)
    if kind == "link_library":
        found = _LINK_LIBRARY.search(message)
        return (found[1],) if found and found[1] else ()
    if kind == "no_file":
        match = _FILE_NAME.search(message) or _QUOTED.search(message)
        if match:
            return (match[1],)
        included = re.search(r'#\s*include\s*[<"]([^>"]+)[>"]', d.source_line)
        return (included[1],) if included else ()
    if kind in ("incomplete", "in_parameters"):
        return _tags(message, d)
    quoted = [q for q in _QUOTED.findall(_unsuggested(message)) if _IDENTIFIER.fullmatch(q)]
    if kind == "syntax":
        return _syntax_names(message, quoted, d)
    if kind == "unknown_type" and (tag := _TAG.search(message)):
        return (f"struct {tag[1]}",)
    if message.startswith("typedef redefinition"):
        quoted = []  # clang quotes the two types; the name is where it points
    if not quoted and (caret := name_at(d.source_line, d.column)):
        quoted = [caret]
    if not quoted and (token := re.search(r"(?:function|identifier|symbol)\s+(\w+)", message)):
        quoted = [token[1]]
    return tuple(dict.fromkeys(quoted))


def _unsuggested(message: str) -> str:
    """A message without the name that the compiler proposes instead, which all its languages put behind a semicolon."""
    told, _, _ = message.partition("; ")
    return told if "'" in told else message


def _link_names(message: str) -> tuple[str, ...]:
    match = _LINK_NAME.search(message)
    name = match[1] if match else next((q for q in _QUOTED.findall(message) if re.fullmatch(r"[\w.$@]+", q)), "")
    name = re.sub(r"@+\w.*$", "", name)  # stdcall sizes and symbol versions
    return (name,) if name else ()


def _tags(message: str, d: Diagnostic) -> tuple[str, ...]:
    """The incomplete type's tag: from the message, else from the quoted source line (gcc names only the variable)."""
    tags = _TAG.findall(message)
    if not tags:
        for note in d.notes:
            tags += _TAG.findall(plain_quotes(note))
    quoted = [q for q in _QUOTED.findall(message) if _IDENTIFIER.fullmatch(q)]
    if not tags:
        for name in quoted:  # a variable or member: the tag in front of it
            tags += re.findall(rf"\b(?:struct|union|enum) ([A-Za-z_]\w*)[\s*]*\b{name}\b", d.source_line)
    if not tags and not re.search(r"typedef", message):
        tags = _TAG.findall(d.source_line)
    if tags:
        return tuple(dict.fromkeys(f"struct {t}" for t in tags))
    types: list[str] = []
    for name in quoted:
        types += re.findall(rf"\b([A-Za-z_]\w*)[\s*]+\b{name}\b", d.source_line)
    return tuple(dict.fromkeys([*re.findall(r"aka '(\w+)'", message), *quoted, *types]))


def _syntax_names(message: str, quoted: list[str], d: Diagnostic) -> tuple[str, ...]:
    """Names that may be a missing macro or type behind a syntax error: what the parser stumbled over, then its line."""
    stumbled = re.findall(r"(?:before|after|near|got) '([A-Za-z_]\w*|\*)'", message)
    line = re.sub(r'"(?:[^"\\]|\\.)*"', '""', d.source_line)
    in_front = [m[1] for t in stumbled for m in re.finditer(rf"\b([A-Za-z_]\w*)\s*{re.escape(t)}", line)]
    at = name_at(d.source_line, d.column)
    words = [t for t in stumbled if t != "*"]
    around = _IDENTIFIER.findall(line)
    return tuple(dict.fromkeys([*words, *in_front, *([at] if at else []), *quoted, *around]))


def name_at(line: str, column: int) -> str:
    """The identifier under a 1-based column."""
    if not line or column < 1 or column > len(line):
        return ""
    for match in _IDENTIFIER.finditer(line):
        if match.start() < column <= match.end():
            return match[0]
    return ""
