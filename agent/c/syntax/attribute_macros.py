"""Macros around declarations, blanked where they keep the grammar from seeing a function.

``int log_to(const char *format, ...) PRINTF_LIKE(1, 2);`` is one function to a compiler and none to a parser that does not
know the macro. Such words are attributes by convention: in capitals, after the parameters, before a plain type, or alone
on a line. Blanks take their place, so that every offset stays what it was. So it goes for the parameter types of functions
in the oldest style, ``int add(a, b) int a, b; {``, which the grammar takes for declarations of their own.
"""

from __future__ import annotations

import re

_WORD = rb"\b(?![A-Z0-9_]*(?:STATIC|INLINE))[A-Z_][A-Z0-9_]{2,}\b"
_ARGUMENTS = rb"(?:[ \t]*\((?:[^()\n]|\([^()\n]*\))*\))?"
_TYPE = (
    rb"(?:const|volatile|unsigned|signed|int|char|void|short|long|float|double|struct|union|enum|static|extern|inline"
    rb"|_Bool|bool|size_t)\b"
)
_AFTER = re.compile(rb"\)(?P<macros>(?:\s*" + _WORD + _ARGUMENTS + rb"){1,6})(?=\s*[;{])")
_BEFORE = re.compile(
    rb"^[ \t]*(?P<macros>(?:" + _WORD + _ARGUMENTS + rb"[ \t]+)+)(?=" + _TYPE + rb"|[a-z_]\w*[ \t*]+\w+[ \t]*\()", re.M
)
_ALONE = re.compile(rb"^[ \t]*(?P<macros>" + _WORD + _ARGUMENTS + rb")[ \t]*$(?!\s*\w+[ \t]*\()", re.M)
_IN_BRACKETS = re.compile(
    rb"^(?P<head>(?:" + _WORD + rb"[ \t]+)?[A-Za-z_][\w \t]*(?:\w[ \t]+|\*[ \t]*))"
    rb"\((?P<name>[ \t]*[A-Za-z_]\w*[ \t]*)\)(?=[ \t]*\()",
    re.M,
)


_OLD_STYLE = re.compile(
    rb"^[A-Za-z_][\w \t*]*\([ \t]*\w+(?:[ \t]*,\s*\w+)*[ \t]*\)"
    rb"(?P<macros>(?:\s*[A-Za-z_][\w \t*,\[\]()]*;)+)(?=\s*\{)",
    re.M,
)


def misleads(source: bytes) -> bool:
    """Whether the grammar reads a declaration wrongly without a complaint: ``MACRO type (name)(int a);``, whose name it
    takes to be ``type``, or a definition in the oldest style."""
    return _IN_BRACKETS.search(source) is not None or _OLD_STYLE.search(source) is not None


def without_macros(source: bytes) -> bytes:
    """``source``, as long as before, with attribute-like macros of declarations turned to blanks."""
    source = _IN_BRACKETS.sub(rb"\g<head> \g<name> ", source)
    for pattern in (_AFTER, _BEFORE, _ALONE, _OLD_STYLE):
        source = pattern.sub(_blanked, source)
    return source


def _blanked(match: re.Match[bytes]) -> bytes:
    start, end = (place - match.start() for place in match.span("macros"))
    whole = match[0]
    return whole[:start] + re.sub(rb"\S", b" ", whole[start:end]) + whole[end:]
