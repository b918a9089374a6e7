"""Which names a piece of C declares: a scanner of top-level declarations that steps over what it cannot read.

It reads preprocessed system headers and plain project files alike, at some 13 MB a second of processor time, and never
fails: the worst that odd text can do is to hide a name. The syntax tree's reader (``agent/c/symbols``) finds the same
functions and types in 310 kB of preprocessed glibc headers and takes seven times as long, too long for every file that a
classification of 0.1 ms may look at. What it finds and this does not is a declaration behind a macro call without a
semicolon; ``project_names`` looks for such a function by its words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agent.c.declarations.declarators import KEYWORDS, declared_name, split_declarators
from agent.c.preprocessor.comments import mask

_TOKEN = re.compile(r"[A-Za-z_$][\w$]*|[{}()\[\];,=*:]|\.\.\.|\d[\w.]*|[^\s\w]")
_DIRECTIVE_LINE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\)*", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_NOISE = frozenset(
    [
        "__attribute__",
        "__attribute",
        "__asm__",
        "__asm",
        "asm",
        "__declspec",
        "_Alignas",
        "alignas",
        "__typeof__",
        "typeof",
        "__typeof",
    ]
)
_SKIPPED = frozenset(
    [
        "__extension__",
        "__restrict",
        "__restrict__",
        "restrict",
        "__inline",
        "__inline__",
        "__const",
        "__volatile__",
        "__cdecl",
    ]
)


_TAGGED = ("struct", "union", "enum")
_TELLING = _NOISE | _SKIPPED | {";", "{", "}"}


@dataclass(slots=True)
class Declared:
    """Names by what they are. ``functions`` maps to whether a body was seen; ``prototypes`` to the text of the head."""

    functions: dict[str, bool] = field(default_factory=dict)
    prototypes: dict[str, str] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)
    extern_variables: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    declared_tags: set[str] = field(default_factory=set)
    enumerators: set[str] = field(default_factory=set)
    macros: set[str] = field(default_factory=set)
    statics: set[str] = field(default_factory=set)
    inlines: set[str] = field(default_factory=set)

    def names(self) -> set[str]:
        """Everything that can be used without a tag keyword."""
        return self.functions.keys() | self.variables | self.types | self.enumerators | self.macros

    def has(self, name: str) -> bool:
        """Whether ``name`` is one of ``names()``."""
        return (
            name in self.functions
            or name in self.variables
            or name in self.types
            or name in self.enumerators
            or name in self.macros
        )

    def defines(self, name: str) -> bool:
        """Whether ``name`` is a function with a body or a variable that is more than an ``extern`` declaration."""
        return self.functions.get(name, False) or (name in self.variables and name not in self.extern_variables)

    def update(self, other: Declared) -> None:
        """Add all names of another piece."""
        for name, body in other.functions.items():
            self.functions[name] = self.functions.get(name, False) or body
        for key, head in other.prototypes.items():
            self.prototypes.setdefault(key, head)
        for own, theirs in zip(self._sets(), other._sets(), strict=True):
            own |= theirs
        self.extern_variables -= {n for n in other.variables if n not in other.extern_variables}

    def _sets(self) -> tuple[set[str], ...]:
        return (
            self.variables, self.extern_variables, self.types, self.tags, self.declared_tags, self.enumerators,
            self.macros, self.statics, self.inlines,
        )  # fmt: skip


def scan(text: str, *, masked: bool = False) -> Declared:
    """The names that ``text`` declares at file scope, macros included. ``masked``: comments and literals are blank."""
    code = text if masked else mask(text)
    found = Declared()
    found.macros.update(_DEFINE.findall(code))
    tokens = _TOKEN.findall(_DIRECTIVE_LINE.sub("", code))
    _Scanner(tokens, found).run()
    return found


class _Scanner:
    """Walks the token list, cutting it into external declarations."""

    def __init__(self, tokens: list[str], found: Declared) -> None:
        self.tokens, self.found, self.at = tokens, found, 0

    def run(self) -> None:
        tokens, count = self.tokens, len(self.tokens)
        while self.at < count:
            token = tokens[self.at]
            if token in (";", "}"):
                self.at += 1
            elif (
                token == "extern"
                and tokens[self.at + 1 : self.at + 3] == ['"', '"']
                and tokens[self.at + 3 : self.at + 4] == ["{"]
            ):
                self.at += 4  # extern "C" { … }: its insides are file scope
            else:
                self._declaration()

    def _declaration(self) -> None:
        """One declaration: collect its tokens without attributes and bodies, then read the declarators."""
        tokens, count = self.tokens, len(self.tokens)
        kept: list[str] = []
        body = False
        while self.at < count:
            token = tokens[self.at]
            if token not in _TELLING:
                kept.append(token)
                self.at += 1
                continue
            if token == ";":
                self.at += 1
                break
            if token in _NOISE:
                self.at += 1
                if self.at < count and tokens[self.at] == "(":
                    self.at = self._close(self.at, "(", ")")
                continue
            if token in _SKIPPED:
                self.at += 1
                continue
            if token == "{":
                start, self.at = self.at, self._close(self.at, "{", "}")
                if self._is_aggregate(kept):
                    self._aggregate(kept, start + 1, self.at - 1)
                    kept.append("{}")
                    continue
                if "=" in kept:
                    kept.append("{}")
                    continue
                body = True
                break
            self.at += 1  # a stray "}"
            break
        if kept:
            self._declarators(kept, body)

    def _close(self, at: int, opening: str, closing: str) -> int:
        """The index after the bracket that closes the one at ``at``."""
        tokens, depth = self.tokens, 0
        try:
            while True:
                end = tokens.index(closing, at)
                depth += tokens[at:end].count(opening) - 1
                at = end + 1
                if depth == 0:
                    return at
        except ValueError:
            return len(tokens)

    @staticmethod
    def _is_aggregate(kept: list[str]) -> bool:
        """Whether a ``{`` after ``kept`` opens a struct, union or enum rather than a function body."""
        tail = kept[-2:]
        return bool(tail) and (tail[-1] in ("struct", "union", "enum") or tail[0] in ("struct", "union", "enum"))

    def _aggregate(self, kept: list[str], start: int, end: int) -> None:
        keyword, tag = (kept[-2], kept[-1]) if kept[-1] not in ("struct", "union", "enum") else (kept[-1], "")
        if tag:
            self.found.tags.add(tag)
        inside = self.tokens[start:end]
        if keyword == "enum":
            depth, previous = 0, ","
            for token in inside:
                if token in "([{":
                    depth += 1
                elif token in ")]}":
                    depth -= 1
                elif depth == 0 and previous == "," and (token[0].isalpha() or token[0] == "_"):
                    self.found.enumerators.add(token)
                previous = token
            return
        for place, token in enumerate(inside[:-2]):  # nested tags are visible outside
            if token in ("struct", "union", "enum") and inside[place + 2] == "{":
                self.found.tags.add(inside[place + 1])

    def _declarators(self, kept: list[str], body: bool) -> None:
        found = self.found
        if any(word in kept for word in _TAGGED):
            for place, token in enumerate(kept[:-1]):
                if token in _TAGGED and kept[place + 1] not in ("{}", "{"):
                    found.declared_tags.add(kept[place + 1])
        typedef = "typedef" in kept
        static, extern = "static" in kept, "extern" in kept
        for index, piece in enumerate(split_declarators(kept)):
            name, function = declared_name(piece, first=index == 0)
            if not name or name in KEYWORDS:
                continue
            if typedef:
                found.types.add(name)
            elif function:
                found.functions[name] = found.functions.get(name, False) or body
                if body or name not in found.prototypes:
                    found.prototypes.setdefault(("=" if body else "") + name, " ".join(piece))
            else:
                found.variables.add(name)
                initialised = "=" in piece
                if extern and not initialised and name not in found.extern_variables:
                    found.extern_variables.add(name)
            if static:
                found.statics.add(name)
            if "inline" in kept:
                found.inlines.add(name)
