"""What a model writes is run by the checks. It may try to change what measures it; the verdict must not move."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from agent import events as ev
from agent.coding.writing.edit_step import implement_step
from agent.flow.worktree_files import WorkTree
from agent.index import Index
from agent.launch import open_run
from agent.values import PlanStep
from agent.workspace.demo import create_demo
from agent.workspace.git import WorkspaceError
from agent.workspace.protected import is_writable
from agent.workspace.worktree import Workspace
from tests.coding.helpers import compile_in
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder, small_ring
from tests.flow.test_run import RING, TASK, of, play, settings
from tests.repair.operators_on import only

WRONG = "int ring_max(const ring_buffer *rb)\n{\n    return rb->count ? rb->data[0] : INT_MIN;\n}"
REWRITES_THE_TESTS = """
    FILE *tests = fopen("tests/test_ring_buffer.c", "w");
    fputs("int main(void) { return 0; }\\n", tests);
    fclose(tests);
    FILE *make = fopen("Makefile", "w");
    fputs("test:\\n\\ttrue\\n", make);
    fclose(make);
"""
REPLACES_THE_BINARY = """
    remove("build/test_ring_buffer");
    FILE *binary = fopen("build/test_ring_buffer", "w");
    fputs("#!/bin/sh\\nexit 0\\n", binary);
    fclose(binary);
    chmod("build/test_ring_buffer", 0755);
    struct utimbuf later = { .actime = 4000000000, .modtime = 4000000000 };
    utime("build/test_ring_buffer", &later);
"""


class Cheat(Coder):
    """Writes all functions well but one, which is wrong every time, and one that tampers with the checks."""

    def __init__(self, deed: str) -> None:
        super().__init__(RING)
        first, brace, rest = self.functions["ring_create"].partition("{")
        self.functions["ring_create"] = f"{first}{brace}{deed}{rest}"
        self.functions["ring_max"] = WRONG


def text_at(repo: Path, branch: str, path: str) -> str:
    return subprocess.run(["git", "show", f"{branch}:{path}"], cwd=repo, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("deed", [REWRITES_THE_TESTS, REPLACES_THE_BINARY], ids=["tests", "binary"])
async def test_code_that_rewrites_what_measures_it_is_measured_all_the_same(tmp_path: Path, deed: str) -> None:
    repo = small_ring(tmp_path / "ring", ("ring_create", "ring_max"))
    header = (repo / "ring_buffer.c").read_text()
    includes = "#include <stdio.h>\n#include <limits.h>\n#include <sys/stat.h>\n#include <utime.h>\n"
    (repo / "ring_buffer.c").write_text(includes + header)
    tests, makefile = (repo / "tests/test_ring_buffer.c").read_text(), (repo / "Makefile").read_text()
    sections = {"coding": {"max_attempts": 1}, "repair": only("comparison")}
    async with ScriptedServer(Cheat(deed)) as server:
        finished, heard, _ = await play(repo, server, TASK, sections=sections)
    after = finished.tests_after
    assert after is not None and not after.ok and (after.passed or 0) > 10
    assert "test_max_looks_at_elements_in_use" in after.failing
    assert all(name.startswith("test_max_") for name in after.failing), "only the wrong function fails"
    assert text_at(repo, finished.branch, "tests/test_ring_buffer.c") == tests
    assert text_at(repo, finished.branch, "Makefile") == makefile
    assert (repo / "tests/test_ring_buffer.c").read_text() == tests
    if deed is REWRITES_THE_TESTS:
        said = [notice.text for notice in of(heard, ev.Notice) if "The checks changed" in notice.text]
        assert said and "Makefile, tests/test_ring_buffer.c" in said[0] and "restored" in said[0]


async def test_an_apply_that_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    repo = create_demo("ring_buffer", tmp_path / "ring")
    async with ScriptedServer("no") as server:
        run = await open_run(TASK, repo, extra=settings(server))
        shutil.rmtree(run.workspace.top)
        applied, text = await run.apply()
        await run.aclose()
    assert not applied and "is gone" in text and f"git merge {run.workspace.branch}" in text


async def test_files_outside_are_neither_read_nor_written_through_links(tmp_path: Path) -> None:
    repo = create_demo("ring_buffer", tmp_path / "ring")
    (tmp_path / "outside.c").write_text("int outside;\n")
    (repo / "link.c").symlink_to(tmp_path / "outside.c")
    (repo / "inside.c").symlink_to("log.c")
    space = await Workspace.create(repo, "r1")
    index = Index.open(space.root, db_path=tmp_path / "i.sqlite")
    tree = WorkTree(space, index, lambda path: is_writable(space.root, path))
    for path in ("link.c", "../../../../outside.c", str(tmp_path / "outside.c"), ".git", ".git/config"):
        assert not tree.files.exists(path) and not tree.writable(path)
        with pytest.raises(FileNotFoundError):
            tree.files.read_bytes(path)
        with pytest.raises(WorkspaceError):
            tree.files.write_bytes(path, b"int changed;\n")
    assert tree.files.exists("inside.c") and tree.files.read_bytes("inside.c") == (repo / "log.c").read_bytes()
    assert (tmp_path / "outside.c").read_text() == "int outside;\n"


async def test_a_bare_repository_is_called_one(tmp_path: Path) -> None:
    repo = create_demo("ring_buffer", tmp_path / "ring")
    with pytest.raises(WorkspaceError, match="is a bare repository"):
        await open_run(TASK, repo / ".git")


@pytest.mark.parametrize(
    "path",
    ["./link.c", ".//link.c", "./new.c/", "made.c/x.c", "n" * 300 + ".c"],
    ids=["link", "slashes", "folder", "below", "long"],
)
async def test_an_edit_that_names_a_place_it_may_not_write_is_refused_and_asked_for_anew(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.c").write_text("int outside;\n")
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "made.c").write_text("int made;\n")
    (repo / "link.c").symlink_to(tmp_path / "outside.c")
    block = "FILE: {}\n<<<<<<< SEARCH\n{}=======\nint better;\n>>>>>>> REPLACE\n"
    script = [("Write only", [block.format(path, ""), block.format("made.c", "int made;\n")])]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        space = await Workspace.create(repo, "r1")
        index = Index.open(space.root, db_path=tmp_path / "i.sqlite")
        tree = WorkTree(space, index, lambda path: is_writable(space.root, path))
        await asyncio.to_thread(tree.index.refresh)
        step = PlanStep("s1", "Write only what is better.", ("made.c",))
        outcome = await implement_step(
            ctx, step, files=tree.files, compile=compile_in(space.root), protected=lambda one: not tree.writable(one)
        )
        refused = [event for event in ctx.events if isinstance(event, ev.EditRejected)]
    assert outcome.ok and outcome.attempts == 2 and len(refused) == 1
    assert (tmp_path / "outside.c").read_text() == "int outside;\n"
    assert tree.files.read_bytes("made.c") == b"int better;\n"
