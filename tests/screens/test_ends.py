"""What is said of checks that fail without names, includes taken out with their version, runs that made nothing."""

from __future__ import annotations

from pathlib import Path

from agent import events as ev
from agent.audit.history import fold
from agent.flow.checks import _counts
from agent.state.run_state import RunState
from agent.values import CheckResult, PlanStep
from screens.panes.compile import CompilePane
from screens.panes.phases import phase_count, stage_mark, strip
from screens.panes.plan import PlanPane
from screens.run.ending import ending_lines as outcome
from screens.run.screen import RunScreen
from screens.run.session import RunSession
from tests.screens.driving import ReplayApp
from tests.screens.recorded import failing
from tui.report import _line

BROKEN = CheckResult("make", 2, False, passed=0)
GOOD = CheckResult("make", 0, True)


def state_of(*events: ev.Event) -> RunState:
    """The state these events lead to."""
    return fold(ev.Envelope("r", n, float(n), event) for n, event in enumerate(events, 1))  # type: ignore[arg-type]


def text_of(*events: ev.Event) -> str:
    """The box of a run that ended so."""
    session = RunSession(clock=lambda: 0.0, repo=Path("."))
    session.state = state_of(*events)
    assert session.state.finished is not None
    return "\n".join(row.plain for row in outcome(session, session.state.finished))


def test_checks_without_names_fail_and_pass_by_their_exit_code() -> None:
    stages: list[ev.Event] = []
    for name, result, now in (("baseline", BROKEN, None), ("checks", BROKEN, GOOD)):
        measured = now or result
        stages += [ev.StageStarted(name), ev.ChecksRun(result, now), ev.StageFinished(name, counts=_counts(measured))]
    state = state_of(*stages)
    before, after = state.stages["baseline"], state.stages["checks"]
    assert (stage_mark(before, state)[0], phase_count(before, state)) == ("✗", "exit code 2")
    assert (stage_mark(after, state)[0], phase_count(after, state)) == ("✓", "exit code 0")
    assert [_line(event) for event in stages[1:]] == [
        "checks before: fail (exit code 2)", "baseline: exit code 2", "", "checks: pass (exit code 0)", "checks: exit code 0"
    ]  # fmt: skip


def test_an_include_goes_with_the_version_it_was_put_in_for() -> None:
    event = ev.IncludeAdded("a.c", "stdlib.h", 0, kept=False)
    shown = "\n".join(row.plain for row in CompilePane.build(CompilePane(), state_of(event), 100))
    assert "taken out with the version that needed it" in shown
    assert "taken out with the version it was put in for" in _line(event)
    for text in (shown, _line(event)):
        assert ":0" not in text and "did not help" not in text


def test_a_run_that_changed_nothing_offers_nothing_to_merge() -> None:
    started, end = ev.RunStarted("t", "/nowhere/repo", "cra/r"), ev.RunFinished("stopped", "The person stopped the run.", 1)
    text = text_of(started, ev.DiffReady("", branch="cra/r"), end)
    assert "changed nothing" in text and "git merge" not in text
    assert "git merge cra/r" in text_of(started, ev.DiffReady("+x", branch="cra/r"), end)


def test_outside_git_no_merge_is_offered(tmp_path: Path) -> None:
    started = ev.RunStarted("t", str(tmp_path), "cra/r", worktree="/place/of/the/copy")
    text = text_of(started, ev.DiffReady("+x", branch="cra/r"), ev.RunFinished("complete"))
    assert "git" not in text and "/place/of/the/copy" in text


def test_the_last_line_of_a_run_has_one_sign_after_its_reason() -> None:
    assert _line(ev.RunFinished("stopped", "The person stopped the run.", 3, seconds=2)) == (
        "stopped: The person stopped the run; 3 calls in 2 s"
    )


def test_figures_that_do_not_fit_are_left_out_whole() -> None:
    end = ev.RunFinished("partial", calls=3, seconds=61, tests_before=BROKEN, tests_after=GOOD, stubs_left=2)
    session = RunSession(clock=lambda: 0.0, repo=Path("."))
    session.state = state_of(ev.RunStarted("t", ".", "cra/r"), end)
    wide = outcome(session, end, 120)[1].plain
    assert wide == "the checks pass now · 2 stubs left · 3 calls in 1m01s"
    assert outcome(session, end, len(wide) - 1)[1].plain == "the checks pass now · 2 stubs left"


def test_no_step_is_under_way_when_the_run_is_over() -> None:
    plan = ev.PlanMade((PlanStep("s1", "Write it"), PlanStep("s2", "Test it")), "facts")
    going = state_of(plan, ev.StepStarted("s1"))
    over = state_of(plan, ev.StepStarted("s1"), ev.RunFinished("stopped"))
    assert "s1" in strip(going, 80).plain and "s1" not in strip(over, 80).plain
    marks = [[row.plain[:4] for row in PlanPane().build(state, 80) if row.plain[2:4] == "s1"] for state in (going, over)]
    assert marks == [["▸ s1"], ["■ s1"]]


async def test_of_a_run_opened_after_its_end_the_pane_that_explains_it_is_in_front() -> None:
    app = ReplayApp(failing())
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(200):
            if isinstance(app.screen, RunScreen) and app.run_screen().panel.current == "diff":
                return
            await pilot.pause(0.01)
        raise AssertionError("another pane stayed in front")


def test_what_becomes_of_the_change_comes_after_what_was_said_last() -> None:
    session = RunSession(task="t", repo=Path("/nowhere"), clock=lambda: 0.0)
    ended, applied = ev.RunFinished("complete"), ev.DiffResolved("applied")
    for t, event in ((0.0, ev.RunStarted("t", "/nowhere")), (34.0, ended), (54.0, applied)):
        session.receive(ev.Envelope("r", 1, t, event))
    session.flush()
    session.resolved(ev.DiffResolved("undone"))
    assert [t for t, _ in session.state.log] == [0.0, 34.0, 54.0, 54.0] and session.state.t == 34.0


def test_a_function_that_was_being_written_at_the_end_is_broken_off() -> None:
    step = ev.PlanMade((PlanStep("s1", "Write f", ("a.c",), ("f",)),), "facts")
    begun = (ev.RunStarted("t", "/nowhere"), step, ev.FunctionStarted("f", "a.c", max_attempts=3))
    over = (*begun, ev.RunFinished("failed"))
    for events, said in ((begun, "▸ f  writing, try 1 of 3"), (over, "■ f  broken off, try 1 of 3")):
        shown = "\n".join(row.plain for row in PlanPane().build(state_of(*events), 80))
        assert said in shown
