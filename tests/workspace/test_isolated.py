"""The checks in a copy in which each test is by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.language.base import TEST_SECONDS
from agent.language.test_names import test_function as function_of
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
    assert broke_off(plain, isolated_tests(space.root))
    each = await run_isolated(space.root, "make test", 60.0, isolated_tests(space.root), limits=Limits())
    assert each is not None and not each.ok
    assert (each.passing, each.failing) == (("test_even",), ("test_nothing",))
    assert (space.root / "test_half.c").read_text() == TESTS


async def test_what_does_not_build_tells_nothing(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"Makefile": MAKEFILE, "half.c": "int half(", "test_half.c": TESTS})
    space = await Workspace.create(repo, "r1")
    tests = isolated_tests(space.root)
    assert not broke_off(await run_checks(space.root, "make test", 60.0, limits=Limits()), tests)
    assert await run_isolated(space.root, "make test", 60.0, tests, limits=Limits()) is None


LOOP = """def half(n):
    while n == 3:
        try:
            pass
        except Exception:
            pass
    return n // 2
"""
PLAIN = """from half import half


def test_odd():
    assert half(3) == 1


def test_even():
    assert half(4) == 2
"""
CLASS = """import unittest
from half import half


class Halves(unittest.TestCase):
    def test_odd(self):
        self.assertEqual(half(3), 1)

    def test_even(self):
        self.assertEqual(half(4), 2)

    def test_larger(self):
        self.assertEqual(half(8), 5)


if __name__ == "__main__":
    unittest.main()
"""


@pytest.mark.parametrize(
    ("tests", "command", "failing"),
    [
        (PLAIN, "python3 -m pytest -q", ["test_odd"]),
        (CLASS, "python3 -m pytest -q test_half.py", ["test_larger", "test_odd"]),
        (CLASS, "python3 -m unittest -v test_half", ["test_larger", "test_odd"]),
    ],
    ids=["functions", "class", "unittest"],
)
async def test_a_test_in_python_that_does_not_end_fails_alone(
    tmp_path: Path, tests: str, command: str, failing: list[str]
) -> None:
    repo = make_repo(tmp_path / "repo", {"half.py": LOOP, "test_half.py": tests})
    space = await Workspace.create(repo, "r1")
    changed = isolated_tests(space.root)
    env = {TEST_SECONDS: "0.3"}
    assert broke_off(await run_checks(space.root, command, 1.5, limits=Limits()), changed)
    each = await run_isolated(space.root, command, 60.0, changed, limits=Limits(), env=env)
    assert each is not None and not each.ok and each.endless
    assert sorted(function_of(one) for one in each.failing) == failing
    assert [function_of(one) for one in each.passing] == ["test_even"]
    assert (space.root / "test_half.py").read_text() == tests


SLOW = """import time
from half import half

if __name__ == "__main__":
    print("run by hand")
\x0c

def test_odd():
    assert half(3) == 1


def test_again():
    test_slow()
    assert half(5) == 2


def test_slow():
    time.sleep(0.6)
    assert half(4) == 2
\x0c

if __name__ == "__main__":
    test_slow()
"""


async def test_a_slow_test_is_right_after_others_that_do_not_end(tmp_path: Path) -> None:
    files = {"half.py": LOOP, "test_a.py": SLOW, "test_b.py": SLOW}
    space = await Workspace.create(make_repo(tmp_path / "repo", files), "r1")
    env = {TEST_SECONDS: "1.5"}
    each = await run_isolated(space.root, "python3 -m pytest -q", 60.0, isolated_tests(space.root), limits=Limits(), env=env)
    assert each is not None and each.endless and each.failed == 2
    assert sorted(function_of(one) for one in each.passing) == ["test_again", "test_again", "test_slow", "test_slow"]
