"""Opaque structs: taken out of replies in any dress, placed where every function sees them, compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.coding.files import FolderFiles
from agent.coding.open_items import OpenType, find_open_types
from agent.coding.writing.type_definition import extract_type, implement_type, place_type
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
WANTED = OpenType("map", "struct map", ("map_t",), "map.h", "map.c", "/** A map. */", ("map_new",))
PLAIN = "struct map {\n    char *keys[8];\n    int size;\n};"

REPLIES = {
    "plain": f"```c\n{PLAIN}\n```",
    "typedef": f"```c\ntypedef {PLAIN[:-1]} map_t;\n```",
    "nameless typedef": f"```c\ntypedef {PLAIN.replace('struct map', 'struct')[:-1]} map_t;\n```",
    "tagged by its typedef": f"```c\n{PLAIN.replace('struct map', 'struct map_t')}\n```",
    "with the header": f"```c\ntypedef struct map map_t;\n{PLAIN}\nmap_t *map_new(void);\n```",
    "with functions": f"```c\n{PLAIN}\nmap_t *map_new(void) {{ return 0; }}\n```",
    "no fence": f"Sure:\n\n{PLAIN}\n\nDone.",
}


@pytest.mark.parametrize("kind", REPLIES)
def test_the_definition_is_found(kind: str) -> None:
    got = extract_type(REPLIES[kind], WANTED, known={"map_new"})
    assert got.problem == "" and got.text == PLAIN and got.helpers == ()


def test_helper_types_and_macros_come_along() -> None:
    top = "#define CAP 8\n#define UNUSED 1\nstruct entry { int v[CAP]; };"
    reply = f"{top}\n{PLAIN.replace('int size', 'struct entry *e')}"
    got = extract_type(reply, WANTED)
    assert got.helpers == ("#define CAP 8", "struct entry { int v[CAP]; };")


@pytest.mark.parametrize("reply", ["", "struct map;", "struct map { };", "int x;", "struct other { int a; };"])
def test_no_definition_is_a_problem(reply: str) -> None:
    assert extract_type(reply, WANTED).problem


def test_it_goes_after_includes_and_before_functions() -> None:
    source = b'#include "map.h"\r\n#include <stdio.h>\r\n\r\n/* Makes one. */\r\nmap_t *map_new(void) { return 0; }\r\n'
    placed = place_type(source, extract_type(REPLIES["plain"], WANTED)).decode()
    assert placed.index("stdio.h") < placed.index("struct map {") < placed.index("/* Makes one")
    assert placed.count("\n") == placed.count("\r\n")


async def test_it_is_compiled_and_asked_again_with_the_error(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "map.h").write_bytes(HEADER)
    [found] = find_open_types({"map.h": HEADER})
    bad = "```c\nstruct map {\n    unknown_t *keys;\n};\n```"
    files = FolderFiles(root)
    script = [("The compiler says", REPLIES["plain"]), ("struct map", bad)]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        result = await implement_type(ctx, found, files=files, compile=compile_in(root), task="Write the map")
    assert result.ok and result.attempts == 2 and "unknown_t" in server.calls[1].prompt
    assert (root / "map.c").read_text() == f'#include "map.h"\n\n{PLAIN}\n'
    assert find_open_types({"map.h": HEADER, "map.c": (root / "map.c").read_bytes()}) == []
