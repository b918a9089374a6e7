"""The languages the engine can read, one line each, and those that are only known by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from agent.c.language import C
from agent.language.base import Language
from agent.language.symbols import ParsedFile, Reference, Symbol, SymbolKind
from agent.python.language import Python

__all__ = [
    "LANGUAGES", "ParsedFile", "Reference", "Symbol", "SymbolKind", "language_of", "named", "parse_file", "parser_for",
]  # fmt: skip

Parser = Callable[[bytes], ParsedFile]

LANGUAGES: tuple[Language, ...] = (
    C(),
    Python(),
)
"""Every language that is read. Adding one is a package beside ``agent/c`` and ``agent/python`` and a line here."""

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
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    return _BY_SUFFIX.get(suffix) or _PLAIN_NAMES.get(pure.name.lower()) or _PLAIN.get(suffix, "")


def named(name: str) -> Language:
    """The language of that name. Raises KeyError when it is none of ``LANGUAGES``."""
    return _BY_NAME[name]


def parser_for(language: str) -> Parser | None:
    """The parser of a language, or None when it is only known by name."""
    known = _BY_NAME.get(language)
    return known.parse if known else None


def parse_file(path: str, source: bytes) -> ParsedFile:
    """Parse ``source`` by the language of ``path``; an unknown language yields a file without symbols."""
    language = language_of(path)
    parser = parser_for(language)
    return parser(source) if parser else ParsedFile(language=language, symbols=())
