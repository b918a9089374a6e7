"""Failing checks run once more with real sanitizers, in a real repository."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.flow import checks
from agent.flow.diagnosis import diagnose
from agent.launch import open_run
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer
from tests.workspace.support import make_repo

MAKEFILE = """CFLAGS ?= -Wall
build/test: src/list.c tests/test_list.c
\t@mkdir -p build
\t$(CC) $(CFLAGS) -Isrc -o $@ $^
test: build/test
\t./build/test
.PHONY: test
"""
LIST = """#include <stdlib.h>
struct node { struct node *next; };
int list_free(struct node *at)
{
    int n = 0;
    while (at) {
        free(at);
        n++;
        at = at->next;
    }
    return n;
}
"""
TEST = """#include <stdlib.h>
struct node { struct node *next; };
int list_free(struct node *at);
int main(void)
{
    struct node *one = calloc(1, sizeof *one), *two = calloc(1, sizeof *two);
    one->next = two;
    return list_free(one) != 2;
}
"""


def repository(root: Path, source: str = LIST) -> Any:
    contents = {"Makefile": MAKEFILE, "src/list.c": source, "tests/test_list.c": TEST, ".gitignore": "build/\n"}
    for name, text in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    return SimpleNamespace(root=root, written=frozenset())


def works(folder: Path) -> bool:
    (folder / "probe.c").write_text("int main(void) { return 0; }\n")
    line = ["gcc", "-fsanitize=address,undefined", "probe.c", "-o", "probe"]
    return subprocess.run(line, cwd=folder, capture_output=True).returncode == 0


async def test_a_finding_names_function_line_and_fault_and_leaves_nothing_behind(tmp_path: Path) -> None:
    if not works(tmp_path):
        pytest.skip("this gcc has no sanitizers")
    workspace = repository(tmp_path / "repo")
    async with ScriptedServer() as server, run_context(tmp_path, server) as ctx:
        [fault, *_] = await diagnose(ctx, workspace, "make test")
        found = fault.signal
        assert found.category == "runtime_error" and found.source == "sanitizer"
        assert found.message.startswith("In list_free (src/list.c, line 9), at `at = at->next;`: memory is used after")
        assert not server.calls
    assert not (workspace.root / "build").exists()


async def test_sound_code_and_commands_that_build_nothing_have_no_findings(tmp_path: Path) -> None:
    late = "free(at);\n        n++;\n        at = at->next;"
    sound = LIST.replace(late, "struct node *old = at;\n        at = at->next;\n        free(old);\n        n++;")
    workspace = repository(tmp_path / "repo", sound)
    async with ScriptedServer() as server, run_context(tmp_path, server) as ctx:
        assert await diagnose(ctx, workspace, "make test") == []
        assert await diagnose(ctx, workspace, "pytest") == []
        assert await diagnose(ctx, workspace, "make nothing") == []


async def test_a_project_without_c_is_not_built_a_second_time(tmp_path: Path) -> None:
    workspace = repository(tmp_path / "repo")
    for path in [*workspace.root.rglob("*.c")]:
        path.unlink()
    (workspace.root / "Makefile").write_text(f"test:\n\ttouch {tmp_path}/ran\n\tfalse\n")
    async with ScriptedServer() as server, run_context(tmp_path, server) as ctx:
        assert await diagnose(ctx, workspace, "make test") == []
    assert not (tmp_path / "ran").exists()


async def test_what_an_earlier_build_left_is_not_taken_for_up_to_date(tmp_path: Path) -> None:
    if not works(tmp_path):
        pytest.skip("this gcc has no sanitizers")
    workspace = repository(tmp_path / "repo")
    (workspace.root / ".gitignore").unlink()
    subprocess.run(["make", "-s", "build/test"], cwd=workspace.root, check=True)
    async with ScriptedServer() as server, run_context(tmp_path, server) as ctx:
        assert await diagnose(ctx, workspace, "make test")
        subprocess.run(["git", "-C", str(workspace.root), "add", "-A", "-f"], check=True)
        assert await diagnose(ctx, workspace, "make test")


async def test_a_file_just_written_belongs_to_it(tmp_path: Path) -> None:
    if not works(tmp_path):
        pytest.skip("this gcc has no sanitizers")
    workspace = repository(tmp_path / "repo")
    subprocess.run(["git", "-C", str(workspace.root), "rm", "-q", "--cached", "src/list.c"], check=True)
    async with ScriptedServer() as server, run_context(tmp_path, server) as ctx:
        assert await diagnose(ctx, workspace, "make test") == []
        workspace.written = frozenset({"src/list.c"})
        assert await diagnose(ctx, workspace, "make test")


async def test_code_that_does_not_end_has_the_checks_patience_and_no_more(tmp_path: Path) -> None:
    endless = LIST.replace("free(at);\n        n++;\n        at = at->next;", "n = at != 0;")
    workspace = repository(tmp_path / "repo", endless)
    async with ScriptedServer() as server, run_context(tmp_path, server) as ctx:
        async with asyncio.timeout(ctx.config.testing.timeout_seconds / 2):
            assert await diagnose(ctx, workspace, "make test", patience=1.0) == []


ENDLESS_TESTS = """#include <assert.h>
unsigned halves(unsigned n);
static void test_none(void) { assert(halves(0) == 0); }
static void test_eight(void) { assert(halves(8) == 3); }
int main(void) { test_none(); test_eight(); return 0; }
"""
ENDLESS = "unsigned halves(unsigned n) { unsigned s = 0; while (n != 1) { n /= 2; s++; } return s; }\n"


async def test_the_first_run_of_the_checks_names_the_test_that_does_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "FIRST", 1.0)
    make = "test: halves.c test_halves.c\n\t$(CC) -o t halves.c test_halves.c\n\t./t\n"
    repo = make_repo(tmp_path / "r", {"halves.c": ENDLESS, "test_halves.c": ENDLESS_TESTS, "Makefile": make})
    off = {"orchestrator": {"decomposed_repair": False}}
    run = await open_run("halves does not end for 0. Fix it.", repo, with_model=False, extra=off)
    try:
        finished = await run.execute()
    finally:
        await run.aclose()
    assert finished.tests_before is not None
    assert (finished.tests_before.passing, finished.tests_before.failing) == (("test_eight",), ("test_none",))
