"""What is shown of a run: one record and its fold.

Everything that a person sees of a run is computed from its events by :meth:`RunState.apply`, without I/O: the same code
serves a live, a replayed and a resumed run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent import events as ev
from agent.stages import activity_of
from agent.state.includes import StandingIncludes
from agent.state.records import (
    Activity,
    Adjustment,
    CandidateState,
    CompileEvent,
    CompileIncident,
    FunctionState,
    Incident,
    RepairState,
    ShownCall,
    ShownStage,
    StepState,
    SuspectState,
    SymbolState,
    TextOutcome,
    errors_of,
)
from agent.values import CheckResult, FailureSignal, RunStatus

_IN_FLIGHT = 1024
"""More calls than are ever asked at once."""


@dataclass(slots=True)
class RunState:
    """Everything the panes read. Feed it with :meth:`apply`; two equal event sequences give two equal states."""

    run_id: str = ""
    started: ev.RunStarted = field(default_factory=lambda: ev.RunStarted("", ""))
    """Empty until the run has begun; of a resumed run the newest."""
    model_note: str = ""
    """What is shown about the model's server while it loads, or serves another program first."""
    t: float = 0.0
    earlier: float = 0.0
    """Seconds that the earlier parts of a resumed run took."""
    tokens_in: int = 0
    tokens_out: int = 0
    activity: Activity = "idle"
    calls: list[ShownCall] = field(default_factory=list)
    call_index: dict[int, int] = field(default_factory=dict)
    stages: dict[str, ShownStage] = field(default_factory=dict)
    current_stage: str = ""
    index: ev.IndexRefreshed | None = None
    files: dict[str, ev.FileScoped] = field(default_factory=dict)
    overruled: dict[tuple[str, str], bool] = field(default_factory=dict)
    """A person's verdict, by stage and item, where it replaced the model's."""
    groups: tuple[tuple[str, ...], ...] = ()
    passes: dict[int, ev.CascadePass] = field(default_factory=dict)
    symbols: dict[str, SymbolState] = field(default_factory=dict)
    context: ev.ContextAssembled | None = None
    steps: dict[str, StepState] = field(default_factory=dict)
    plan: ev.PlanMade | None = None
    functions: dict[str, FunctionState] = field(default_factory=dict)
    compiles: list[CompileEvent] = field(default_factory=list)
    """Everything about compiling, in order."""
    includes: StandingIncludes = field(default_factory=StandingIncludes)
    compile_incidents: list[CompileIncident] = field(default_factory=list)
    """The same, by failed compile."""
    incidents: list[Incident] = field(default_factory=list)
    """Everything unusual, in the order it began."""
    file_calls: dict[str, int] = field(default_factory=dict)
    """The call that decided on each file."""
    written: dict[str, int] = field(default_factory=dict)
    """The newest text for each function or file, as a place in :attr:`calls`; "" is the newest of all."""
    edits: list[ev.EditApplied | ev.EditRejected] = field(default_factory=list)
    signals: tuple[FailureSignal, ...] = ()
    adjustments: list[Adjustment] = field(default_factory=list)
    repair: RepairState | None = None
    baseline: CheckResult | None = None
    measured: ev.ChecksRun | None = None
    """The newest run of the checks after the first change."""
    checks_running: str = ""
    diff: ev.DiffReady | None = None
    diff_choice: str = ""
    waiting: ev.GateWaiting | None = None
    notices: list[tuple[float, ev.Notice]] = field(default_factory=list)
    log: list[tuple[float, ev.Event]] = field(default_factory=list)
    finished: ev.RunFinished | None = None

    def symbol(self, name: str) -> SymbolState:
        """The symbol of this name, from now on one of :attr:`symbols`."""
        found = self.symbols.get(name)
        if found is None:
            found = self.symbols[name] = SymbolState(name)
        return found

    def apply(self, envelope: ev.Envelope) -> None:
        """Fold one event in. Unknown kinds only reach the log."""
        self.run_id = envelope.run_id
        event = envelope.event
        kind = type(event)
        if envelope.t < self.t and kind is ev.RunStarted:
            self.earlier += self.t
        if self.finished is None or kind is ev.RunStarted:  # decisions on the change after the end are not working time
            self.t = envelope.t
        if kind is not ev.CallFinished and kind is not ev.CallStarted:
            self.log.append((envelope.t, event))
            self.includes.hear(event)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, event)

    def call(self, call_id: int) -> ShownCall | None:
        """The call with this id."""
        place = self.call_index.get(call_id)
        return None if place is None else self.calls[place]

    @property
    def task(self) -> str:
        """The task, in the person's words."""
        return self.started.task

    @property
    def repo(self) -> str:
        """The person's repository."""
        return self.started.repo

    @property
    def status(self) -> RunStatus | None:
        """How it ended; None while it goes on."""
        return None if self.finished is None else self.finished.status

    @property
    def checks(self) -> CheckResult | None:
        """The newest result of the checks after the first change."""
        return None if self.measured is None else self.measured.now

    @property
    def seconds(self) -> float:
        """Seconds worked so far, those of earlier parts included."""
        return self.earlier + self.t

    @property
    def live(self) -> bool:
        """Whether the run is going on."""
        return bool(self.task) and self.finished is None


# -- events of the run as a whole, folded into the state


def _run_started(state: RunState, e: ev.RunStarted) -> None:
    _break_off(state)
    state.started, state.activity = e, "indexing"
    state.finished = None  # a run that was stopped or killed goes on
    state.waiting, state.checks_running, state.diff_choice = None, "", ""


def _break_off(state: RunState) -> None:
    """Mark the calls in flight: they will not be answered."""
    for call in state.calls[-_IN_FLIGHT:]:
        call.broken_off = not call.done


def _run_finished(state: RunState, e: ev.RunFinished) -> None:
    state.finished = e
    _break_off(state)
    state.activity, state.model_note = e.status, ""
    state.waiting = None
    state.checks_running = ""


def _stage_started(state: RunState, e: ev.StageStarted) -> None:
    state.stages.pop(e.stage, None)
    state.stages[e.stage] = ShownStage(e)
    state.current_stage = e.stage
    state.activity = "planning" if e.stage in ("plan", "adjustment") else "indexing" if e.stage == "index" else "judging"


def _stage_finished(state: RunState, e: ev.StageFinished) -> None:
    state.stages.setdefault(e.stage, ShownStage(ev.StageStarted(e.stage))).finished = e


def _notice(state: RunState, e: ev.Notice) -> None:
    state.notices.append((state.t, e))


def _model_status(state: RunState, e: ev.ModelStatus) -> None:
    if state.waiting is not None:
        return  # calls asked ahead: the run waits for the person, not for the model
    if e.status == "loading":
        state.activity, state.model_note = "loading model", e.text
    elif e.status == "waiting":
        state.activity, state.model_note = "waiting for the model server", e.text
    else:
        state.model_note = ""
        if state.activity in ("loading model", "waiting for the model server"):
            latest = reversed(state.calls[-_IN_FLIGHT:])
            asked = next((call for call in latest if not call.done and not call.broken_off), None)
            state.activity = "judging" if asked is None else activity_of(asked.stage, asked.binary)


# -- calls, folded into the stream and their stage


def _call_started(state: RunState, e: ev.CallStarted) -> None:
    state.call_index[e.call_id] = len(state.calls)
    state.calls.append(ShownCall(e, _UNANSWERED))
    if state.waiting is None:  # a call asked ahead does not change what the run waits for
        state.activity = activity_of(e.stage, e.binary)


_UNANSWERED = ev.CallFinished(0, "", "")


def _call_finished(state: RunState, e: ev.CallFinished) -> None:
    place = state.call_index.get(e.call_id)
    if place is None:
        return
    call = state.calls[place]
    before = call.verdict if call.done else None
    call.answer, call.done = e, True
    if not e.cached and not e.revised:
        state.tokens_in += e.prompt_tokens
        state.tokens_out += e.completion_tokens
    if e.overruled and e.verdict is not None:
        state.overruled[e.stage, e.item] = e.verdict
        state.incidents.append(e)
    elif state.overruled:
        state.overruled.pop((e.stage, e.item), None)
    stage = state.stages.get(e.stage)
    if stage is not None:
        stage.asked += not e.revised
        stage.yes += bool(e.verdict) - (bool(before) if e.revised else False)
    if e.verdict is None:
        if not call.binary and activity_of(e.stage, False) == "writing" and not e.error:
            state.written[e.item] = state.written[""] = place
    elif e.stage == "scope":
        state.file_calls[e.item] = e.call_id
    elif e.stage.startswith("precision_pass"):
        state.symbol(e.item).calls[int(e.stage[-1])] = e


# -- what retrieval found, folded into the state


def _indexed(state: RunState, e: ev.IndexRefreshed) -> None:
    state.index = e


def _file_scoped(state: RunState, e: ev.FileScoped) -> None:
    state.files[e.path] = e


def _grouped(state: RunState, e: ev.FilesGrouped) -> None:
    state.groups = e.groups


def _cascade_pass(state: RunState, e: ev.CascadePass) -> None:
    state.passes[e.pass_no] = e


def _classified_symbol(state: RunState, e: ev.SymbolClassified) -> None:
    state.symbol(f"{e.path}:{e.symbol}" if e.path else e.symbol).classified = e


def _assembled(state: RunState, e: ev.ContextAssembled) -> None:
    state.context = e


# -- the plan, its steps and its adjustments, folded into the state


def _plan_made(state: RunState, e: ev.PlanMade) -> None:
    known = state.steps
    state.steps = {  # a plan that grew keeps the status of its steps
        step.id: known[step.id] if step.id in known and known[step.id].step == step else StepState(step) for step in e.steps
    }
    state.plan = e


def _step_started(state: RunState, e: ev.StepStarted) -> None:
    if e.step_id in state.steps:
        state.steps[e.step_id].status = "running"
    state.activity = "writing"


def _step_finished(state: RunState, e: ev.StepFinished) -> None:
    if e.step_id in state.steps:
        step = state.steps[e.step_id]
        step.status, step.finished = ("done" if e.ok else "failed"), e


def _signals(state: RunState, e: ev.FailureSignals) -> None:
    state.signals = e.signals


def _adjustment_started(state: RunState, e: ev.AdjustmentStarted) -> None:
    state.adjustments.append(Adjustment(e))
    state.incidents.append(state.adjustments[-1])
    state.activity = "planning"


def _viability(state: RunState, e: ev.ViabilityVerdict) -> None:
    if state.adjustments:
        state.adjustments[-1].viability[e.step_id] = e.viable
        if e.call_id is not None:
            state.adjustments[-1].calls[e.step_id] = e.call_id


def _root_cause(state: RunState, e: ev.RootCauseVerdict) -> None:
    if state.adjustments:
        last = state.adjustments[-1]
        last.root_causes[e.failure, e.step_id] = e.caused
        if e.call_id is not None and (e.step_id not in last.calls or (e.caused and e.step_id not in last.viability)):
            last.calls[e.step_id] = e.call_id


def _new_step(state: RunState, e: ev.NewStepVerdict) -> None:
    if state.adjustments:
        state.adjustments[-1].new_steps[e.failure] = e.needed


def _adjusted(state: RunState, e: ev.PlanAdjusted) -> None:
    if state.adjustments:
        state.adjustments[-1].adjusted = e
    kept = {step.id for step in e.after}
    for step in e.before:
        if step.id not in kept and step.id in state.steps:
            state.steps[step.id].status = "dropped"
    for step in e.after:
        old = state.steps.get(step.id)
        if old is None or old.status in ("pending", "failed"):
            state.steps[step.id] = StepState(step)


# -- functions, compiles and edits, folded into the state


def _function_started(state: RunState, e: ev.FunctionStarted) -> None:
    known = state.functions.get(e.symbol)
    state.functions[e.symbol] = FunctionState(e, candidates=known.candidates if known is not None else [])
    state.activity = "writing"


def _function_of(state: RunState, symbol: str, path: str) -> FunctionState:
    return state.functions.setdefault(symbol, FunctionState(ev.FunctionStarted(symbol, path)))


def _function_candidate(state: RunState, e: ev.FunctionCandidate) -> None:
    _function_of(state, e.symbol, e.path).candidates.append(e)


def _candidate_chosen(state: RunState, e: ev.CandidateChosen) -> None:
    _function_of(state, e.symbol, e.path).chosen = e


def _contract_checked(state: RunState, e: ev.ContractChecked) -> None:
    _function_of(state, e.symbol, e.path).contract = e


def _function_ended(state: RunState, e: ev.FunctionImplemented | ev.FunctionFailed) -> None:
    _function_of(state, e.symbol, e.path).ended = e


def _set_outcome(state: RunState, item: str, outcome: TextOutcome) -> None:
    """Set the outcome of the newest text for ``item``, or of the newest text of all where there is none for it."""
    place = state.written.get(item, state.written.get(""))
    if place is not None:
        state.calls[place].outcome = outcome


def _function_failed(state: RunState, e: ev.FunctionFailed) -> None:
    place = state.written.get(e.symbol)
    if place is not None and (outcome := state.calls[place].outcome) is not None and outcome.ok:
        _set_outcome(state, e.symbol, TextOutcome("given_up", name=e.reason))
    _function_ended(state, e)


def _compile_started(state: RunState, e: ev.CompileStarted) -> None:
    state.activity = "compiling"


def _compiled(state: RunState, e: ev.CompileFinished) -> None:
    state.compiles.append(e)
    incident = _open_incident(state, e)
    if incident is not None and (incident.classified or e.ok):
        incident.proofs.append(e)
    elif not e.ok:
        incident = CompileIncident(e)
        state.compile_incidents.append(incident)
        state.incidents.append(incident)
    if e.symbol and not e.link:
        _set_outcome(state, e.symbol, TextOutcome("compiles") if e.ok else TextOutcome("errors", errors_of(e)))


def _open_incident(state: RunState, e: CompileEvent) -> CompileIncident | None:
    """The newest incident that an event can belong to: the same file and function, not settled yet."""
    compiled = isinstance(e, ev.CompileFinished)
    for incident in reversed(state.compile_incidents[-8:]):
        if incident.settled is None or (incident.recovery is None and not compiled):
            if (incident.failed.file, incident.failed.symbol) == (e.file, e.symbol):
                return incident
            if not compiled and incident.failed.symbol == e.symbol:
                return incident  # an include that went into the header
    return None


def _error_classified(state: RunState, e: ev.ErrorClassified) -> None:
    state.compiles.append(e)
    incident = _open_incident(state, e)
    if incident is not None:
        incident.classified.append(e)


def _include(state: RunState, e: ev.IncludeAdded) -> None:
    state.compiles.append(e)
    incident = _open_incident(state, e)
    if incident is not None:
        incident.includes.append(e)


def _recovery(state: RunState, e: ev.RecoveryDone) -> None:
    state.compiles.append(e)
    incident = _open_incident(state, e)
    if incident is not None:
        incident.recovery = e


def _edit(state: RunState, e: ev.EditApplied | ev.EditRejected) -> None:
    state.edits.append(e)
    if isinstance(e, ev.EditRejected):
        _set_outcome(state, e.path, TextOutcome("refused", name=e.reason))
    else:
        _set_outcome(state, e.symbol or e.path, TextOutcome("applied"))


# -- the search for an edit, folded into the state


def _repair_started(state: RunState, e: ev.RepairStarted) -> None:
    state.repair = RepairState(e, ev.CandidatesTried("", seconds_left=e.budget_s))
    state.incidents.append(state.repair)
    state.activity = "testing"


def _suspects(state: RunState, e: ev.SuspectsRanked) -> None:
    if state.repair is not None:
        state.repair.suspects = [SuspectState(one) for one in e.suspects]


def _suspect_judged(state: RunState, e: ev.SuspectJudged) -> None:
    for one in state.repair.suspects if state.repair is not None else ():
        if (one.suspect.function, one.suspect.path) == (e.function, e.path):
            one.judged = e


def _tried(state: RunState, e: ev.CandidatesTried) -> None:
    if state.repair is not None:
        state.repair.counts = e
        if state.waiting is None:
            state.activity = "testing"


def _passed(state: RunState, e: ev.CandidatePassed) -> None:
    if state.repair is not None:
        state.repair.candidates.append(CandidateState(e))


def _compared(state: RunState, e: ev.CandidatesCompared) -> None:
    first = {number: group[0] for group in e.groups for number in group[1:]}
    for one in state.repair.candidates if state.repair is not None else ():
        one.like = first.get(one.passed.number)


def _candidate_judged(state: RunState, e: ev.CandidateJudged) -> None:
    for one in state.repair.candidates if state.repair is not None else ():
        if one.passed.number == e.number:
            one.judged = e


def _chosen(state: RunState, e: ev.RepairChosen) -> None:
    if state.repair is not None:
        state.repair.chosen = e


def _repair_finished(state: RunState, e: ev.RepairFinished) -> None:
    if state.repair is not None:
        state.repair.finished = e


# -- checks, the diff and what waits for a person, folded into the state


def _checks_started(state: RunState, e: ev.ChecksStarted) -> None:
    state.checks_running = e.command
    state.activity = "testing"


def _checks(state: RunState, e: ev.ChecksRun) -> None:
    if e.now is not None and e.step_id and "" in state.written:
        _tested(state, e.now, e.newly_failing)
    state.baseline, state.checks_running = e.baseline, ""
    if e.now is not None:
        state.measured = e


def _tested(state: RunState, now: CheckResult, newly_failing: tuple[str, ...]) -> None:
    """Set the outcome of the newest text by comparing the checks with those before it."""
    before = state.checks or state.baseline
    gained = (now.passed or 0) - ((before.passed or 0) if before is not None else 0)
    outcome = state.calls[state.written[""]].outcome
    if newly_failing:
        _set_outcome(state, "", TextOutcome("tests_fail", len(newly_failing), newly_failing[0]))
    elif now.ok or gained > 0:
        _set_outcome(state, "", TextOutcome("tests_pass", max(0, gained)))
    elif outcome is not None and outcome.kind == "applied" and now.failing:  # it fixed nothing
        _set_outcome(state, "", TextOutcome("tests_fail", now.failed or len(now.failing), now.failing[0]))


def _diff(state: RunState, e: ev.DiffReady) -> None:
    state.diff = e


def _diff_resolved(state: RunState, e: ev.DiffResolved) -> None:
    state.diff_choice = e.choice


def _gate_waiting(state: RunState, e: ev.GateWaiting) -> None:
    state.waiting = e
    state.activity = "waiting for you"


def _gate_resolved(state: RunState, e: ev.GateResolved) -> None:
    state.waiting = None
    state.activity = "judging"


_HANDLERS: dict[type, Callable[..., None]] = {
    ev.RepairStarted: _repair_started,
    ev.SuspectsRanked: _suspects,
    ev.SuspectJudged: _suspect_judged,
    ev.CandidatesTried: _tried,
    ev.CandidatePassed: _passed,
    ev.CandidatesCompared: _compared,
    ev.CandidateJudged: _candidate_judged,
    ev.RepairChosen: _chosen,
    ev.RepairFinished: _repair_finished,
    ev.RunStarted: _run_started,
    ev.RunFinished: _run_finished,
    ev.StageStarted: _stage_started,
    ev.StageFinished: _stage_finished,
    ev.Notice: _notice,
    ev.ModelStatus: _model_status,
    ev.CallStarted: _call_started,
    ev.CallFinished: _call_finished,
    ev.IndexRefreshed: _indexed,
    ev.FileScoped: _file_scoped,
    ev.FilesGrouped: _grouped,
    ev.CascadePass: _cascade_pass,
    ev.SymbolClassified: _classified_symbol,
    ev.ContextAssembled: _assembled,
    ev.PlanMade: _plan_made,
    ev.StepStarted: _step_started,
    ev.StepFinished: _step_finished,
    ev.FailureSignals: _signals,
    ev.AdjustmentStarted: _adjustment_started,
    ev.ViabilityVerdict: _viability,
    ev.RootCauseVerdict: _root_cause,
    ev.NewStepVerdict: _new_step,
    ev.PlanAdjusted: _adjusted,
    ev.FunctionStarted: _function_started,
    ev.FunctionImplemented: _function_ended,
    ev.FunctionCandidate: _function_candidate,
    ev.CandidateChosen: _candidate_chosen,
    ev.ContractChecked: _contract_checked,
    ev.FunctionFailed: _function_failed,
    ev.CompileStarted: _compile_started,
    ev.CompileFinished: _compiled,
    ev.ErrorClassified: _error_classified,
    ev.IncludeAdded: _include,
    ev.RecoveryDone: _recovery,
    ev.EditApplied: _edit,
    ev.EditRejected: _edit,
    ev.ChecksStarted: _checks_started,
    ev.ChecksRun: _checks,
    ev.DiffReady: _diff,
    ev.DiffResolved: _diff_resolved,
    ev.GateWaiting: _gate_waiting,
    ev.GateResolved: _gate_resolved,
}
