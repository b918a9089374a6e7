"""Recorded failures, one a line: streaming, bad rows, verification."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from agent.compiling.rows import MAX_ROW_BYTES, classify_rows

MAIN = "int f(char *s) { return strlen(s); }\n"
STDERR = "main.c:1:25: warning: implicit declaration of function 'strlen' [-Wimplicit-function-declaration]\n"


def row(**changes: Any) -> str:
    base = {
        "id": "r1", "files": {"main.c": MAIN}, "target": "main.c", "main": "main.c", "step": "compile",
        "commands": ["gcc-99 -c -Wall main.c -o main.o"], "compiler": "gcc-99", "stderr": STDERR,
        "gold_category": "logic_error", "gold_headers": [["never.h"]],
    }  # fmt: skip
    return json.dumps({**base, **changes})


async def run(lines: Iterable[str | bytes], **options: Any) -> list[dict[str, Any]]:
    return [result async for result in classify_rows(lines, **options)]


async def test_a_row_gives_a_category_headers_how_and_microseconds() -> None:
    [result] = await run([row()])
    assert result.pop("us") > 0
    assert result == {"id": "r1", "category": "missing_include", "headers": ["string.h"], "how": "deterministic", "calls": 0}


async def test_a_bad_row_is_reported_and_the_next_is_read() -> None:
    lines = [
        "not json",
        "[1]",
        '{"id": "x"}',
        row(files_b64={"a.c": "!!"}),
        row(files=3),
        "",
        row(id="last"),
        b"\xff\xfe{}",
        b'{"id": "' + b"x" * MAX_ROW_BYTES,
    ]
    results = await run(lines)
    assert [("error" in r, r.get("id")) for r in results] == [
        (True, None), (True, None), (True, "x"), (True, "r1"), (True, "r1"), (False, "last"), (True, None), (True, None),
    ]  # fmt: skip
    assert results[-1]["error"].startswith("Line 9 is longer than")
    assert results[2]["line"] == 3 and "stderr" in results[2]["error"]


async def test_results_stream() -> None:
    read: list[int] = []

    def lines() -> Iterable[str]:
        for number in range(3):
            read.append(number)
            yield row(id=str(number))

    async for result in classify_rows(lines()):
        assert read[-1] == int(result["id"])


async def test_verify_recompiles_with_what_is_installed_and_leaves_nothing(tmp_path: Path) -> None:
    twin = MAIN.replace("f(", "g(").encode()
    [plain, encoded] = await run([row(), row(files={}, files_b64={"main.c": base64.b64encode(twin).decode()})], verify=True)
    assert plain["how"] == encoded["how"] == "recompile" and plain["headers"] == ["string.h"]


async def test_verify_takes_back_what_does_not_help() -> None:
    main = "int f(int b)\n{\n    return b * exp;\n}\n"
    text = "main.c:3:16: error: 'exp' undeclared (first use in this function)\n"
    [result] = await run([row(files={"main.c": main}, stderr=text)], verify=True)
    assert result["category"] == "logic_error" and result["headers"] == []


async def test_verify_finds_all_headers_of_a_compiler_that_stops_at_the_first() -> None:
    main = "long f(char *s) { time_t t = time(0); return t + (long)strlen(s); }\n"
    [result] = await run(
        [row(files={"main.c": main}, commands=["tcc -c main.c"], stderr="main.c:1: error: 'time_t' undeclared\n")],
        verify=True,
    )
    assert set(result["headers"]) == {"time.h", "string.h"}


async def test_commands_that_are_no_compilers_are_not_run(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for command in (f"touch {target}", f"gcc -wrapper touch,{target} -c main.c", f"sh -c 'touch {target}'"):
        [result] = await run([row(commands=[command])], verify=True)
        assert result["category"] == "missing_include"
    assert not target.exists()


async def test_paths_that_leave_the_scratch_directory_are_not_written(tmp_path: Path) -> None:
    outside = tmp_path / "x.c"
    [result] = await run([row(files={"main.c": MAIN, f"../../../../../../../../..{outside}": "int x;"})], verify=True)
    assert result["category"] == "missing_include" and not outside.exists()


@pytest.mark.parametrize("call", ["x-elf-gcc -mcpu=no-cpu", "x-elf-clang --target=nowhere", "gcc --no-such-flag"])
async def test_a_call_that_only_the_other_compiler_takes_leaves_the_text_in_force(call: str) -> None:
    [said] = await run([row(commands=[f"{call} -c main.c -o main.o"])], verify=True)
    assert (said["category"], said["headers"]) == ("missing_include", ["string.h"])
