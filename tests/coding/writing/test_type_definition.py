"""Opaque structs: asked for, and kept when they compile."""

from __future__ import annotations

from pathlib import Path

from agent.coding.files import FolderFiles
from agent.coding.open_items import find_open_types
from agent.coding.writing.type_definition import implement_type
from tests.coding.helpers import compile_in
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer

HEADER = b"""#ifndef MAP_H
#define MAP_H
/** A map from names to numbers. */
typedef struct map map_t;
map_t *map_new(void);
int map_get(const map_t *m, const char *key);
#endif
"""
PLAIN = "struct map {\n    char *keys[8];\n    int size;\n};"

async def test_it_is_compiled_and_asked_again_with_the_error(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "map.h").write_bytes(HEADER)
    [found] = find_open_types({"map.h": HEADER})
    bad = "```c\nstruct map {\n    unknown_t *keys;\n};\n```"
    files = FolderFiles(root)
    script = [("The compiler says", f"```c\n{PLAIN}\n```"), ("struct map", bad)]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        result = await implement_type(ctx, found, files=files, compile=compile_in(root), task="Write the map")
    assert result.ok and result.attempts == 2 and "unknown_t" in server.calls[1].prompt
    assert (root / "map.c").read_text() == f'#include "map.h"\n\n{PLAIN}\n'
    assert find_open_types({"map.h": HEADER, "map.c": (root / "map.c").read_bytes()}) == []
