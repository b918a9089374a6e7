"""Declarations go into headers of every habit: inside the guard and extern "C", never into another conditional."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agent.c.preprocessor.guards import is_guarded
from agent.c.writing.header_text import guarded, insert_at_end, merged

CLOSING = '#ifdef __cplusplus\n} /* extern "C" */\n#endif\n'
OPENING = '#ifdef __cplusplus\nextern "C" {\n#endif\n'
HEADERS = {
    "guard": "#ifndef A_H\n#define A_H\nint a(void);\n#endif /* A_H */\n",
    "guard with a value": "#ifndef A_H\n#define A_H 1\nint a(void);\n#endif\n",
    "guard by defined": "#if !defined(A_H)\n#define A_H\nint a(void);\n#endif // A_H\n",
    "comment first": "/* Licence: #endif */\n// two\n\n#ifndef A_H\n#define A_H\nint a(void);\n#endif\n\n/* end */\n",
    "pragma": "#pragma once\nint a(void);\n",
    "pragma and extern C": f"#pragma once\n{OPENING}int a(void);\n{CLOSING}",
    "guard and extern C": f"#ifndef A_H\n#define A_H\n{OPENING}int a(void);\n\n{CLOSING}\n#endif\n",
    "defined(__cplusplus)": '#ifndef A_H\n#define A_H\n#if defined(__cplusplus)\nextern "C" {\n#endif\nint a(void);\n'
    "#if defined(__cplusplus)\n}\n#endif\n#endif\n",
    "no guard": "int a(void);\n",
    "no guard, a default": "#ifndef SIZE\n#define SIZE 10\n#endif\nint a(void);\n",
    "no guard, ends with a conditional": "int a(void);\n#ifdef DEBUG\nvoid dump(void);\n#endif\n",
    "guard, ends with a conditional": "#ifndef A_H\n#define A_H\nint a(void);\n#ifdef DEBUG\nvoid dump(void);\n#endif\n"
    "#endif\n",
    "windows only at the top": "#ifndef A_H\n#define A_H\n#ifdef _WIN32\n#include <windows.h>\n#endif\n"
    "int a(void);\n#endif\n",
}
USE = '#include "a.h"\n#include "a.h"\nsize_t b(const char *s);\nint f(void) { return (int)b("x"); }\n'


def complaints(folder: Path, header: str) -> str:
    (folder / "a.h").write_text(header)
    (folder / "a.c").write_text(USE)
    done = subprocess.run(["gcc", "-c", "-Wall", "a.c"], cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("name", HEADERS)
def test_a_declaration_and_its_include_go_where_every_includer_sees_them(tmp_path: Path, name: str) -> None:
    header = HEADERS[name]
    result = merged(header.encode(), "#include <stddef.h>\n/* Length. */\nsize_t b(const char *s);\n").decode()
    assert complaints(tmp_path, result) == ""
    if "extern" in header:  # declared outside of it, C++ would look for another name
        assert result.index("size_t b") < result.rindex("__cplusplus")
    assert result.count("/* Length. */\nsize_t b(const char *s);") == 1
    kept = [line for line in header.splitlines() if line.strip()]
    assert [line for line in result.splitlines() if line in kept] == kept
    assert merged(result.encode(), "#include <stddef.h>\nsize_t b(const char *s);\n").decode() == result


@pytest.mark.parametrize("name", HEADERS)
def test_only_real_guards_count(name: str) -> None:
    assert is_guarded(HEADERS[name]) == (not name.startswith("no guard"))
    assert is_guarded(guarded(HEADERS[name], "a.h"))


def test_a_guard_that_was_cut_off_is_closed() -> None:
    assert guarded("#ifndef A_H\n#define A_H\nint a(void);\n", "a.h").rstrip().endswith("#endif")
    assert guarded("#ifndef A_H /* #if */\n#define A_H\n#ifdef X\nint a(void);\n", "a.h").count("#endif") == 2


def test_the_bytes_of_a_header_stay_what_they_are() -> None:
    latin = "#pragma once\r\n/* gr\xf6\xdfer */\r\nint a(void);\r\n".encode("latin-1")
    result = merged(latin, "#include <stddef.h>\nsize_t b(void);\n")
    assert "gr\xf6\xdfer".encode("latin-1") in result
    assert result.count(b"\n") == result.count(b"\r\n")


def test_an_include_of_one_platform_is_not_lifted_out_of_its_conditional() -> None:
    generated = "#ifdef _WIN32\n#include <windows.h>\n#endif\n#include <stddef.h>\nsize_t b(void);\n"
    result = merged(b"#pragma once\nint a(void);\n", generated).decode()
    assert "windows.h" not in result and "#include <stddef.h>" in result


def test_insertion_keeps_what_follows_the_guard() -> None:
    assert insert_at_end("#ifndef A\n#define A\n#endif\nint late(void);\n", "int b(void);").endswith("int b(void);\n")
