"""The log pane says what happened in sentences; the events' own names are there for who looks for them."""

from __future__ import annotations

from typing import get_args

import pytest

from agent import events as ev
from agent.audit.history import fold
from agent.values import CheckResult
from screens.panes.log import LogPane
from screens.panes.sentences import sentence
from tests.screens.driving import ReplayApp
from tests.screens.recorded import RECORDINGS, failing, ring_buffer

_CALLS = (ev.CallStarted, ev.CallFinished)
_LEAST: dict[type, dict[str, object]] = {
    ev.SuspectJudged: {"function": "f", "path": "a.c", "suspected": True}, ev.CandidateJudged: {"number": 1, "fits": False},
    ev.CandidatePassed: {"number": 1, "operator": "comparison", "source": "operator", "path": "a.c", "function": "f",
                         "line": 3, "diff": ""},
    ev.RepairChosen: {"number": 1, "why": ""}, ev.RepairFinished: {"mended": False},
    ev.RunStarted: {"task": "t", "repo": "r"}, ev.RunFinished: {"status": "stopped"}, ev.StageStarted: {"stage": "scope"},
    ev.StageFinished: {"stage": "scope"}, ev.Notice: {"level": "info", "text": "So it is."},
    ev.ModelStatus: {"status": "ready"}, ev.IndexRefreshed: {"files": 1, "symbols": 2}, ev.StagesRouted: {"selected": ()},
    ev.FileScoped: {"path": "a.c", "tier": 2, "reason": "", "included": True}, ev.FilesGrouped: {"groups": ()},
    ev.CascadePass: {"pass_no": 1, "asked": 1, "yes": 0, "no": 1}, ev.ContextAssembled: {"tokens": 1, "budget": 2},
    ev.SymbolClassified: {"symbol": "f", "detail_level": "primary", "path": "a.c"}, ev.PlanMade: {"steps": ()},
    ev.StepStarted: {"step_id": "s1"}, ev.StepFinished: {"step_id": "s1", "ok": False}, ev.FailureSignals: {"signals": ()},
    ev.AdjustmentStarted: {"round_no": 1, "failures": (), "remaining": ()}, ev.PlanAdjusted: {"before": (), "after": ()},
    ev.ViabilityVerdict: {"step_id": "s1", "viable": False}, ev.NewStepVerdict: {"failure": 0, "needed": False},
    ev.RootCauseVerdict: {"failure": 0, "step_id": "s1", "caused": True}, ev.DiffReady: {"diff": ""},
    ev.FunctionStarted: {"symbol": "f", "path": "a.c"}, ev.FunctionImplemented: {"symbol": "f", "path": "a.c"},
    ev.FunctionFailed: {"symbol": "f", "path": "a.c", "reason": "why"}, ev.CompileStarted: {"file": "a.c"},
    ev.CompileFinished: {"file": "a.c", "ok": False}, ev.DiffResolved: {"choice": "kept"},
    ev.ErrorClassified: {"file": "a.c", "category": "logic_error", "how": "nothing else is left"},
    ev.IncludeAdded: {"file": "a.c", "header": "stdio.h", "line": 1, "kept": False}, ev.ChecksStarted: {"command": "make"},
    ev.RecoveryDone: {"file": "a.c", "category": "logic_error", "action": "", "ok": False, "attempt_consumed": True},
    ev.EditApplied: {"path": "a.c", "kind": "replace"}, ev.EditRejected: {"path": "a.c", "reason": "no match"},
    ev.FunctionCandidate: {"symbol": "f", "path": "a.c", "number": 1}, ev.ContractChecked: {"symbol": "f", "path": "a.c"},
    ev.CandidateChosen: {"symbol": "f", "path": "a.c", "number": 1, "of": 2, "why": "right"},
    ev.GateWaiting: {"kind": "stage"}, ev.GateResolved: {"kind": "verdict", "action": "overrule"},
}  # fmt: skip


def _least(kind: type[ev.Event]) -> ev.Event:
    if kind is ev.ChecksRun:
        return ev.ChecksRun(CheckResult("make", 2, False))
    return kind(**_LEAST.get(kind, {}))


@pytest.mark.parametrize("kind", [kind for kind in get_args(ev.AnyEvent) if kind not in _CALLS])
def test_every_event_has_words_also_when_it_says_least(kind: type[ev.Event]) -> None:
    said = sentence(_least(kind))
    assert said and kind.__name__ not in said
    assert said[0] == said[0].upper() or said[0] in "a.f#", said
    assert "  " not in said and "=" not in said and "None" not in said


@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_events_are_sentences(name: str) -> None:
    for envelope in RECORDINGS[name]().envelopes:
        if not isinstance(envelope.event, _CALLS):
            said = sentence(envelope.event)
            assert said and "=" not in said.replace("==", "") and type(envelope.event).__name__ not in said


def test_what_the_words_are() -> None:
    said = [sentence(envelope.event) for envelope in (*ring_buffer().envelopes, *failing().envelopes)]
    for words in (
        "The run begins on branch cra/ring, with qwen2.5-coder-1.5b.",
        "log.h is left out: includes ring_buffer.h.",
        "#include <stdlib.h> was put into ring_buffer.c, line 2.",
        "ring_pop compiles after 1 try.",
        "The change is ready: 1 file, +11 −2 lines.",
        "Step s4 can no longer be done.",
        "Failure 1 comes from step s2.",
    ):
        assert words in said, words


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_pane_speaks_and_what_is_copied_names_the_events(size: tuple[int, int]) -> None:
    app = ReplayApp(ring_buffer("diff"))
    async with app.run_test(size=size) as pilot:
        await pilot.pause(0.1)
        await pilot.press("7")
        await pilot.pause(0.1)
        pane = app.run_screen().panel.pane
        assert isinstance(pane, LogPane)
        shown = "\n".join(row.plain for row in pane.source)
        assert "Running the checks: make test" in shown and "baseline=" not in shown
        assert "ring_pop compiles" in shown
        assert "[ChecksRun] baseline=make test" in pane.plain
        assert "[FunctionImplemented]" in pane.plain and "FunctionImplemented" not in shown, "only what is copied names it"


def test_what_goes_on_is_one_line_however_often_it_was_told() -> None:
    waits = [ev.ModelStatus("waiting", text=f"waiting for the server, {seconds} s") for seconds in (10, 12, 15)]
    state = fold(
        ev.Envelope("r", n, float(n), event)
        for n, event in enumerate([*waits, ev.ModelStatus("ready", "m"), waits[0], ev.Notice("info", "On it goes.")], 1)
    )
    said = [row.plain.split(maxsplit=1)[1] for row in LogPane().build(state, 80)]
    assert said[:3] == ["Waiting for the server, 15 s.", "m is ready.", "Waiting for the server, 10 s."]
    assert len(said) == 4
    counts = (("operators", 64), ("operators", 1277), ("pairs", 1300))
    search = [ev.StageStarted("repair_search"), *(ev.CandidatesTried(source, count) for source, count in counts)]
    state = fold(ev.Envelope("r", n, float(n), event) for n, event in enumerate(search, 1))
    said = [row.plain.split(maxsplit=1)[1] for row in LogPane().build(state, 80)]
    assert said == ["1,277 edits tried, 0 passing.", "1,300 edits tried, 0 passing."]
