"""New test files: only new ones, only ones that check something."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.coding.files import FolderFiles
from agent.coding.writing.generated_tests import TestRun, TestsWritten, implement_tests
from agent.languages import named
from agent.values import PlanStep
from tests.coding.helpers import compile_in, project
from tests.fakes.context import run_context
from tests.fakes.script import Answer
from tests.fakes.server import ScriptedServer

GOOD = (
    '#include <assert.h>\n#include "../src/ring.h"\n\nstatic void test_reset(void)\n{\n    ring_t r;\n    ring_reset(&r);\n'
    "    assert(r.count == 0);\n}\n\nint main(void)\n{\n    test_reset();\n    return 0;\n}\n"
)
STEP = PlanStep("t1", "Test ring.h.", ("tests/test_ring.c",), kind="test_implement")


async def write(tmp_path: Path, script: object) -> tuple[TestsWritten, ScriptedServer, FolderFiles]:
    if not (tmp_path / "repo").exists():
        project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    server = ScriptedServer(script)
    async with server, run_context(tmp_path, server) as ctx:
        outcome = await implement_tests(
            ctx, STEP, files=files, compile=compile_in(files.root), interface=["src/ring.h"], task="t"
        )
    return outcome, server, files


async def test_a_new_test_file_is_written_and_compiled(tmp_path: Path) -> None:
    outcome, server, files = await write(tmp_path, f"```c\n{GOOD}```")
    assert outcome.ok and (outcome.path, outcome.tests) == ("tests/test_ring.c", ("test_reset",))
    assert files.read_bytes("tests/test_ring.c").decode() == GOOD
    assert "Push a value" in server.calls[0].prompt


async def test_a_file_that_does_not_compile_is_taken_back_and_asked_again(tmp_path: Path) -> None:
    bad = GOOD.replace("r.count", "r.size")
    outcome, server, _ = await write(tmp_path, [("no member named", f"```c\n{GOOD}```"), ("ring", f"```c\n{bad}```")])
    assert outcome.ok and outcome.attempts == 2 and len(server.calls) == 2


async def test_tests_that_do_not_compile_are_taken_out(tmp_path: Path) -> None:
    """A variable that one test declares is used in the next: nothing for which half a minute is spent again."""
    more = "static void test_count(void)\n{\n    ring_reset(&r);\n    assert(r.count == 0);\n}\n\n"
    text = GOOD.replace("int main", f"{more}int main").replace("test_reset();\n", "test_reset();\n    test_count();\n")
    outcome, server, files = await write(tmp_path, f"```c\n{text}```")
    assert (outcome.ok, outcome.tests, len(server.calls)) == (True, ("test_reset",), 1), outcome.reason
    assert "'r'" in outcome.dropped["test_count"]
    assert b"test_count" not in files.read_bytes("tests/test_ring.c")


async def test_an_existing_test_is_never_touched(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    (tmp_path / "repo/tests").mkdir()
    (tmp_path / "repo/tests/test_ring.c").write_text("old")
    outcome, server, files = await write(tmp_path, f"```c\n{GOOD}```")
    assert not outcome.ok and server.calls == [] and files.read_bytes("tests/test_ring.c") == b"old"


@pytest.mark.parametrize(
    ("text", "language", "says"),
    [
        ("def test_a():\n    assert f(1) == 2\n", "python", ""),
        ("def test_a():\n    with pytest.raises(ValueError):\n        f()\n", "python", ""),
        ("def test_a():\n    assert True\n", "python", "asserts nothing"),
        ("def test_a():\n    f(1)\n", "python", "asserts nothing"),
        ("def check():\n    assert f(1)\n", "python", "no function called test_"),
        ("def test_a(:\n", "python", "not valid Python"),
        ("int f(void) { return 1; }", "c", "no main"),
        ("int main(void) { assert(1); return 0; }", "c", "checks nothing"),
        ("int main(void) { assert(f() == 1); return 0; }", "c", ""),
    ],
)
def test_what_is_a_test(text: str, language: str, says: str) -> None:
    problem = named(language).tests.problem(text)
    assert says in problem if says else problem == ""


async def test_what_is_whole_of_a_reply_that_was_cut_off_is_used(tmp_path: Path) -> None:
    cut = GOOD.partition("int main")[0] + "static void test_more(void)\n{\n    ring_t r;\n    assert(r.co"
    outcome, server, files = await write(tmp_path, Answer(f"```c\n{cut}", finish="length"))
    assert (outcome.ok, outcome.tests, len(server.calls)) == (True, ("test_reset",), 1), outcome.reason
    assert b"    test_reset();\n" in files.read_bytes("tests/test_ring.c")


async def test_the_same_reply_again_is_not_run_again(tmp_path: Path) -> None:
    runs: list[str] = []

    async def run(path: str) -> TestRun:
        runs.append(path)
        return TestRun(False, {"test_reset": "it fails"})

    project(tmp_path / "repo")
    server = ScriptedServer(f"```c\n{GOOD}```")
    async with server, run_context(tmp_path, server) as ctx:
        files = FolderFiles(tmp_path / "repo")
        outcome = await implement_tests(
            ctx, STEP, files=files, compile=compile_in(files.root), interface=["src/ring.h"], run=run
        )
    assert not outcome.ok and len(runs) == 1 and len(server.calls) == 3
    assert len({call.prompt for call in server.calls}) == 3 and not files.exists("tests/test_ring.c")
