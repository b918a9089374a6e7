"""Python as the engine asks for it (:class:`agent.language.base.Language`)."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from agent.language.base import Role
from agent.language.symbols import Symbol, SymbolKind
from agent.python import tests_in_file
from agent.python.documentation import public_names, uncommented, with_comment
from agent.python.equality import same_code
from agent.python.heads import heads_after, without_body
from agent.python.imports import ImportResolver
from agent.python.names import undefined_names, with_imports
from agent.python.replace import add, definition_in, replace, syntax_problem
from agent.python.slips.set_right import without_slips
from agent.python.stubs import find_stubs
from agent.python.symbols import parse
from agent.python.tree import parse_python

_IMPORT = re.compile(r"^(?:from\s+\S+\s+import\s+(?:\([^)]*\)|[^\n(]*)|import\s+[^\n]*)$", re.MULTILINE)


class Python:
    """Python: modules, and stub files that are read but never written."""

    name = "python"
    title = "Python"
    suffixes = (".py", ".pyi")
    tests = tests_in_file
    linked = False
    line_comment = "#"
    acting_nodes = frozenset(("call", "assignment", "augmented_assignment", "for_statement", "while_statement", "yield",
                              "raise_statement", "list_comprehension"))  # fmt: skip
    beyond = ("\nassert ", "\nself.assert", "\nprint(", "\nif __name__", "\ndef test", "\ndef main(", "\n# Test",
              "\n# Check", "\n# Example", "\n# Usage", "\n# Run")  # fmt: skip

    parse = staticmethod(parse)
    tree = staticmethod(parse_python)
    public_names = staticmethod(public_names)
    stubs = staticmethod(find_stubs)
    same_code = staticmethod(same_code)
    syntax_problem = staticmethod(syntax_problem)
    undefined_names = staticmethod(undefined_names)
    replace = staticmethod(replace)
    definition_in = staticmethod(definition_in)
    add = staticmethod(add)
    with_imports = staticmethod(with_imports)
    without_slips = staticmethod(without_slips)
    without_body = staticmethod(without_body)
    heads_after = staticmethod(heads_after)
    uncommented = staticmethod(uncommented)
    with_comment = staticmethod(with_comment)

    def role(self, path: str) -> Role:
        """A ``.py`` file is a module."""
        return "module" if path.endswith(".py") else ""

    def counterpart(self, path: str, files: Iterable[str], shared: Mapping[str, int] | None = None) -> str:
        """A module declares what it defines."""
        del path, files, shared
        return ""

    def hands_on(self, path: str) -> bool:
        """A package hands on what it imports."""
        return PurePosixPath(path).stem == "__init__"

    def is_private(self, symbol: Symbol) -> bool:
        """A leading underscore says so; what is in a class is reached through the class."""
        return symbol.name.startswith("_") or bool(symbol.parent)

    def is_local(self, kind: SymbolKind, start: int, source: bytes) -> bool:
        """An indented variable is one of a branch or a body."""
        return kind == "global" and source[max(0, start - 1) : start] in (b" ", b"\t")

    def declared_encoding(self, source: bytes) -> str:
        """By a comment in its first two lines (PEP 263); "" also for an encoding that nobody knows."""
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        except (SyntaxError, UnicodeError):
            return ""
        return "" if encoding.startswith("utf-8") else encoding

    def freed_results(self, source: bytes) -> frozenset[str]:
        """Nothing is freed by hand."""
        del source
        return frozenset()

    def reference_lines(self, text: str) -> list[str]:
        """The import statements at the left margin."""
        return [match.group().strip() for match in _IMPORT.finditer(text)]

    def is_build_file(self, path: str) -> bool:
        """Imports are found without a build."""
        del path
        return False

    def search_folders(self, root: Path, files: Iterable[str], configured: Iterable[str]) -> tuple[str, ...]:
        """Imports are found without a build."""
        del root, files, configured
        return ()

    def resolver(self, paths: Iterable[str], folders: Sequence[str]) -> ImportResolver:
        """Imports are found by the project's own packages."""
        del folders
        return ImportResolver(paths)
