"""The tests that a plan brings: written last, run, kept only as far as they pass, and never at the expense of the work."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent import events as ev
from agent.launch import open_run
from agent.state.run_state import RunState
from agent.workspace.demo import create_demo, load_demo
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.coder import SOLUTIONS, TABLE_TESTS, Scaffolder, wants_tests
from tests.flow.test_run import of, play, settings

TABLE = (SOLUTIONS / "hash_table.c").read_bytes(), (SOLUTIONS / "hash_table.h").read_bytes()
DEMO = load_demo("hash_table")
NEW = "tests/test_hash_table.c"
ONE_WRONG = TABLE_TESTS.replace("hash_table_count(table) == 0", "hash_table_count(table) == 7")
ALL_WRONG = ONE_WRONG.replace("&& value == 1", "&& value == 2")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return create_demo("hash_table", tmp_path / "hash")


async def write_table(
    repo: Path, *tests: str, task: str = "", **sections: dict[str, Any]
) -> tuple[ev.RunFinished, list[ev.Envelope], RunState, Scaffolder]:
    coder = Scaffolder(*TABLE, tests or (TABLE_TESTS,))
    async with ScriptedServer(coder) as server:
        played = await play(repo, server, task or DEMO.task, hidden=DEMO.hidden, sections=sections)
    return *played, coder


def shown(repo: Path, branch: str, path: str) -> str:
    done = subprocess.run(["git", "show", f"{branch}:{path}"], cwd=repo, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def notices(heard: list[ev.Envelope]) -> list[ev.Notice]:
    return [one for one in of(heard, ev.Notice) if one.stage == "interface_tests"]


def refused(heard: list[ev.Envelope]) -> str:
    return "\n".join(one.reason for one in of(heard, ev.EditRejected))


async def test_a_good_test_is_run_kept_and_committed_last(table: Path) -> None:
    finished, heard, state, _ = await write_table(table)
    assert finished.status == "complete" and finished.reason == "Every step is done and the checks pass."
    assert shown(table, finished.branch, NEW) == TABLE_TESTS
    last = list(state.steps.values())[-1]
    assert (last.step.kind, last.status, last.step.interface) == ("test_implement", "done", ("src/hash_table.h",))
    assert {step.step.id for step in state.steps.values()} - {last.step.id} <= set(last.step.depends_on)
    assert of(heard, ev.StepFinished)[-1].files == (NEW,)
    (told,) = notices(heard)
    line = told.text.partition("Run it with: ")[2]
    assert subprocess.run(line, shell=True, cwd=state.started.worktree, capture_output=True).returncode == 0, line
    assert not [path for path in of(heard, ev.DiffReady)[0].files if path.startswith("acceptance")]


async def test_a_wholly_wrong_test_is_asked_for_again_and_dropped_without_harm(table: Path) -> None:
    tests = (ALL_WRONG, ALL_WRONG.replace("== 7", "== 8"))
    finished, heard, state, coder = await write_table(table, *tests, models={"concurrency": 4})
    assert finished.status == "complete" and coder.asked.count("tests") == 2
    assert "Every other step is done" in finished.reason and "planned for it were not kept: tests/test_h" in finished.reason
    assert shown(table, finished.branch, NEW) == ""
    assert list(state.steps.values())[-1].status == "failed" and any("not kept" in one.text for one in notices(heard))


async def test_a_task_that_asks_for_tests_is_partial_without_them(table: Path) -> None:
    finished, _, _, _ = await write_table(table, ALL_WRONG, task=DEMO.task + " Add unit tests.", coding={"max_attempts": 1})
    assert finished.status == "partial" and "The tests that the task asks for were not kept" in finished.reason


async def test_switched_off_nothing_is_planned_or_asked(table: Path) -> None:
    finished, _, state, coder = await write_table(table, coding={"interface_tests": False})
    assert finished.status == "complete" and "tests" not in coder.asked
    assert all(step.step.kind != "test_implement" for step in state.steps.values())


async def test_a_server_that_dies_at_the_tests_takes_nothing_away(table: Path) -> None:
    coder = Scaffolder(*TABLE)

    def dying(call: RecordedCall) -> Answer:
        return Answer(status=401, error="no") if wants_tests(call) else coder(call)

    async with ScriptedServer(dying) as server:
        finished, _, _ = await play(table, server, DEMO.task, hidden=DEMO.hidden)
    assert finished.status == "complete" and "were not kept" in finished.reason


async def test_a_run_stopped_at_its_tests_goes_on_with_them(table: Path) -> None:
    coder = Scaffolder(*TABLE)
    async with ScriptedServer(coder) as server:
        run = await open_run(DEMO.task, table, extra=settings(server), hidden=DEMO.hidden)

        def stop(envelope: ev.Envelope) -> None:
            if isinstance(envelope.event, ev.CallStarted) and envelope.event.stage == "test_implement":
                run.stop()

        run.ctx.listeners.append(stop)
        stopped = await run.execute()
        await run.aclose()
        asked = len(coder.asked)
        finished, _, state = await play(table, server, DEMO.task, hidden=DEMO.hidden, resume=run.ctx.run_id)
    assert stopped.status == "stopped"
    assert finished.status == "complete" and coder.asked[asked:] == ["tests"]
    assert shown(table, finished.branch, NEW) == TABLE_TESTS
    assert {step.status for step in state.steps.values()} == {"done"} and len(state.steps) > 1


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A finished table, so that a task may ask for its tests alone."""
    repo = tmp_path / "library"
    (repo / "src").mkdir(parents=True)
    (repo / "src/hash_table.c").write_bytes(TABLE[0])
    (repo / "src/hash_table.h").write_bytes(TABLE[1])
    (repo / "src/main.c").write_text("int main(void) { return 0; }\n")
    (repo / "test").mkdir()
    (repo / "test/test_hash_table.c").write_text("int main(void) { return 0; }\n")
    return repo


async def try_tests(
    repo: Path, *tests: str, **sections: dict[str, Any]
) -> tuple[ev.RunFinished, list[ev.Envelope], str, list[RecordedCall]]:
    """A run that writes tests of the finished table: how it ended, its events, the file, and the calls for it."""
    coder = Scaffolder(*TABLE, tests)
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(repo, server, "Write tests for hash_table.h.", sections=sections)
        asked = [call for call in server.calls if wants_tests(call)]
    written = of(heard, ev.DiffReady)[0].diff
    return finished, heard, written, asked


async def test_what_fails_of_a_test_is_taken_out_and_told(library: Path) -> None:
    finished, heard, written, asked = await try_tests(library, ONE_WRONG)
    assert finished.status == "complete" and len(asked) == 1, finished.reason
    assert "test/test_hash_table_2.c" in written and "test_insert_and_lookup" in written and "test_delete" not in written
    warning = next(one for one in notices(heard) if one.level == "warning")
    assert "test_delete was taken out" in warning.text and "hash_table_count(table) == 7" in warning.text


async def test_a_second_try_sees_the_failure_and_is_kept(library: Path) -> None:
    finished, _, written, asked = await try_tests(library, ALL_WRONG, TABLE_TESTS)
    assert finished.status == "complete" and len(asked) == 2 and "test_delete" in written
    assert "test_delete: " in asked[1].prompt and "hash_table_count(table) == 7" in asked[1].prompt
    assert '#include "../src/hash_table.h"' in asked[0].prompt


async def test_a_test_that_crashes_or_hangs_is_told_as_such(library: Path) -> None:
    bad = TABLE_TESTS.replace("assert(hash_table_count(table) == 0);", "*(volatile int *)0 = 1;")
    endless = "static void test_ever(void)\n{\n    for (;;) { }\n}\n\n"
    bad = bad.replace("static void test_delete", f"{endless}static void test_delete")
    finished, heard, _, _ = await try_tests(library, bad, coding={"max_attempts": 1}, testing={"timeout_seconds": 3})
    said = "\n".join(one.text for one in notices(heard))
    assert finished.status == "complete" and "crashed with signal 11" in said and "test_ever" in said
    assert "did not finish in time" in said


@pytest.mark.parametrize(
    ("tests", "says"),
    [
        (TABLE_TESTS.replace("hash_table_", "other_").replace("other_table.h", "hash_table.h"), "uses nothing of"),
        ("#define NDEBUG\n" + TABLE_TESTS, "NDEBUG"),
        (TABLE_TESTS + "\nbool hash_table_delete(hash_table *t, const char *k) { return t && k; }\n", "defines hash_table"),
    ],
)
async def test_what_is_no_test_of_the_interface_is_refused_with_the_reason(library: Path, tests: str, says: str) -> None:
    finished, heard, written, asked = await try_tests(library, tests, coding={"max_attempts": 2})
    assert finished.status == "failed" and not written and says in refused(heard) and len(asked) == 2
    assert "tests that the task asks for were not kept" in finished.reason


async def test_tests_that_main_forgets_are_called(library: Path) -> None:
    _, _, written, _ = await try_tests(library, TABLE_TESTS.replace("    test_delete();\n", ""))
    assert "+    test_delete();\n" in written


MODULE = (
    '"""Words."""\n\n\ndef count_words(text: str) -> int:\n    """How many words `text` has."""\n'
    "    return len(text.split())\n"
)
THERE = "import words\n\n\ndef test_there():\n    assert words\n"
PY_TESTS = (
    "from words import count_words\n\n\ndef test_two():\n    assert count_words('a b') == 2\n\n\n"
    "def test_none():\n    assert count_words('') == 0\n"
)
UNITTESTS = (
    "import unittest\n\nfrom words import count_words\n\n\nclass Words(unittest.TestCase):\n"
    "    def test_two(self):\n        self.assertEqual(count_words('a b'), 2)\n\n"
    "    def test_none(self):\n        self.assertEqual(count_words(''), 0)\n"
)


def words_project(repo: Path, old_test: str = THERE) -> Path:
    (repo / "tests").mkdir(parents=True)
    (repo / "words.py").write_text(MODULE)
    (repo / "tests/__init__.py").write_text("")
    (repo / "tests/test_words.py").write_text(old_test)
    return repo


def answers(tests: str) -> Any:
    return lambda call: Answer(f"```python\n{tests}```" if wants_tests(call) else "yes")


async def test_python_tests_that_are_asked_for_go_into_a_file_of_their_own(tmp_path: Path) -> None:
    repo = words_project(tmp_path / "words")
    async with ScriptedServer(answers(PY_TESTS)) as server:
        finished, heard, state = await play(repo, server, "Add tests for words.py.")
    assert finished.status == "complete", finished.reason
    assert of(heard, ev.DiffReady)[0].files == ("tests/test_words_2.py",) and not notices(heard)
    assert finished.tests_after is not None and finished.tests_after.passed == 3
    assert state.plan is not None and state.plan.how == "facts"


@pytest.mark.parametrize(("tests", "runs"), [(PY_TESTS, ""), (UNITTESTS, "python3 -m unittest discover -s tests -t .")])
async def test_a_python_test_that_fails_is_taken_out(tmp_path: Path, tests: str, runs: str) -> None:
    repo = words_project(tmp_path / "words", "import unittest\n" if runs else THERE)
    wrong = tests.replace("== 0", "== 1").replace("(''), 0)", "(''), 1)")
    async with ScriptedServer(answers(wrong)) as server:
        sections = {"testing": {"test_command": runs}}
        finished, heard, _ = await play(repo, server, "Write tests for words.py", sections=sections)
    assert finished.status == "complete", finished.reason
    diff = of(heard, ev.DiffReady)[0].diff
    assert "test_two" in diff and "test_none" not in diff
    assert any("test_none was taken out" in one.text and "0" in one.text for one in notices(heard)), notices(heard)


async def test_nothing_but_tests_asked_and_none_that_holds_is_a_failed_run(tmp_path: Path) -> None:
    repo = words_project(tmp_path / "words")
    wrong = PY_TESTS.replace("== 2", "== 3").replace("== 0", "== 1")
    async with ScriptedServer(answers(wrong)) as server:
        finished, _, _ = await play(repo, server, "Add tests for words.py.", sections={"coding": {"max_attempts": 1}})
    assert finished.status == "failed" and "tests that the task asks for were not kept" in finished.reason


@pytest.mark.parametrize("decomposed", [False, True])
async def test_a_new_module_that_a_model_plans_brings_its_test(tmp_path: Path, decomposed: bool) -> None:
    repo = words_project(tmp_path / "words")
    part = {"do": "Count the lines of a text.", "targets": ["lines.py"]}
    body = 'def count_lines(text: str) -> int:\n    """How many lines `text` has."""\n    return len(text.splitlines())\n'
    tests = PY_TESTS.replace("words", "lines").replace("'a b'", "'a\\nb'")

    def model(call: RecordedCall) -> Answer:
        if wants_tests(call):
            assert "from lines import" in call.prompt and "def count_lines" in call.prompt
            return Answer(f"```python\n{tests}```")
        if "Write the plan as" in call.prompt:
            return Answer(json.dumps({"parts": [part]}))
        if "List every place" in call.prompt:
            return Answer(json.dumps({"points": [{"target": "lines.py", "change": "add", "why": part["do"]}]}))
        if "SEARCH" in call.system:
            return Answer(f"FILE: lines.py\n<<<<<<< SEARCH\n=======\n{body}>>>>>>> REPLACE\n")
        return Answer("yes")

    async with ScriptedServer(model) as server:
        sections = {"orchestrator": {"decomposed_planning": decomposed}}
        finished, heard, state = await play(repo, server, "Create a new module that counts lines.", sections=sections)
    assert finished.status == "complete", finished.reason
    assert state.plan is not None and state.plan.how == ("decomposed" if decomposed else "monolithic")
    assert set(of(heard, ev.DiffReady)[0].files) == {"lines.py", "tests/test_lines.py"}
    assert finished.tests_after is not None and finished.tests_after.passed == 3


async def test_a_test_that_breaks_the_projects_own_build_is_not_kept(library: Path) -> None:
    (library / "test/test_hash_table.c").unlink()
    (library / "src/main.c").write_text("int check(void);\nint main(void) { return check(); }\n")
    (library / "src/table_test.c").write_text("int check(void) { return 0; }\n")
    (library / "Makefile").write_text(".PHONY: test\ntest:\n\t$(CC) -o all src/*.c\n\t./all\n")
    tests = TABLE_TESTS.replace("../src/", "")
    finished, _, written, _ = await try_tests(library, tests)
    assert finished.status == "failed" and not written
    assert "make test fails with src/hash_table_test.c there, and does not without it" in finished.reason


async def test_assertions_count_in_a_project_that_is_built_without_them(library: Path) -> None:
    finished, _, written, _ = await try_tests(library, ONE_WRONG, compile={"extra_flags": ["-DNDEBUG"]})
    assert finished.status == "complete" and "test_insert_and_lookup" in written and "test_delete" not in written
