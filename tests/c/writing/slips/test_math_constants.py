"""Constants that ISO C lacks, in strict mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.c.writing.slips.math_constants import VALUES, with_values
from agent.compiling.compiler import Compiler, compile_object

HEAD = "#include <math.h>\ndouble f(void);\ndouble f(void)\n{\n"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
async def test_their_values_are_written(tmp_path: Path, compiler: str) -> None:
    source = f"{HEAD}    return {' + '.join(VALUES)} + M_PI;\n}}\n".encode()
    for ok in (False, True):
        (tmp_path / "own.c").write_bytes(source)
        done = await compile_object(Compiler.find(compiler), tmp_path / "own.c", cwd=tmp_path, flags=("-std=c99",))
        assert done.ok == ok, done.diagnostics
        source, told = with_values(source, done.diagnostics, range(3, 7))
        assert len(told) == (0 if ok else len(VALUES))
    assert source.count(b"3.141592653589793") == 2


def test_other_names_stay() -> None:
    assert with_values(b"int f(void) { return M_PI; }", [], range(9)) == (b"int f(void) { return M_PI; }", ())
