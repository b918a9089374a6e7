"""Headers and stubs from a task: declarations in the task's words win, everything compiles, nothing is overwritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.c.spelled_out import (
    SpelledStruct,
    declarations_in,
    headers_named,
    structs_in,
    types_in,
)
from agent.c.writing.header_text import header_from_reply, header_from_words, headers_from_reply, insert_at_end, merged
from agent.c.writing.stubs import find_stubs
from agent.coding.files import FolderFiles
from agent.coding.writing.scaffold import ScaffoldResult, scaffold
from agent.task.documents import with_documents
from tests.coding.helpers import compile_in
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer

TASK = (
    "Write a hash table in src/. It must offer `table *table_new(void)`, `int table_set(table *t, const char *key, int v)` "
    "and a function that counts (fast)."
)
INTERFACE = {
    "headers": [
        {
            "path": "src/table.h",
            "purpose": "a hash table",
            "types": ["table"],
            "functions": [
                {"name": "table_new", "does": "Make one."},
                {"name": "table_count", "does": "How many keys it has."},
            ],
        }
    ]
}
HEADER = """```c
#include <stddef.h>

typedef struct table table;

/** Make an empty table. */
table *table_new(int size);

size_t table_count(const table *t) { return t->n; }
```"""


def test_declarations_are_found_in_a_tasks_words() -> None:
    text = (
        "Functions: `table *table_new(void)`, int table_insert(table *t, const char *key, int value) and void sort(int *a, "
        "int (*cmp)(int, int)). Call resize(t) when full (see notes). Return NULL (none). unsigned long hash(const char *s);"
    )
    assert [one.function.head for one in declarations_in(text)] == [
        "table *table_new(void)",
        "int table_insert(table *t, const char *key, int value)",
        "void sort(int *a, int (*cmp)(int, int))",
        "unsigned long hash(const char *s)",
    ]


README = """# map

The header is `src/map.h`, also called map.h. `map *map_new(void)` makes an empty map and returns NULL if
memory cannot be had. `void map_free(map *m)` frees everything; it does nothing for NULL. The order of
`int map_get(const map *m, const char *key)` is unspecified.

Next paragraph.
"""


def test_a_document_that_the_task_names_is_part_of_it() -> None:
    text = with_documents("Write it as README.md says (not NEWS.md).", {"README.md": README.encode()})
    assert text.startswith("Write it as README.md says") and "README.md says:\n# map" in text
    assert headers_named(text) == ["src/map.h"]
    assert [(one.function.name, one.contract) for one in declarations_in(text)] == [
        ("map_new", "Makes an empty map and returns NULL if memory cannot be had."),
        ("map_free", "Frees everything; it does nothing for NULL."),
        ("map_get", "Is unspecified."),
    ]


def test_a_rule_behind_the_last_declaration_is_about_no_single_function() -> None:
    text = (
        "`int map_put(map *m, int key)` stores it. It may grow. `int map_count(const map *m)` returns the number of keys. "
        "If `m` is NULL it returns 0. A key's slot is its value modulo 16."
    )
    put, count = declarations_in(text)
    assert (put.contract, put.rules) == ("Stores it. It may grow.", "")
    assert count.contract == "Returns the number of keys. If m is NULL it returns 0."
    assert count.rules == "A key's slot is its value modulo 16."
    header = header_from_words("map.h", [put, count])
    assert header.index("/* A key's slot is its value modulo 16. */") < header.index("typedef struct map map;")
    assert "/* Returns the number of keys. If m is NULL it returns 0. */\nint map_count" in header


@pytest.mark.parametrize("text", ["", "Write a hash table.", "The function insert(key) stores it.\n\n    make test"])
def test_words_that_declare_nothing_hold_no_declaration(text: str) -> None:
    assert declarations_in(text) == []


async def test_an_interface_that_is_spelled_out_needs_no_model(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/README.md").write_text(README)
    result, server, files = await lay(tmp_path, "no", task="Write it as README.md says.")
    assert result.ok and not server.calls
    assert [one.name for one in result.functions] == ["map_new", "map_free", "map_get"]
    text = files.read_bytes("src/map.h").decode()
    assert text.count("typedef struct map map;") == 1 and [one.name for one in result.types] == ["map"]
    assert "/* Makes an empty map and returns NULL if memory cannot be had. */\nmap *map_new(void);" in text
    assert "/* Frees everything; it does nothing for NULL. */\nvoid map_free(map *m);" in text
    assert {one.path for one in result.functions} == {"src/map.c"}


def test_structs_that_prose_describes_by_their_members() -> None:
    text = (
        "The type `entry` is a struct with\n`char *key` and `struct entry *next`; the type `table` is a struct with "
        "`entry **buckets` and `size_t count`. A struct with `feelings` is none, nor one with `call(x)`."
    )
    assert structs_in(text) == [
        SpelledStruct("entry", ("char *key", "struct entry *next")),
        SpelledStruct("table", ("entry **buckets", "size_t count")),
    ]


def test_a_header_is_made_sound_by_facts() -> None:
    wanted = {"table_new": "Make one.", "table_count": "How many keys.", "table_set": ""}
    header = header_from_reply(HEADER, "src/table.h", wanted, declarations_in(TASK))
    assert header.problem == ""
    assert header.text.startswith("#ifndef TABLE_H\n#define TABLE_H\n") and header.text.endswith("#endif\n")
    assert "table *table_new(void);" in header.text and "int size" not in header.text
    assert "/* How many keys. */\nsize_t table_count(const table *t);" in header.text
    assert "int table_set(table *t, const char *key, int v);" in header.text


def test_a_missing_function_is_the_problem() -> None:
    assert header_from_reply(HEADER, "t.h", {"table_drop": "x"}).problem == "It does not declare table_drop."


def test_merging_adds_what_is_missing_and_changes_nothing_else() -> None:
    existing = b"#ifndef A_H\n#define A_H\n#include <stddef.h>\n\n/* Kept. */\nint a(void);\n\n#endif /* A_H */\n"
    existing = existing.replace(b"\n", b"\r\n")
    generated = "#ifndef A_H\n#define A_H\n#include <stdbool.h>\nint a(int changed);\n/* New. */\nbool b(void);\n#endif\n"
    result = merged(existing, generated)
    assert result == existing.replace(b"stddef.h>\r\n", b"stddef.h>\r\n#include <stdbool.h>\r\n").replace(
        b"int a(void);\r\n\r\n", b"int a(void);\r\n\r\n/* New. */\r\nbool b(void);\r\n\r\n"
    )
    assert merged(result, generated) == result


def test_the_end_of_a_header_is_inside_its_guard_and_its_extern_c() -> None:
    body = '#ifdef __cplusplus\nextern "C" {\n#endif\nint a(void);\n#ifdef __cplusplus\n}\n#endif\n'
    header = f"#ifndef A\n#define A\n{body}#endif\n"
    placed = insert_at_end(header, "int b(void);")
    assert placed.index("int b") < placed.rindex("#ifdef __cplusplus")
    assert insert_at_end("#pragma once\nint a(void);\n", "int b(void);").endswith("int b(void);\n")


async def lay(tmp_path: Path, script: object, **more: object) -> tuple[ScaffoldResult, ScriptedServer, FolderFiles]:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True, exist_ok=True)
    files = FolderFiles(root)
    server = ScriptedServer(script)
    async with server, run_context(tmp_path, server) as ctx:
        result = await scaffold(
            ctx,
            files=files,
            compile=compile_in(root),
            **{"task": TASK, "decomposed": True, **more},  # type: ignore[arg-type]
        )
    return result, server, files


async def test_decomposed_one_call_for_the_interface_and_one_a_header(tmp_path: Path) -> None:
    result, server, files = await lay(tmp_path, [("design the interface", json.dumps(INTERFACE)), ("table.h", HEADER)])
    assert result.ok, result.reason
    assert len(server.calls) == 2
    assert result.files == ("src/table.h", "src/table.c")
    assert [one.name for one in result.functions] == ["table_new", "table_count", "table_set"]
    assert [one.spelling for one in result.types] == ["struct table"]
    source = files.read_bytes("src/table.c")
    assert source.startswith(b'#include "table.h"\n') and len(find_stubs(source)) == 3


async def test_a_header_that_does_not_compile_is_asked_again_with_the_error(tmp_path: Path) -> None:
    bad = HEADER.replace("const table *t)", "unknown_t *t)")
    script = [("design the interface", json.dumps(INTERFACE)), ("unknown_t", HEADER), ("table.h", bad)]
    result, server, _ = await lay(tmp_path, script)
    assert result.ok and len(server.calls) == 3


async def test_failure_leaves_no_file_behind(tmp_path: Path) -> None:
    result, _, files = await lay(tmp_path, [("design the interface", json.dumps(INTERFACE)), ("table.h", "I cannot.")])
    assert not result.ok and "table.h" in result.reason and files.list() == []


@pytest.mark.parametrize("path", ["/etc/x.h", "../x.h", "a.c", "x"])
async def test_paths_out_of_the_project_are_refused(tmp_path: Path, path: str) -> None:
    reply = json.dumps({"headers": [{"path": path, "functions": [{"name": "f", "does": "x"}]}]})
    result, _, files = await lay(tmp_path, [("design the interface", reply)])
    assert not result.ok and path in result.reason and files.list() == []


async def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / "repo/src").mkdir(parents=True)
    (tmp_path / "repo/src/table.h").write_text(
        "#ifndef TABLE_H\n#define TABLE_H\ntypedef struct table table;\n/* Mine. */\ntable *table_new(void);\n#endif\n"
    )
    (tmp_path / "repo/src/table.c").write_text('#include "table.h"\n\ntable *table_new(void) { return 0; }\n')
    result, _, files = await lay(tmp_path, [("design the interface", json.dumps(INTERFACE)), ("table.h", HEADER)])
    assert result.ok and [one.name for one in result.functions] == ["table_count", "table_set"]
    assert b"/* Mine. */\ntable *table_new(void);" in files.read_bytes("src/table.h")
    assert b"table *table_new(void) { return 0; }" in files.read_bytes("src/table.c")


async def test_monolithic_one_call_for_all_headers(tmp_path: Path) -> None:
    reply = "FILE: src/table.h\n" + HEADER + "\n\n**FILE: src/other.h**\n```c\n/* One. */\nint one(void);\n```\n"
    result, server, files = await lay(tmp_path, reply, decomposed=False)
    assert result.ok and len(server.calls) == 1
    assert {one.path for one in result.functions} == {"src/table.c", "src/other.c"}
    assert files.read_bytes("src/other.c").startswith(b'#include "other.h"\n')


async def test_monolithic_source_that_comes_along_is_not_taken_for_the_header(tmp_path: Path) -> None:
    body = "\n".join(f"static int help_{n}(void) {{ return {n}; }}" for n in range(9))
    source = f'```c\n#include "table.h"\n{body}\nint table_count(const table *t) {{ return '  # cut off
    for number, mark in enumerate(("FILE: src/table.c\n", "And its source:\n")):
        reply = f"FILE: src/table.h\n{HEADER}\n\n{mark}{source}"
        result, server, files = await lay(tmp_path / str(number), reply, decomposed=False)
        assert result.ok and len(server.calls) == 1, result.reason
        assert b"help_" not in files.read_bytes("src/table.h")
        assert [one.name for one in result.functions] == ["table_new", "table_count", "table_set"]


@pytest.mark.parametrize("targets", [(), ("src/table.h", "src/table.c"), ("src/table.h", "src/other.h")])
async def test_monolithic_reply_ends_with_its_header_where_only_one_is_planned(
    tmp_path: Path, targets: tuple[str, ...]
) -> None:
    reply = f"FILE: src/table.h\n{HEADER}"
    result, server, _ = await lay(tmp_path, reply, decomposed=False, targets=targets, task="Write a hash table.")
    assert result.ok, result.reason
    assert bool(server.calls[0].body.get("stop")) is (targets[1:] == ("src/table.c",))


def test_a_file_line_within_the_code_block_is_one_too() -> None:
    first = "#ifndef A_H\n#define A_H\nint a_new(int n);\n#endif"
    second = "#ifndef B_H\n#define B_H\nint b_new(int n);\n#endif"
    for reply in (
        f"```c\nFILE: src/a.h\n\n{first}\n\nFILE: src/b.h\n{second}\n```\n",
        f"FILE: src/a.h\n```c\n{first}\n```\n\n```c\nFILE: src/b.h\n{second}\n```",
    ):
        found = headers_from_reply(reply)
        assert list(found) == ["src/a.h", "src/b.h"]
        for path, text in found.items():
            header = header_from_reply(text, path, {})
            assert not header.problem and "FILE" not in header.text
        assert "a_new" in header_from_reply(found["src/a.h"], "src/a.h", {}).text


SPELLED = """The type is `typedef struct { int lo, hi; } interval;` and
```c
#define MAX_INTERVALS 16
enum order { BEFORE, AFTER, INSIDE };
typedef int (*visit)(interval, void *);
```
`bool overlaps(interval a, interval b)` tells whether they share a point. `int length(const interval *i)` returns hi - lo."""


def test_types_that_the_task_spells_as_code_keep_their_members() -> None:
    types = types_in(SPELLED)
    assert [one.names[0] for one in types] == ["interval", "MAX_INTERVALS", "order", "visit"]
    header = header_from_words("i.h", declarations_in(SPELLED), structs_in(SPELLED), types)
    assert "typedef struct { int lo, hi; } interval;" in header and "typedef struct interval interval" not in header
    assert header.index("} interval;") < header.index("typedef int (*visit)") < header.index("bool overlaps(interval a")


def test_a_reply_does_not_change_a_type_that_the_task_spells() -> None:
    reply = "```c\ntypedef struct interval interval;\nbool overlaps(interval a, interval b);\nint length(interval *i);\n```"
    text = header_from_reply(reply, "i.h", {}, declarations_in(SPELLED), types=types_in(SPELLED)).text
    assert text.count("interval;") == 1 and "typedef struct { int lo, hi; } interval;" in text
    assert "#define MAX_INTERVALS 16" in text


@pytest.mark.parametrize("text", ["", "Use struct point.", "`struct node` is opaque", "typedef it; { }", "#define"])
def test_what_only_names_a_type_spells_none(text: str) -> None:
    assert types_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "`pair` holds `int a` and `int b`.",
        "A `struct pair` has the members `int a` and `int b`.",
        "The fields of `pair`: `int a`, `int b`.",
        "`pair` is a record of `int a;` and `int b;`",
        "We need a structure `pair` consisting of `int a` and `int b`",
        "The type `pair` is a struct with `int a` and `int b`",
    ],
)
def test_a_struct_by_its_members_in_other_words(text: str) -> None:
    assert structs_in(text) == [SpelledStruct("pair", ("int a", "int b"))]


@pytest.mark.parametrize(
    "rule",
    [
        "A key's slot is its value modulo 16.",
        "Slots are never reused.",
        "Every slot has a generation.",
        "Equal keys share one slot.",
        "Capacity grows by doubling.",
        "Empty slots hold a zero.",
    ],
)
def test_a_rule_is_known_by_its_subject_in_other_words(rule: str) -> None:
    [one] = declarations_in(f"`int size(map *m)` returns the number of keys. If `m` is NULL it is 0. {rule}")
    assert (one.contract, one.rules) == ("Returns the number of keys. If m is NULL it is 0.", rule)


@pytest.mark.parametrize("more", ["It never fails.", "Returns 0 for NULL.", "If m is NULL, 0."])
def test_a_sentence_about_the_function_is_no_rule(more: str) -> None:
    [one] = declarations_in(f"`int size(const map *m)` returns the number of keys. {more}")
    assert one.rules == ""
