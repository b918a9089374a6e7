"""What the engine asks of a language that it can read. A package a language answers; ``agent/languages.py`` lists them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec
import tree_sitter

from agent.language.stubs import Stub
from agent.language.symbols import ParsedFile, Symbol, SymbolKind

WIDTH = 100
"""Characters of a line of a comment that is written."""

Role = Literal["unit", "interface", "module", ""]
"""What a file is: a *unit* is compiled by itself, an *interface* declares what units define (a header), a *module* is both
in one and needs no compiler; "" is not code that anybody writes."""


ENDLESS = "it does not end"
"""What a test says that runs by itself and does not end."""

ALONE_SECONDS = 2
"""Seconds that a test by itself may take where the environment does not say."""

AFTER_ENDLESS = 300_000
"""Microseconds that it may take once another one did not end, since the version is wrong anyway."""

TEST_LIMIT = "CRA_TEST_LIMIT"
"""The environment variable that holds the microseconds after which such a test is ended, fewer than a million."""


TEST_SECONDS = "CRA_TEST_SECONDS"
"""The environment variable that holds the seconds of a test that is not compiled: it may be slow and right."""


class Uncommented(msgspec.Struct, frozen=True):
    """A public symbol without a comment: its source, and its place in the terms of its language."""

    name: str
    source: str
    place: int


class Instruction(NamedTuple):
    """What a model is told of a file of tests: the ``kind`` of file, and the ``rules``, one a line."""

    kind: str
    rules: str


class Resolver(Protocol):
    """From an include or import as written to the project file it means."""

    def resolve(self, target: str, source: str, *, system: bool = False) -> str:
        """The project file that ``target`` in ``source`` means, "" when it means none. ``system``: C's angle brackets."""
        ...


class Expected(msgspec.Struct, frozen=True):
    """``exceptions`` as the language writes them when it raises them, ``texts`` the plain strings in the tests."""

    exceptions: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


class FilesOfTests(Protocol):
    """The files of tests of one language."""

    @property
    def suffix(self) -> str:
        """The ending of such a file, with its dot."""
        ...

    @property
    def styles(self) -> tuple[str, ...]:
        """How they are named after what they test (``test_{}``), the most usual first."""
        ...

    def words(self, flavour: str) -> Instruction:
        """What a model is told; ``flavour`` is what runs the tests, where a language has several such programs."""
        ...

    def names(self, text: str) -> list[str]:
        """The test functions of a file in their order."""
        ...

    def asserting(self, text: str) -> list[str]:
        """Those of ``names`` that check something that is not a constant."""
        ...

    def defined(self, text: str) -> set[str]:
        """What the file defines itself."""
        ...

    def problem(self, text: str) -> str:
        """Why ``text`` is not a file of tests, as a sentence; "" when it is one."""
        ...

    def without(self, text: str, unwanted: Collection[str]) -> str:
        """The file without some test functions; "" when no test that checks something would be left."""
        ...

    def whole_part(self, text: str) -> str:
        """What is whole of a file that was cut off in the middle; "" when that holds no test that checks something."""
        ...

    def complete(self, text: str) -> str:
        """``text`` made to run each of its tests."""
        ...

    def examples(self, source: bytes, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """What a file of tests says of functions, by their own names: assertions, or whole tests."""
        ...

    def examples_in(self, source: bytes, name: str, test: str) -> tuple[str, ...]:
        """What one test function says of a function, by their own names; () where that is not told apart."""
        ...

    def expected(self, source: bytes, tests: Collection[str]) -> Expected:
        """What these test functions of a file expect, as far as it can be told."""
        ...

    def stating(self, path: str, interface: Sequence[str], stated: Sequence[tuple[str, str]]) -> str:
        """A file of tests at ``path``, one for each of ``stated`` (a call and the literal it comes to), called ``test_0``
        and so on; "" when the files of ``interface`` do not offer what is called."""
        ...

    def reporting(self, homes: Mapping[str, str], reported: Sequence[tuple[str, str, str]], flavour: str) -> str:
        """A file of tests, one for each of ``reported`` (a call, the literal it should come to, the exception it should
        raise instead), called ``test_reported_1`` and so on; ``homes`` are the files of the functions. "" where this is not
        written in the language."""
        ...

    def reporting_in(self, text: str, reported: Sequence[tuple[str, str, str]]) -> str:
        """A file of tests that is there, with one more for each of ``reported``, in its own style; "" where it cannot hold
        them, or where a new file is the way of the language."""
        ...

    def isolated(self, text: str, path: str) -> str:
        """The file of tests at ``path``, changed so that a test which crashes or does not end fails alone and the others
        report; one that does not end (see :data:`TEST_LIMIT`) says :data:`ENDLESS`. "" where that is the way of what runs
        it, or cannot be done."""
        ...

    def how_to_use(self, path: str, interface: Sequence[str]) -> str:
        """How the file at ``path`` gets at the files that it tests, as lines for a model; "" without any."""
        ...


class Language(Protocol):
    """One language."""

    @property
    def name(self) -> str:
        """What the index stores and code fences say."""
        ...

    @property
    def title(self) -> str:
        """What a person and a model read."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The endings of its files, each with its dot."""
        ...

    @property
    def tests(self) -> FilesOfTests:
        """Its files of tests."""
        ...

    # files

    def role(self, path: str) -> Role:
        """What a file of this language is, by its path."""
        ...

    def counterpart(self, path: str, files: Iterable[str], shared: Mapping[str, int] | None = None) -> str:
        """The unit among ``files`` that goes with an interface, or the interface that goes with a unit; "" for none.
        ``shared`` says how many functions other files have in common with ``path``."""
        ...

    def is_build_file(self, path: str) -> bool:
        """Whether a change of this file may change ``search_folders``."""
        ...

    def search_folders(self, root: Path, files: Iterable[str], configured: Iterable[str]) -> tuple[str, ...]:
        """The folders, relative to ``root``, that references are looked for in beside the file itself, in order."""
        ...

    def resolver(self, paths: Iterable[str], folders: Sequence[str]) -> Resolver:
        """Resolves references among ``paths``; ``folders`` as of ``search_folders``."""
        ...

    def hands_on(self, path: str) -> bool:
        """Whether those who refer to the file see what it refers to itself: a C header's includes, a package's imports."""
        ...

    @property
    def linked(self) -> bool:
        """Whether a name that a file uses may be defined in any other without a reference to it, as linkers find it."""
        ...

    # reading

    def declared_encoding(self, source: bytes) -> str:
        """The encoding that a source declares for itself; "" for UTF-8, or where the language has no such declaration."""
        ...

    def parse(self, source: bytes) -> ParsedFile:
        """Symbols and references of one file. Never raises on broken code; offsets are bytes of ``source``."""
        ...

    def tree(self, source: bytes) -> tree_sitter.Node | None:
        """The root of the source's syntax tree; None where there is no grammar, so that no function of it is searched."""
        ...

    @property
    def line_comment(self) -> str:
        """What begins a comment that ends with its line."""
        ...

    @property
    def acting_nodes(self) -> frozenset[str]:
        """The types of the syntax tree's nodes that call, set, repeat or raise: a function without any only reads state."""
        ...

    def is_private(self, symbol: Symbol) -> bool:
        """Whether a symbol is not for other files."""
        ...

    def is_local(self, kind: SymbolKind, start: int, source: bytes) -> bool:
        """Whether a symbol that :meth:`parse` found at the offset ``start`` belongs to a smaller scope than the file."""
        ...

    def reference_lines(self, text: str) -> list[str]:
        """The include or import lines of a file, as they stand."""
        ...

    def public_names(self, source: bytes) -> set[str]:
        """What a file offers to others by name."""
        ...

    def stubs(self, source: bytes, tested: Collection[str] = ()) -> list[Stub]:
        """The functions that are not written yet, in source order. ``tested`` are words of tests: evidence where a body is
        empty and nothing else tells whether it is meant to be."""
        ...

    def same_code(self, before: bytes, after: bytes) -> bool:
        """Whether two versions of a file differ in comments and white space only. What cannot be read is never the same."""
        ...

    def syntax_problem(self, source: bytes) -> str:
        """Why ``source`` cannot be read, told without a compiler; "" when it can, or when only a compiler can tell."""
        ...

    def undefined_names(self, source: bytes) -> set[str]:
        """Names that ``source`` uses and nothing binds, told without a compiler."""
        ...

    def freed_results(self, source: bytes) -> frozenset[str]:
        """The functions whose result a caller in ``source`` frees; none in a language that frees by itself."""
        ...

    # writing

    @property
    def beyond(self) -> tuple[str, ...]:
        """What begins a line behind a definition that a model goes on with unasked, such as an example of use: a reply is
        ended there."""
        ...

    def heads_after(self, source: str, name: str) -> tuple[str, ...]:
        """How the lines begin with which the definitions behind ``name`` in its file start, where a model is known to go on
        with these: a reply is ended there too."""
        ...

    def replace(self, source: bytes, symbol: Symbol, reply: str, finish: str = "stop") -> tuple[bytes, str]:
        """``source`` with the version of ``symbol`` that a model's ``reply`` holds, and ""; or ``source`` and why not."""
        ...

    def definition_in(self, code: str, qualified_name: str) -> str:
        """The text of a symbol's definition in ``code``, "" when it has none."""
        ...

    def add(self, source: bytes, qualified_name: str, text: str) -> bytes:
        """``source`` with the definition ``text`` of a new symbol, where it belongs."""
        ...

    def with_imports(self, source: bytes, names: Iterable[str]) -> tuple[bytes, tuple[str, ...]]:
        """``source`` with imports for those of ``names`` whose home is a fact, and the lines that were put in."""
        ...

    def without_slips(self, source: bytes, name: str, callers: Collection[bytes] = ()) -> tuple[bytes, tuple[str, ...]]:
        """``source`` with slips in the symbol ``name`` set right that facts alone tell, and a sentence for each kind.
        ``callers`` are sources of tests, which tell how it is used."""
        ...

    def without_body(self, code: str) -> str:
        """A function's source with its head only, for a model that would copy the body; "" when there is no such form."""
        ...

    def uncommented(self, source: bytes) -> list[Uncommented]:
        """The public symbols that have no comment."""
        ...

    def with_comment(self, source: bytes, symbol: Uncommented, text: str) -> bytes:
        """``source`` with ``text`` as the comment of a symbol; unchanged where there is no place for one."""
        ...
