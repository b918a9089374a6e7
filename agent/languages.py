"""The languages the engine can read, one line each, and those that are only known by name."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from agent.c.language import C
from agent.language.base import Language, Role
from agent.language.symbols import ParsedFile, Reference, Symbol, SymbolKind
from agent.python.language import Python

__all__ = [
    "EITHER", "LANGUAGES", "Language", "ParsedFile", "Reference", "Role", "Symbol", "SymbolKind", "find_language", "is_code",
    "is_compiled", "is_interface", "is_module", "is_unit", "language_of", "named", "parse_file", "parser_for", "reader_of",
    "role_of", "title_of",
]  # fmt: skip

Parser = Callable[[bytes], ParsedFile]

LANGUAGES: tuple[Language, ...] = (
    C(),
    Python(),
)
"""Every language that is read. Adding one is a package beside ``agent/c`` and ``agent/python`` and a line here."""

EITHER = " or ".join(language.title for language in LANGUAGES)
"""The languages in a sentence: ``C or Python``."""

_BY_NAME = {language.name: language for language in LANGUAGES}
_BY_SUFFIX = {suffix: language.name for language in LANGUAGES for suffix in language.suffixes}

# Told apart by name only: listed, searched as text, never parsed.
_PLAIN = {
    ".md": "markdown", ".rst": "rst", ".txt": "text", ".toml": "toml", ".ini": "ini", ".cfg": "ini", ".json": "json",
    ".yml": "yaml", ".yaml": "yaml", ".sh": "shell", ".mk": "make", ".cmake": "cmake", ".html": "html", ".css": "css",
    ".js": "javascript", ".ts": "typescript", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".hpp": "c++", ".hh": "c++",
    ".rs": "rust", ".go": "go", ".java": "java", ".rb": "ruby", ".y": "yacc", ".l": "lex", ".s": "assembly",
}  # fmt: skip
_PLAIN_NAMES = {"makefile": "make", "gnumakefile": "make", "cmakelists.txt": "cmake", "dockerfile": "docker"}


def language_of(path: str) -> str:
    """The language of a path by its name ("" when unknown). Names of languages without a parser are told too."""
    name = posixpath.basename(path).lower()
    suffix = posixpath.splitext(name)[1]
    return _BY_SUFFIX.get(suffix) or _PLAIN_NAMES.get(name) or _PLAIN.get(suffix, "")


def named(name: str) -> Language:
    """The language of that name. Raises KeyError when it is none of ``LANGUAGES``."""
    return _BY_NAME[name]


def find_language(name: str) -> Language | None:
    """The language of that name, None when it is only known by name, or not at all."""
    return _BY_NAME.get(name)


def reader_of(path: str) -> Language | None:
    """The language that reads the file, None when it is only known by name, or not at all."""
    return find_language(language_of(path))


def role_of(path: str) -> Role:
    """What a file is to the engine: a unit that is compiled, an interface, a module, or "" for everything else."""
    language = reader_of(path)
    return language.role(path) if language else ""


def is_unit(path: str) -> bool:
    """Whether a file is compiled by itself (``ring.c``)."""
    return role_of(path) == "unit"


def is_interface(path: str) -> bool:
    """Whether a file declares what others define (``ring.h``)."""
    return role_of(path) == "interface"


def is_module(path: str) -> bool:
    """Whether a file declares and defines in one and needs no compiler (``ring.py``)."""
    return role_of(path) == "module"


def is_compiled(path: str) -> bool:
    """Whether a file is code that a compiler reads: a unit or an interface."""
    return role_of(path) in ("unit", "interface")


def is_code(path: str) -> bool:
    """Whether a file is code that the engine can write."""
    return role_of(path) != ""


def title_of(language: str) -> str:
    """How people call a language: ``C`` for ``c``; a name without an entry as it stands."""
    known = _BY_NAME.get(language)
    return known.title if known else language


def parser_for(language: str) -> Parser | None:
    """The parser of a language, or None when it is only known by name."""
    known = _BY_NAME.get(language)
    return known.parse if known else None


def parse_file(path: str, source: bytes) -> ParsedFile:
    """Parse ``source`` by the language of ``path``; an unknown language yields a file without symbols."""
    language = language_of(path)
    parser = parser_for(language)
    return parser(source) if parser else ParsedFile(language=language, symbols=())
