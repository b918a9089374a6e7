"""The run screen: phases, the stream of calls with the card of the selected one, and the panes that follow the action."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from agent import events as ev
from agent.audit.log import LogError, known_log
from agent.audit.reader import CallTexts, LogReader
from agent.events import GateWaiting
from agent.gate import Breakpoint
from agent.labels.items import labelled_calls
from agent.workspace.git import WorkspaceError
from screens import STYLES
from screens.actions import bindings
from screens.dialogs import Confirm
from screens.finding import FilterBox, FindLine
from screens.keyed import NARROW, KeyedScreen, KeyFooter
from screens.lines import LinesView
from screens.panes.base import Pane
from screens.panes.calls import CallStream
from screens.panes.card import CardView
from screens.panes.incidents import pane_of
from screens.panes.phases import PhasesPane, strip
from screens.panes.tabs import TabPanel
from screens.run.breakpoint_dialog import BreakpointDialog, describe
from screens.run.card_screen import CardScreen
from screens.run.edit_dialog import EditDialog
from screens.run.ending import explaining_pane, may_retry, may_undo
from screens.run.prompt import Prompt
from screens.run.session import RunSession
from screens.run.status import StatusBar
from screens.runner import RunRequested, Services
from screens.table import has_screen, make_screen
from screens.text import plural
from screens.workers import start

_FILTER_HINT = "words to look for: item, question, yes, no, cached, defaulted, overruled, failed"
WIDE = 160
"""Below NARROW columns one pane at a time, from WIDE three."""


class Chosen(Message):
    """The person said what becomes of a run's change: apply, keep or discard."""

    def __init__(self, session: RunSession, choice: str) -> None:
        super().__init__()
        self.session, self.choice = session, choice


class RunScreen(KeyedScreen[None]):
    """Shows one session, live or replayed: what it reads is the session's state, what it changes goes through its gate.
    Keys that answer a prompt are ignored while the prompt is too fresh."""

    CSS_PATH = STYLES / "run.tcss"
    BINDINGS = bindings("run")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-medium"), (WIDE, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (16, "-short"), (30, "-tall")]
    ALLOW_IN_MAXIMIZED_VIEW = "KeyFooter, #filter, #find"
    ACTION_GROUP = "run"

    def __init__(self, session: RunSession, services: Services) -> None:
        super().__init__()
        self.session = session
        self.services = services
        self.calls_on_top = True
        self._offered: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Status on top, three columns, prompt and footer at the bottom."""
        yield StatusBar(self.session, id="status")
        yield Static("", id="strip", markup=False)
        yield FilterBox(placeholder=_FILTER_HINT, id="filter", compact=True, select_on_focus=False)
        yield FindLine(id="find")
        with Horizontal(id="columns"):
            yield PhasesPane(id="phases")
            with Vertical(id="centre"):
                yield CallStream(id="calls")
                yield CardView(id="card")
            yield TabPanel(id="panel")
        yield Prompt(self.session, id="prompt")
        yield KeyFooter()

    def on_mount(self) -> None:
        """Start listening."""
        self.phases.border_title = Content("Phases")
        self.phases.set_on_top(True)
        self.stream.border_title = Content("Calls")
        self.card.read = self._read_texts
        self.card.rebuild()
        self.query_one("#filter").display = False
        self.session.on_flush.append(self.refresh_state)
        self.session.on_writing.append(self._show_writing)
        self.set_interval(0.5, self._tick)
        self.stream.focus()
        self.call_after_refresh(self._begin)
        self.call_after_refresh(self._look_for_labels)

    def _begin(self) -> None:
        """The state as it is. Of a run that is over the pane that explains its end is in front, as if it had just ended."""
        self.refresh_state([])
        if self.session.state.finished is not None and self.is_attached:
            self.panel.show_tab(explaining_pane(self.session.state), self.session.now())
            if self.narrow and self.session.deciding:
                self._put_calls_on_top(False)

    def on_unmount(self) -> None:
        """Stop listening."""
        if self.refresh_state in self.session.on_flush:
            self.session.on_flush.remove(self.refresh_state)
        if self._show_writing in self.session.on_writing:
            self.session.on_writing.remove(self._show_writing)

    # -- parts

    @property
    def stream(self) -> CallStream:
        """The list of calls."""
        return self.query_one(CallStream)

    @property
    def card(self) -> CardView:
        """The card under it."""
        return self.query_one("#card", CardView)

    @property
    def panel(self) -> TabPanel:
        """The tabs on the right."""
        return self.query_one(TabPanel)

    @property
    def phases(self) -> PhasesPane:
        """The column on the left."""
        return self.query_one(PhasesPane)

    @property
    def narrow(self) -> bool:
        """Whether one pane at a time is shown."""
        return self.size.width < NARROW

    # -- showing

    def refresh_state(self, events: list[ev.Event]) -> None:
        """Show what was folded. Called at most thirty times a second, and once with nothing at the start."""
        if not self.is_mounted or not self.is_attached:
            return
        state = self.session.state
        with self.app.batch_update():
            self.stream.update_state(state)
            waiting = state.waiting
            if waiting is not None and waiting in events:
                doubtful = self.session.doubtful()
                self.stream.marked = {call.call_id: "≈" for call in doubtful}
                if doubtful:
                    self.stream.follow = False
                selected = waiting.call_id or (doubtful[0].call_id if doubtful else None)
                if selected is not None:
                    self.stream.select(selected)
            elif waiting is None and self.stream.marked:
                self.stream.marked = {}
                self.stream.follow_newest()
            self._show_card()
            if self.phases.display:
                self.phases.update_state(state)
            self._show_strip()
            before = self.panel.current
            if any(isinstance(event, ev.RunFinished) for event in events):
                self.panel.dwell.want(explaining_pane(state), 3)
            self.panel.update_state(state, events, self.session.now())
            if self.narrow and self.panel.current == "diff" != before:
                self._put_calls_on_top(False)
            self._sync_prompt()
            self.query_one(StatusBar).refresh()
        self._offer()

    def _show_card(self) -> None:
        call = self.stream.selected
        self.card.show_call(call, self.session.pending_verdict(call))
        self.card.show_writing(self.session.writing.get(call.call_id) if call else None, self.session.now())

    def _show_writing(self) -> None:
        """A text has come further, or a second has passed."""
        if self.is_attached:
            call = self.stream.selected
            self.card.show_writing(self.session.writing.get(call.call_id) if call else None, self.session.now())
            self.query_one(StatusBar).refresh()

    def _show_strip(self) -> None:
        view = self.query_one("#strip", Static)
        if view.display:
            view.update(strip(self.session.state, self.size.width - 2), layout=False)

    def _sync_prompt(self) -> None:
        self.query_one(Prompt).sync()

    @on(Prompt.Resized)
    def _lift_toasts(self) -> None:
        """What is said for a moment lies above the box that waits for an answer and above the keys, never on them."""
        prompt = self.query_one(Prompt)
        above = prompt.outer_size.height if prompt.display else 0
        for rack in self.query("ToastRack"):
            rack.styles.margin = (0, 0, above + 1, 0)

    def _offer(self) -> None:
        """Footer and keys follow what can be done now."""
        session = self.session
        kind = session.waiting.kind if session.waiting else ""
        now = (
            kind, session.live, session.paused, session.stopping, session.deciding, session.state.diff_choice,
            session.may_pick, bool(session.state.incidents),
        )  # fmt: skip
        if now != self._offered:
            self._offered = now
            self.refresh_bindings()

    def _tick(self) -> None:
        before = self.panel.current
        self.panel.follow(self.session.now())
        if self.narrow and self.panel.current == "diff" != before:
            self._put_calls_on_top(False)
        if self.session.live:
            self._show_writing()
            self._sync_prompt()

    def on_resize(self, event: Resize) -> None:
        """One, two or three panes; where there is one, it is that which has the focus."""
        if self.focused in (self.stream, self.card) or isinstance(self.focused, Pane):
            self.calls_on_top = not isinstance(self.focused, Pane)
        self._place()

    def _place(self) -> None:
        narrow = self.narrow
        self.query_one("#centre").display = not narrow or self.calls_on_top
        self.panel.set_place(narrow, self.calls_on_top, self.size.width >= WIDE)
        self.panel.set_class(narrow and self.calls_on_top, "-behind")
        self.call_after_refresh(self._show_strip)
        if self.phases.display:
            self.phases.update_state(self.session.state)

    def _put_calls_on_top(self, on_top: bool) -> None:
        """Keys go where the person looks: what had the focus and is covered now gives it to what covers it."""
        covered = isinstance(self.focused, Pane) if on_top else self.focused in (self.stream, self.card)
        self.calls_on_top = on_top
        self._place()
        if covered and self.narrow:
            self.set_focus(self.stream if on_top else self.panel.pane)

    @on(CallStream.Selected)
    def _selected(self) -> None:
        self._show_card()

    @on(TabPanel.Chosen)
    def _tab_clicked(self, event: TabPanel.Chosen) -> None:
        self.action_tab(event.tab)

    # -- texts of a call, read from the log

    def _read_texts(self, call_id: int) -> CallTexts | None:
        return self.services.call_texts(self.session.repo, call_id)

    # -- filter

    def action_filter(self) -> None:
        """Look for words: in the focused pane, else among the calls."""
        view = self.focused
        if isinstance(view, LinesView):
            name = "the card" if view is self.card else getattr(view, "title", "") or "the list"
            self.query_one(FindLine).look_in(view, name)
            return
        if self.narrow:
            self._put_calls_on_top(True)
        box = self.query_one("#filter", Input)
        box.display, box.value = True, " ".join(self.stream.words)
        self.set_focus(box)  # at once: what is typed next must not be taken for commands

    def close_filter(self, clear: bool) -> None:
        """Back to the calls; the filter stays unless cleared."""
        box = self.query_one("#filter", Input)
        if clear:
            box.value = ""
            self.stream.set_filter("")
        box.display = bool(box.value)
        if self.narrow:
            self._put_calls_on_top(True)
        self.set_focus(self.stream)

    @on(Input.Changed, "#filter")
    def _filter_changed(self, event: Input.Changed) -> None:
        if self.focused is event.input:
            self.stream.set_filter(event.value)

    @on(Input.Submitted, "#filter")
    def _filter_done(self) -> None:
        self.close_filter(clear=False)

    # -- what is offered

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is offered."""
        session = self.session
        waiting: GateWaiting | None = session.waiting
        kind = waiting.kind if waiting is not None else ""
        if action == "answer":
            return kind == "verdict" or bool(session.reviewing)
        if action == "skip_stage":
            return kind == "verdict"
        if action == "choose":
            return session.deciding
        if action == "edit":
            return session.may_pick
        if action == "undo":
            return may_undo(session)
        if action in ("again", "model"):
            return may_retry(session)
        if action in ("pause", "step", "step_stage", "breakpoint"):
            return session.live and not session.stopping
        if action == "stop":
            return session.live and not session.stopping
        if action == "relabel":
            return has_screen("relabel")
        if action == "incident":
            return bool(session.state.incidents)
        return True

    def turned(self, action_id: str) -> bool:
        """Paused, enlarged, pinned."""
        match action_id:
            case "run.pause":
                return self.session.paused or self.session.waiting is not None
            case "run.zoom":
                return self.maximized is not None
            case "run.pin":
                return self.panel.pinned
        return False

    # -- the gate

    def action_pause(self) -> None:
        """Pause or go on."""
        if self.session.ready():
            self.session.toggle_pause()
            self.refresh_state([])

    def action_step(self) -> None:
        """One decision."""
        if self.session.ready():
            self.session.step()
            self.refresh_state([])

    def action_step_stage(self) -> None:
        """One stage."""
        if self.session.ready():
            self.session.step_stage()
            self.refresh_state([])

    def action_answer(self, right: str) -> None:
        """The right verdict of the waiting decision."""
        if not self.session.ready():
            return
        waiting = self.session.waiting
        call = self.stream.selected
        if self.session.reviewing:
            if call is not None and self.session.revise(call, right == "yes"):
                self.app.notify(f"{right} for {call.item}. It is kept as a label.", markup=False, timeout=3)
            return
        if self.session.answer(right == "yes") and waiting is not None:
            text = f"Overruled: {right} for {waiting.item}. It is kept as a label."
            self.app.notify(text, markup=False, timeout=3)

    def action_skip_stage(self) -> None:
        """The rest of the stage as the model says."""
        if self.session.ready():
            self.session.skip_stage()

    def action_choose(self, choice: str) -> None:
        """Apply, keep or discard the change; discarding asks first."""
        if not self.session.ready():
            return
        if choice != "discard":
            self._choose(choice)
            return
        branch = self.session.state.started.branch or "the run's branch"
        self.app.push_screen(
            Confirm("Discard the work?", f"{branch} is deleted. Your own files stay as they are.", "Discard", "Not now"),
            lambda yes: self._choose("discard") if yes else None,
        )

    def _choose(self, choice: str) -> None:
        self.post_message(Chosen(self.session, choice))

    def action_edit(self) -> None:
        """Show the edits that pass; the chosen one is written in place of the present one."""
        repair = self.session.state.repair
        if repair is not None and self.session.ready():
            self.app.push_screen(EditDialog(repair), self._pick)

    def _pick(self, number: int | None) -> None:
        if number is not None:
            start(self, self._picked, number, group="pick")

    async def _picked(self, number: int) -> None:
        done, text = await self.session.pick(number)
        self.app.notify(text, severity="information" if done else "error", timeout=4 if done else 20)
        self.session.flush()
        self.refresh_state([])

    def action_undo(self) -> None:
        """Take the applied change back."""
        start(self, self._undo, group="undo")

    async def _undo(self) -> None:
        done, text = await self.session.take_back()
        self.app.clear_notifications()  # the sentence about the apply no longer holds
        self.app.notify(text, severity="information" if done else "error", timeout=4 if done else 20)
        self.refresh_state([])

    def action_again(self) -> None:
        """Go on where the run stopped, or start its task again."""
        session = self.session
        task, run_id = session.state.task or session.task, session.state.run_id if session.resumable else ""
        self.app.post_message(RunRequested(task, session.repo, run_id))
        self.dismiss()

    def action_model(self) -> None:
        """The models' part of the settings."""
        self.app.push_screen(make_screen("settings", self.services, repo=self.session.repo.resolve(), search="models."))

    def action_breakpoint(self) -> None:
        """Ask where to stop."""
        call = self.stream.selected
        dialog = BreakpointDialog(list(self.session.gate.breakpoints), call.stage if call else "")
        self.app.push_screen(dialog, self._set_breakpoints)

    def _set_breakpoints(self, points: list[Breakpoint] | None) -> None:
        before = self.session.gate.breakpoints
        if points is None or points == before:
            return
        self.session.gate.breakpoints = points
        new = [point for point in points if point not in before]
        if new:
            text = f"The run stops at {describe(new[-1])}."
        else:
            text = f"{plural(len(points), 'breakpoint')} left." if points else "No breakpoint is set any more."
        self.app.notify(text, markup=False, timeout=4)

    def action_stop(self) -> None:
        """Stop the run, after asking."""

        def answered(yes: bool | None) -> None:
            if yes and self.session.live:
                self.session.stop()
                self.refresh_state([])

        text = "What is done so far stays on its branch; your own files are not touched."
        self.app.push_screen(Confirm("Stop the run?", text, "Stop", "Go on"), answered)

    # -- looking around

    def action_tab(self, name: str) -> None:
        """Bring a tab to the front and keep it there."""
        if name == "calls":
            if self.narrow:
                self._put_calls_on_top(True)
            self._look_at(self.stream)
            return
        self.panel.show_tab(name, self.session.now())
        self.panel.set_pinned(True)
        if self.narrow:
            self._put_calls_on_top(False)
        self._look_at(self.panel.pane)

    def _look_at(self, view: Widget) -> None:
        """Focus a view at once, for the next key may be meant for it; where another is enlarged, it takes its place."""
        self.set_focus(view)
        if self.maximized is not None and self.maximized is not view:
            self.maximize(view)

    def action_pin(self) -> None:
        """Pin the tab, or let it follow."""
        self.panel.set_pinned(not self.panel.pinned)

    def action_move(self, by: int) -> None:
        """Down or up in the focused pane."""
        focused = self.focused
        if isinstance(focused, CallStream):
            focused.action_cursor(by)
        elif isinstance(focused, LinesView):
            focused.action_line(by)

    def action_follow(self) -> None:
        """Follow the newest call, or go to the end of the focused pane."""
        focused = self.focused
        if isinstance(focused, LinesView):
            focused.scroll_end(animate=False)
        else:
            self.stream.follow_newest()

    def action_incident(self) -> None:
        """The pane that tells of the last incident."""
        if self.panel.incident is not None:
            self.action_tab(pane_of(self.panel.incident))

    @on(LinesView.Opened)
    def _opened(self, event: LinesView.Opened) -> None:
        """A line of a pane leads to a call's card, or opens a part of the pane."""
        kind, which = event.target
        if kind == "fold" and isinstance(event.view, Pane):
            event.view.toggle(event.target)
        elif kind == "call" and isinstance(which, int) and (call := self.session.state.call(which)) is not None:
            self.app.push_screen(CardScreen(call, None, self.session, self.card.read))

    def action_open_card(self) -> None:
        """What the line in front of the focused pane leads to; else everything about the selected call."""
        focused = self.focused
        if isinstance(focused, Pane) and focused.open_target():
            return
        card = self.card
        if card.call is not None:
            self.app.push_screen(CardScreen(card.call, card.texts, self.session, card.read))

    def action_copy(self) -> None:
        """Copy the focused pane; from the list of calls, the card."""
        focused: Any = self.focused
        view = focused if isinstance(focused, LinesView) else self.card
        self.app.copy_to_clipboard(view.plain)

    def action_zoom(self) -> None:
        """The focused pane alone, or all again."""
        if self.maximized is not None:
            self.minimize()
        elif self.focused is not None:
            self.maximize(self.focused)

    def watch_maximized(self, before: Widget | None, now: Widget | None) -> None:
        """An enlarged pane has a border of its own, which names it."""
        for pane in (before, now):
            if isinstance(pane, Pane) and pane.name:
                pane.border_title = Content(pane.title) if pane is now else ""
                pane.border_subtitle = Content("z or escape shrinks") if pane is now else ""
        self.panel.name_second()
        self.refresh_bindings()

    def action_relabel(self) -> None:
        """The selected call in the relabelling screen."""
        call = self.stream.selected
        if call is not None:
            arguments = {"repo": self.session.repo, "call_id": call.call_id}
            self.app.push_screen(make_screen("relabel", self.services, **arguments), lambda _: self._look_for_labels())

    def _look_for_labels(self) -> None:
        """Mark the calls that are labelled by now."""
        start(self, self._mark_labelled, group="labels")

    async def _mark_labelled(self) -> None:
        run_id = self.session.state.run_id
        found = await asyncio.to_thread(_labelled, self.session.repo, run_id) if run_id else frozenset()
        if self.is_attached and found != self.stream.labelled:
            self.stream.labelled = found
            self.stream.refresh()

    def action_back(self) -> None:
        """Leave the screen; a run goes on meanwhile."""
        self.dismiss()

    def action_escape(self) -> None:
        """Close what is open, one thing at a time. A run that is not over is never left by this key."""
        if self.query_one(FindLine).display:
            self.query_one(FindLine).action_close()
        elif self.maximized is not None:
            self.minimize()
        elif self.query_one("#filter").has_focus or self.stream.words:
            self.close_filter(clear=True)
        elif not self.stream.has_focus:
            self.action_tab("calls")
        elif self.session.live or self.session.deciding:
            going_on = "The run waits for you" if self.session.waiting is not None else "The run is going on"
            why = going_on if self.session.live else "The change waits for your decision"
            self.app.notify(f"{why}. q goes to Home; F3 comes back from there.", timeout=4)
        else:
            self.dismiss()


def _labelled(repo: Path, run_id: str) -> frozenset[int]:
    """The labelled calls of a run; none where there is no log to read."""
    try:
        reader = LogReader(known_log(repo))
    except (LogError, WorkspaceError):
        return frozenset()
    try:
        return labelled_calls(reader, run_id)
    except LogError:
        return frozenset()
    finally:
        reader.close()
