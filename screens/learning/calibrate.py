"""Calibration: the threshold of each stage and model, from labels; what to expect of it; apply it."""

from __future__ import annotations

from pathlib import Path

from textual.content import Content
from textual.events import Resize

from agent.audit.reader import LogReader
from agent.config.errors import ConfigError
from agent.config.schema import load
from agent.labels.items import load_items
from agent.labels.queue import Filter
from agent.labels.store import store_path
from agent.learning.calibrate import MIN_LABELS, MIN_TASKS, Fit, apply_fits, fit_all
from agent.learning.scores import StageScore, score_models
from agent.verdict.in_force import own_thresholds_path, thresholds_of
from agent.verdict.threshold import thresholds_path
from screens.actions import bindings
from screens.dialogs import Confirm
from screens.learning.fit_lines import fit_lines, rule_words
from screens.learning.log_screen import ListScreen
from screens.runner import Services
from screens.table import make_screen
from screens.text import GOOD, MUTED, WARN, line, plural, stage_short, stage_title

_HINT = (
    f"Label {MIN_LABELS} or more calls of one question and model, some yes, some no, of {MIN_TASKS} tasks: then a "
    "threshold can be fitted."
)


class CalibrateScreen(ListScreen):
    """Fits thresholds to the labels of one repository."""

    BINDINGS = bindings("calibrate")
    ACTION_GROUP = "calibrate"
    NAME = "Thresholds"
    ids = ("fits", "fit")
    LIST_TITLE = "Questions and models"
    EMPTY = "No label yet. F8 opens the calls to label."

    def __init__(self, services: Services, *, repo: Path) -> None:
        super().__init__(services, repo)
        self.shared = False
        self.fits: list[Fit] = []
        self.scores: list[StageScore] = []

    @property
    def log_file(self) -> Path:
        """The repository's log, or the person's own store."""
        return store_path() if self.shared else super().log_file

    @property
    def target(self) -> Path:
        """The file that a threshold is written to."""
        return own_thresholds_path() if self.shared else thresholds_path(self.repo)

    def heading(self, width: int) -> Content:
        """The names above the columns."""
        return Content.styled(f"  {'question':<11} {'model':<{_room(width)}} labels expect", MUTED)

    def read(self, reader: LogReader) -> tuple[list[Fit], list[StageScore]]:
        """Fits and scores."""
        items = load_items(reader)
        return fit_all(items, thresholds_of(self.repo, load(self.repo))), score_models(items)

    def take(self, found: tuple[list[Fit], list[StageScore]] | None, select: str) -> None:
        """Stages and models on the left, what their labels say on the right."""
        self.fits, self.scores = found or ([], [])
        fits = self.fits
        self.rows.set_rows(len(fits), lambda row, width: _row(fits[row], width))
        ready = sum(fit.offered for fit in fits)
        count = plural(len(fits), "question and model", "questions and models")
        where = "all repositories: " if self.shared else ""
        self.name_it(f"{where}{count} with labels, {ready} ready to apply")
        self.show_facts()

    def show_facts(self) -> None:
        """What the labels say about the selected one."""
        fit = self.fit
        if fit is None:
            self.facts.border_title = Content("Threshold")
            self.facts.set_lines([Content.styled(_HINT, MUTED)])
        else:
            self.facts.border_title = Content(stage_title(fit.stage))
            self.facts.set_lines(fit_lines(fit, self.scores, max(20, self.facts.scrollable_content_region.width)))
        self.refresh_bindings()

    @property
    def fit(self) -> Fit | None:
        """The selected stage and model."""
        place = self.rows.cursor
        return self.fits[place] if place < len(self.fits) else None

    def on_resize(self, event: Resize) -> None:
        """The curve is drawn to the width."""
        self.call_after_refresh(self.show_facts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done is offered."""
        if not self.query("#fits"):
            return True
        if action == "apply":
            return self.fit is not None and self.fit.offered
        if action == "apply_all":
            return sum(fit.offered for fit in self.fits) > 1
        if action == "relabel":
            return self.fit is not None
        return action != "shared" or self.shared or store_path().is_file()

    def turned(self, action_id: str) -> bool:
        """With the labels of all repositories in front the key goes back to this one's."""
        return action_id == "calibrate.shared" and self.shared

    def action_shared(self) -> None:
        """From this repository's labels to those of all, and back."""
        self.shared = not self.shared
        self.say(f"Your own store of labels: {self.log_file}" if self.shared else "")
        self.reload()

    # -- what can be done

    def action_apply(self) -> None:
        """Use the selected threshold."""
        if self.fit is not None and self.fit.offered:
            self._ask([self.fit])

    def action_apply_all(self) -> None:
        """Use all that are offered."""
        self._ask([fit for fit in self.fits if fit.offered])

    def _ask(self, fits: list[Fit]) -> None:
        if not fits:
            return
        words = [f"{stage_short(fit.stage)}, {fit.model}: {rule_words(fit.rule)}; {_expect(fit)}" for fit in fits]
        text = "\n".join(words) + f"\n\nWritten to {self.target}, used from the next run on."
        self.app.push_screen(
            Confirm("Use this threshold?" if len(fits) == 1 else "Use these thresholds?", text, "Use", "Not now"),
            lambda yes: self._apply(fits) if yes else None,
        )

    def _apply(self, fits: list[Fit]) -> None:
        try:
            path = apply_fits(self.target, fits)
        except (OSError, ConfigError, ValueError) as error:
            self.app.notify(str(error), severity="error", markup=False, timeout=15)
            return
        self.say(f"{plural(len(fits), 'threshold')} written to {path}")
        self.reload()

    def action_relabel(self) -> None:
        """Label more of this stage and model."""
        fit = self.fit
        if fit is not None:
            wanted = Filter(stage=fit.stage, model=fit.model, state="unlabelled")
            screen = make_screen("relabel", self.services, repo=self.repo, wanted=wanted)
            self.app.push_screen(screen, lambda _: self.reload())

    def action_export(self) -> None:
        """Write training files."""
        self.export_of(Filter(stage=self.fit.stage) if self.fit else Filter())


def _expect(fit: Fit) -> str:
    """What to expect of it on a new task: a filter's recall, else balanced accuracy."""
    if fit.worth is None:
        return "-"
    value = fit.worth.then.recall if fit.aim == "recall" else fit.worth.then.balanced
    return "-" if value is None else f"{value:.2f}"


def _row(fit: Fit, width: int) -> Content:
    mark, style = ("✓", GOOD) if fit.offered else ("·", MUTED) if fit.rule is None else ("!", WARN)
    room = _room(width)
    model = fit.model if len(fit.model) <= room else fit.model[: room - 1] + "…"
    return line((f"{mark} ", style), f"{stage_short(fit.stage):<11} {model:<{room}} {fit.n:>6} {_expect(fit):>6}")


def _room(width: int) -> int:
    """Cells for the model's name."""
    return max(4, min(28, width - 29))
