"""What keeps the grammar from reading a file and declares nothing itself: found in blanked code, to be blanked as well.

Branches that no build takes (``#if 0``), macros that stand alone on a line without a semicolon, macros that are wrapped
around a declaration, directives and macro calls among enumerators, and the words with which Windows headers mark functions
and parameters. Everything here is one pass; offsets are bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from agent.language.lexical import blank_bytes

Span = tuple[int, int]

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(\w*)[ \t]*((?:[^\n\\]|\\\r?\n|\\.)*)\n?", re.M)
_MACRO = rb"[A-Z_][A-Z0-9_]{2,}"
_CALL = re.compile(rb"[A-Z_](?<!\w\w)[A-Z0-9_]{2,}+[ \t]*\(")
_SPECIFIERS = re.compile(rb"[ \t]*(?:(?:static|extern|inline|const)[ \t]+)*")
_HEAD = re.compile(rb"\s*(?P<head>(?:[A-Za-z_]\w*[\s*]+)+(?!if\b|for\b|while\b|switch\b)[A-Za-z_]\w*\s*)\(")
_BEGINS = re.compile(rb"\s*(?:[A-Za-z_#]|\Z)")
_ENUM = re.compile(rb"enum\b(?<!\wenum)(?:\s+[A-Za-z_]\w*)*\s*\{")
_AGGREGATE = re.compile(rb"(?:struct|union)\b(?<!\wstruct)(?<!\wunion)(?:\s+[A-Za-z_]\w*)*\s*\{")
_FIELD_MACRO = re.compile(rb"^[ \t]*(?P<macro>" + _MACRO + rb")[ \t\r]*$", re.M)
_ENUMERATOR = re.compile(
    rb"[\s,]*(?P<whole>(?P<name>[A-Za-z_]\w*)[^,(){}]*(?:\((?:[^()]|\([^()]*\))*\)[^,(){}]*)*)(?:,|\Z)?"
)
_ENTRY = re.compile(rb"^[ \t]*#(?P<directive>(?:[^\n\\]|\\\r?\n|\\)*)|(?P<call>[A-Za-z_]\w*)\s*\(", re.M)
_COMMA = re.compile(rb"\s*,")
_NEAR = 80
"""Bytes before a macro call among which the comma or the line break before it is looked for."""

_ANNOTATION = re.compile(
    rb"\b(?:(?:WINAPI|CALLBACK|APIENTRY|PASCAL|NTAPI|STDMETHODCALLTYPE|WINAPIV|__stdcall|__cdecl|__fastcall|__vectorcall)\b"
    rb"|_(?:In|Out|Inout|Outptr|Reserved|Pre|Post|Ret|Field|Deref|Null|Notnull|Printf)\w*_\b(?:\([^()\n]*\))?)"
)
_NUMBERS = re.compile(rb"\([ \t]*\d+[ \t]*(?:,[ \t]*\d+[ \t]*)*\)[ \t]+(?=[A-Za-z_*])")
_NAMED = re.compile(rb"\b[a-z_]\w*[ \t]*\Z")
_LONGEST = 200
"""Bytes of the longest name that is looked for before a bracket."""


_BRACKET = re.compile(rb"[(){}]")
_OPENED_BY, _BRACE = {ord(")"): ord("("), ord("}"): ord("{")}, ord("{")
_ALONE = re.compile(rb"[ \t]*(?:static[ \t]+)?" + _MACRO + rb"[ \t]*\([^\n{};]*\)[ \t\r]*$", re.M)
_ENDS = re.compile(rb"\)[ \t\r]*$", re.M)


def misleads(plain: bytes) -> bool:
    """Whether the grammar may read a macro line as the head of the next declaration without a complaint."""
    return any(_ALONE.match(plain, plain.rfind(b"\n", 0, end.start()) + 1) for end in _ENDS.finditer(plain))


def dead_branches(code: bytes) -> list[Span]:
    """The lines of ``#if 0`` up to its ``#else`` or ``#endif``, and those of the other branches of ``#if 1``, the directives
    left out."""
    spans: list[Span] = []
    levels: list[tuple[bool | None, int]] = []  # what the first condition says, and where a dead branch began (-1: none)
    for match in _DIRECTIVE.finditer(code):
        word, condition = match.group(1), match.group(2).strip()
        if word in (b"if", b"ifdef", b"ifndef"):
            known = {b"0": False, b"1": True}.get(condition) if word == b"if" else None
            levels.append((known, match.end() if known is False else -1))
        elif levels and word.startswith(b"el"):
            known, began = levels[-1]
            if began >= 0:
                spans.append((began, match.start()))
            levels[-1] = (known, match.end() if known is True else -1)
            if known is False and word != b"else":
                levels[-1] = (None, -1)
        elif levels and word == b"endif":
            _, began = levels.pop()
            if began >= 0:
                spans.append((began, match.start()))
    return _merged(spans)


def hindrances(code: bytes, plain: bytes) -> tuple[list[Span], dict[int, int]]:
    """The spans to blank, and for each declaration in a macro's brackets the offset of the declaration to that of the
    macro. ``plain`` is ``code`` with its directives blanked."""
    pairs = _Brackets(plain)
    spans: list[Span] = [match.span() for match in _ANNOTATION.finditer(plain)]
    spans += _marks(plain)
    wrapped: dict[int, int] = {}
    for begin, name, bracket in _calls(plain):
        close = pairs.close(bracket)
        if close < 0:
            continue
        inside, after = bracket + 1, close + 1
        head = _HEAD.match(plain, inside, close)
        follows = plain[after : after + 200].lstrip()[:1]
        whole = head is not None and _is_last(plain, pairs.close(head.end() - 1), close)
        if head and whole and follows in (b"{", b";"):
            spans += [(name, inside), (close, after)]
            wrapped[head.start("head")] = name
        elif _stands_alone(code, after):
            spans.append((begin, after))
    for begin, end in _bodies(_ENUM, plain, pairs):
        spans += _in_enumeration(code, begin, end, pairs)
    for begin, end in _bodies(_AGGREGATE, plain, pairs):
        spans += _lists_of_fields(plain, begin, end)
    return _merged(spans), wrapped


def _marks(plain: bytes) -> Iterator[Span]:
    """Calls of lower-case macros with nothing but numbers before a declarator. Their brackets are looked for first: they are
    rare, and names are not."""
    for match in _NUMBERS.finditer(plain):
        if name := _NAMED.search(plain, max(0, match.start() - _LONGEST), match.start()):
            yield name.start(), match.end()


def _calls(plain: bytes) -> Iterator[tuple[int, int, int]]:
    """(begin of the line, the macro, its bracket) of every line that begins with the call of a macro."""
    line_end = -1
    for match in _CALL.finditer(plain):
        start = match.start()
        if start > line_end:
            begin, line_end = plain.rfind(b"\n", 0, start) + 1, plain.find(b"\n", start)
            line_end = len(plain) if line_end < 0 else line_end
            if _SPECIFIERS.fullmatch(plain, begin, start):
                yield begin, start, match.end() - 1


def blanked_at(text: bytes, spans: Sequence[Span]) -> bytes:
    """``text`` with ``spans`` as spaces, line breaks kept."""
    out = bytearray(text)
    for start, end in spans:
        out[start:end] = blank_bytes(text[start:end])
    return bytes(out)


def _is_last(code: bytes, inner: int, outer: int) -> bool:
    """Whether nothing stands between a bracket and the one around it."""
    return 0 < inner < outer and not code[inner + 1 : outer].strip()


def _stands_alone(code: bytes, after: int) -> bool:
    """Whether a macro call that ends at ``after`` ends its line, and what follows begins a declaration of its own."""
    line_end = code.find(b"\n", after)
    rest = code[after:] if line_end < 0 else code[after:line_end]
    return not rest.strip() and (line_end < 0 or _BEGINS.match(code, line_end) is not None)


def enumerators(code: bytes) -> Iterator[tuple[bytes, int, int]]:
    """(name, start, end) of every enumerator of every enumeration, in functions too; ``code`` is without its hindrances."""
    pairs = _Brackets(code)
    for begin, end in _bodies(_ENUM, code, pairs):
        at = begin
        while match := _ENUMERATOR.match(code, at, end):
            yield match["name"], match.start("name"), match.end("whole")
            at = match.end()


def _bodies(opening: re.Pattern[bytes], code: bytes, pairs: _Brackets) -> Iterator[Span]:
    """The outermost bodies in braces that ``opening`` begins, without the braces."""
    last = -1
    for match in opening.finditer(code):
        close = pairs.close(match.end() - 1)
        if close > 0 and match.start() > last:
            last = close
            yield match.end(), close


def _lists_of_fields(code: bytes, begin: int, end: int) -> list[Span]:
    """Macros that stand for fields, alone on their lines: ``UV_HANDLE_FIELDS``."""
    spans: list[Span] = []
    for match in _FIELD_MACRO.finditer(code, begin, end):
        before = code[max(begin - 1, match.start() - _NEAR) : match.start()].rstrip()
        if before[-1:] in (b";", b"{", b"}", b"") or (spans and not code[spans[-1][1] : match.start()].strip()):
            spans.append(match.span("macro"))
    return spans


def _in_enumeration(code: bytes, begin: int, end: int, pairs: _Brackets) -> list[Span]:
    """Directives and calls of macros that list entries, which stand where an enumerator would."""
    spans = []
    for match in _ENTRY.finditer(code, begin, end):
        if match["call"] is None:
            spans.append(match.span())
            continue
        start, close = match.start(), pairs.close(match.end() - 1)
        before = code[max(begin - 1, start - _NEAR) : start]
        starts = before.rstrip()[-1:] in (b",", b"{", b")", b"") or not before.rpartition(b"\n")[2].strip()
        if starts and 0 < close < end:
            comma = _COMMA.match(code, close + 1, end)
            spans.append((start, comma.end() if comma else close + 1))
    return spans


class _Brackets:
    """Where opening brackets of a code are closed. A bracket that is asked about is read up to its end, and the brackets
    inside it are remembered: to ask in ascending order reads nothing twice."""

    def __init__(self, code: bytes) -> None:
        self._code = code
        self._closed: dict[int, int] = {}

    def close(self, opening: int) -> int:
        """The offset of the bracket that closes the one at ``opening``, -1 when there is none."""
        if opening not in self._closed:
            self._read(opening)
        return self._closed[opening]

    def _read(self, opening: int) -> None:
        code, closed = self._code, self._closed
        waiting: list[int] = []
        for match in _BRACKET.finditer(code, opening):
            at = match.start()
            opened = _OPENED_BY.get(code[at])
            if opened is None:
                waiting.append(at)
                continue
            if opened == _BRACE:
                while waiting and code[waiting[-1]] != opened:
                    closed[waiting.pop()] = -1  # an unclosed parenthesis ends with its block
            if waiting and code[waiting[-1]] == opened:
                closed[waiting.pop()] = at
            if not waiting:
                return
        closed.update(dict.fromkeys(waiting, -1))


def _merged(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], end)
        elif end > start:
            out.append((start, end))
    return out


def within(spans: Sequence[Span], offset: int) -> bool:
    """Whether ``offset`` lies in one of the sorted ``spans``."""
    index = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    return index >= 0 and offset < spans[index][1]
