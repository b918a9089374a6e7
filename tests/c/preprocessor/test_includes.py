"""Where an include goes: live for the line that needs it, one line changed, nothing else touched."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.c.preprocessor.includes import active_include, analyse, insert_include


def remove_line(source: bytes, line: int) -> bytes:
    """``source`` without a line, a byte-order mark kept."""
    mark = b"\xef\xbb\xbf" if source.startswith(b"\xef\xbb\xbf") else b""
    parts = source[len(mark) :].split(b"\n")
    return mark + b"\n".join(parts[: line - 1] + parts[line:])


def put(text: str, header: str = "string.h", before: int | None = None) -> str:
    return insert_include(text.encode(), header, True, before)[0].decode()


def test_a_system_header_goes_to_the_system_headers_and_others_behind_the_last() -> None:
    text = '#include <a.h>\n#include "b.h"\n\nint f;\n'
    assert put(text) == '#include <a.h>\n#include <string.h>\n#include "b.h"\n\nint f;\n'
    assert insert_include(text.encode(), "c.h", False)[0] == b'#include <a.h>\n#include "b.h"\n#include "c.h"\n\nint f;\n'


@pytest.mark.parametrize(
    "block",
    [
        "#if 0\n#include <x.h>\n#endif\n",
        "#ifdef _WIN32\n#include <windows.h>\n#endif\n",
        "/*\n#include <x.h>\n*/\n",
        'static const char *t = "\\\n#include <x.h>";\n',
        'enum e {\n#include "list.def"\n};\n',
    ],
)
def test_not_inside_what_is_no_top_level_include(block: str) -> None:
    assert put(f"#include <a.h>\n{block}int f(void);\n").startswith("#include <a.h>\n#include <string.h>\n")


def test_below_guard_and_pragma_once() -> None:
    assert (
        put("#ifndef A_H\n#define A_H\nint f;\n#endif\n")
        == "#ifndef A_H\n#define A_H\n#include <string.h>\nint f;\n#endif\n"
    )
    assert put("#pragma once\nint f;\n") == "#pragma once\n#include <string.h>\nint f;\n"


def test_a_feature_macro_is_no_guard_and_stays_above() -> None:
    text = "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\nint f;\n"
    assert put(text) == "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#include <string.h>\nint f;\n"
    assert put("#define _POSIX_C_SOURCE 200809L\nint f;\n").startswith("#define _POSIX_C_SOURCE 200809L\n#include")


def test_below_a_licence_above_a_doc_comment() -> None:
    licence = "/* Copyright 2020 Example */\n\n"
    doc = "/** Adds. */\nint add(void);\n"
    assert put(licence + doc) == f"{licence}#include <string.h>\n{doc}"


def test_an_include_below_the_use_does_not_count() -> None:
    assert put("int f(void) { return INT_MAX; }\n#include <limits.h>\n", "limits.h", 1).startswith(
        "#include <limits.h>\nint f"
    )


def test_newlines_bom_and_a_missing_last_newline_are_kept() -> None:
    assert (
        insert_include(b"#include <a.h>\r\nint f;\r\n", "b.h", False)[0] == b'#include <a.h>\r\n#include "b.h"\r\nint f;\r\n'
    )
    assert insert_include(b"\xef\xbb\xbfint f;", "b.h", True)[0] == b"\xef\xbb\xbf#include <b.h>\nint f;"
    assert insert_include(b"#include <a.h>", "b.h", True) == (b"#include <a.h>\n#include <b.h>", 2)


def test_not_into_a_comment_that_begins_on_the_include_line() -> None:
    text = "#include <a.h> /* one\n two */\nint f;\n"
    assert put(text) == "#include <a.h> /* one\n two */\n#include <string.h>\nint f;\n"


def test_bytes_of_any_encoding_survive() -> None:
    source = "/* Größe */\nint f;\n".encode("latin-1")
    changed, line = insert_include(source, "a.h", True)
    assert remove_line(changed, line) == source


def test_a_dead_or_unknown_include_is_not_active() -> None:
    for block in ("#if 0\n#include <a.h>\n#endif\n", "// #include <a.h>\n", "#if FOO(2)\n#include <a.h>\n#endif\n"):
        assert not active_include(analyse(f"{block}int f;\n".encode()), "a.h")
    assert active_include(analyse(b"#ifdef __linux__\n#include <a.h>\n#endif\n"), "a.h") == 2
    assert active_include(analyse(b"%:include <a.h>\n"), "a.h") == 1


BLOCKS = st.sampled_from(
    [
        "/* Copyright (c) Example\n * SPDX-License-Identifier: MIT\n */\n",
        "// Build: cc a.c\n// You may need: #include <string.h>\n",
        "#if 0\n#include <string.h>\n#endif\n",
        "#ifdef _WIN32\n#include <windows.h>\n#else\n#include <unistd.h>\n#endif\n",
        "#ifdef NOT_DEFINED_ANYWHERE\n#include <string.h>\n#endif\n",
        "#if defined(__linux__) && !defined(OTHER)\n#  include <stdio.h>\n#endif\n",
        "#include <stdlib.h>\n",
        '#include "own.h" // why\n',
        "#include <errno.h> /* begins\n   and ends */\n",
        "# include <ctype.h>\n",
        "#define _GNU_SOURCE\n",
        "#define _POSIX_C_SOURCE 200809L\n#define _FILE_OFFSET_BITS 64\n",
        "#define LONG(x) \\\n  do { x; } \\\n  while (0)\n",
        'static const char *text = "#include <string.h>";\n',
        'static const char *more = "a\\\n#include <string.h>\\\n";\n',
        "/** Adds.\n\n * #include <string.h>\n */\nint add(int a, int b);\n",
        'struct s {\n#include "members.def"\n    int last;\n};\n',
        "int before(void) { return '\"' + '\\''; }\n",
        "\n",
        "#pragma pack(push, 1)\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
    ]
)
OPEN_REGION = re.compile(r"pack\(push|__cplusplus")
"""In these blocks a region begins that nothing ends."""

FILES = st.tuples(
    st.lists(BLOCKS, max_size=7),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
)


@settings(max_examples=250, deadline=None)
@given(FILES)
def test_the_inserted_include_is_live_for_its_line_and_only_one_line_changed(parts: tuple) -> None:  # type: ignore[type-arg]
    blocks, guarded, newline, bom, final = parts
    body = "".join(blocks) + 'int use(void) { return (int)strlen("x"); }\nint last;'
    if guarded:
        body = f"#ifndef FILE_H\n#define FILE_H\n{body}\n#endif"
    text = body + ("\n" if final else "")
    source = (b"\xef\xbb\xbf" if bom else b"") + text.replace("\n", newline).encode()
    use = 1 + text[: text.index("int use")].count("\n")
    changed, line = insert_include(source, "string.h", True, use)
    shape = analyse(changed)
    moved = use if changed == source else use + 1
    place = active_include(shape, "string.h", moved)
    assert place and place <= line
    assert shape.line_text(moved).startswith("int use") or moved == 1
    if changed != source:
        assert remove_line(changed, line) == source
        added = [i for i in shape.includes if i.line == line]
        assert len(added) == 1 and added[0].depth == 0 and not added[0].braces
        assert changed.count(newline.encode()) == source.count(newline.encode()) + 1
        for d in shape.directives:
            if (
                d.keyword == "define"
                and d.argument.startswith(("_GNU", "_POSIX", "_FILE"))
                and d.depth == 0
                and d.line < moved
                and not OPEN_REGION.search(shape.text, 0, d.start)
            ):
                assert d.line < line
    again, same = insert_include(changed, "string.h", True, moved)
    assert again == changed and same == place
