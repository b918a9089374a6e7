"""The fold: what a run's events come to."""

from __future__ import annotations

from agent import events as ev
from agent.audit.history import fold
from agent.events import Envelope
from agent.state.run_state import RunState
from agent.values import PlanStep
from screens.panes.call_row import verdict_cell


def folded(*events: ev.AnyEvent) -> RunState:
    return fold([Envelope("run", number, 0.0, event) for number, event in enumerate(events, 1)])


def test_a_plan_that_grows_keeps_what_its_steps_have_come_to() -> None:
    header, function = PlanStep("s1", "Lay the header"), PlanStep("s1.put", "Implement put", depends_on=("s1",))
    state = folded(
        ev.PlanMade((header,), "facts"),
        ev.StepStarted("s1", "Lay the header"),
        ev.StepFinished("s1", True, "", "abc123", ("a.h",)),
        ev.PlanMade((header, function), "facts"),
    )
    assert [(one.status, one.finished and one.finished.commit) for one in state.steps.values()] == [
        ("done", "abc123"), ("pending", None),
    ]  # fmt: skip


def test_another_step_of_the_same_name_begins_anew() -> None:
    state = folded(
        ev.PlanMade((PlanStep("s1", "Lay the header"),), "facts"),
        ev.StepFinished("s1", False, "it does not compile"),
        ev.PlanMade((PlanStep("s1", "Lay another header"),), "facts"),
    )
    assert state.steps["s1"].status == "pending" and state.steps["s1"].finished is None


def test_the_clock_stands_still_once_a_run_has_ended() -> None:
    events = (
        (0.0, ev.RunStarted("Do it", "/r")), (60.0, ev.RunFinished("stopped")), (200.0, ev.DiffResolved("kept")),
        (1.0, ev.RunStarted("Do it", "/r")), (31.0, ev.RunFinished("complete")), (95.0, ev.DiffResolved("applied")),
    )  # fmt: skip
    state = RunState()
    seconds = []
    for number, (t, event) in enumerate(events, 1):
        state.apply(Envelope("run", number, t, event))
        seconds.append(state.seconds)
    assert seconds == [0.0, 60.0, 60.0, 61.0, 91.0, 91.0]
    assert state.log[-1][0] == 95.0, "the log tells when it was"


def test_what_was_in_flight_when_a_run_ended_waits_for_nothing() -> None:
    events = (ev.RunStarted("Do it", "/r"), ev.CallStarted(1, "scope", "a.c"), ev.CallFinished(1, "scope", "a.c", True),
              ev.CallStarted(2, "scope", "b.c"))  # fmt: skip
    assert [call.broken_off for call in folded(*events).calls] == [False, False]
    stopped = folded(*events, ev.RunFinished("stopped"))
    assert [(call.done, call.broken_off) for call in stopped.calls] == [(True, False), (False, True)]
    killed = folded(*events, ev.RunStarted("Do it", "/r"), ev.CallStarted(3, "scope", "b.c"))
    assert [call.broken_off for call in killed.calls] == [False, True, False]
    assert verdict_cell(stopped.calls[1])[0] == "– ended" and verdict_cell(killed.calls[2])[0] == "· asked"


def test_what_was_asked_ahead_stands_before_its_stage_and_may_stay_unused() -> None:
    ahead, unused = ev.CallStarted(1, "precision_pass2", "a.c:f"), ev.CallStarted(2, "precision_pass2", "a.c:g")
    state = folded(
        ev.RunStarted("Do it", "/r"), ev.StageStarted("precision_pass1", 2), ahead, unused,
        ev.StageFinished("precision_pass1"), ev.StageStarted("precision_pass2", 1),
        ev.CallFinished(1, "precision_pass2", "a.c:f", True), ev.StageFinished("precision_pass2"),
        ev.CallFinished(2, "precision_pass2", "a.c:g", explanation="not needed"),
    )  # fmt: skip
    assert [verdict_cell(call)[0] for call in state.calls] == ["✓ yes", "– unused"]
    assert list(state.symbols) == ["a.c:f"] and state.stages["precision_pass2"].yes == 1
