"""Which model answers which question, as a table: what each really uses, from which row, and what its calls took here. A row
is edited in place, taken out, tried out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option
from textual.worker import Worker

from agent.audit.call_costs import Measured
from agent.config.errors import ConfigError
from agent.config.schema import Models, Override
from agent.stages import STAGES
from screens.settings.dialogs import OverrideDialog
from screens.settings.model import SettingsModel
from screens.settings.probe import DEFAULTS, Probe, ask, check, target_of
from screens.text import BAD, GOOD, LABEL, MUTED, STRONG, WARN, line, one_line, plural, short_count

_TRIAL_GROUP = "trial"


def _called(row: str) -> str:
    """A question by its short form; a role or a group by its name."""
    return STAGES[row].short if row in STAGES else row


class OverrideTable(OptionList):
    """The two roles first, then every row of the files, then all the questions with what they use."""

    BINDINGS = [Binding("j", "cursor_down", show=False), Binding("k", "cursor_up", show=False)]

    class Edited(Message):
        """A row was added, changed or taken out."""

    class RoleChosen(Message):
        """A role's row was chosen; its model is a field of the form."""

        def __init__(self, role: str) -> None:
            super().__init__()
            self.role = role

    def __init__(self, model: SettingsModel) -> None:
        super().__init__(id="overrides", markup=False, compact=True)
        self.model = model
        self.rows: list[str] = []
        self.trials: dict[str, Probe] = {}
        self.took: dict[tuple[str, str], Measured] = {}

    def on_mount(self) -> None:
        """Fill it, then look what calls took."""
        self.sync()
        self.run_worker(self._measure(), group="measure", exit_on_error=False)

    async def _measure(self) -> None:
        self.took = await asyncio.to_thread(self.model.measured)
        if self.took and self.is_attached:
            self.sync()

    def sync(self) -> None:
        """Show the model's rows again; the same row stays chosen."""
        chosen = self.row
        own = self.model.draft.overrides()
        inherited = self.model.drafts["person"].overrides() if self.model.scope == "repository" else {}
        rows = [*DEFAULTS, *own, *(name for name in inherited if name not in own)]
        self.rows = [*rows, *(name for name in STAGES if name not in rows)]
        try:
            models: Models | ConfigError = self._models()
        except ConfigError as error:
            models = error
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options([Option(self._line(row, models, own, inherited)) for row in self.rows])
            self.highlighted = self.rows.index(chosen) if chosen in self.rows else min(len(self.rows) - 1, 0)

    @property
    def row(self) -> str:
        """The chosen row: a role, a stage or a group; empty when there is none."""
        place = self.highlighted
        return self.rows[place] if place is not None and place < len(self.rows) else ""

    @property
    def removable(self) -> bool:
        """Whether the chosen row is an override of the file being edited."""
        return self.row in self.model.draft.overrides()

    @property
    def trying(self) -> bool:
        """Whether a trial is under way."""
        return any(trial.ok is None for trial in self.trials.values())

    def _line(
        self, row: str, models: Models | ConfigError, own: dict[str, Override], inherited: dict[str, Override]
    ) -> Content:
        """A row; where ``models`` are wrong, what is wrong with them."""
        try:
            if isinstance(models, ConfigError):
                raise models
            _, target = target_of(models, row)
            what = f"{target.model} ({target.provider})"
            where = target.base_url if target.base_url else ""
            limits = f" window {target.context_window}, reply {target.max_tokens}"
        except ConfigError as error:
            what, where, limits = "", error.fault, ""
        if row not in own and row not in inherited and row not in DEFAULTS:
            return self._with_trial(self._used(row, what, own, inherited), row)
        origin = "" if row in own else "  from your file" if row in inherited else "  [models]"
        changed = "● " if ("models", "overrides", row) in self.model.draft.changes else "  "
        head = line(
            (changed, WARN), (f"{_called(row):<12}", STRONG), one_line(what), f" {one_line(where)}", (limits, MUTED),
            (origin, MUTED),
        )  # fmt: skip
        return self._with_trial(head, row)

    def _used(self, stage: str, what: str, own: dict[str, Override], inherited: dict[str, Override]) -> Content:
        """A question without a row of its own: what it uses, whose row that is, what its calls took."""
        known = STAGES[stage]
        files = {**inherited, **own}
        origin = f"row {known.group}" if known.group in files else known.role
        took = self.took.get((stage, what.partition(" (")[0]))
        measured = ""
        if took is not None:
            tokens = f"{short_count(round(took.tokens_in))}+{short_count(round(took.tokens_out))} tokens"
            measured = f"  {took.ms:,.0f} ms, {tokens}, {plural(took.calls, 'call')}"
        return line("  ", f"{_called(stage):<12}", (one_line(what), MUTED), (f"  from {origin}", MUTED), (measured, LABEL))

    def _with_trial(self, head: Content, row: str) -> Content:
        trial = self.trials.get(row)
        if trial is None:
            return head
        mark, style = {True: ("✓", GOOD), False: ("✗", BAD), None: ("…", WARN)}[trial.ok]
        return head + Content("\n") + line((f"    {mark} ", style), (one_line(trial.text), "" if trial.ok else style))

    def _models(self) -> Models:
        return self.model.config().models

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.edit(self.row)

    # -- editing

    def edit(self, stage: str) -> None:
        """Ask for the model of a stage; of a new one when ``stage`` is empty."""
        if stage in DEFAULTS:
            self.post_message(self.RoleChosen(stage))
            return
        try:
            models = self._models()
        except ConfigError as error:
            self.app.notify(str(error), severity="error", markup=False)
            return
        entry = models.overrides.get(stage)
        known = Override(model=entry) if isinstance(entry, str) else entry
        self.app.push_screen(OverrideDialog(models, stage, known), self._keep)

    def _keep(self, kept: tuple[str, Override] | None) -> None:
        if kept is not None:
            stage, entry = kept
            self.model.draft.set_override(stage, entry)
            self.trials.pop(stage, None)
            self.sync()
            self.highlighted = self.rows.index(stage)
            self.focus()
            self.post_message(self.Edited())

    def take_out(self) -> None:
        """Take the chosen row out, if it is one of the file being edited."""
        if self.removable:
            self.trials.pop(self.row, None)
            self.model.draft.remove_override(self.row)
            self.sync()
            self.post_message(self.Edited())

    # -- trying out

    def try_connection(self) -> None:
        """Look whether the chosen row's model can answer."""
        self._try("looking…", lambda models, row: check(models, row))

    def try_question(self) -> None:
        """Ask the chosen row's model one question."""
        self._try("asking…", lambda models, row: ask(models, row, lambda text: self._tell(row, text)))

    def _try(self, text: str, trial: Callable[[Models, str], Awaitable[Probe]]) -> None:
        row = self.row
        if row and (row not in self.trials or self.trials[row].ok is not None):
            self._tell(row, f"{text} escape gives up")
            self.run_worker(self._run(row, trial), name=row, group=_TRIAL_GROUP, exit_on_error=False)

    async def _run(self, row: str, trial: Callable[[Models, str], Awaitable[Probe]]) -> None:
        self.trials[row] = Probe(False, "given up")
        try:
            models = self._models()
        except ConfigError as error:
            self.trials[row] = Probe(False, str(error))
        else:
            self.trials[row] = Probe(None, "…")
            try:
                self.trials[row] = await trial(models, row)
            except Exception as error:
                self.trials[row] = Probe(False, f"{type(error).__name__}: {error}")
            finally:
                if self.trials[row].ok is None:
                    self.trials[row] = Probe(False, "given up")
        self.sync()

    def _tell(self, row: str, text: str) -> None:
        self.trials[row] = Probe(None, text)
        self.sync()

    def give_up(self) -> None:
        """Cancel every trial."""
        workers: list[Worker[None]] = [w for w in self.workers if w.group == _TRIAL_GROUP and not w.is_finished]
        for worker in workers:
            worker.cancel()
