"""Evaluation: choose models, questions and rows; ask them all again; see what the answers are worth."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
from textual.content import Content
from textual.events import Resize

from agent.audit.log import LogError, known_log
from agent.audit.reader import LogReader
from agent.config.errors import ConfigError
from agent.config.schema import Config
from agent.gate import Gate
from agent.labels.queue import Filter
from agent.learning.evaluate import Evaluation, EvaluationError, LabelledLog, evaluate_models
from agent.learning.subjects import AS_CONFIGURED, HeldOut, LabelledStage, Subjects, aimed, subjects
from agent.models.types import ModelError
from screens.actions import bindings
from screens.dialogs import Confirm
from screens.learning.log_screen import ListScreen
from screens.learning.score_lines import comparison_lines
from screens.learning.text_dialog import TextDialog
from screens.runner import Services
from screens.table import make_screen
from screens.text import GOOD, LABEL, MUTED, STRONG, WARN, about_time, clean, line, plural, stage_short, stage_title
from screens.workers import start

_BAR = 30
_REPAINT = 0.1
"""Seconds between two paintings of the progress."""


class Row(msgspec.Struct, frozen=True):
    """A line to choose from: a model, a stage, or the rows to ask (``held`` None: all that are labelled)."""

    kind: str
    name: str = ""
    stage: LabelledStage | None = None
    held: HeldOut | None = None


class EvaluateScreen(ListScreen):
    """Asks the labelled questions of one repository of some models. What was answered when it is stopped is kept."""

    BINDINGS = bindings("evaluate")
    ACTION_GROUP = "evaluate"
    NAME = "Evaluate"
    ids = ("subjects", "scores")
    LIST_TITLE = "Choose what to ask"
    EMPTY = "No label yet, so there is nothing to measure by. F8 opens the calls to label."

    def __init__(self, services: Services, *, repo: Path) -> None:
        super().__init__(services, repo)
        self.listed: list[Row] = []
        self.known: Subjects | None = None
        self.config = Config()
        self.models: list[str] = [AS_CONFIGURED]
        self.left_out: set[str] = set()
        self.held: HeldOut | None = None
        self.gate: Gate | None = None
        self.done: Evaluation | None = None
        self.fault = ""
        self._progress = (0, 0, 0)
        self._began = self._painted = 0.0

    # -- what there is to choose from

    def heading(self, width: int) -> Content:
        """The names above the columns."""
        return Content.styled("  space chooses, F5 asks", MUTED)

    def read(self, reader: LogReader) -> tuple[Config, Subjects]:
        """What can be asked."""
        config = self.services.load_config(self.repo)
        return config, subjects(reader, self.repo, config)

    def take(self, found: tuple[Config, Subjects] | None, select: str) -> None:
        """Models, questions and rows, one below the other."""
        self.config, self.known = found or (Config(), None)
        self._list()
        self.show_facts()

    def _list(self) -> None:
        known = self.known
        if known is None or not known.stages:
            self.listed = []
        else:
            extra = [name for name in self.models if name not in known.models]
            self.listed = [
                *(Row("model", name) for name in (*known.models, *extra)),
                *(Row("stage", stage.stage, stage) for stage in known.stages),
                Row("rows"), *(Row("rows", held.folder.name, held=held) for held in known.exports),
            ]  # fmt: skip
        self.rows.set_rows(len(self.listed), lambda row, width: self._row(self.listed[row], width))
        self.name_it(f"{plural(self._questions(), 'labelled question')} chosen, {plural(len(self.models), 'model')}")
        self.refresh_bindings()

    def _row(self, row: Row, width: int) -> Content:
        mark = ("✓ ", GOOD) if self._chosen(row) else ("· ", MUTED)
        if row.kind == "model":
            return line(mark, ("model ", MUTED), self._model_name(row.name))
        if row.stage is not None:
            return line(mark, ("ask ", MUTED), f"{stage_short(row.name):<11}", (f" {row.stage.count:>5} labelled", MUTED))
        if row.held is None:
            return line(mark, ("rows ", MUTED), "all that are labelled")
        return line(mark, ("rows ", MUTED), f"held out in {row.name}", (f" {len(row.held.judgments):>5}", MUTED))

    def _model_name(self, name: str) -> str:
        if name:
            return clean(name)
        own = self.config.models
        return f"as configured ({clean(own.reasoning)}{', own for some' if own.overrides else ''})"

    def _chosen(self, row: Row) -> bool:
        if row.kind == "model":
            return row.name in self.models
        return row.name not in self.left_out if row.kind == "stage" else row.held == self.held

    @property
    def stages(self) -> list[str]:
        """The stages that are to be asked."""
        return [one.stage for one in (self.known.stages if self.known else ()) if one.stage not in self.left_out]

    def _questions(self) -> int:
        if self.known is None:
            return 0
        if self.held is not None:
            return len(self.held.judgments)
        return sum(one.count for one in self.known.stages if one.stage not in self.left_out)

    @property
    def evaluating(self) -> bool:
        """Whether questions are being asked."""
        return self.gate is not None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done is offered."""
        if not self.query("#subjects"):
            return True
        if action == "stop":
            return self.evaluating
        if action in ("choose", "add", "start"):
            ready = bool(self.listed) and not self.evaluating
            return ready and (action != "start" or bool(self.models and self.stages))
        return True

    def action_choose(self) -> None:
        """Take the row in front, or leave it out."""
        if self.evaluating or self.rows.cursor >= len(self.listed):
            return
        row = self.listed[self.rows.cursor]
        if row.kind == "model":
            self.models = [m for m in self.models if m != row.name] if row.name in self.models else [*self.models, row.name]
        elif row.kind == "stage":
            self.left_out ^= {row.name}
        else:
            self.held = row.held
        self._list()
        self.show_facts()

    def action_add(self) -> None:
        """Name a model that is not listed; NAME+ADAPTER adds an adapter."""

        def named(name: str | None) -> None:
            if name and name not in self.models:
                self.models.append(name)
                self._list()
                self.show_facts()

        hint = "its name as the server knows it; NAME+FILE.gguf puts an adapter on it"
        self.app.push_screen(TextDialog("Another model", placeholder=hint), named)

    # -- asking

    def action_start(self) -> None:
        """Ask."""
        if not self.check_action("start", ()):
            return
        session = getattr(self.app, "session", None)
        if session is not None and session.live:
            self.say("A run is going on. Stop it or wait for its end: a model is measured while nothing else uses it.")
            return
        start(self, self._evaluate, group="evaluate")

    async def _evaluate(self) -> None:
        self.gate, self.done, self.fault = Gate(), None, ""
        self._progress, self._began = (0, 0, self._questions()), self.services.clock()
        self.refresh_bindings()
        self.show_facts()
        judgments = self.held.judgments if self.held is not None else frozenset()
        configs = [aimed(self.config, name) for name in self.models]
        try:
            self.done = await evaluate_models(
                [LabelledLog(self.repo, known_log(self.repo))], configs,
                stages=self.stages, judgments=judgments, gate=self.gate, progress=self._heard,
            )  # fmt: skip
        except ModelError as error:
            self.fault = f"{error} {error.hint}".strip()
        except (EvaluationError, LogError, ConfigError) as error:
            self.fault = str(error)
        finally:
            self.gate = None
        if self.is_attached:
            self.refresh_bindings()
            self.show_facts()
            self.facts.scroll_home(animate=False)
            self.say(self.fault or (self.done.finished.reason if self.done is not None else ""))

    def _heard(self, place: int, done: int, total: int) -> None:
        self._progress = (place, done, total)
        now = self.services.clock()
        if self.is_attached and (now - self._painted >= _REPAINT or done == total):
            self._painted = now
            self.show_facts()

    def action_stop(self) -> None:
        """Stop; what was answered is kept and measured."""
        if self.gate is not None:
            self.gate.stop()
            self.say("Stopping; what was answered so far is kept.")

    # -- showing

    def show_facts(self) -> None:
        """The choice, or how far it has come, or what came of it."""
        if not self.is_attached:
            return
        width = max(20, self.facts.scrollable_content_region.width)
        self.facts.border_title = Content("Asking" if self.evaluating else "Scores" if self.done else "Choice")
        if self.evaluating:
            lines = self._asking()
        elif self.done is not None:
            runs = line((f"In the history: {', '.join(self.done.runs)}", MUTED))
            lines = [*self._ended(self.done), *comparison_lines(self.done.found, width), runs]
        else:
            lines = [line((self.fault, WARN)), Content("")] if self.fault else []
            lines += self._choice()
        self.facts.set_lines(lines)

    def _choice(self) -> list[Content]:
        if self.known is None or not self.known.stages:
            return [line((self.EMPTY, MUTED))]
        lines = [line(("models", LABEL)), *(line(f"  {self._model_name(name)}") for name in self.models)]
        lines += [line(("questions", LABEL)), *(line(f"  {stage_title(stage)}") for stage in self.stages)]
        if self.held is None:
            said = (
                "Every labelled question is asked. A model that was trained on these labels, or a threshold fitted to them, "
                "is then measured on what it has seen. Choose the rows that an export held out to measure it on new ones."
            )
        else:
            said = f"Only the test rows of {self.held.folder} are asked."
        lines += [line(("rows", LABEL)), line((f"  {said}", MUTED)), Content("")]
        seconds = self.known.seconds(len(self.models), self.stages) if self.held is None else None
        count = self._questions() * len(self.models)
        about = f", about {about_time(seconds)}" if seconds else ""
        lines.append(line((f"{plural(count, 'call')}{about}. F5 asks.", STRONG)))
        return lines

    def _asking(self) -> list[Content]:
        place, done, total = self._progress
        filled = round(_BAR * done / total) if total else 0
        lines = []
        for number, name in enumerate(self.models):
            said = "done" if number < place else "" if number > place else f"{done} of {total}"
            style = STRONG if number == place else MUTED
            lines.append(line((f"  {self._model_name(name)}", style), f"  {said}"))
        lines += [Content(""), line(("━" * filled, GOOD), ("─" * (_BAR - filled), MUTED), f" {self._left()}")]
        return [*lines, Content(""), line(("x stops; what was answered so far is kept.", MUTED))]

    def _left(self) -> str:
        place, done, total = self._progress
        asked = place * total + done
        if not asked:
            return ""
        seconds = (self.services.clock() - self._began) / asked * (len(self.models) * total - asked)
        return f"about {about_time(seconds)} left" if seconds >= 1 else ""

    def _ended(self, done: Evaluation) -> list[Content]:
        if done.finished.status == "complete":
            return []
        return [line((done.finished.reason, WARN)), Content("")]

    def on_resize(self, event: Resize) -> None:
        """The table is drawn to the width."""
        self.call_after_refresh(self.show_facts)

    # -- where to go from here

    def action_relabel(self) -> None:
        """Label more."""
        self.app.push_screen(make_screen("relabel", self.services, repo=self.repo), lambda _: self.reload())

    def action_calibrate(self) -> None:
        """Fit thresholds."""
        self.app.push_screen(make_screen("calibrate", self.services, repo=self.repo))

    def action_export(self) -> None:
        """Write training files, with rows held out."""
        self.export_of(Filter())

    def action_back(self) -> None:
        """Leave; asks first while questions are being asked."""
        if not self.evaluating:
            self.dismiss()
            return
        text = "Questions are being asked. Leaving stops that; what was answered so far is kept."
        self.app.push_screen(Confirm("Stop and leave?", text, "Stop", "Stay"), self._leave)

    def _leave(self, yes: bool | None) -> None:
        if yes:
            self.action_stop()
            start(self, self._gone, group="gone")

    async def _gone(self) -> None:
        await asyncio.gather(*(work.wait() for work in self._asking_now()), return_exceptions=True)
        self.dismiss()

    def _asking_now(self) -> list[Any]:
        return [work for work in self.workers if work.node is self and work.group == "evaluate"]
