"""The box that says whether a model can answer, what to do if not, and how far its download has come."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, ProgressBar, Static

from screens.runner import FetchProgress, ModelState, Services
from screens.text import GOOD, MUTED, STRONG, WARN, line
from screens.workers import start

_MEGABYTE = 1_000_000


class ModelBox(Vertical):
    """Looks at the model when it is mounted and after a download."""

    class Progressed(Message):
        """The download has come further. May be posted from any thread; only the newest counts."""

        def __init__(self, progress: FetchProgress) -> None:
            super().__init__()
            self.progress = progress

        def can_replace(self, message: Message) -> bool:
            """An older report that nobody has read yet is dropped."""
            return isinstance(message, ModelBox.Progressed)

    def __init__(self, services: Services, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.services = services
        self.state: ModelState | None = None
        self.fetching = False

    def compose(self) -> ComposeResult:
        """State, what to do, a button and a bar for the download."""
        yield Static(line(("○ ", MUTED), "looking for the model…"), id="model-text", markup=False)
        yield ProgressBar(id="fetch-bar", show_eta=True)
        yield Button("Fetch the model", id="fetch", variant="primary", compact=True)

    def on_mount(self) -> None:
        """Look."""
        self.border_title = Content("Model")
        self.query_one("#fetch").display = False
        self.check()

    @property
    def can_fetch(self) -> bool:
        """Whether a download would help."""
        return self.state is not None and self.state.can_fetch and not self.fetching

    def check(self) -> None:
        """Ask the service for the model's state."""
        start(self, self._check, group="model")

    def fetch(self) -> None:
        """Start the download. It goes on when another screen is in front."""
        if self.can_fetch:
            self.fetching = True
            start(self, self._fetch, group="fetch")

    @on(Button.Pressed, "#fetch")
    def _pressed(self) -> None:
        self.fetch()

    async def _check(self) -> None:
        try:
            self.state = await self.services.model_state()
        except Exception as error:
            self.state = ModelState(False, str(error), "Look at the configuration: cra config show")
        self._show()

    async def _fetch(self) -> None:
        bar = self.query_one("#fetch-bar", ProgressBar)
        bar.display = True
        self._show()
        try:
            await self.services.pull_model(self._report)
        except Exception as error:
            self.app.notify(f"The model could not be fetched: {error}", severity="error", markup=False, timeout=10)
        finally:
            self.fetching = False
            bar.display = False
        await self._check()

    def _report(self, progress: FetchProgress) -> None:
        self.post_message(self.Progressed(progress))

    @on(Progressed)
    def _progressed(self, event: Progressed) -> None:
        progress = event.progress
        self.query_one("#fetch-bar", ProgressBar).update(total=progress.total or None, progress=progress.done)
        size = f"{progress.done / _MEGABYTE:.0f} of {progress.total / _MEGABYTE:.0f} MB" if progress.total else ""
        self.query_one("#model-text", Static).update(line(("↓ ", STRONG), f"{progress.text or 'fetching'}  ", (size, MUTED)))

    def _show(self) -> None:
        state = self.state
        if state is None:
            return
        self.set_class(state.ok, "-ok")
        mark = ("✓ ", f"bold {GOOD}") if state.ok else ("! ", f"bold {WARN}")
        lines = [line(mark, state.text)]
        if self.can_fetch:
            by_hand = f", or by hand: {state.hint}" if state.hint else ""
            lines.append(line(("F2", STRONG), " fetches it here", (by_hand, MUTED)))
        elif state.hint:
            lines.append(line((state.hint, MUTED)))
        self.query_one("#model-text", Static).update(Content("\n").join(lines))
        self.query_one("#fetch").display = self.can_fetch
        self.screen.refresh_bindings()
