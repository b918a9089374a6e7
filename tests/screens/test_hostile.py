"""Text of models, compilers and files is shown literally, whatever it holds, in every pane, title, dialog and toast."""

from __future__ import annotations

import pytest
from textual.content import Content

from agent import events as ev
from agent.values import CheckResult, Diagnostic, FailureSignal, PlanStep, Rung
from screens.lines import wrapped
from screens.panes.log import event_text
from screens.panes.order import BY_NAME
from screens.text import clean, keep_tail, line, one_line
from tests.screens.driving import ReplayApp, services
from tests.screens.recorded import Recorder
from tui.app import CraApp

HOSTILE = (
    "a[/b]", "buf[i] = x;", "[type=x, v={'a[0]'}]", "[bold red]not markup[/]", "[@click=app.quit]x[/]", "$primary [$x]",
    "\x1b[31mred\x1b[0m", "nul\x00byte", "\x1b]0;title\x07", "\x9b2J", "tab\there", "cr\rlf", "日本語[ｶﾅ]", "e\u0301",
    "\u202eright", "👩‍👩‍👧", "\ud800", "%s {0} \\[x]", "[", "]", "[/]",
)  # fmt: skip
TEXT = " ".join(HOSTILE)


def hostile_run() -> Recorder:
    """Every event kind that carries text, with hostile text in it."""
    r = Recorder(TEXT)
    t = TEXT
    r.add(ev.RunStarted(t, f"/home/{t}", t, t, t, t))
    r.add(ev.StageStarted(t, 3, t))
    r.add(ev.IndexRefreshed(1, 1, languages={t: 1}))
    r.add(ev.TaskAnalysed(t, t, (t,), (t,), (t,)))
    r.add(ev.FileScoped(t, 2, t, True))
    for number, text in enumerate(HOSTILE):
        said = {"question": f"{text}\n{text}", "explanation": text, "raw": text}
        r.call("precision_pass1", f"{text}:{text}", number % 2 == 0, 0.5, **said)
    r.call("function_implement", t, None, raw=t)
    r.call("scope", t, False, error=t)
    r.add(ev.CascadePass(1, 3, 2, 1, (t,)))
    r.add(ev.SymbolClassified(t, "primary", t))
    r.add(ev.ContextAssembled(9, 5, (t,), (t,)))
    step = PlanStep(t, t, (t,), (t,), (t,), t)
    r.add(ev.PlanMade((step,), t, (t,), (t,)))
    r.add(ev.StepStarted(t, t))
    r.add(ev.FunctionStarted(t, t))
    diagnostic = Diagnostic("error", t, t, 1, 1, t, t, (t,), (t,))
    r.add(ev.CompileFinished(t, False, (diagnostic,), symbol=t))
    r.add(ev.ErrorClassified(t, "logic_error", t, (Rung(t, t, "model", 1),), t, (t,), t, t))
    r.add(ev.IncludeAdded(t, t, 1, t, t))
    r.add(ev.RecoveryDone(t, "logic_error", t, False, True, t))
    r.add(ev.FunctionFailed(t, t, t))
    r.add(ev.StepFinished(t, False, t, t))
    r.add(ev.FailureSignals((FailureSignal("unknown", t, t),)))
    r.add(ev.AdjustmentStarted(1, (t,), (t,), (), 4))
    r.add(ev.ViabilityVerdict(t, True))
    r.add(ev.PlanAdjusted((step,), (step,), t, (t,)))
    r.add(ev.Notice("error", t, t))
    r.add(ev.ChecksRun(CheckResult(t, 1, False, failing=(t,), output=t), CheckResult(t, 1, False, output=t), (t,), (t,)))
    r.add(ev.RepairStarted((t,), 1, 9.0, ((t,), (t,)), (t,)))
    r.add(ev.SuspectsRanked((ev.SuspectFunction(t, t, 1, 0.5, t),)))
    r.add(ev.SuspectJudged(t, t, True, 0.5))
    r.add(ev.CandidatesTried(t, 2, passing=1))
    r.add(ev.CandidatePassed(1, t, t, t, t, 1, "\n".join(["diff --git a/x b/x", *HOSTILE, "+" + t, "-" + t])))
    r.add(ev.CandidatesCompared(((1, 2),), 3))
    r.add(ev.CandidateJudged(1, True, 0.5))
    r.add(ev.RepairChosen(1, t, True, t))
    r.add(ev.RepairFinished(True, 2, 1.0, t))
    r.add(ev.DiffReady("\n".join(["diff --git a/x b/x", *HOSTILE, "+" + t, "-" + t]), (t,), 1, 1, t))
    r.add(ev.GateWaiting("verdict", t, t, 1, True, t))
    return r


async def test_hostile_text_in_every_pane_and_toast() -> None:
    app = ReplayApp(hostile_run(), live=True)
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await pilot.pause(0.2)
        screen = app.run_screen()
        for key, name in enumerate(BY_NAME, 1):
            await pilot.press(str(key))
            await pilot.pause()
            shown = screen.panel.pane.plain
            assert "buf[i] = x;" in shown and "a[/b]" in shown, name
            tab = "\t" if name == "diff" else ""  # of a diff the patch is copied, with its tabs
            assert not any(ord(char) < 32 and char not in f"\n{tab}" for char in shown), name
        assert HOSTILE[0] in screen.card.plain
        for text in HOSTILE:
            app.notify(text, title="plain")
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("escape", "b")
        await pilot.pause()
        await pilot.press("escape", "slash", *"a[/b]")
        await pilot.pause()
        assert screen.stream.count >= 1
        await pilot.resize_terminal(200, 50)
        await pilot.pause()
        svg = app.export_screenshot()
        assert "\x1b" not in svg and "\x00" not in svg


async def test_hostile_text_on_the_home_screen() -> None:
    made = services(recent_runs=lambda repo: [])
    app = CraApp(made, task=TEXT)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        await pilot.press("f5")
        await pilot.pause()
        assert app.screen is app.home


@pytest.mark.parametrize("text", HOSTILE)
def test_clean_text_has_no_controls_and_keeps_brackets(text: str) -> None:
    shown = clean(text)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown if char != "\n")
    assert shown.count("[") == text.replace("\x1b[", "").count("[")
    assert line(text, (text, "bold")).plain == shown * 2
    assert "\n" not in one_line(text)


def test_long_lines_are_folded_to_the_width() -> None:
    source = [Content("    " + "word " * 40), Content("x" * 95), Content("日本語" * 30), Content("")]
    for width in (4, 5, 17, 80):
        rows = wrapped(source, width)
        assert all(row.cell_length <= width for row in rows), width
    assert wrapped(source, 400) == source


def test_a_mark_is_not_left_alone_before_a_name_that_fills_more_than_a_line() -> None:
    name = "tests/test_" + "a_long_name_" * 6 + "end"
    rows = [row.plain for row in wrapped([Content(f"  ✗ {name} fails")], 40)]
    assert rows[0].startswith("  ✗ tests/") and len(rows[0]) == 40
    assert "".join(rows).replace(" ", "") == f"✗{name}fails"


def test_keep_tail_fits() -> None:
    for text in ("short", "a/long/path/to/file.c", "日本語日本語日本語"):
        for width in range(12):
            assert Content(keep_tail(text, width)).cell_length <= width


def test_every_event_has_a_line_in_the_log() -> None:
    for envelope in hostile_run().envelopes:
        assert "\n" not in event_text(envelope.event)
