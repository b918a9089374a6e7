"""One field of the settings form: its name, what it does, its value as a switch, a choice or a text, and what is wrong."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static, Switch

from agent.config.edit import UNSET
from agent.config.errors import ConfigError
from screens.settings.model import Field, SettingsModel, as_text, read
from screens.text import BAD, LABEL, MUTED, STRONG, WARN, clean, line


class FieldRow(Container):
    """Edits one field. Posts ``Edited`` after every change, right or wrong."""

    class Edited(Message):
        """The field was changed."""

    def __init__(self, field: Field, model: SettingsModel) -> None:
        super().__init__(id=f"field-{field.section}-{field.key}", classes="field")
        self.field, self.model = field, model
        self.error = ""
        self._entered = False

    def compose(self) -> ComposeResult:
        """Name, value and state on one line; below what it does, and the fault if there is one."""
        yield Static(line((self.field.key, STRONG)), classes="field-name", markup=False)
        yield self._control()
        yield Static("", classes="field-state", markup=False)
        yield Static("", classes="field-about", markup=False)

    def _control(self) -> Widget:
        value = self.model.value(self.field)
        if self.field.control == "switch":
            return Switch(value, animate=False, classes="value")
        if self.field.control == "choice":
            return Select(
                [(Content(choice), choice) for choice in self.field.choices], value=value, allow_blank=False, compact=True,
                classes="value",
            )  # fmt: skip
        return Input(as_text(value), compact=True, classes="value", select_on_focus=False)

    def _about(self) -> Content:
        field = self.field
        default = as_text(field.default) or "empty"
        limits = f"{field.expected[0].upper()}{field.expected[1:]}; default" if field.control == "text" else "Default"
        over = self.model.overruled(field)
        wins = f"  This repository's file says {as_text(over)}, and wins." if over is not UNSET else ""
        return line((f"{field.description} {limits} {default}.", MUTED), (wins, WARN))

    def on_mount(self) -> None:
        """Say where the value comes from."""
        self._show_state()
        if self._entered:
            self.enter()

    def enter(self) -> None:
        """Put the focus on the value: at once, or as soon as it is there, for rows are made when they are first shown."""
        values = self.query(".value")
        self._entered = not values
        if values:
            values.first().focus()

    def sync(self) -> None:
        """Show the model's value again; what is still to be made shows it anyway."""
        self.error = ""
        if not self.query(".value"):
            return
        value = self.model.value(self.field)
        with self.prevent(Input.Changed, Switch.Changed, Select.Changed):
            control = self.query_one(".value")
            if isinstance(control, Input):
                control.value = as_text(value)
            elif isinstance(control, Switch | Select):
                control.value = value
        self._show_state()

    def reset(self) -> None:
        """Take the key out of the file."""
        self.model.draft.unset(self.field.section, self.field.key)
        self.sync()
        self.post_message(self.Edited())

    @on(Switch.Changed)
    @on(Select.Changed)
    def _chosen(self, event: Switch.Changed | Select.Changed) -> None:
        event.stop()
        self._give(event.value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        try:
            value = read(self.field, event.value)
        except ValueError as error:
            self.error = str(error)
            self._edited()
        else:
            self._give(value)

    def _give(self, value: Any) -> None:
        self.error = ""
        try:
            self.model.give(self.field, value)
        except ConfigError as error:
            self.error = error.fault
        self._edited()

    def _edited(self) -> None:
        self._show_state()
        self.post_message(self.Edited())

    def _show_state(self) -> None:
        about = self._about()
        self.query_one(".field-about", Static).update(
            about + Content("\n") + line((f"✗ {self.error}", BAD)) if self.error else about
        )
        self.set_class(bool(self.error), "-wrong")
        state = self.model.state(self.field)
        style = WARN if state.startswith("●") else LABEL if state.startswith("set") else MUTED
        word = f"{as_text(self.model.value(self.field))}  " if self.field.control == "switch" else ""
        self.query_one(".field-state", Static).update(line((word, STRONG), (clean(state), style)))
