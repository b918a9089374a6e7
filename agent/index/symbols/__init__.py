"""The languages the index can read, found by looking at the modules beside this one.

A language module has ``LANGUAGE`` (its name), ``EXTENSIONS`` (with their dots) and ``parse(source: bytes) -> ParsedFile``.
Adding a language is adding such a file here.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import PurePosixPath

from agent.index.symbols.base import ParsedFile, Reference, Symbol, SymbolKind

__all__ = ["ParsedFile", "Reference", "Symbol", "SymbolKind", "language_of", "languages", "parse_file", "parser_for"]

Parser = Callable[[bytes], ParsedFile]

# Told apart by name only: listed, searched as text, never parsed.
_PLAIN = {
    ".md": "markdown", ".rst": "rst", ".txt": "text", ".toml": "toml", ".ini": "ini", ".cfg": "ini", ".json": "json",
    ".yml": "yaml", ".yaml": "yaml", ".sh": "shell", ".mk": "make", ".cmake": "cmake", ".html": "html", ".css": "css",
    ".js": "javascript", ".ts": "typescript", ".cc": "c++", ".cpp": "c++", ".cxx": "c++", ".hpp": "c++", ".hh": "c++",
    ".rs": "rust", ".go": "go", ".java": "java", ".rb": "ruby", ".y": "yacc", ".l": "lex", ".s": "assembly",
}  # fmt: skip
_PLAIN_NAMES = {"makefile": "make", "gnumakefile": "make", "cmakelists.txt": "cmake", "dockerfile": "docker"}


@cache
def languages() -> dict[str, tuple[tuple[str, ...], Parser]]:
    """Language name → (extensions, parser) of every language module in this package."""
    found: dict[str, tuple[tuple[str, ...], Parser]] = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        name = getattr(loaded, "LANGUAGE", None)
        if name:
            found[name] = (tuple(loaded.EXTENSIONS), loaded.parse)
    return found


@cache
def _by_extension() -> dict[str, str]:
    return {extension: name for name, (extensions, _) in languages().items() for extension in extensions}


def language_of(path: str) -> str:
    """The language of a path by its name ("" when unknown). Names of languages without a parser are told too."""
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    return _by_extension().get(suffix) or _PLAIN_NAMES.get(pure.name.lower()) or _PLAIN.get(suffix, "")


def parser_for(language: str) -> Parser | None:
    """The parser of a language, or None when it is only known by name."""
    entry = languages().get(language)
    return entry[1] if entry else None


def parse_file(path: str, source: bytes) -> ParsedFile:
    """Parse ``source`` by the language of ``path``; an unknown language yields a file without symbols."""
    language = language_of(path)
    parser = parser_for(language)
    return parser(source) if parser else ParsedFile(language=language, symbols=())
