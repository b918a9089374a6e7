"""A small C project in a folder, compiled by the real compiler, for the tests of the implementers."""

from __future__ import annotations

from pathlib import Path

from agent.coding.writing.candidates import Compiled
from agent.compiling.compiler import Compiler, compile_object

HEADER = """#ifndef RING_H
#define RING_H
#include <stddef.h>

typedef struct ring { int items[8]; size_t count; } ring_t;

/** Empty the ring. */
void ring_reset(ring_t *r);

/** Push a value. Returns 1, or 0 when the ring is full. */
int ring_push(ring_t *r, int value);

#endif
"""

SOURCE = """#include "ring.h"

/** Empty the ring. */
void ring_reset(ring_t *r)
{
    r->count = 0;
}

int ring_push(ring_t *r, int value)
{
    /* TODO */
    (void)r;
    (void)value;
    return 0;
}
"""


def project(root: Path) -> None:
    """Write the project below ``root``."""
    (root / "src").mkdir(parents=True)
    (root / "src" / "ring.h").write_text(HEADER)
    (root / "src" / "ring.c").write_text(SOURCE)


def compile_in(root: Path):  # type: ignore[no-untyped-def]
    """A compile hook on the real compiler without any recovery."""

    async def compile(path: str, symbol: str = "", signature: str = "") -> Compiled:
        outcome = await compile_object(Compiler.find(), root / path, cwd=root)
        return Compiled(outcome.ok, outcome.diagnostics)

    return compile
