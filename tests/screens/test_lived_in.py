"""The run screen as it is lived in, at three sizes: what stays in front, what an incident says, how a run is left."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent import events as ev
from agent.events import Envelope
from agent.gate import Gate
from agent.state.run_state import RunState
from agent.values import CheckResult, Diagnostic, PlanStep, Rung
from benchmarks.recorded_run import load
from screens.finding import FindLine
from screens.lines import folded
from screens.panes.adjust import AdjustPane
from screens.panes.base import Pane
from screens.panes.cascade import CascadePane
from screens.panes.compile import CompilePane
from screens.panes.diff import diff_lines, side_by_side
from screens.panes.dwell import DWELL_SECONDS, INCIDENT_SECONDS, Dwell
from screens.panes.incidents import headline
from screens.run.card_screen import CardScreen
from screens.run.ending import ending_lines, explaining_pane
from screens.run.session import RunSession
from screens.text import about_time, local_time
from tests.screens.driving import ReplayApp, ScriptedRun, _nothing, fixed_clock, home_services
from tests.screens.recorded import Recorder, failing, ring_buffer, worked_example
from tui.app import CraApp

SIZES = [(80, 24), (120, 40), (200, 60)]
sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def folded_state(*events: ev.Event) -> RunState:
    state = RunState()
    for seq, event in enumerate(events, 1):
        state.apply(Envelope("r", seq, seq / 10, event))  # type: ignore[arg-type]
    return state


def shown(app: CraApp) -> str:
    return "\n".join("".join(part.text for part in strip) for strip in app.screen._compositor.render_strips())


MEMSET = (
    ev.FunctionStarted("ring_clear", "ring.c", 1, 3),
    ev.CallStarted(7, "function_implement", "ring_clear", "m", binary=False),
    ev.CallFinished(7, "function_implement", "ring_clear", ms=10, prompt_tokens=900, completion_tokens=60),
    ev.CompileFinished("ring.c", False, (
        Diagnostic("error", "implicit declaration of function 'memset'", "ring.c", 7, 5),
        Diagnostic("warning", "incompatible implicit declaration of built-in function 'memset'", "ring.c", 7, 5),
        Diagnostic("error", "'SIZE_MAX' undeclared", "ring.c", 9, 1)), symbol="ring_clear"),
    ev.ErrorClassified("ring.c", "missing_include", "deterministic",
                       (Rung("Which header declares `memset`?", "<string.h>", "model", 7),), symbol="ring_clear"),
    ev.CompileFinished("ring.c", True, symbol="ring_clear"),
    ev.IncludeAdded("ring.c", "string.h", 2, symbol="ring_clear"),
    ev.RecoveryDone("ring.c", "missing_include", "#include <string.h> added to ring.c", True, False, symbol="ring_clear"),
)  # fmt: skip


# -- panes with dwell time


def test_a_pane_stays_and_incidents_outrank_routine() -> None:
    dwell = Dwell("cascade")
    dwell.hear([ev.PlanMade(())])
    assert dwell.look(0.0) == "plan"
    dwell.hear([ev.ChecksStarted("make")])
    dwell.hear([ev.CompileFinished("a.c", False), ev.StepStarted("s1"), ev.ChecksStarted("make")])
    assert dwell.look(1.0) == "plan" and dwell.due(1.0) == DWELL_SECONDS - 1
    assert dwell.look(DWELL_SECONDS) == "compile", "the incident, though the checks came after it"
    dwell.hear([ev.ChecksStarted("make")])
    assert dwell.look(2 * DWELL_SECONDS) == "compile"
    assert dwell.look(DWELL_SECONDS + INCIDENT_SECONDS) == "checks"


def test_no_pane_is_in_front_for_less_than_its_time_in_a_burst_of_events() -> None:
    for recorder in (ring_buffer("diff"), worked_example(), failing()):
        dwell, changes = Dwell("cascade"), [(-10.0, "cascade")]
        for envelope in recorder.envelopes:
            for now in (envelope.t, envelope.t + 0.03):
                dwell.hear([envelope.event] if now == envelope.t else [])
                if dwell.look(now) != changes[-1][1]:
                    changes.append((now, dwell.front))
        times = [now for now, _ in changes]
        assert all(after - before >= DWELL_SECONDS for before, after in pairwise(times))


@sizes
async def test_the_last_incident_stays_in_sight_and_a_key_opens_it(size: tuple[int, int]) -> None:
    recorder = Recorder("r")
    recorder.add(ev.RunStarted("Implement it", "/home/ada/ring", "cra/r"))
    for event in MEMSET:
        recorder.add(event)
    recorder.add(ev.PlanMade((PlanStep("s1", "Write it"),)))
    app = ReplayApp(recorder)
    async with app.run_test(size=size) as pilot:
        told = "memset undeclared → <string.h> → ✓ recompiled 2→0"
        await _until(pilot, lambda: told in shown(app).replace("\n", ""))
        panel = app.run_screen().panel
        assert sum(pane.display for pane in panel.query(Pane)) == (2 if size[0] >= 160 else 1)
        await pilot.press("i")
        await _until(pilot, lambda: panel.current == "compile" and panel.pane.has_focus)


# -- compile as incidents


def test_an_incident_tells_cause_category_fix_proof_and_cost_once_each_in_this_order() -> None:
    state = folded_state(*MEMSET)
    assert headline(state.compile_incidents[0]).plain == "✗ memset undeclared → <string.h> → ✓ recompiled 2→0"
    for quoted in ("`put'", "'put'", "‘put’"):
        unlinked = ev.CompileFinished("a.c", False, (Diagnostic("error", f"undefined reference to {quoted}"),), link=True)
        assert headline(folded_state(unlinked).compile_incidents[0]).plain == "✗ put undefined"
    text = "\n".join(row.plain for row in CompilePane().build(state, 100))
    marks = ["  cause ", "  why ", "  fix ", "+ #include <string.h>", "  proof ", "2 errors before, none now", "no try used"]
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places) and all(text.count(mark) == 1 for mark in marks)
    assert "built-in" not in text, "a warning that repeats the error is not told"


async def test_a_rung_opens_the_card_of_its_call() -> None:
    recorder = Recorder("r")
    recorder.add(ev.RunStarted("Implement it", "/home/ada/ring", "cra/r"))
    for event in MEMSET:
        recorder.add(event)
    app = ReplayApp(recorder)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("2", "down", "enter")
        await pilot.pause()
        assert isinstance(app.screen, CardScreen) and app.screen.call.call_id == 7


# -- the funnel


def test_the_funnel_says_why_a_level_does_not_follow_from_the_one_before() -> None:
    state = folded_state(
        ev.StageStarted("scope", 1), ev.CallStarted(1, "scope", "b.c"),
        ev.CallFinished(1, "scope", "b.c", False, 0.3, 0.35, 0.6), ev.FileScoped("b.c", 3, "search", False),
        ev.FileScoped("a.c", 1, "mentioned", True, judged=False), ev.StageFinished("scope"),
        ev.CascadePass(1, 10, 0, 10),
        ev.Notice("warning", "The model found none of 10 symbols relevant, so the 8 best-ranked are kept. A stronger"
                  " model would help.", "precision_pass1"),
        ev.CascadePass(2, 8, 6, 2), ev.CascadePass(3, 2, 1, 1),
    )  # fmt: skip
    rows = [row.plain for row in CascadePane().build(state, 100)]
    text = "\n".join(rows)
    assert "2 → 1" in rows[0] and "↳ 1 file named by the task" in rows[1]
    assert "10 → 0" in text and "↳ The model found none of 10 symbols relevant, so the 8 best-ranked are kept" in text
    assert "8 → 6" in text and "2 → 1" in text and "asked of those that are not direct" in text
    assert any(row.strip().startswith("✗ b.c") and ".35 < .60" in row for row in rows)


@sizes
async def test_why_a_file_was_left_out_is_two_keys(size: tuple[int, int]) -> None:
    recorder = Recorder("r")
    recorder.add(ev.RunStarted("Fix it", "/home/ada/ring", "cra/r"))
    recorder.add(ev.StageStarted("scope", 1, "scope"))
    recorder.call("scope", "left/out.c", False, 0.2)
    recorder.add(ev.FileScoped("left/out.c", 3, "search", False))
    app = ReplayApp(recorder)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("1", "down", "enter")
        await pilot.pause()
        assert isinstance(app.screen, CardScreen) and app.screen.call.item == "left/out.c"


# -- outcomes in the stream


@sizes
async def test_the_row_of_a_text_says_what_became_of_it(size: tuple[int, int]) -> None:
    recorder = Recorder("r")
    recorder.add(ev.RunStarted("Implement it", "/home/ada/ring", "cra/r"))
    for event in MEMSET[:4]:
        recorder.add(event)
    app = ReplayApp(recorder)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert "✗ 2 errors" in shown(app)
        for seq, event in enumerate(MEMSET[4:], 90):
            assert app.session is not None
            app.session.receive(Envelope("r", seq, 9.0, event))  # type: ignore[arg-type]
        app.session.flush()
        await pilot.pause()
        assert "✓ compiles" in shown(app)


def test_tests_decide_over_the_compiler_and_a_refusal_is_said() -> None:
    before = CheckResult("make", 1, False, 3, 2, ("test_max", "test_min"))
    state = folded_state(
        ev.ChecksRun(before), *MEMSET,
        ev.ChecksRun(before, CheckResult("make", 1, False, 4, 1, ("test_max",)), ("test_min",), (), "s1"),
        ev.CallStarted(8, "implement", "s2 f", "m", binary=False), ev.CallFinished(8, "implement", "s2 f", ms=1),
        ev.EditRejected("a.py", "The new version is the same as the old one."),
    )  # fmt: skip
    (first, second) = [call.outcome for call in state.calls]
    assert first is not None and (first.kind, first.count) == ("tests_pass", 1)
    assert second is not None and second.kind == "refused" and "same as the old" in second.name


# -- how a run ends


def _ended(end: ev.RunFinished, *before: ev.Event, live: bool = False) -> RunSession:
    handle = ScriptedRun(Gate(), _nothing) if live else None
    session = RunSession(clock=fixed_clock, repo=Path("/home/ada/ring"), handle=handle)
    for seq, event in enumerate((ev.RunStarted("Fix it", "/home/ada/ring", "cra/r"), *before, end), 1):
        session.receive(Envelope("r", seq, seq / 10, event))  # type: ignore[arg-type]
    session.flush()
    return session


@pytest.mark.parametrize("width", [76, 116, 196])
@pytest.mark.parametrize(
    ("status", "before", "live", "pane", "keys"),
    [
        ("complete", [ev.DiffReady("+x", ("a.c",), 1, 0, "cra/r")], True, "diff", "awd5"),
        ("failed", [ev.ChecksRun(CheckResult("make", 1, False)), ev.ChecksRun(CheckResult("make", 1, False),
                    CheckResult("make", 1, False))], False, "checks", "Rm6"),
        ("failed", [*MEMSET[:5], ev.RecoveryDone("ring.c", "logic_error", "given up", False, True, symbol="ring_clear")],
         False, "compile", "Rm2"),
        ("stopped", [ev.PlanMade((PlanStep("s1", "x"),))], False, "plan", "Rm3"),
    ],
)  # fmt: skip
def test_the_panel_names_the_next_steps_as_keys(
    status: str, before: list[ev.Event], live: bool, pane: str, keys: str, width: int
) -> None:
    end = ev.RunFinished(status, "Because of this.")  # type: ignore[arg-type]
    session = _ended(end, *before, live=live)
    assert explaining_pane(session.state) == pane
    rows = [row.plain for row in ending_lines(session, end, width)]
    assert "Because of this." in rows[0] and len(rows[-1]) <= width
    assert "".join(part[0] for part in rows[-1].split("  ")) == keys


def test_the_figures_are_those_of_the_whole_run() -> None:
    steps = tuple(PlanStep(f"s{n}", "w", target_symbols=(f"f{n}",), kind="function_implement") for n in range(8))
    done = [ev.FunctionImplemented(f"f{n}", "a.c") for n in range(6)]
    before = after = CheckResult("make", 0, True)
    end = ev.RunFinished("stopped", "You stopped it.", functions=6, tests_before=before, tests_after=after)
    session = _ended(end, ev.PlanMade(steps), *done, MEMSET[1], MEMSET[2])
    text = ending_lines(session, end, 190)[1].plain
    assert "6 of 8 functions written" in text and "the checks pass, as before" in text
    assert "900 tokens in, 60 out" in text


# -- review at the stage's edge


async def _judged(run: ScriptedRun) -> None:
    for number, p in enumerate((0.9, 0.52, 0.1), 1):
        await run.ask(number, "scope", f"file{number}.c", p > 0.5, p)

    def turn(call_id: int) -> bool:
        run.emit(ev.CallFinished(call_id, "scope", f"file{call_id}.c", False, overruled=True, revised=True))
        return True

    await run.gate.review("scope", turn)


@sizes
async def test_a_verdict_is_turned_round_before_it_is_used(size: tuple[int, int], tmp_path: Path) -> None:
    app = CraApp(home_services(_judged), task="Fix it", repo=tmp_path, start=True)
    async with app.run_test(size=size) as pilot:
        await _until(pilot, lambda: app.session is not None and bool(app.session.reviewing))
        await pilot.pause()
        assert "≈ " in shown(app) and "end of stage file?" in shown(app)
        await pilot.press("n")
        session = app.session
        assert session is not None
        await _until(pilot, lambda: session.state.calls[1].verdict is False)
        assert session.state.calls[1].answer.overruled, "the least certain one was in front"
        await pilot.press("space")
        await _until(pilot, lambda: session.state.finished is not None)


async def _until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    for _ in range(400):
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it never held")


# -- what is shown is what is there


@pytest.mark.parametrize("width", [5, 9, 17, 40])
def test_folding_adds_nothing_and_takes_nothing_but_blanks(width: int) -> None:
    from textual.content import Content

    text = "  containers.Horizontal(buf[i]) is not containers.Vertical: 漢字漢字漢字 a_very_long_name_without_any_blank"
    parts = folded(Content(text), width)
    assert all(part.cell_length <= width for part in parts)
    assert "".join(part.plain for part in parts).replace(" ", "") == text.replace(" ", "")


def test_the_matrix_has_the_steps_that_are_done_and_its_sum_adds_up() -> None:
    state = folded_state(
        ev.AdjustmentStarted(1, ("it fails",), (), ("s1", "s2"), 2),
        ev.RootCauseVerdict(0, "s2", True), ev.RootCauseVerdict(0, "s1", False),
    )  # fmt: skip
    text = "\n".join(row.plain for row in AdjustPane().build(state, 80))
    assert "calls 2  of at most 2: 2 caused by" in text and "viable" not in text
    rows = {row.split()[0]: row.split()[1:] for row in text.splitlines() if row[:2] in ("s1", "s2")}
    assert rows == {"s1": ["○"], "s2": ["●"]}
    empty = "\n".join(row.plain for row in AdjustPane().build(folded_state(ev.AdjustmentStarted(1, ("x",), (), (), 6)), 80))
    assert "step" not in empty.replace("steps:", "")


def test_a_recorded_adjustment_is_told_with_the_names_of_its_steps_and_the_kind_of_its_failure() -> None:
    state = folded_state(*(envelope.event for envelope in load("adjusted").envelopes))
    pane = AdjustPane()
    rows = [row.plain for row in pane.build(state, 120)]
    led = {rows[place].split()[0]: state.call(which) for place, (_, which) in pane._leading.items()}  # type: ignore[arg-type]
    assert {step: call and (call.stage, call.item) for step, call in led.items()} == {
        "s2": ("adjustment_step_viability", "s2"), "s1": ("adjustment_root_cause", "F1 s1"),
    }, "a row opens the card of the call that says most of its step"  # fmt: skip
    assert len(state.adjustments) == 2 and any(row.startswith("F1 ") and row.endswith("  patch failure") for row in rows)
    assert "s1 BudgetTracker.remaining  failed     ○" in rows and "s2 BudgetTracker.can_fit      ✓        ○" in rows
    assert sum("at most 5: 1 still worth doing + 2 caused by + 1 new step + 1 the new plan" in row for row in rows) == 2


def test_both_forms_of_a_diff_show_all_of_it() -> None:
    head = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,3 @@\n"
    diff = head + " int a;\n-int b = buf[i];\n+int b = 0;\n+int c;\n }"
    new = "diff --git a/new.c b/new.c\nnew file mode 100644\nindex 0000000..1\n--- /dev/null\n+++ b/new.c\n"
    added = new + "@@ -0,0 +1 @@\n+int d;"
    gone = "diff --git a/old.c b/old.c\ndeleted file mode 100644\n--- a/old.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int e;"
    rows = [row.plain for row in diff_lines("\n".join((diff, added, gone)))]
    assert rows[:2] == ["a.c", "@@ -1,3 +1,3 @@"] and "\n".join(rows[2:7]) == diff.removeprefix(head)
    assert rows[8:12] == ["new.c", "new file mode 100644", "@@ -0,0 +1 @@", "+int d;"]
    assert rows[13:] == ["old.c", "deleted file mode 100644", "@@ -1 +0,0 @@", "-int e;"]
    rows = [row.plain for row in side_by_side(diff, 60)]
    assert any("-int b = buf[i];" in row and "+int b = 0;" in row for row in rows)
    assert all(len(row) <= 60 for row in rows)


def test_times_are_local_and_estimates_are_no_finer_than_they_are_known() -> None:
    assert [about_time(seconds) for seconds in (1, 41, 170, 7000)] == ["5 s", "40 s", "3 minutes", "2 hours"]
    assert local_time("not a time") == "not a time" and len(local_time("2026-11-27T18:42:10+00:00")) == 16


# -- finding


@sizes
async def test_slash_finds_in_the_focused_pane(size: tuple[int, int]) -> None:
    app = ReplayApp(ring_buffer("diff"))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("7", "slash", *"compile")
        await pilot.pause()
        screen, panel = app.run_screen(), app.run_screen().panel
        assert " of " in screen.query_one(FindLine).count and panel.pane.found
        await pilot.press("enter", "enter", "escape")
        await pilot.pause()
        assert panel.pane.has_focus and not panel.pane.words and not screen.stream.words
        await pilot.press("z", "slash", *"compile")
        await pilot.pause()
        assert screen.maximized is panel.pane and " of " in screen.query_one(FindLine).count, "enlarged as well"
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert screen.maximized is None and panel.pane.has_focus


@sizes
async def test_slash_finds_in_the_whole_card(size: tuple[int, int]) -> None:
    app = ReplayApp(ring_buffer("diff"))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        await _until(pilot, lambda: isinstance(app.screen, CardScreen) and app.screen.card.texts is not None)
        await pilot.press("slash", *"ring_")
        await pilot.pause()
        whole = app.screen
        assert isinstance(whole, CardScreen) and whole.query_one(FindLine).count == "1 of 3" and whole.card.found
        counts = []
        for key in ("down", "down", "up", "enter"):
            await pilot.press(key)
            await pilot.pause()
            counts.append(whole.query_one(FindLine).count.partition(" ")[0])
        assert counts == ["2", "3", "2", "3"], "also where all of them are in sight"
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is whole and whole.card.has_focus and not whole.card.words
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is not whole


