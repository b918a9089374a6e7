"""All that is shown of a run, in one record; :class:`agent.state.run_state.RunState` is this record with the fold."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent import events as ev
from agent.state.parts import Activity, Adjustment, Call, CompileEntry, FunctionState, Stage, StepState, SymbolState
from agent.values import CheckResult, FailureSignal, RunStatus


@dataclass(slots=True)
class Shown:
    """Everything the panes read, as the events of :mod:`agent.state.fold` leave it."""

    run_id: str = ""
    task: str = ""
    repo: str = ""
    branch: str = ""
    worktree: str = ""
    model: str = ""
    model_note: str = ""
    """What is said of the model's server while it loads, or serves another program first."""
    t: float = 0.0
    activity: Activity = "idle"
    status: RunStatus | None = None
    reason: str = ""
    calls: list[Call] = field(default_factory=list)
    call_index: dict[int, int] = field(default_factory=dict)
    stages: dict[str, Stage] = field(default_factory=dict)
    current_stage: str = ""
    index: ev.IndexRefreshed | None = None
    analysis: ev.TaskAnalysed | None = None
    files: dict[str, ev.FileScoped] = field(default_factory=dict)
    overruled: dict[tuple[str, str], bool] = field(default_factory=dict)
    """What a person said, by stage and item, where that is not what the model said."""
    groups: tuple[tuple[str, ...], ...] = ()
    passes: dict[int, ev.CascadePass] = field(default_factory=dict)
    symbols: dict[str, SymbolState] = field(default_factory=dict)
    context: ev.ContextAssembled | None = None
    steps: dict[str, StepState] = field(default_factory=dict)
    plan_how: str = ""
    parts: tuple[str, ...] = ()
    plan_notes: tuple[str, ...] = ()
    functions: dict[str, FunctionState] = field(default_factory=dict)
    compiles: list[CompileEntry] = field(default_factory=list)
    edits: list[ev.EditApplied | ev.EditRejected] = field(default_factory=list)
    signals: tuple[FailureSignal, ...] = ()
    adjustments: list[Adjustment] = field(default_factory=list)
    baseline: CheckResult | None = None
    checks: CheckResult | None = None
    newly_passing: tuple[str, ...] = ()
    newly_failing: tuple[str, ...] = ()
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
