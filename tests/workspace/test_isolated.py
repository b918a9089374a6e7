"""The checks in a copy in which each test is by itself."""

from __future__ import annotations

from pathlib import Path

from agent.workspace.checks import run_checks
from agent.workspace.isolated import broke_off, isolated_tests, run_isolated
from agent.workspace.sandbox import Limits
from agent.workspace.worktree import Workspace
from tests.workspace.support import make_repo

MAKEFILE = "test: test_half.c half.c\n\t$(CC) -o t test_half.c half.c\n\t./t\n"
HALF = "int half(int n) { return n == 0 ? *(volatile int *)0 : n / 2; }\n"
TESTS = """#include <assert.h>
int half(int n);
static void test_nothing(void) { assert(half(0) == 0); }
static void test_even(void) { assert(half(4) == 2); }
int main(void) { test_nothing(); test_even(); return 0; }
"""


async def test_a_crash_leaves_the_other_tests_their_say(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"Makefile": MAKEFILE, "half.c": HALF, "test_half.c": TESTS})
    space = await Workspace.create(repo, "r1")
    plain = await run_checks(space.root, "make test", 60.0, limits=Limits())
    assert broke_off(plain)
    each = await run_isolated(space.root, "make test", 60.0, isolated_tests(space.root), limits=Limits())
    assert each is not None and not each.ok
    assert (each.passing, each.failing) == (("test_even",), ("test_nothing",))
    assert (space.root / "test_half.c").read_text() == TESTS


async def test_what_does_not_build_tells_nothing(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"Makefile": MAKEFILE, "half.c": "int half(", "test_half.c": TESTS})
    space = await Workspace.create(repo, "r1")
    assert not broke_off(await run_checks(space.root, "make test", 60.0, limits=Limits()))
    assert await run_isolated(space.root, "make test", 60.0, isolated_tests(space.root), limits=Limits()) is None
