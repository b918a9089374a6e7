"""A language made up for a test: shell functions, one after the other, ``# comment`` above and ``name() {`` … ``}``.

The test puts this folder beside ``agent/c`` and one line into ``agent/languages.py``; nothing else knows of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from agent.language.base import Expected, Instruction, Role, Uncommented
from agent.language.code_blocks import code_blocks
from agent.language.stubs import UNWRITTEN, Stub
from agent.language.symbols import ParsedFile, Reference, Symbol, SymbolKind

_FUNCTION = re.compile(rb"^(?P<name>\w+)\(\) \{\n(?P<body>.*?)^\}", re.M | re.S)
_COMMENT = re.compile(rb"(?:^#.*\n)+\Z", re.M)
_CALL = re.compile(r"^\s*(?:\w+=\$\()?(\w+)", re.M)


class _Tests:
    """Files of tests are neither written nor read here."""

    suffix = ".toy"
    styles = ("test_{}",)

    def words(self, flavour: str) -> Instruction:
        return Instruction("test script", flavour)

    def names(self, text: str) -> list[str]:
        return re.findall(r"^(test\w*)\(\)", text, re.M)

    def asserting(self, text: str) -> list[str]:
        return self.names(text)

    def defined(self, text: str) -> set[str]:
        return set(self.names(text))

    def problem(self, text: str) -> str:
        return "" if self.names(text) else "It holds no test."

    def without(self, text: str, unwanted: Collection[str]) -> str:
        return "" if set(self.names(text)) <= set(unwanted) else text

    def whole_part(self, text: str) -> str:
        return text

    def complete(self, text: str) -> str:
        return text

    def examples(self, source: bytes, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        lines = source.decode().splitlines()
        return {name: tuple(line for line in lines if name in line) for name in names}

    def examples_in(self, source: bytes, name: str, test: str) -> tuple[str, ...]:
        """Nothing."""
        del source, name, test
        return ()

    def expected(self, source: bytes, tests: Collection[str]) -> Expected:
        """Nothing."""
        del source, tests
        return Expected()

    def stating(self, path: str, interface: Sequence[str], stated: Sequence[tuple[str, str]]) -> str:
        return ""

    def reporting_in(self, text: str, reported: Sequence[tuple[str, str, str]]) -> str:
        del text, reported
        return ""

    def reporting(self, homes: Mapping[str, str], reported: Sequence[tuple[str, str, str]], flavour: str) -> str:
        return ""

    def isolated(self, text: str, path: str) -> str:
        """Nothing."""
        del text, path
        return ""

    def how_to_use(self, path: str, interface: Sequence[str]) -> str:
        return ""


class _Nowhere:
    def resolve(self, target: str, source: str, *, system: bool = False) -> str:
        return ""


class Toy:
    """Modules of functions that a shell runs."""

    name = "toy"
    title = "Toy"
    suffixes = (".toy",)
    line_comment = "#"
    acting_nodes: frozenset[str] = frozenset()
    beyond: tuple[str, ...] = ()
    tests = _Tests()
    linked = False

    def heads_after(self, source: str, name: str) -> tuple[str, ...]:
        del source, name
        return ()

    def role(self, path: str) -> Role:
        return "module"

    def counterpart(self, path: str, files: Iterable[str], shared: Mapping[str, int] | None = None) -> str:
        return ""

    def is_build_file(self, path: str) -> bool:
        return False

    def search_folders(self, root: Path, files: Iterable[str], configured: Iterable[str]) -> tuple[str, ...]:
        return ()

    def resolver(self, paths: Iterable[str], folders: Sequence[str]) -> _Nowhere:
        return _Nowhere()

    def hands_on(self, path: str) -> bool:
        return False

    def parse(self, source: bytes) -> ParsedFile:
        symbols, references = [], []
        for match in _FUNCTION.finditer(source):
            name, (start, end) = match["name"].decode(), match.span()
            comment = _COMMENT.search(source[:start])
            symbols.append(Symbol(
                name, "function", source.count(b"\n", 0, start) + 1, source.count(b"\n", 0, end) + 1, start, end,
                f"{name}()", comment[0].decode().replace("# ", "").strip() if comment else "",
                body_start=match.start("body"), body_end=match.end("body"), doc_start=comment.start() if comment else -1,
            ))  # fmt: skip
            references += [Reference("call", used, 0, name) for used in _CALL.findall(match["body"].decode())]
        return ParsedFile(self.name, tuple(symbols), tuple(references))

    def tree(self, source: bytes) -> None:
        return None

    def declared_encoding(self, source: bytes) -> str:
        return ""

    def is_private(self, symbol: Symbol) -> bool:
        return symbol.name.startswith("_")

    def is_local(self, kind: SymbolKind, start: int, source: bytes) -> bool:
        return False

    def reference_lines(self, text: str) -> list[str]:
        return []

    def public_names(self, source: bytes) -> set[str]:
        return {symbol.name for symbol in self.parse(source).symbols}

    def stubs(self, source: bytes, tested: Collection[str] = ()) -> list[Stub]:
        return [
            Stub(symbol.name, symbol.line, symbol.end_line, symbol.signature, symbol.doc)
            for symbol in self.parse(source).symbols
            if UNWRITTEN.search(source[symbol.start : symbol.end].decode())
        ]

    def same_code(self, before: bytes, after: bytes) -> bool:
        return before.split() == after.split()

    def syntax_problem(self, source: bytes) -> str:
        return "" if source.count(b"{") == source.count(b"}") else "a brace is missing"

    def freed_results(self, source: bytes) -> frozenset[str]:
        del source
        return frozenset()

    def undefined_names(self, source: bytes) -> set[str]:
        return set()

    def replace(self, source: bytes, symbol: Symbol, reply: str, finish: str = "stop") -> tuple[bytes, str]:
        text = self.definition_in(code_blocks(reply)[0].text, symbol.name)
        if not text:
            return source, f"The reply holds no function {symbol.name}."
        return source[: symbol.start] + text.encode() + source[symbol.end :], ""

    def definition_in(self, code: str, qualified_name: str) -> str:
        found = {match["name"].decode(): match[0].decode() for match in _FUNCTION.finditer(code.encode() + b"\n")}
        return found.get(qualified_name, "")

    def add(self, source: bytes, qualified_name: str, text: str) -> bytes:
        return source + b"\n" + text.encode() + b"\n"

    def without_slips(self, source: bytes, name: str, callers: Collection[bytes] = ()) -> tuple[bytes, tuple[str, ...]]:
        """The compiler tells of them."""
        del name, callers
        return source, ()

    def with_imports(self, source: bytes, names: Iterable[str]) -> tuple[bytes, tuple[str, ...]]:
        return source, ()

    def without_body(self, code: str) -> str:
        return ""

    def uncommented(self, source: bytes) -> list[Uncommented]:
        return []

    def with_comment(self, source: bytes, symbol: Uncommented, text: str) -> bytes:
        return source
