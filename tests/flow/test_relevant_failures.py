"""Failing checks that have nothing to do with what was written: no reason for a repair, and no stain on the result."""

from pathlib import Path

import pytest

from agent import events as ev
from agent.flow.outcome import RunOutcome, judge_outcome
from agent.flow.relevant_failures import WrittenSymbols, lines_about, relevant_failures
from agent.index import Index
from agent.task.intent import read_intent
from agent.values import CheckResult, PlanStep
from agent.workspace.demo import create_demo
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder
from tests.flow.test_run import RING, of, play

WRONG = "int ring_max(const ring_buffer *rb)\n{\n    return rb->count ? rb->data[0] : INT_MIN;\n}"
TESTS = """
static int fill(void) { return box_put(1); }
static int test_put(void) { return box_put(1); }
static int test_full(void) { return fill(); }
static int test_all(void) { return fill() + box_take(); }
static int test_dates(void) { return parse_date("x"); }
"""


class Stubborn(Coder):
    """Writes one function wrongly, every time."""

    def __init__(self) -> None:
        super().__init__(RING)
        self.functions["ring_max"] = WRONG


async def test_one_function_of_many_is_not_written_again_for_the_tests_of_the_others(tmp_path: Path) -> None:
    repo = create_demo("ring_buffer", tmp_path / "ring")
    coder = Coder(RING)
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(repo, server, "Implement ring_max")
    assert coder.asked == ["ring_max"]
    assert finished.status == "complete" and "more checks pass than before" in finished.reason
    assert not [stage for stage in of(heard, ev.StageStarted) if stage.stage == "repair"]
    assert sum("nothing is rewritten" in notice.text for notice in of(heard, ev.Notice)) == 1


async def test_a_function_whose_own_test_still_fails_is_written_again_and_told_of(tmp_path: Path) -> None:
    repo = create_demo("ring_buffer", tmp_path / "ring")
    coder = Stubborn()
    async with ScriptedServer(coder) as server:
        finished, _, _ = await play(repo, server, "Implement ring_max")
    assert len(coder.asked) > 1
    assert finished.status == "partial"
    assert finished.reason == "Tests of what was written still fail: test_max_looks_at_elements_in_use."


def result(*failing: str, output: str = "", ok: bool = False) -> CheckResult:
    return CheckResult("make test", 0 if ok else 2, ok, 1, len(failing), failing, ("test_ok",), output=output)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_box.c").write_text(TESTS)
    found = Index.open(tmp_path, db_path=tmp_path / "index.sqlite")
    found.refresh()
    return found


PUT, TAKE = frozenset({"box_put"}), frozenset({"box_take"})


@pytest.mark.parametrize(
    ("name", "still_open", "bears"),
    [
        ("test_put", TAKE, True),
        ("test_put_and_take", TAKE, False),
        ("test_take", TAKE, False),
        ("test_full", TAKE, True),
        ("test_all", TAKE, False),
        ("test_dates", frozenset(), False),
        ("test_nobody_knows", frozenset(), True),
        ("test_nobody_knows", TAKE, False),
    ],
)
def test_what_bears_on_a_written_function(index: Index, name: str, still_open: frozenset[str], bears: bool) -> None:
    written = WrittenSymbols(PUT, still_open)
    found = relevant_failures(result(name), result(name), written, index, read_intent("Implement box_put"))
    assert found == ((name,) if bears else ())


def test_new_failures_and_tasks_about_the_checks_always_count(index: Index) -> None:
    before, now, written = result("test_dates"), result("test_dates", "test_take"), WrittenSymbols(PUT, TAKE)
    assert relevant_failures(before, now, written, index, read_intent("Implement box_put")) == ("test_take",)
    for task in ("Fix the dates", "Implement box_put so that all tests pass"):
        assert relevant_failures(before, now, written, index, read_intent(task)) == ("test_dates", "test_take")
    assert relevant_failures(None, now, written, index, read_intent("Implement box_put")) == ("test_dates", "test_take")
    assert relevant_failures(before, result(ok=True), written, index, read_intent("x")) == ()


def test_checks_without_names_are_told_apart_by_what_they_say(index: Index) -> None:
    before = result(output="box.c:9: error: expected ';'\nmake: *** [box.o] Error 1\n")
    assert relevant_failures(before, before, WrittenSymbols(PUT, TAKE), index, read_intent("Implement box_put")) == ()
    after = result(output="main: box.c:4: main: Assertion `box_put(1) == 1' failed.\nAborted\n")
    assert relevant_failures(before, after, WrittenSymbols(PUT, TAKE), index, read_intent("Implement box_put"))
    assert relevant_failures(after, after, WrittenSymbols(PUT, TAKE), index, read_intent("Implement box_put"))


def test_the_line_above_a_verdict_belongs_to_it_and_places_are_left_out() -> None:
    output = "PASS test_a\ntests/test_box.c:7: not true: box_put(1)\nFAIL test_b\ntests/test_box.c:9: x\nFAIL test_bc\n"
    assert lines_about("test_b", output).splitlines() == ["test_b", "not true: box_put(1)", "FAIL test_b"]


def test_the_status_is_decided_by_what_bears() -> None:
    step = PlanStep("s1", "Implement box_put", ("box.c",), ("box_put",))
    outcome = RunOutcome(result("test_put", "test_take"), result("test_put", "test_take"), (step,), {"s1"})
    outcome.relevant = ("test_put",)
    assert judge_outcome(outcome, True) == ("partial", "Tests of what was written still fail: test_put.")
    outcome.relevant = ()
    status, reason = judge_outcome(outcome, True)
    assert status == "complete" and "nothing to do with what was written" in reason
    outcome.final = result("test_put", "test_other", output="")
    outcome.baseline = CheckResult("make test", 0, True, 2, 0, (), ("test_put", "test_other"))
    assert judge_outcome(outcome, True)[0] == "partial"
