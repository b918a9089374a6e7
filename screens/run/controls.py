"""What a person can do on the run screen: the gate, the tabs, copying, leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual.message import Message

from agent.events import GateWaiting
from agent.gate import Breakpoint
from screens.dialogs import Confirm
from screens.keyed import KeyedScreen
from screens.lines import LinesView
from screens.panes.calls import CallStream
from screens.run.breakpoint_dialog import BreakpointDialog, describe
from screens.run.card_screen import CardScreen
from screens.run.session import RunSession
from screens.table import has_screen, make_screen
from screens.text import plural

if TYPE_CHECKING:
    from screens.run.screen import RunScreen


class Chosen(Message):
    """The person said what becomes of a run's change: apply, keep or discard."""

    def __init__(self, session: RunSession, choice: str) -> None:
        super().__init__()
        self.session, self.choice = session, choice


class RunControls(KeyedScreen[None]):
    """The actions of the run screen. Keys that answer a prompt are ignored while the prompt is too fresh."""

    session: RunSession

    @property
    def _run(self) -> RunScreen:
        return cast("RunScreen", self)

    def allows(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Whether an action makes sense now."""
        session = self.session
        waiting: GateWaiting | None = session.waiting
        kind = waiting.kind if waiting is not None else ""
        if action in ("answer", "skip_stage"):
            return kind == "verdict"
        if action == "choose":
            return session.deciding
        if action in ("pause", "step", "step_stage", "breakpoint"):
            return session.live and not session.stopping
        if action == "stop":
            return session.live and not session.stopping
        if action == "relabel":
            return has_screen("relabel")
        return True

    def turned(self, action_id: str) -> bool:
        """Paused, enlarged, pinned."""
        match action_id:
            case "run.pause":
                return self.session.paused or self.session.waiting is not None
            case "run.zoom":
                return self.maximized is not None
            case "run.pin":
                return self._run.panel.pinned
        return False

    # -- the gate

    def action_pause(self) -> None:
        """Pause or go on."""
        if self.session.ready():
            self.session.toggle_pause()
            self._run.refresh_state([])

    def action_step(self) -> None:
        """One decision."""
        if self.session.ready():
            self.session.step()
            self._run.refresh_state([])

    def action_step_stage(self) -> None:
        """One stage."""
        if self.session.ready():
            self.session.step_stage()
            self._run.refresh_state([])

    def action_answer(self, right: str) -> None:
        """The right verdict of the waiting decision."""
        if not self.session.ready():
            return
        waiting = self.session.waiting
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
        branch = self.session.state.branch or "the run's branch"
        self.app.push_screen(
            Confirm("Throw the work away?", f"{branch} is deleted. Your own tree stays as it is.", "Discard", "Not now"),
            lambda yes: self._choose("discard") if yes else None,
        )

    def _choose(self, choice: str) -> None:
        self.post_message(Chosen(self.session, choice))

    def action_breakpoint(self) -> None:
        """Ask where to stop."""
        call = self._run.stream.selected
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
                self._run.refresh_state([])

        text = "What is done so far stays on its branch; your own tree is not touched."
        self.app.push_screen(Confirm("Stop the run?", text, "Stop", "Go on"), answered)

    # -- looking around

    def action_tab(self, name: str) -> None:
        """Bring a tab to the front and keep it there."""
        run = self._run
        if name == "calls":
            if run.narrow:
                run._put_calls_on_top(True)
            run.stream.focus()
            return
        run.panel.show_tab(name)
        run.panel.set_pinned(True)
        if run.narrow:
            run._put_calls_on_top(False)
        run.panel.pane.focus()

    def action_pin(self) -> None:
        """Pin the tab, or let it follow."""
        self._run.panel.set_pinned(not self._run.panel.pinned)

    def action_move(self, by: int) -> None:
        """Down or up in the focused pane."""
        focused = self.focused
        if isinstance(focused, CallStream):
            focused.action_cursor(by)
        elif isinstance(focused, LinesView):
            focused.scroll_relative(y=by, animate=False)

    def action_follow(self) -> None:
        """Follow the newest call, or go to the end of the focused pane."""
        focused = self.focused
        if isinstance(focused, LinesView):
            focused.scroll_end(animate=False)
        else:
            self._run.stream.follow_newest()

    def action_open_card(self) -> None:
        """Everything about the selected call."""
        card = self._run.card
        if card.call is not None:
            self.app.push_screen(CardScreen(card.call, card.texts, self.session, card.read))

    def action_copy(self) -> None:
        """Copy the focused pane; from the list of calls, the card."""
        focused: Any = self.focused
        view = focused if isinstance(focused, LinesView) else self._run.card
        self.app.copy_to_clipboard(view.plain)

    def action_zoom(self) -> None:
        """The focused pane alone, or all again."""
        if self.maximized is not None:
            self.minimize()
        elif self.focused is not None:
            self.maximize(self.focused)

    def action_relabel(self) -> None:
        """The selected call in the relabelling screen."""
        call = self._run.stream.selected
        if call is not None:
            arguments = {"repo": self.session.repo, "call_id": call.call_id}
            self.app.push_screen(make_screen("relabel", self._run.services, **arguments))

    def action_back(self) -> None:
        """Leave the screen; a run goes on meanwhile."""
        self.dismiss()

    def action_escape(self) -> None:
        """Close what is open, one thing at a time. A run that is not over is never left by this key."""
        run = self._run
        if self.maximized is not None:
            self.minimize()
        elif run.query_one("#filter").has_focus or run.stream.words:
            run.close_filter(clear=True)
        elif not run.stream.has_focus:
            self.action_tab("calls")
        elif self.session.live or self.session.deciding:
            going_on = "The run waits for you" if self.session.waiting is not None else "The run is going on"
            why = going_on if self.session.live else "The change waits for your word"
            self.app.notify(f"{why}. q goes to Home; F3 comes back from there.", timeout=4)
        else:
            self.dismiss()
