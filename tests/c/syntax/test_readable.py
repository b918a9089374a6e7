"""The index and the writers of code see the same functions of a file, however macros and branches cut through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.c.declarations.functions import definitions
from agent.c.symbols.reader import parse
from agent.c.syntax.readable import readable

SHAPES = {
    "a brace a branch": "void f(int x)\n{\n#if A\n  if (x) {\n#else\n  if (!x) {\n#endif\n    x++;\n  }\n}\n",
    "a branch that no build takes": "#if 0\nint gone(void {\n#endif\nint there(void) { return 0; }\n",
    "a macro line without a semicolon": "DEFINE_LIST(entry)\nint first(void) { return 1; }\n",
    "a macro list of fields": "struct s {\n  COMMON_FIELDS\n  int own;\n};\nint use(struct s *s) { return s->own; }\n",
    "a calling convention": "static int WINAPI hook(int code) { return code; }\n",
    "an attribute after the head": "int logged(const char *f) PRINTF_LIKE(1, 2) { return 0; }\n",
    "entries listed by a macro": "enum kind { FIRST, LIST(ENTRY) LAST };\nint kind_of(int x) { return x; }\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_both_readers_see_the_same_functions(shape: str) -> None:
    source = SHAPES[shape].encode()
    indexed = {symbol.name for symbol in parse(source).symbols if symbol.kind == "function"}
    assert {function.name for function in definitions(source)} == indexed != set()


def test_no_byte_moves() -> None:
    nasty = (Path(__file__).parent.parent / "symbols" / "nasty.c.txt").read_bytes()
    for source in (nasty, *(text.encode() for text in SHAPES.values())):
        text, _ = readable(source)
        assert len(text) == len(source) and text.count(b"\n") == source.count(b"\n")
