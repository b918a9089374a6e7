"""The languages the engine can read, one line each, and those that are only known by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from agent.c.symbols import reader as c
from agent.language.symbols import ParsedFile, Reference, Symbol, SymbolKind
from agent.python import symbols as python

__all__ = ["ParsedFile", "Reference", "Symbol", "SymbolKind", "language_of", "languages", "parse_file", "parser_for"]

Parser = Callable[[bytes], ParsedFile]

_LANGUAGES: dict[str, tuple[tuple[str, ...], Parser]] = {
    language.LANGUAGE: (language.EXTENSIONS, language.parse) for language in (c, python)
}
_BY_EXTENSION = {extension: name for name, (extensions, _) in _LANGUAGES.items() for extension in extensions}

# Told apart by name only: listed, searched as text, never parsed.
_PLAIN = {
    ".md": "markdown", ".rst": "rst", ".txt": "text", ".toml": "toml", ".ini": "ini", ".cfg": "ini", ".json": "json",
    ".yml": "yaml", ".yaml": "yaml", ".sh": "shell", ".mk": "make", ".cmake": "cmake", ".html": "html", ".css": "css",
    ".js": "javascript", ".ts": "typescript", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".hpp": "c++", ".hh": "c++",
    ".rs": "rust", ".go": "go", ".java": "java", ".rb": "ruby", ".y": "yacc", ".l": "lex", ".s": "assembly",
}  # fmt: skip
_PLAIN_NAMES = {"makefile": "make", "gnumakefile": "make", "cmakelists.txt": "cmake", "dockerfile": "docker"}


def languages() -> dict[str, tuple[tuple[str, ...], Parser]]:
    """Language name → (extensions, parser) of every language that is parsed."""
    return _LANGUAGES


def language_of(path: str) -> str:
    """The language of a path by its name ("" when unknown). Names of languages without a parser are told too."""
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    return _BY_EXTENSION.get(suffix) or _PLAIN_NAMES.get(pure.name.lower()) or _PLAIN.get(suffix, "")


def parser_for(language: str) -> Parser | None:
    """The parser of a language, or None when it is only known by name."""
    entry = _LANGUAGES.get(language)
    return entry[1] if entry else None


def parse_file(path: str, source: bytes) -> ParsedFile:
    """Parse ``source`` by the language of ``path``; an unknown language yields a file without symbols."""
    language = language_of(path)
    parser = parser_for(language)
    return parser(source) if parser else ParsedFile(language=language, symbols=())
