"""The home screen: what is to be done, where, with which model; ready-made tasks and earlier runs."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Button, Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from agent.events import DiffResolved, Event, GateResolved, GateWaiting, RunFinished
from agent.folders import WHAT_TO_DO, no_folder
from agent.languages import EITHER
from agent.workspace.clean_room import holds_aside
from screens import STYLES
from screens.actions import bindings
from screens.home.fetch_dialog import FetchDialog
from screens.home.lines import (
    demo_entry,
    earlier_run,
    guide,
    home_title,
    left_run,
    moved_aside,
    no_runs,
    prediction,
    run_entry,
)
from screens.home.model_box import ModelBox
from screens.keyed import NARROW, KeyedScreen, KeyFooter
from screens.run.session import RunSession
from screens.runner import DemoTask, RecentRun, RunRequested, Services
from screens.text import clean, line
from screens.workers import start

_PREDICT_SECONDS = 0.4
_TURNS = (GateWaiting, GateResolved, RunFinished, DiffResolved)


class TaskBox(TextArea, inherit_bindings=False):
    """Where the task is typed. Enter starts it; with shift, alt or ctrl+j there is a new line. On the first line, up brings
    earlier tasks back. The editor's own function keys are the application's, as the footer says."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in TextArea.BINDINGS if not (isinstance(binding, Binding) and binding.key in ("f6", "f7"))
    ]

    class Entered(Message):
        """The task is to be started."""

    def __init__(self, text: str, **options: Any) -> None:
        super().__init__(text, **options)
        self.earlier: list[str] = []
        """Earlier tasks, the newest first."""
        self._recalled = -1
        self._typed = ""

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.prevent_default()
            event.stop()
            self.post_message(self.Entered())
        elif event.key in ("shift+enter", "alt+enter", "ctrl+j"):
            event.prevent_default()
            event.stop()
            self.insert("\n")
        elif event.key in ("up", "down") and self._recall(1 if event.key == "up" else -1):
            event.prevent_default()
            event.stop()
        else:
            await super()._on_key(event)

    def _recall(self, by: int) -> bool:
        """Show an earlier task, or a later one. Whether the key is used up by it."""
        at_edge = self.cursor_location[0] == (0 if by > 0 else self.document.line_count - 1)
        known = self._recalled < 0 or self.text == self.earlier[self._recalled]
        place = self._recalled + by
        if not at_edge or not known or not -1 <= place < len(self.earlier) or (self._recalled < 0 and by < 0):
            return False
        if self._recalled < 0:
            self._typed = self.text
        self._recalled = place
        self.text = self._typed if place < 0 else self.earlier[place]
        self.move_cursor((0, 0) if by > 0 else self.document.end)
        return True


class Guide(Static):
    """What happens after the start; folded lines keep their indent."""

    def on_resize(self) -> None:
        """Fold it to the width."""
        self.update(guide(self.content_size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Its lines at this width: a layout that is asked for while the first one is made would be lost."""
        return guide(width).plain.count("\n") + 1


class HomeScreen(KeyedScreen[None]):
    """Where every task begins."""

    CSS_PATH = STYLES / "home.tcss"
    BINDINGS = bindings("home")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-medium")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    ACTION_GROUP = "home"
    AUTO_FOCUS = ""

    class Return(Message):
        """Back to the run that goes on."""

    class OpenRun(Message):
        """An earlier run was chosen."""

        def __init__(self, run: RecentRun) -> None:
            super().__init__()
            self.run = run

    def __init__(self, services: Services, *, task: str = "", repo: Path | None = None) -> None:
        super().__init__()
        self.services = services
        self.first_task, self.first_repo = task, repo
        self.session: RunSession | None = None
        self.ready_made: list[DemoTask] = []
        self.recent: list[RecentRun] = []
        self._predicting = 0
        self._narrow = False

    def compose(self) -> ComposeResult:
        """Task, repository and start on the left; model, ready-made tasks and runs on the right."""
        yield Static(home_title(), id="home-title", markup=False)
        yield Static("", id="home-run", markup=False)
        yield Static(moved_aside(), id="home-aside", markup=False)
        with Horizontal(id="home"):
            with Vertical(id="home-left"):
                yield TaskBox(
                    clean(self.first_task), id="task", classes="box", tab_behavior="focus", highlight_cursor_line=False,
                    placeholder="What is to be done? For example: Implement the functions declared in ring_buffer.h",
                )  # fmt: skip
                yield Input(str(self.first_repo or ""), placeholder=f"folder of a {EITHER} repository", id="repo",
                            classes="box")  # fmt: skip
                with Horizontal(id="start-row"):
                    yield Button("Start", id="start", variant="primary", compact=True)
                    yield Static("", id="prediction", markup=False)
                yield Guide(id="guide", markup=False)
            with Vertical(id="home-right"):
                yield ModelBox(self.services, id="model", classes="box")
                yield OptionList(id="demos", classes="box", markup=False, compact=True)
                yield OptionList(id="recent", classes="box", markup=False, compact=True)
        yield KeyFooter()

    def on_mount(self) -> None:
        """Titles, lists, the model's state."""
        self.query_one("#task").border_title = Content("Task")
        self.query_one("#task").border_subtitle = Content("enter starts · alt+enter new line · ↑ earlier tasks")
        self.query_one("#repo").border_title = Content("Repository")
        self.query_one("#demos").border_title = Content("Ready-made tasks")
        self.query_one("#demos").border_subtitle = Content("enter starts")
        self.query_one("#recent").border_title = Content("Recent runs")
        self.query_one("#recent").border_subtitle = Content("enter opens · F9 all")
        self.fill()
        self.show_run()
        self.query_one(f"#{self._first_focus()}").focus()

    def _first_focus(self) -> str:
        """A person who opened it on a repository begins to type their task, which must not be lost."""
        if self.first_repo is not None:
            return "start" if self.first_task else "task"
        return "demos" if self.ready_made and not self.first_task else "task"

    def fill(self) -> None:
        """Read the lists again."""
        self.ready_made = self.services.demos()
        demos = self.query_one("#demos", OptionList)
        demos.display = bool(self.ready_made)
        self._list()
        if self.ready_made and demos.highlighted is None:
            demos.highlighted = 0
        start(self, self._read_runs, group="recent")

    async def _read_runs(self) -> None:
        before = self.recent
        repo, aside = self.repo_path, False
        try:
            self.recent = await asyncio.to_thread(self.services.recent_runs, repo)
            aside = await asyncio.to_thread(holds_aside, repo)
        except OSError:
            self.recent = []
        if self.is_attached:
            self.query_one("#home-aside").display = aside
        if self.is_attached and self.recent != before:
            self.query_one(TaskBox).earlier = list(dict.fromkeys(run.task for run in self.recent))
            self._list()
            self.show_run()

    def _list(self) -> None:
        """The two lists; on a narrow screen one line an entry, and no box for runs that are not there."""
        narrow = self._narrow = self.app.size.width < NARROW
        _refill(self.query_one("#demos", OptionList), [demo_entry(demo, narrow) for demo in self.ready_made])
        runs = self.query_one("#recent", OptionList)
        _refill(runs, [run_entry(run, narrow) for run in self.recent])
        if not self.recent:
            runs.add_option(Option(no_runs(), disabled=True))
        runs.display = bool(self.recent) or not narrow
        self.set_class(not self.recent, "-new")

    def on_resize(self) -> None:
        """One line an entry, or two."""
        if self.is_mounted and (self.app.size.width < NARROW) is not self._narrow:
            self._list()

    @property
    def task_text(self) -> str:
        """The task as typed."""
        return self.query_one("#task", TextArea).text.strip()

    @property
    def repo_path(self) -> Path:
        """The repository as typed."""
        return Path(self.query_one("#repo", Input).value.strip() or ".").expanduser()

    def on_screen_resume(self) -> None:
        """Back from a run: it may be in the list now."""
        if self.is_mounted:
            self.fill()
            self.show_run()

    def told(self, events: list[Event]) -> None:
        """The run that was left has come further."""
        if self.is_mounted and self.app.screen is self and any(isinstance(event, _TURNS) for event in events):
            self.show_run()

    def show_run(self) -> None:
        """A run that was left and is not over is said in a line of its own, with the key that leads back."""
        view = self.query_one("#home-run", Static)
        lines = [] if self.session is None else left_run(self.session)
        if not lines and (left := self.left_behind) is not None:
            lines = earlier_run(left)
        view.display = bool(lines)
        if lines:
            view.update(line(*lines))
        self.refresh_bindings()

    @property
    def left_behind(self) -> RecentRun | None:
        """A run of an earlier session that did not end, else the newest whose change waits for a decision."""
        mine = self.session.state.run_id if self.session is not None else ""
        others = [run for run in self.recent if run.run_id != mine]
        left = [run for run in others if run.resumable] or [run for run in others if run.undecided]
        return left[0] if left else None

    def action_left_behind(self) -> None:
        """Go on with the run that did not end, or open the one whose change waits."""
        run = self.left_behind
        if run is None:
            return
        if run.resumable:
            self.post_message(RunRequested(run.task, self.repo_path.resolve(), run.run_id))
        else:
            self.post_message(self.OpenRun(run))

    def show_busy(self, text: str) -> None:
        """Say that a run is being made ready; "" when that is over."""
        if self.is_mounted:
            self.query_one("#home-title", Static).update(home_title(text))
            self.query_one("#start").disabled = bool(text)

    # -- starting

    def action_start(self) -> None:
        """Start what is typed."""
        if not self.task_text:
            self.app.notify("First say what to do, or choose a ready-made task.", severity="warning", markup=False)
            self.query_one("#task").focus()
        elif not self.query_one("#repo", Input).value.strip():
            self.app.notify("Name the folder of the repository first.", severity="warning", markup=False)
            self.query_one("#repo").focus()
        elif not self.repo_path.is_dir():
            self.app.notify(f"{no_folder(self.repo_path)} {WHAT_TO_DO}", severity="warning", markup=False)
            self.query_one("#repo").focus()
        else:
            self._begin(self.task_text, self.repo_path.resolve())

    def _begin(self, task: str, repo: Path) -> None:
        """Start a task; where there is no model that can be fetched, offer that first."""
        box = self.query_one(ModelBox)
        if not box.can_fetch:
            self.post_message(RunRequested(task, repo))
            return

        def answered(ready: bool | None) -> None:
            box.check()
            if ready:
                self.post_message(RunRequested(task, repo))

        self.app.push_screen(FetchDialog(self.services, box.state.text if box.state is not None else ""), answered)

    @on(TaskBox.Entered)
    def _task_entered(self) -> None:
        self.action_start()

    def take_typed(self, text: str) -> None:
        """Put text that was typed before any box had the focus into the task."""
        box = self.query_one("#task", TextArea)
        box.focus()
        box.insert(text)

    def on_paste(self, event: Paste) -> None:
        """Put text that is pasted outside of a box into the task."""
        if not isinstance(self.focused, Input | TextArea):
            box = self.query_one("#task", TextArea)
            box.focus()
            box.insert(event.text)

    @on(Button.Pressed, "#start")
    def _start_pressed(self) -> None:
        self.action_start()

    @on(Input.Submitted, "#repo")
    def _repo_entered(self) -> None:
        self.query_one("#start").focus()

    @on(OptionList.OptionSelected, "#demos")
    async def _demo_chosen(self, event: OptionList.OptionSelected) -> None:
        demo = self.ready_made[event.option_index]
        try:
            repo = await asyncio.to_thread(self.services.prepare_demo, demo.name)
        except Exception as error:
            self.app.notify(f"{demo.title} could not be prepared: {error}", severity="error", markup=False)
            return
        self.query_one("#task", TextArea).text = demo.task
        self.query_one("#repo", Input).value = str(repo)
        self.app.notify(f"Works in a copy, {repo}. cra demo --list finds it again.", markup=False, timeout=6)
        self._begin(demo.task, repo)

    @on(OptionList.OptionSelected, "#recent")
    def _run_chosen(self, event: OptionList.OptionSelected) -> None:
        self.post_message(self.OpenRun(self.recent[event.option_index]))

    def action_return_to_run(self) -> None:
        """Back to the run that goes on."""
        self.post_message(self.Return())

    def action_fetch(self) -> None:
        """Download the default model."""
        self.query_one(ModelBox).fetch()

    def action_check_model(self) -> None:
        """Look at the model again."""
        self.query_one(ModelBox).check()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is offered."""
        if action == "return_to_run":
            return self.session is not None
        if action == "left_behind":
            return self.left_behind is not None and (self.session is None or not self.session.live)
        if action == "fetch":
            return self.is_mounted and self.query_one(ModelBox).can_fetch
        return True

    # -- the number of calls to expect

    @on(TextArea.Changed, "#task")
    @on(Input.Changed, "#repo")
    def _inputs_changed(self) -> None:
        self._predicting += 1
        number = self._predicting
        self.set_timer(_PREDICT_SECONDS, lambda: self._predict(number))

    def _predict(self, number: int) -> None:
        if number == self._predicting:
            start(self, self._show_prediction, group="prediction")
            start(self, self._read_runs, group="recent")

    async def _show_prediction(self) -> None:
        count = None
        if self.task_text and self.repo_path.is_dir():
            with contextlib.suppress(Exception):
                count = await self.services.predicted_calls(self.task_text, self.repo_path)
        self.query_one("#prediction", Static).update(Content(prediction(count, self.recent)))


def _refill(view: OptionList, entries: list[Content]) -> None:
    """Replace the entries; the same place stays chosen, or none."""
    chosen = view.highlighted
    view.clear_options()
    view.add_options([Option(entry) for entry in entries])
    view.highlighted = min(chosen, len(entries) - 1) if entries and chosen is not None else None
