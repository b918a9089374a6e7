"""Which file an include means, and how it is spelled: one rule for the index, the compiler's part and the writer of code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.c.preprocessor.compile_commands import read_commands
from agent.c.preprocessor.include_paths import include_paths
from agent.c.preprocessor.include_resolution import IncludeResolver
from agent.c.preprocessor.includes import includes_of
from agent.c.project import ProjectFiles

PATHS = (
    "src/main.c", "src/ring.h", "include/ring.h", "include/lib/pool.h", "net/errno.h", "compat/stdint.h", "a/x/y.h", "b/y.h",
    "b/use.c",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "includer", "system", "expected"),
    [
        ("ring.h", "src/main.c", False, "src/ring.h"),
        ("ring.h", "src/main.c", True, "include/ring.h"),
        ("ring.h", "b/use.c", False, "include/ring.h"),
        ("lib/pool.h", "b/use.c", True, "include/lib/pool.h"),
        ("pool.h", "b/use.c", False, "include/lib/pool.h"),
        ("../include/ring.h", "src/main.c", False, "include/ring.h"),
        ("y.h", "src/main.c", False, "b/y.h"),
        ("x/y.h", "src/main.c", False, "a/x/y.h"),
        ("errno.h", "src/main.c", True, ""),
        ("stdint.h", "src/main.c", True, "compat/stdint.h"),
        ("stdio.h", "src/main.c", True, ""),
        ("missing.h", "src/main.c", False, ""),
    ],
)
def test_an_include_means_what_a_compiler_would_find(name: str, includer: str, system: bool, expected: str) -> None:
    assert IncludeResolver(PATHS).resolve(name, includer, system=system) == expected


@pytest.mark.parametrize(
    ("header", "includer", "folders", "expected"),
    [
        ("src/ring.h", "src/main.c", (), "ring.h"),
        ("include/ring.h", "src/main.c", None, "ring.h"),
        ("include/ring.h", "src/main.c", (), "../include/ring.h"),
        ("include/lib/pool.h", "src/main.c", ("./include/lib",), "pool.h"),
        ("b/y.h", "src/main.c", (), "../b/y.h"),
        ("b/y.h", "src/main.c", (".",), "b/y.h"),
    ],
)
def test_an_include_is_spelled_from_the_folders_of_the_build(
    header: str, includer: str, folders: tuple[str, ...] | None, expected: str
) -> None:
    assert IncludeResolver(PATHS).spelling(header, includer, folders=folders) == expected


def test_an_include_is_spelled_as_a_neighbour_spells_it() -> None:
    sources = {"src/main.c": b"", "src/other.c": b'#include "lib/pool.h"\n', "include/lib/pool.h": b""}
    resolver = IncludeResolver(sources)
    spelled = resolver.spelling(
        "include/lib/pool.h", "src/main.c", neighbours=["src/other.c"], includes=lambda p: includes_of(sources[p]),
        folders=("include/lib",),
    )  # fmt: skip
    assert spelled == "lib/pool.h"
    assert ProjectFiles(sources).spelled_from("src/main.c", "include/lib/pool.h", ["include/lib"]) == "lib/pool.h"


def test_includes_are_read_without_comments_and_dead_branches() -> None:
    source = '// #include "a.h"\n#if 0\n#include "b.h"\n#endif\n#  include "grün.h"\n#include <c.h>\ns = "#include";\n'
    assert [(one.name, one.system) for one in includes_of(source.encode())] == [("grün.h", False), ("c.h", True)]


@pytest.mark.parametrize("folder", ["", "build", "out", "cmake-build-debug", "build-arm", "build/debug", "objects"])
def test_one_finder_of_the_compilation_database_serves_the_index_and_the_compiler(tmp_path: Path, folder: str) -> None:
    (tmp_path / "lib" / "inc").mkdir(parents=True)
    place = tmp_path / folder
    place.mkdir(parents=True, exist_ok=True)
    entry = {"directory": str(tmp_path), "file": "a.c", "command": "cc -Ilib/inc -isystem /usr/x -c a.c"}
    (place / "compile_commands.json").write_text(json.dumps([entry, {"no": "file"}, 3]))
    (command,) = read_commands(tmp_path)
    assert command.file == str(tmp_path / "a.c")
    assert command.include_folders() == [str(tmp_path / "lib/inc"), "/usr/x"]
    assert include_paths(tmp_path, ["a.c"])[0] == "lib/inc"


@pytest.mark.parametrize("text", ["", "{", "{}", "[1]", '[{"command": "cc \\"", "file": "a.c"}]', "\0"])
def test_a_database_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    assert read_commands(tmp_path) == []
