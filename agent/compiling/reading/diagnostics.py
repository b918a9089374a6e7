"""Compiler and linker text to diagnostics: gcc, clang, tcc, ld, gold, lld, mold, the mac linker, mingw, in any locale."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agent.compiling.reading.log_lines import is_indented_message, plain_text, without_prefixes
from agent.compiling.reading.other_compilers import in_gcc_words
from agent.compiling.reading.wording import LINK_MULTIPLE, LINK_UNDEFINED, SEVERITIES
from agent.log_text import without_escapes, without_quoting
from agent.values import Diagnostic

MAX_DIAGNOSTICS = 1000
"""More messages than this are not read: a missing header can repeat itself in every line of a large file."""

_QUOTES = str.maketrans(dict.fromkeys('‘’‚‛“”„‟`´«»‹›「」『』"＇', "'"))
_APOSTROPHE = re.compile(r"'(?<=[A-Za-z]')(?=[A-Za-zéèêà])")
HEAD = re.compile(
    r"^(?P<file>(?:[A-Za-z]:[\\/]|/(?:[^:|\n]*:[^\d\s:|/][^:|\n/]*)+/)?[^\s:|][^:|\n]*?)"
    r"(?::(?P<line>\d+)(?::(?P<column>\d+))?|\((?P<line2>\d+)(?:[,:]\s*(?P<column2>\d+))?\))\s?[:：]\s*(?P<rest>.*)$"
)
_USUAL = re.compile(
    r"(?P<file>[\w./+-]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<severity>[^\W\d_][\w ]{2,20}): (?P<message>.+)"
)
"""The form that nearly all messages have, read without trying the others."""
SEVERITY_WORD = re.compile(r"^(?P<word>[^\W\d_][^:：'\"(\[]{0,30}?)\s?[:：]\s*(?P<text>.*)$")
TOOL = re.compile(
    r"^(?:\S*[/\\])?(?:[\w.+-]*-)?(?:ld(?:\.\w+)?|ld64\.lld|lld-link|collect2|mold|cc1|gold|gcc|cc|clang|tcc|i386-tcc)(?:-[\d.]+)?(?:\.exe)?"
    r"\s?:\s+(?P<rest>.*)$"
)
_SECTION = re.compile(r"^(?P<file>[^\s(][^(\n]*?)\s?:\((?P<section>[.*][^)]*|[\w.$]+[^)\d][^)]*)\)\s?[:：]\s*(?P<rest>.*)$")
_OBJECT = re.compile(
    r"^(?P<file>\S+\.(?:o|obj|a|so|lo|c|bc)(?:\([^)]*\))?)\s?:\s*(?:function (?P<function>\S+):\s*)?(?P<rest>.+)$"
)
_OPTION = re.compile(r"\s*\[(?:-W(?:error=|error,-W)?(?P<name>[\w+=-]*)|-f\w+|-pedantic\w*)(?:,-W[\w=-]+)*\]\s*$")
_GUTTER = re.compile(r"^\s*(?P<number>\d+|\+\+\+)?\s*\|(?P<text>.*)$")
_ADDED_INCLUDE = re.compile(r"^\s*\+\s*#\s*include\s*[<\"]([^>\"]+)[>\"]")
_NOTE_INCLUDE = re.compile(
    r"#\s*include\s*[<'\"]([^>'\"]+)[>'\"]|include(?: the header)?\s+'?<([^>\s]+)>|header\s+'?<([^>\s]+)>"
)
_CARET = re.compile(r"^\s*[~^][~^\s\w*.()<>,;-]*$")
_NOISE_BEGINS = re.compile(
    r"\d+ (?:error|warning)|compilation terminated|\s*\^|\(?each undeclared identifier|for each function it appears in",
    re.IGNORECASE,
)
_NOISE_FIRST = frozenset("0123456789 ^(eEfFcC")
_EXIT_STATUS = re.compile(r"returned \d+ exit status")
_LINKER = re.compile(
    r"(?:^|\W)-l[\w.+-]+(?:\W|$)|cannot find|unable to find|not found|undefined|duplicate|could not", re.IGNORECASE
)
_REFERENCED = re.compile(r"^>>>\s*(?:referenced by|defined (?:at|in))\s+(?P<file>[^\s:()]+)(?::(?P<line>\d+))?")


def plain_quotes(text: str) -> str:
    """Every kind of quotation mark as a straight single one, without the blanks that French puts inside. An apostrophe
    within a word becomes a backtick, so that quotes still come in pairs."""
    if not text.isascii():
        text = text.replace("‘", "'").replace("’", "'")  # the usual ones; translating every letter takes ten times as long
    if text.isascii():
        if "'" not in text and "`" not in text:
            return text
        return _APOSTROPHE.sub("`", text.replace("`", "'").replace('"', "'"))
    out = _APOSTROPHE.sub("`", text.translate(_QUOTES))
    if "\u00a0" in out or "\u202f" in out or "«" in text:
        out = re.sub(r"'\s*[\u00a0\u202f ]([^']*?)[\u00a0\u202f ]'", r"'\1'", out)
    return out


def is_noise(text: str) -> bool:
    """Whether a message only counts, ends or repeats what others say."""
    if text[:1] in _NOISE_FIRST and _NOISE_BEGINS.match(text):
        return True
    if "rror" not in text and "xit" not in text and "failed" not in text:
        return False
    lower = text.lower()
    return (
        "being treated as errors" in lower
        or "linker command failed" in lower
        or "too many errors emitted" in lower
        or ("exit status" in lower and bool(_EXIT_STATUS.search(lower)))
    )


@dataclass(slots=True)
class _Draft:
    """A diagnostic under construction."""

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    option: str = ""
    source_line: str = ""
    notes: list[str] = field(default_factory=list)
    includes: list[str] = field(default_factory=list)
    link: bool = False

    def done(self) -> Diagnostic:
        return Diagnostic(
            severity=self.severity,  # type: ignore[arg-type]
            message=self.message,
            file=self.file,
            line=self.line,
            column=self.column,
            option=self.option,
            source_line=self.source_line,
            notes=tuple(self.notes),
            includes=tuple(dict.fromkeys(self.includes)),
        )


_SOURCE_ENDINGS = frozenset({"c", "h", "cc", "hh", "cpp", "hpp", "cxx", "y", "l", "inc", "def", "s"})


def parse_text(text: str) -> tuple[Diagnostic, ...]:
    """The diagnostics in compiler or linker output, in the order printed; notes are folded into the message they explain.

    Never raises: what cannot be read is left out. A linker's message has no option and often no line.
    """
    text = plain_text(without_escapes(text))
    found = _Reader(text).read()
    if any(map(_is_telling, found)):
        return tuple(d.done() for d in found)
    for seen in (plain_text(without_escapes(without_quoting(text))), without_prefixes(text)):
        if seen != text and any(map(_is_telling, again := _Reader(seen).read())):
            found = again
            break
    return tuple(d.done() for d in found)


def _is_telling(draft: _Draft) -> bool:
    """Whether a message has a place in a source file, or names what a linker misses there, and so was read with nothing in
    front of it."""
    in_source = draft.file.rpartition(".")[2].lower() in _SOURCE_ENDINGS and " " not in draft.file
    return in_source and (draft.line > 0 or bool(LINK_UNDEFINED.search(draft.message)))


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = in_gcc_words(text).split("\n")
        self.found: list[_Draft] = []
        self.target: _Draft | None = None
        self.note = False
        self.mac_undefined = False

    def read(self) -> list[_Draft]:
        for at, line in enumerate(self.lines):
            if not line:
                continue
            if line[0] == " ":
                target = self.target
                if (
                    target is not None and (self.note or target.source_line)
                    and "#" not in line and ": " not in line and not self.mac_undefined
                ) or line.isspace():  # fmt: skip
                    continue  # a caret, a proposal, a line of a note
                self._line(line, at)
            elif (usual := _USUAL.match(line)) and (severity := SEVERITIES.get(usual["severity"].lower())):
                file, number, column, _, message = usual.groups()
                self._take(severity, message, file, int(number), int(column or 0))
            elif not line.isspace():
                self._line(line, at)
            if len(self.found) >= MAX_DIAGNOSTICS:
                break
        return self.found

    def _line(self, line: str, at: int) -> None:
        first = line[0]
        if first in " \t>+":
            if not is_indented_message(line):
                self._continuation(line)
                return
            line = line.lstrip()
        if self._mac(line):
            return
        gutter = _GUTTER.match(line) if first.isdigit() or first == "|" else None
        if gutter and (gutter["number"] or not line.strip("| \t~^")):
            self._continuation(line)
            return
        match = HEAD.match(line)
        if match:
            self._located(match)
            return
        if line[-1] == ":":
            return  # where the next ones are: "main.c: In function 'f':"
        if self.target is not None and not self.target.source_line and not self.note and self._caret_follows(at):
            self.target.source_line = line
        elif tool := TOOL.match(line):
            self._tool(tool["rest"])
        elif not is_noise(line):
            self._section(line)

    def _located(self, match: re.Match[str]) -> None:
        rest = match["rest"]
        line = int(match["line"] or match["line2"] or 0)
        column = int(match["column"] or match["column2"] or 0)
        if not rest.strip():
            return  # an inclusion chain: "In file included from a.c:1:"
        file = match["file"]
        if " " in file and (inner := re.match(r"^\S*ld(?:\.\w+)?:\s*(?P<f>.+)$", file)):
            file = inner["f"]
        self._add(rest, file, line, column)

    def _tool(self, rest: str) -> None:
        if is_noise(rest):
            return
        match = HEAD.match(rest)
        if match and match["rest"].strip():
            self._located(match)
            return
        severity = SEVERITY_WORD.match(rest)
        if (severity and severity["word"].strip().lower() in SEVERITIES) or (
            not self._section(rest) and _LINKER.search(rest)
        ):
            self._add(rest, "", 0, 0)

    def _section(self, line: str) -> bool:
        match = _SECTION.match(line)
        if match:
            self._add(match["rest"], match["file"], 0, 0)
            return True
        if not line.endswith(":") and (LINK_UNDEFINED.search(line) or LINK_MULTIPLE.search(line)):
            obj = _OBJECT.match(line)
            rest = obj["rest"] if obj else line
            inner = HEAD.match(rest) or _SECTION.match(rest)
            if inner and inner["rest"].strip():
                groups = inner.groupdict()
                self._add(inner["rest"], inner["file"], int(groups.get("line") or 0), 0)
            else:
                self._add(rest, obj["file"] if obj else "", 0, 0)
            return True
        severity = SEVERITY_WORD.match(line)
        if severity and severity["word"].lower() in SEVERITIES:
            self._add(line, "", 0, 0)
            return True
        return False

    def _add(self, rest: str, file: str, line: int, column: int) -> None:
        severity, message = severity_of(rest)
        self._take(severity, message, file, line, column)

    def _take(self, severity: str, message: str, file: str, line: int, column: int) -> None:
        if is_noise(message):
            return
        option = ""
        if message.rstrip().endswith("]") and (match := _OPTION.search(message)):
            option = match["name"] or ""
            message = message[: match.start()]
        if severity == "note":
            self._add_note(message, file, line)
            return
        self.note = False
        self.target = _Draft(severity, message.strip(), file, line, column, option)
        self.found.append(self.target)

    def _add_note(self, message: str, file: str, line: int) -> None:
        self.note = True
        if self.target is None:
            return
        where = f"{file}:{line}: " if file and line else ""
        self.target.notes.append(where + message.strip())
        self.target.includes += includes_in_note(message)

    def _continuation(self, line: str) -> None:
        target = self.target
        if line.startswith(">>>"):
            if target is not None:
                target.notes.append(line.strip())
                match = _REFERENCED.match(line)
                if match and not target.file:
                    target.file, target.line = match["file"], int(match["line"] or 0)
            return
        if self.mac_undefined and (mac := re.match(r'^\s+"?(_?[\w.$]+)"?, referenced from:', line)):
            self._add(f"error: undefined symbol: {mac[1].removeprefix('_')}", "", 0, 0)
            return
        if target is None or ("#" not in line and (self.note or target.source_line)):
            return
        gutter = _GUTTER.match(line)
        if gutter:
            if added := _ADDED_INCLUDE.match(gutter["text"]):
                target.includes.append(added[1])
            elif gutter["number"] and not self.note and not target.source_line:
                target.source_line = gutter["text"].removeprefix(" ").rstrip()
            return
        if not self.note and not target.source_line and target.line and not _CARET.match(line):
            target.source_line = line.rstrip()

    def _mac(self, line: str) -> bool:
        if line.startswith(("Undefined symbols", "ld: Undefined symbols")):
            self.mac_undefined = True
            return True
        return False

    def _caret_follows(self, at: int) -> bool:
        return at + 1 < len(self.lines) and bool(_CARET.match(self.lines[at + 1])) and bool(self.lines[at + 1].strip())


def severity_of(rest: str) -> tuple[str, str]:
    word, _, text = rest.partition(": ")
    if plain := SEVERITIES.get(word):
        return plain, text.lstrip()
    match = SEVERITY_WORD.match(rest)
    if match:
        severity = SEVERITIES.get(match["word"].strip().lower())
        if severity:
            return severity, match["text"]
        if _OPTION.search(rest) and " " not in match["word"].strip():
            return ("error" if "-Werror" in rest else "warning"), match["text"]
    return "error", rest


def includes_in_note(text: str) -> list[str]:
    """The headers that a note proposes, without brackets."""
    if "include" not in text and "header" not in text:
        return []
    return [a or b or c for a, b, c in _NOTE_INCLUDE.findall(plain_quotes(text))]


_RANK = {"fatal": 0, "error": 1, "warning": 2, "note": 3}


def ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors before warnings, otherwise in the order printed."""
    return sorted(diagnostics, key=lambda d: _RANK[d.severity])


def render(diagnostics: Sequence[Diagnostic]) -> str:
    """Diagnostics as a compiler would print them, for prompts and for the raw error of structured output."""
    out = []
    for d in diagnostics:
        where = f"{d.file}:{d.line}:{d.column}: " if d.line and d.column else f"{d.file}:{d.line}: " if d.line else ""
        option = f" [-W{d.option}]" if d.option else ""
        severity = "fatal error" if d.severity == "fatal" else d.severity
        out.append(f"{where}{severity}: {d.message}{option}")
        if d.source_line:
            out.append(f"{d.line:5d} | {d.source_line}")
        out += [f"  note: {note}" for note in d.notes]
    return "\n".join(out)
