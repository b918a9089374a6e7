"""Checks run code that a model wrote: what it does to the files that measure it is undone."""

import os

import pytest

from agent.workspace.restoring import CheckoutGuard
from agent.workspace.worktree import Workspace
from tests.workspace.support import git, make_repo

FILES = {"a.c": "int a;\n", "tests/test_a.c": "int main(void) { return 1; }\n", "Makefile": "test:\n"}


async def _space(tmp_path):
    return await Workspace.create(make_repo(tmp_path / "repo", FILES), "r1")


async def test_tests_that_a_command_rewrote_deleted_or_added_are_as_before(tmp_path):
    space = await _space(tmp_path)
    files = CheckoutGuard(space)
    (space.root / "tests/test_a.c").write_text("int main(void) { return 0; }\n")
    (space.root / "Makefile").unlink()
    (space.root / "tests/conftest.py").write_text("raise SystemExit(0)\n")
    (space.root / "a.o").write_text("object")
    assert files.restore() == ["Makefile", "tests/conftest.py", "tests/test_a.c"]
    assert (space.root / "tests/test_a.c").read_text() == FILES["tests/test_a.c"]
    assert (space.root / "Makefile").exists() and not (space.root / "tests/conftest.py").exists()
    assert (space.root / "a.o").exists(), "what a build leaves is not built again"
    assert files.restore() == [] and git(space.root, "status", "--porcelain").strip() == "?? a.o"


async def test_a_test_that_is_not_committed_yet_is_put_back_too_even_from_a_pipe(tmp_path):
    space = await _space(tmp_path)
    space.write_bytes("tests/test_b.c", b"int b;\n")
    files = CheckoutGuard(space)
    (space.root / "tests/test_b.c").unlink()
    os.mkfifo(space.root / "tests/test_b.c")
    assert files.restore() == ["tests/test_b.c"]
    assert (space.root / "tests/test_b.c").read_text() == "int b;\n"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/etc/passwd"), lambda path: None])
async def test_a_source_that_makes_itself_something_else_is_put_back(tmp_path, make):
    space = await _space(tmp_path)
    space.write_bytes("a.c", b"int changed;\n")
    space.write_bytes("new.c", b"int n;\n")
    files = CheckoutGuard(space)
    for name in ("a.c", "new.c"):
        (space.root / name).unlink()
        make(space.root / name)
    assert files.restore() == ["a.c", "new.c"]
    assert [(space.root / name).read_text() for name in ("a.c", "new.c")] == ["int changed;\n", "int n;\n"]
    assert not (space.root / "a.c").is_symlink() and files.restore() == []


async def test_what_the_run_itself_writes_meanwhile_stays(tmp_path):
    space = await _space(tmp_path)
    files = CheckoutGuard(space)
    space.write_bytes("a.c", b"int a = 2;\n")
    assert files.restore() == []
    assert (space.root / "a.c").read_text() == "int a = 2;\n"
