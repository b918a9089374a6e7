"""No model is there yet: the dialog that fetches it, with its progress, and then goes on with what was wanted."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, ProgressBar, Static

from screens import STYLES
from screens.home.model_box import ModelBox
from screens.runner import FetchProgress, Services
from screens.text import clean
from screens.workers import start

_MEGABYTE = 1_000_000


class FetchDialog(ModalScreen[bool]):
    """Answers True when the model is there."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [
        Binding("y,enter", "fetch", "Fetch", show=False),
        Binding("n,escape,q", "leave", "Not now", show=False),
    ]

    def __init__(self, services: Services, why: str = "") -> None:
        super().__init__()
        self.services, self.why = services, why
        self.fetching = False

    def compose(self) -> ComposeResult:
        """What is missing, the bar, two buttons."""
        with Vertical(classes="dialog"):
            yield Static("Fetch the model first?", markup=False, classes="question")
            yield Static(clean(self.why), id="fetch-why", markup=False, classes="explanation")
            yield Static("", id="fetch-said", markup=False)
            yield ProgressBar(id="fetch-progress", show_eta=True)
            with Horizontal(classes="buttons"):
                yield Button(Content("y  Fetch and start"), id="fetch-yes", variant="primary")
                yield Button(Content("n  Not now"), id="fetch-no")

    def on_mount(self) -> None:
        """Nothing is fetched before it was asked for."""
        self.query_one("#fetch-progress").display = False
        self.query_one("#fetch-yes").focus()

    def action_fetch(self) -> None:
        """Fetch it."""
        if not self.fetching:
            self.fetching = True
            self.query_one("#fetch-progress").display = True
            self.query_one("#fetch-yes").disabled = True
            start(self, self._fetch, group="fetch")

    async def _fetch(self) -> None:
        try:
            await self.services.pull_model(self._report)
        except Exception as error:
            self.fetching = False
            self.query_one("#fetch-why", Static).update(Content(clean(f"It could not be fetched: {error}")))
            self.query_one("#fetch-progress").display = False
            self.query_one("#fetch-yes").disabled = False
            return
        self.dismiss(True)

    def _report(self, progress: FetchProgress) -> None:
        self.post_message(ModelBox.Progressed(progress))

    @on(ModelBox.Progressed)
    def _progressed(self, event: ModelBox.Progressed) -> None:
        progress: FetchProgress = event.progress
        size = f"  {progress.done / _MEGABYTE:.0f} of {progress.total / _MEGABYTE:.0f} MB" if progress.total else ""
        self.query_one("#fetch-said", Static).update(Content(clean(f"{progress.text or 'fetching'}{size}")))
        self.query_one("#fetch-progress", ProgressBar).update(total=progress.total or None, progress=progress.done)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "fetch-yes":
            self.action_fetch()
        else:
            self.dismiss(False)

    def action_leave(self) -> None:
        """Not now; what was fetched so far is kept."""
        self.dismiss(False)
