"""The runs of a repository: open one again, compare two, resume, label, delete."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual import on
from textual.content import Content

from agent.audit.history import RunSummary, diff_runs, events_of, list_runs
from agent.audit.log import LogError
from agent.audit.reader import LogReader
from agent.events import Envelope
from agent.labels.queue import Filter
from screens.actions import bindings
from screens.dialogs import Confirm
from screens.history.deciding import Deciding
from screens.history.replay import Replay, ReplayScreen
from screens.history.run_facts import diff_lines, history_heading, history_row, may_resume, run_facts
from screens.panes.rows import RowList
from screens.run.session import RunSession
from screens.runner import RecentRun, RunRequested, Services
from screens.table import make_screen
from screens.text import MUTED, one_line, plural

_HINT = "What a run did and how it ended is shown here. Start one from Home."


class HistoryScreen(Deciding):
    """Lists the runs in one log. ``run`` is selected, if given."""

    BINDINGS = bindings("history")
    ACTION_GROUP = "history"
    NAME = "History"
    ids = ("runs", "run-facts")
    LIST_TITLE = "Runs"
    EMPTY = "No run in this repository yet."

    def __init__(self, services: Services, *, repo: Path | None = None, run: RecentRun | None = None) -> None:
        super().__init__(services, repo or Path(run.repo if run is not None else "."))
        self.first = run.run_id if run is not None else ""
        self.runs: list[RunSummary] = []
        self.marked = ""
        self.comparing = False

    def heading(self, width: int) -> Content:
        """The names above the columns."""
        return history_heading(width)

    def first_key(self) -> str:
        """The run that was chosen."""
        return self.first

    def read(self, reader: LogReader) -> list[RunSummary]:
        """The runs, newest first."""
        return list_runs(reader, self.repo)

    def take(self, found: list[RunSummary] | None, select: str) -> None:
        """The runs on the left, the selected one on the right."""
        self.runs = found or []
        self._show(next((place for place, run in enumerate(self.runs) if run.run_id == select), None))

    def _show(self, cursor: int | None = None) -> None:
        runs = self.runs
        self.rows.set_rows(
            len(runs), lambda row, width: history_row(runs[row], width, runs[row].run_id == self.marked), cursor
        )
        self.name_it(f"{plural(len(runs), 'run')} in {one_line(self.repo.resolve().name)}")
        self.show_facts()

    def show_facts(self) -> None:
        """Everything about the selected run."""
        self.comparing = False
        run = self.run
        self.facts.border_title = Content("Run" if run is None else f"Run {run.run_id}")
        self.facts.set_lines(run_facts(run) if run is not None else [Content.styled(_HINT, MUTED)])
        self.refresh_bindings()

    @property
    def run(self) -> RunSummary | None:
        """The selected run."""
        place = self.rows.cursor
        return self.runs[place] if place < len(self.runs) else None

    @on(RowList.Chosen, "#runs")
    def _chosen(self) -> None:
        self.action_open()

    def on_screen_resume(self) -> None:
        """Back from another screen: labels may have come."""
        if self.is_mounted and self.runs:
            self.reload(self.run.run_id if self.run else "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done is offered."""
        if not self.query("#runs"):
            return True
        run = self.run
        if action in ("open", "mark", "relabel", "delete", "export", "again"):
            return run is not None
        if action == "decide":
            return self.can_decide()
        if action == "diff":
            return run is not None and self.marked not in ("", run.run_id)
        if action == "resume":
            return run is not None and may_resume(run) and not run.busy
        if action == "calibrate":
            return bool(self.runs)
        return True

    # -- opening

    def action_open(self) -> None:
        """Everything the run showed, at its end; it can be played from the start."""
        if self.run is not None:
            self.say(f"opening {self.run.run_id}…")
            self.run_worker(self._open(self.run), group="open", exclusive=True, exit_on_error=False)

    async def _open(self, run: RunSummary) -> None:
        try:
            replay = await asyncio.to_thread(self._replay, run)
        except LogError as error:
            self.say(str(error))
            return
        if not replay.envelopes:
            self.say(f"Run {run.run_id} left no events, so there is nothing to show.")
            return
        self.say("")
        self.app.push_screen(ReplayScreen(replay, self.services))

    def _replay(self, run: RunSummary) -> Replay:
        envelopes: list[Envelope] = self.with_log(lambda reader: events_of(reader, run.run_id))
        session = RunSession(task=run.task, repo=self.repo, clock=self.services.clock)
        session.undecided = run.undecided and not run.busy
        return Replay(session, envelopes)

    # -- comparing

    def action_mark(self) -> None:
        """Mark the selected run, or unmark it."""
        if self.run is not None:
            self.marked = "" if self.marked == self.run.run_id else self.run.run_id
            self.say(f"{self.marked} is marked; select another run and press =." if self.marked else "")
            self._show()

    def action_diff(self) -> None:
        """The marked run and the selected one."""
        run = self.run
        if run is not None and self.marked and self.marked != run.run_id:
            self.run_worker(self._compare(self.marked, run.run_id), group="compare", exclusive=True, exit_on_error=False)

    async def _compare(self, before: str, after: str) -> None:
        newest_first = [run.run_id for run in self.runs]
        before, after = sorted((before, after), key=newest_first.index, reverse=True)
        try:
            diff = await asyncio.to_thread(self.with_log, lambda reader: diff_runs(reader, before, after))
        except LogError as error:
            self.say(str(error))
            return
        self.facts.border_title = Content("Two runs")
        self.facts.set_lines(diff_lines(diff))
        self.facts.scroll_home(animate=False)
        self.comparing = True

    # -- what else can be done with a run

    def action_relabel(self) -> None:
        """Label its calls."""
        if self.run is not None:
            self.app.push_screen(make_screen("relabel", self.services, repo=self.repo, run_id=self.run.run_id))

    def action_calibrate(self) -> None:
        """Fit thresholds."""
        self.app.push_screen(make_screen("calibrate", self.services, repo=self.repo))

    def action_export(self) -> None:
        """Write its labels."""
        if self.run is not None:
            self.export_of(Filter(run_id=self.run.run_id))

    def action_resume(self) -> None:
        """Continue a run that did not finish."""
        run = self.run
        if run is None or not may_resume(run):
            return
        if run.place:
            self.post_message(RunRequested(run.task, self.repo, run.run_id))
            return
        why = "its worktree is gone"
        text = f"The task starts again, because {why}. Its earlier verdicts are reused, so it soon catches up."

        def answered(yes: bool | None) -> None:
            if yes:
                self.post_message(RunRequested(run.task, self.repo))

        self.app.push_screen(Confirm("Start the task again?", text, "Start", "Not now"), answered)

    def action_again(self) -> None:
        """The same task, from the start, with the settings of today."""
        if self.run is not None:
            self.post_message(RunRequested(self.run.task, self.repo.resolve()))

    def action_back(self) -> None:
        """From a comparison to the run, or leave."""
        if self.comparing:
            self.show_facts()
        else:
            self.dismiss()
