"""Arrays of variable length that a reply initialises."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.c.writing.slips.variable_length_array import with_arrays_cleared
from agent.compiling.compiler import Compiler, compile_object

FUNCTION = "int f(int n)\n{{\n    {line}\n    return a[0];\n}}\n"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("unsigned int a[n + 1] = { 0 };", ["unsigned int a[n + 1];", "memset(a, 0, sizeof(a));"]),
        ("static char a[n];", ["char a[n];", "memset(a, 0, sizeof(a));"]),
        ("static bool a[n] = {false};", ["bool a[n];", "memset(a, 0, sizeof(a));"]),
        ("int a[n] = {1, n};", ["int a[n];", "memset(a, 0, sizeof(a));", "a[0] = 1;", "a[1] = n;"]),
    ],
)
async def test_it_is_cleared_after_its_declaration(tmp_path: Path, compiler: str, line: str, meant: list[str]) -> None:
    source = ("#include <stdbool.h>\n#include <string.h>\n" + FUNCTION.format(line=line)).encode()
    for ok in (False, True):
        (tmp_path / "own.c").write_bytes(source)
        done = await compile_object(Compiler.find(compiler), tmp_path / "own.c", cwd=tmp_path, flags=("-std=c99",))
        assert done.ok == ok, done.diagnostics
        source, told = with_arrays_cleared(source, done.diagnostics, range(1, 99))
        assert bool(told) == (not ok)
    assert "\n    ".join(meant).encode() in source
