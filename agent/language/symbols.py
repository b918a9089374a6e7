"""What a language's parser tells about one file. One module a language beside this one."""

from __future__ import annotations

from typing import Literal

import msgspec

SymbolKind = Literal[
    "function", "prototype", "method", "class", "property", "struct", "union", "enum", "typedef", "macro", "global",
    "constant", "enumerator",
]  # fmt: skip


class Symbol(msgspec.Struct, frozen=True, omit_defaults=True):
    """A named thing in a source file.

    ``start``/``end`` are byte offsets of the whole definition (without its doc comment), ``body_start``/``body_end``
    those of a function's body including braces (C) or its indented suite (Python), -1 when it has none. ``line`` and
    ``end_line`` are 1-based and inclusive. ``signature`` is one line of text without the body; ``doc`` the comment or
    docstring without its markers; ``doc_start`` where that comment begins, or -1. ``parent`` is the enclosing class or
    struct.
    """

    name: str
    kind: SymbolKind
    line: int
    end_line: int
    start: int
    end: int
    signature: str = ""
    doc: str = ""
    parent: str = ""
    body_start: int = -1
    body_end: int = -1
    doc_start: int = -1
    static: bool = False

    @property
    def qualified(self) -> str:
        """``Parent.name`` or ``name``."""
        return f"{self.parent}.{self.name}" if self.parent else self.name


class Reference(msgspec.Struct, frozen=True, omit_defaults=True):
    """A use of a name: ``source`` is the qualified name of the enclosing symbol ("" at top level), ``target`` the name.

    An import's ``target`` is the dotted name as written, leading dots kept (``..pkg.name``, ``pkg.*``), ``alias`` the
    name it is bound to. ``system`` marks an include in angle brackets. ``line`` is 1-based, 0 for a call or another use.
    """

    kind: Literal["call", "use", "include", "import"]
    target: str
    line: int
    source: str = ""
    system: bool = False
    alias: str = ""


class ParsedFile(msgspec.Struct, frozen=True):
    """Everything a parser found in one file. ``errors`` counts syntax errors that were stepped over."""

    language: str
    symbols: tuple[Symbol, ...]
    references: tuple[Reference, ...] = ()
    doc: str = ""
    errors: int = 0
