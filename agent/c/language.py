"""C as the engine asks for it (:class:`agent.language.base.Language`)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from agent.c.declarations.signature import definition_head
from agent.c.equality import same_code
from agent.c.files import HEADER_SUFFIXES, SOURCE_SUFFIXES, counterpart, is_header, is_source
from agent.c.ownership import freed_results
from agent.c.preprocessor.include_paths import include_paths, is_build_file
from agent.c.preprocessor.include_resolution import IncludeResolver
from agent.c.symbols.reader import parse
from agent.c.syntax.tree import parse_c
from agent.c.writing import tests_in_file
from agent.c.writing.documentation import public_names, uncommented, with_comment
from agent.c.writing.replacement import add, definition_in, replace
from agent.c.writing.stubs import find_stubs
from agent.language.base import Role
from agent.language.stubs import Stub
from agent.language.symbols import Symbol, SymbolKind

_INCLUDE_LINE = re.compile(r"^\s*#\s*include\b.*$", re.MULTILINE)


class C:
    """C: sources, which are compiled one by one, and headers. What only a compiler can tell is left to it."""

    name = "c"
    title = "C"
    suffixes = (*SOURCE_SUFFIXES, *HEADER_SUFFIXES)
    tests = tests_in_file
    linked = True
    line_comment = "//"
    acting_nodes = frozenset(("call_expression", "assignment_expression", "update_expression", "init_declarator",
                              "for_statement", "while_statement", "do_statement"))  # fmt: skip
    beyond = ("\nint main(",)

    is_build_file = staticmethod(is_build_file)
    search_folders = staticmethod(include_paths)
    resolver = staticmethod(IncludeResolver)
    parse = staticmethod(parse)
    tree = staticmethod(parse_c)
    public_names = staticmethod(public_names)
    same_code = staticmethod(same_code)
    counterpart = staticmethod(counterpart)
    replace = staticmethod(replace)
    definition_in = staticmethod(definition_in)
    add = staticmethod(add)
    uncommented = staticmethod(uncommented)
    with_comment = staticmethod(with_comment)

    def role(self, path: str) -> Role:
        """A ``.c`` file is a unit, a header an interface."""
        return "unit" if is_source(path) else "interface" if is_header(path) else ""

    def hands_on(self, path: str) -> bool:
        """What a header includes is seen by those who include it."""
        del path
        return True

    def is_private(self, symbol: Symbol) -> bool:
        """What is ``static`` stays in its file."""
        return symbol.static

    def is_local(self, kind: SymbolKind, start: int, source: bytes) -> bool:
        """Only what stands at file scope is found."""
        del kind, start, source
        return False

    def declared_encoding(self, source: bytes) -> str:
        """C has no such declaration."""
        del source
        return ""

    def reference_lines(self, text: str) -> list[str]:
        """The include lines."""
        return [match.group().strip() for match in _INCLUDE_LINE.finditer(text)]

    def stubs(self, source: bytes, tested: Collection[str] = ()) -> list[Stub]:
        """Functions whose body says that it is none."""
        return [
            Stub(one.name, one.line, source.count(b"\n", 0, one.end) + 1, definition_head(one), one.doc)
            for one in find_stubs(source)
        ]

    def syntax_problem(self, source: bytes) -> str:
        """The compiler tells."""
        del source
        return ""

    def undefined_names(self, source: bytes) -> set[str]:
        """The compiler tells."""
        del source
        return set()

    def freed_results(self, source: bytes) -> frozenset[str]:
        """See :func:`agent.c.ownership.freed_results`."""
        return freed_results(source)

    def without_slips(self, source: bytes, name: str, callers: Collection[bytes] = ()) -> tuple[bytes, tuple[str, ...]]:
        """The compiler tells of them."""
        del name, callers
        return source, ()

    def with_imports(self, source: bytes, names: Iterable[str]) -> tuple[bytes, tuple[str, ...]]:
        """Includes are put in where the compiler misses them."""
        del names
        return source, ()

    def heads_after(self, source: str, name: str) -> tuple[str, ...]:
        """A function is asked for by its prototype: a model sees no others to go on with."""
        del source, name
        return ()

    def without_body(self, code: str) -> str:
        """A C function is asked for by its head and contract alone from the start."""
        del code
        return ""
