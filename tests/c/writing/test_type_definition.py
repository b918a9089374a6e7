"""Opaque structs: taken out of replies in any dress, placed where every function sees them."""

from __future__ import annotations

import pytest

from agent.c.writing.type_definition import extract_type, place_type

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
    got = extract_type(REPLIES[kind], "struct map", ("map_t",), known={"map_new"})
    assert got.problem == "" and got.text == PLAIN and got.helpers == ()


def test_helper_types_and_macros_come_along() -> None:
    top = "#define CAP 8\n#define UNUSED 1\nstruct entry { int v[CAP]; };"
    reply = f"{top}\n{PLAIN.replace('int size', 'struct entry *e')}"
    got = extract_type(reply, "struct map")
    assert got.helpers == ("#define CAP 8", "struct entry { int v[CAP]; };")


@pytest.mark.parametrize("reply", ["", "struct map;", "struct map { };", "int x;", "struct other { int a; };"])
def test_no_definition_is_a_problem(reply: str) -> None:
    assert extract_type(reply, "struct map").problem


def test_it_goes_after_includes_and_before_functions() -> None:
    source = b'#include "map.h"\r\n#include <stdio.h>\r\n\r\n/* Makes one. */\r\nmap_t *map_new(void) { return 0; }\r\n'
    placed = place_type(source, extract_type(REPLIES["plain"], "struct map")).decode()
    assert placed.index("stdio.h") < placed.index("struct map {") < placed.index("/* Makes one")
    assert placed.count("\n") == placed.count("\r\n")
