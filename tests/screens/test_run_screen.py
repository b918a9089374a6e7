"""The run screen: the gate's keys, the stream, tabs that follow, narrow and tiny terminals."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent import events as ev
from agent.events import Envelope
from agent.gate import Breakpoint
from screens.dialogs import Confirm
from screens.panes.tabs import TabPanel
from screens.run.breakpoint_dialog import parse_breakpoint
from screens.run.prompt import prompt_lines
from screens.run.screen import RunScreen
from screens.run.session import RunSession
from screens.run.status import pill
from tests.screens.driving import ReplayApp, ScriptedRun, fixed_clock, services
from tests.screens.recorded import MODEL, RECORDINGS, failing, many_calls, ring_buffer, worked_example
from tui.app import CraApp

ITEMS = ("a.py:one", "a.py:two", "a.py:three")


async def _judge(run: ScriptedRun) -> None:
    run.emit(ev.StageStarted("scope", len(ITEMS), "scope"))
    for number, item in enumerate(ITEMS, 1):
        await run.ask(number, "scope", item, item.endswith("one"))
    run.emit(ev.StageFinished("scope"))
    await run.gate.stage_edge("scope")


def _app(script=_judge, **changes) -> CraApp:
    return CraApp(services(script, **changes), repo=Path("/home/ada/repo"), task="A scripted task")


async def _settle(app: CraApp, pilot: Pilot) -> None:
    """Until everything that was emitted is folded and shown."""
    for _ in range(5):
        await pilot.pause()
        if app.session is not None:
            app.session.flush()
    await pilot.pause()


async def _start(app: CraApp, pilot: Pilot, *, paused: bool = True) -> ScriptedRun:
    """Start the task; the gate waits at the first decision when ``paused``."""
    real = app.services.start_run

    async def start_run(task, repo, config, *, gate):
        if paused:
            gate.pause()
        return await real(task, repo, config, gate=gate)

    app.services.start_run = start_run
    app.start_task("A scripted task", Path("/home/ada/repo"))
    await _settle(app, pilot)
    assert isinstance(app.screen, RunScreen)
    return app.services.extra["runs"][0]


async def test_stepping_waits_before_each_verdict_and_y_n_overrule() -> None:
    app = _app()
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        run = await _start(app, pilot)
        assert app.session is not None
        assert app.session.state.activity == "waiting for you"
        assert run.verdicts == {}
        await pilot.press("s")
        await _settle(app, pilot)
        assert run.verdicts == {"a.py:one": True}
        await pilot.press("y")  # the model says no to the second; the person says yes
        await _settle(app, pilot)
        assert run.verdicts["a.py:two"] is True
        assert run.labels == [("a.py:two", True)]
        await pilot.press("n")  # the model says no to the third; agreeing is not an overrule
        await _settle(app, pilot)
        assert run.labels == [("a.py:two", True)]
        assert app.session.state.status == "complete"
        call = app.session.state.call(2)
        assert call is not None and call.answer.overruled


async def test_space_pauses_and_goes_on() -> None:
    app = _app()
    async with app.run_test(size=(120, 36)) as pilot:
        run = await _start(app, pilot)
        await pilot.press("space")
        await _settle(app, pilot)
        assert len(run.verdicts) == 3
        assert not app.session.live


async def test_step_stage_waits_at_the_edge() -> None:
    app = _app()
    async with app.run_test(size=(120, 36)) as pilot:
        run = await _start(app, pilot)
        await pilot.press("S")
        await _settle(app, pilot)
        assert len(run.verdicts) == 3
        assert app.session.waiting is not None and app.session.waiting.kind == "stage"
        assert any("end of stage" in row.plain for row in prompt_lines(app.session))
        await pilot.press("space")
        await _settle(app, pilot)
        assert app.session.state.status == "complete"


async def test_stop_asks_and_then_stops() -> None:
    app = _app()
    async with app.run_test(size=(120, 36)) as pilot:
        run = await _start(app, pilot)
        await pilot.press("x")
        await pilot.pause()
        assert isinstance(app.screen, Confirm)
        await pilot.press("n")
        await _settle(app, pilot)
        assert app.session.live
        await pilot.press("x")
        await pilot.pause()
        await pilot.press("y")
        await _settle(app, pilot)
        assert app.session.state.status == "stopped"
        assert run.verdicts == {}


async def test_leaving_with_a_run_live_asks() -> None:
    app = _app()
    async with app.run_test(size=(120, 36)) as pilot:
        await _start(app, pilot)
        await pilot.press("q")
        await pilot.pause()
        assert app.screen is app.home
        assert app.session.live
        await pilot.press("f3")
        await pilot.pause()
        assert isinstance(app.screen, RunScreen)
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert isinstance(app.screen, Confirm)
        await pilot.press("y")
        await app.workers.wait_for_complete()
    assert app.return_code == 130


async def test_a_prompt_that_appears_by_itself_ignores_keys_for_a_moment() -> None:
    now = [100.0]
    app = _app(clock=lambda: now[0])
    async with app.run_test(size=(120, 36)) as pilot:
        real = app.services.start_run

        async def start_run(task, repo, config, *, gate):
            gate.breakpoints = [Breakpoint("scope", "*two")]
            return await real(task, repo, config, gate=gate)

        app.services.start_run = start_run
        run = await _start(app, pilot, paused=False)
        assert app.session.waiting is not None and app.session.waiting.item == "a.py:two"
        await pilot.press("y")
        await _settle(app, pilot)
        assert app.session.waiting is not None, "too soon: the key was not meant for this"
        now[0] += 0.6
        await pilot.press("y")
        await _settle(app, pilot)
        assert run.labels == [("a.py:two", True)]


async def _make_diff(run: ScriptedRun) -> None:
    run.emit(ev.DiffReady("+x\n", ("a.c",), 1, 0, "cra/x"))


async def test_the_change_is_decided_on_after_the_run(toasts: list[str]) -> None:
    now = [0.0]
    app = _app(_make_diff, clock=lambda: now[0])
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        run = await _start(app, pilot, paused=False)
        assert app.screen.query_one(TabPanel).current == "diff"
        assert app.session.deciding
        await pilot.press("a")
        await _settle(app, pilot)
        assert run.choices == [], "too soon: the prompt has just appeared"
        now[0] += 1
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, Confirm), "discarding asks first"
        await pilot.press("n")
        await _settle(app, pilot)
        assert run.choices == []
        run.refuses = "Your file a.c has changed meanwhile."
        await pilot.press("a")
        await _settle(app, pilot)
        assert run.choices == ["apply"] and app.session.deciding, "what was refused can be tried again"
        assert any("changed meanwhile" in text for text in toasts)
        run.refuses = ""
        await pilot.press("w")
        await _settle(app, pilot)
        assert run.choices == ["apply", "keep"]
        assert app.session.state.diff_choice == "kept" and not app.session.deciding
        assert run.closed


async def test_a_run_that_breaks_off_says_so() -> None:
    async def script(run: ScriptedRun) -> None:
        raise ValueError("the disk is full: buf[i]")

    app = _app(script)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await _start(app, pilot, paused=False)
        await app.workers.wait_for_complete(
            [worker for worker in app.workers if worker.group == "launch"]
        )
        await _settle(app, pilot)
        assert app.session.state.status == "failed"
        assert "buf[i]" in app.session.state.finished.reason


async def test_a_run_that_cannot_start_stays_home(toasts: list[str]) -> None:
    async def refuse(task, repo, config, *, gate):
        raise RuntimeError("There is no compiler [gcc].")

    app = CraApp(services(start_run=refuse), repo=Path("/tmp"), task="x")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.start_task("x", Path("/"))
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.screen is app.home
        assert any("[gcc]" in text for text in toasts)


async def test_tabs_follow_the_action_until_pinned() -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        panel, session = app.run_screen().panel, app.session
        assert session is not None
        now = 1000.0
        session._clock = lambda: now

        def happens(event: ev.Event, later: float) -> str:
            nonlocal now
            now += later
            session.receive(Envelope("budget", 900, now, event))  # type: ignore[arg-type]
            session.flush()
            return panel.current

        failed = ev.CompileFinished("a.c", False)
        assert happens(failed, 3) == "compile"
        assert happens(ev.ChecksStarted("make test"), 3) == "compile", "an incident stays longer than routine"
        assert happens(ev.StepStarted("s1"), 4) == "plan", "the newest of what waited"
        await pilot.press("1")
        assert happens(failed, 9) == "cascade" and panel.pinned
        await pilot.press("t")
        assert happens(ev.ChecksStarted("make test"), 9) == "checks"


async def test_hidden_panes_do_not_build() -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        panel = app.run_screen().panel
        panel.show_tab("cascade", 0.0)
        await pilot.pause()
        hidden = panel.query_one("#pane-log")
        assert hidden.stale and not hidden.source
        await pilot.press("7")
        await pilot.pause()
        assert hidden.source


async def test_filter_as_you_type_and_live_rows_join_it() -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        screen = app.run_screen()
        await pilot.press("slash", *"precision_pass1 no")
        assert screen.stream.count == 1
        assert screen.stream.selected.item.endswith("_refilter_files")
        done = ev.CallFinished(99, "precision_pass1", "x.py:late", False, 0.1)
        for event in (ev.CallStarted(99, "precision_pass1", "x.py:late", MODEL), done):
            app.session.receive(Envelope("budget", 1000, 13.0, event))
            app.session.flush()
        assert screen.stream.count == 2, "a row joins when its verdict arrives"
        await pilot.press("enter")
        assert screen.stream.has_focus and screen.stream.count == 2
        await pilot.press("escape")
        assert screen.stream.count == 23


async def test_moving_up_stops_following_and_counts_new_rows() -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        stream = app.run_screen().stream
        await pilot.press("up", "up")
        chosen = stream.selected
        for number in range(100, 105):
            app.session.receive(Envelope("budget", number, 12.0, ev.CallStarted(number, "scope", f"f{number}", MODEL)))
        app.session.flush()
        assert stream.selected is chosen
        assert "5 new" in str(stream.border_subtitle)
        await pilot.press("G")
        assert stream.follow and stream.unseen == 0
        assert stream.selected.call_id == 22, "the newest answer; the new ones have none yet"


async def test_card_shows_system_prompt_item_and_raw_answer() -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause(0.15)
        await app.workers.wait_for_complete()
        await pilot.pause()
        text = app.run_screen().card.plain
        for part in ("P(yes) 0.33 < 0.42: no", "“no”", "Symbol: assemble_context", "Answer with one word", "82 cached"):
            assert part in text
        await pilot.press("enter")
        await pilot.pause()
        assert "sent with" in app.screen.query_one("#whole-card").plain


async def test_a_hundred_thousand_calls() -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        screen = app.run_screen()
        session = RunSession(clock=fixed_clock)
        for envelope in many_calls(100_000):
            session.state.apply(envelope)
        screen.session = session
        screen.refresh_state([])
        await pilot.pause()
        assert screen.stream.count == 100_000
        await pilot.press("home")
        assert screen.stream.selected.call_id == 1
        await pilot.press("slash", *"symbol_99999")
        assert screen.stream.count == 1


SIZES = ((1, 1), (2, 2), (4, 3), (9, 5), (19, 2), (33, 8), (59, 12), (99, 4), (160, 3), (3, 60))


@pytest.mark.parametrize("name", RECORDINGS)
async def test_tiny_terminals_do_not_crash(name: str) -> None:
    app = ReplayApp(RECORDINGS[name]())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for number, (width, height) in list(enumerate(SIZES))[list(RECORDINGS).index(name) :: len(RECORDINGS)]:
            await pilot.resize_terminal(width, height)
            app.run_screen().action_tab(("calls", "cascade", "compile", "adjust", "diff", "checks")[number % 6])
            await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.run_screen().panel.size.width > 0


@pytest.mark.parametrize(("width", "panes"), [(80, 1), (120, 2), (200, 3)])
async def test_one_two_or_three_panes(width: int, panes: int) -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(width, 40)) as pilot:
        await pilot.pause()
        screen = app.run_screen()
        large = [
            part for part in (screen.query_one("#phases"), screen.query_one("#centre"), screen.panel)
            if part.display and part.size.height > 3
        ]  # fmt: skip
        assert len(large) == panes


def test_pill_says_one_thing() -> None:
    session = RunSession(clock=fixed_clock)
    for envelope in ring_buffer("diff").envelopes:
        session.receive(envelope)
    session.flush()
    assert pill(session.state)[0] == "✓ complete"
    session = RunSession(clock=fixed_clock)
    for envelope in failing().envelopes:
        session.receive(envelope)
    session.flush()
    assert pill(session.state)[0] == "◐ partial"


def test_breakpoints_are_read_or_refused_with_a_sentence() -> None:
    assert parse_breakpoint("scope", "", "") == Breakpoint("scope", "*")
    assert parse_breakpoint("", "*fit", "0.4-0.6").band == (0.4, 0.6)
    assert parse_breakpoint("", "", "defaulted").defaulted
    assert parse_breakpoint("precision_*", "ring_push", "") == Breakpoint("precision_*", "*ring_push*")
    assert parse_breakpoint("relevant?", "", "").stage == parse_breakpoint("Relevant", "", "").stage == "precision_pass1"
    with pytest.raises(ValueError, match="no question ring_push"):
        parse_breakpoint("ring_push", "", "")
    with pytest.raises(ValueError, match="not a yes/no decision"):
        parse_breakpoint("write", "", "")
    for wrong in ("soon", "0.9-0.1", "1-2"):
        with pytest.raises(ValueError, match=r"0\.4-0\.6"):
            parse_breakpoint("", "", wrong)


async def test_following_shows_the_newest_answer_not_the_question_in_flight() -> None:
    app = ReplayApp(worked_example())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        stream = app.run_screen().stream
        assert stream.selected.call_id == 22
        for number, binary in ((30, True), (31, True)):
            app.session.receive(Envelope("budget", number, 12.0, ev.CallStarted(number, "scope", "f", MODEL, binary)))
        app.session.flush()
        assert stream.selected.call_id == 22 and stream.follow
        app.session.receive(Envelope("budget", 32, 12.0, ev.GateWaiting("verdict", "scope", "f", 30, True, "step")))
        app.session.flush()
        assert stream.selected.call_id == 30
        app.session.receive(Envelope("budget", 33, 12.0, ev.GateResolved("verdict", "accept", "scope", "f", 30, True)))
        app.session.receive(Envelope("budget", 34, 12.0, ev.CallStarted(32, "implement", "g", MODEL, False)))
        app.session.flush()
        assert stream.selected.call_id == 32, "a text is shown while it is being written"
