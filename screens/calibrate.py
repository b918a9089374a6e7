"""Calibration: the threshold of each stage and model, from labels; what to expect of it; apply it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Footer, Static

from agent.audit.calibrate import Fit, apply_fits, fit_all
from agent.audit.items import load_items
from agent.audit.log import LogError
from agent.audit.queue import Filter
from agent.audit.reader import LogReader
from agent.audit.scores import StageScore, score_models
from agent.config_errors import ConfigError
from agent.judgment.thresholds import Thresholds, load_thresholds, thresholds_path
from screens import STYLES
from screens.actions import bindings
from screens.dialogs import Confirm
from screens.export_dialog import ExportDialog
from screens.lines import LinesView
from screens.panes.fit_lines import fit_lines
from screens.panes.rows import RowList
from screens.runner import Services
from screens.table import make_screen
from screens.text import GOOD, LABEL, MUTED, WARN, line, plural, stage_short


class CalibrateScreen(Screen[None]):
    """Fits thresholds to the labels of one repository."""

    CSS_PATH = STYLES / "learning.tcss"
    BINDINGS = bindings("calibrate")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    ACTION_GROUP = "calibrate"

    def __init__(self, services: Services, *, repo: Path) -> None:
        super().__init__()
        self.services, self.repo = services, repo
        self.fits: list[Fit] = []
        self.scores: list[StageScore] = []

    def compose(self) -> ComposeResult:
        """Stages and models on the left, what their labels say on the right."""
        yield Static("", id="learn-title", markup=False)
        with Horizontal(id="learn-body"):
            yield RowList(id="fits", empty="No label yet. r on any call labels it.")
            yield LinesView(id="fit")
        yield Static("", id="learn-said", markup=False)
        yield Footer(show_command_palette=True, compact=True)

    async def on_mount(self) -> None:
        """Read the labels."""
        rows = self.query_one("#fits", RowList)
        rows.border_title = Content("Stages and models")
        rows.heading = _heading
        rows.focus()
        await self._load()

    async def _load(self) -> None:
        try:
            self.fits, self.scores = await asyncio.to_thread(self._read)
        except (LogError, ConfigError) as error:
            self.query_one("#learn-said", Static).update(Content(str(error)))
        self._show()

    def _read(self) -> tuple[list[Fit], list[StageScore]]:
        reader = LogReader(self.repo / ".clean_room" / "raw.sqlite")
        try:
            items = load_items(reader)
        finally:
            reader.close()
        return fit_all(items, Thresholds(load_thresholds(thresholds_path(self.repo)))), score_models(items)

    def _show(self) -> None:
        fits = self.fits
        self.query_one("#fits", RowList).set_rows(len(fits), lambda row, width: _row(fits[row], width))
        ready = sum(fit.better_than_chance for fit in fits)
        text = f"{plural(len(fits), 'stage and model', 'stages and models')} with labels, {ready} ready to apply"
        self.query_one("#learn-title", Static).update(line(("Calibrate", f"bold {LABEL}"), "  ", (text, MUTED)))
        self._show_fit()
        self.refresh_bindings()

    def _show_fit(self) -> None:
        view, fit = self.query_one("#fit", LinesView), self.fit
        if fit is None:
            view.set_lines([Content.styled("Label some calls; from eight labels on a threshold can be fitted.", MUTED)])
            return
        view.border_title = Content(f"{fit.stage} · {fit.model}")
        view.set_lines(fit_lines(fit, self.scores, max(20, view.scrollable_content_region.width)))

    @property
    def fit(self) -> Fit | None:
        """The selected stage and model."""
        place = self.query_one("#fits", RowList).cursor
        return self.fits[place] if place < len(self.fits) else None

    @on(RowList.Moved, "#fits")
    def _moved(self) -> None:
        self._show_fit()
        self.query_one("#fit", LinesView).scroll_home(animate=False)
        self.refresh_bindings()

    def on_resize(self, event: Resize) -> None:
        """The curve is drawn to the width."""
        self.call_after_refresh(self._show_fit)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done is offered."""
        if not self.query("#fits"):
            return True
        if action == "apply":
            return self.fit is not None and self.fit.threshold is not None
        if action == "apply_all":
            return sum(fit.better_than_chance for fit in self.fits) > 1
        if action == "relabel":
            return self.fit is not None
        return True

    # -- what can be done

    def action_apply(self) -> None:
        """Use the selected threshold."""
        if self.fit is not None and self.fit.threshold is not None:
            self._ask([self.fit])

    def action_apply_all(self) -> None:
        """Use all that are better than chance."""
        self._ask([fit for fit in self.fits if fit.better_than_chance])

    def _ask(self, fits: list[Fit]) -> None:
        if not fits:
            return
        words = [f"{fit.stage}, {fit.model}: {fit.threshold:.2f} (expect {_expect(fit)}, {fit.n} labels)" for fit in fits]
        text = "\n".join(words) + f"\n\nWritten to {thresholds_path(self.repo)}, used from the next run on."
        self.app.push_screen(
            Confirm("Use this threshold?" if len(fits) == 1 else "Use these thresholds?", text, "Use", "Not now"),
            lambda yes: self._apply(fits) if yes else None,
        )

    def _apply(self, fits: list[Fit]) -> None:
        try:
            path = apply_fits(self.repo, fits)
        except (OSError, ConfigError, ValueError) as error:
            self.app.notify(str(error), severity="error", markup=False, timeout=15)
            return
        self.query_one("#learn-said", Static).update(Content(f"{plural(len(fits), 'threshold')} written to {path}"))
        self.run_worker(self._load(), group="calibrate", exclusive=True, exit_on_error=False)

    def action_relabel(self) -> None:
        """Label more of this stage and model."""
        fit = self.fit
        if fit is not None:
            wanted = Filter(stage=fit.stage, model=fit.model, state="unlabelled")
            self.app.push_screen(
                make_screen("relabel", self.services, repo=self.repo, wanted=wanted), lambda _: self._reload()
            )

    def _reload(self) -> None:
        self.run_worker(self._load(), group="calibrate", exclusive=True, exit_on_error=False)

    def action_export(self) -> None:
        """Write training files."""
        fit = self.fit
        self.app.push_screen(ExportDialog(self.repo, Filter(stage=fit.stage) if fit else Filter()))

    def action_copy(self) -> None:
        """Copy what is said about the selected one."""
        self.app.copy_to_clipboard(self.query_one("#fit", LinesView).plain)

    def action_back(self) -> None:
        """Leave."""
        self.dismiss()


def _expect(fit: Fit) -> str:
    return "-" if fit.estimate is None else f"{fit.estimate:.2f}"


def _row(fit: Fit, width: int) -> Content:
    mark, style = ("✓", GOOD) if fit.better_than_chance else ("·", MUTED) if fit.threshold is None else ("!", WARN)
    room = _room(width)
    model = fit.model if len(fit.model) <= room else fit.model[: room - 1] + "…"
    return line((f"{mark} ", style), f"{stage_short(fit.stage):<11} {model:<{room}} {fit.n:>4} {_expect(fit):>6}")


def _room(width: int) -> int:
    """Cells for the model's name."""
    return max(4, min(28, width - 27))


def _heading(width: int) -> Content:
    return Content.styled(f"  {'question':<11} {'model':<{_room(width)}}    n expect", MUTED)
