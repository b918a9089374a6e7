"""Questions of the settings screen: one question's own model, and whether a shown diff is to be saved."""

from __future__ import annotations

from typing import Any

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Select, Static

from agent.config.errors import ConfigError, nearest
from agent.config.schema import PROVIDERS, Models, Override, check_value, fields_of
from agent.models.router import Router
from agent.stages import GROUPS, STAGES, stage_named, stage_of
from screens import STYLES
from screens.lines import LinesView
from screens.text import BAD, GOOD, LABEL, MUTED, clean, line, stage_short

_PROVIDERS = ("", *PROVIDERS)
_TEXTS = (
    ("model", "model", "name as the server knows it; empty: the role's model"),
    ("base_url", "address", "empty: as in [models], or the provider's usual one"),
    ("context_window", "window", "tokens in all; empty: as in [models]"),
    ("max_tokens", "longest reply", "tokens; empty: 16 for yes/no questions, else as in [models]"),
)


def about_stage(name: str) -> str:
    """What a question, or a group of them, is, in one line; of an unknown word what can be named."""
    if name in GROUPS:
        return "all of: " + "  ".join(known.short for known in STAGES.values() if known.group == name)
    if name in STAGES:
        known = stage_of(name)
        how = "with yes or no" if known.binary else "with a text"
        return f"{known.title.rstrip('.')}: answered {how}, by the {known.role} model"
    return f"A question by its name in the list, such as relevant?, or a group of them: {', '.join(GROUPS)}."


def read_override(stage: str, given: dict[str, str], models: Models) -> Override:
    """An override from what was typed.

    Raises:
        ValueError: something is wrong; the text is a sentence for the person.
    """
    known = (*GROUPS, *STAGES)
    if stage not in known:
        close = nearest(stage, known)
        raise ValueError(f"There is no question {stage!r}." + (f" Did you mean {close!r}?" if close else "") if stage else
                         "Name a question or a group of questions.")  # fmt: skip
    values: dict[str, Any] = {}
    for field in fields_of(Override).values():
        text = given.get(field.name, "").strip()
        if text:
            values[field.name] = _value(field.name, field.type, text)
    if not values:
        raise ValueError("Give at least a model, a provider or a limit; without one the question needs no row.")
    made = Override(**values)
    try:
        Router(msgspec.structs.replace(models, overrides={**models.overrides, stage: made}))
    except ConfigError as error:
        raise ValueError(f"{error.fault[0].upper()}{error.fault[1:]}.") from None
    return made


def _value(name: str, kind: Any, text: str) -> Any:
    try:
        value: Any = int(text) if name in ("context_window", "max_tokens") else text
        return check_value("", name, kind, value)
    except (ValueError, ConfigError):
        raise ValueError(f"{name}: expected a whole number of at least 0, not {text!r}.") from None


class OverrideDialog(ModalScreen["tuple[str, Override] | None"]):
    """One question's own model. Says while one types what is wrong or what will happen."""

    CSS_PATH = [STYLES / "dialogs.tcss", STYLES / "settings.tcss"]
    BINDINGS = [
        Binding("escape", "cancel", "Cancel", show=False),
        Binding("ctrl+s", "keep", "Keep", show=False, priority=True),
    ]

    def __init__(self, models: Models, stage: str = "", entry: Override | None = None) -> None:
        super().__init__()
        self.models, self.stage, self.entry = models, stage, entry or Override()

    def compose(self) -> ComposeResult:
        """Stage, provider and the texts; under them what is wrong."""
        with Vertical(classes="dialog"):
            title = f"The model of {stage_short(self.stage)}" if self.stage else "A model of its own for a question"
            yield Static(title, markup=False, classes="question")
            if not self.stage:
                names = (*GROUPS, *(stage.short for stage in STAGES.values()), *STAGES)
                yield Input(placeholder="question or group, such as relevant?", id="stage", compact=True,
                            suggester=SuggestFromList(names))  # fmt: skip
            yield Static("", markup=False, id="about-stage", classes="explanation")
            with Horizontal(classes="labelled"):
                yield Static("provider", classes="label", markup=False)
                yield Select([(Content(name or "as in [models]"), name) for name in _PROVIDERS], value=self.entry.provider,
                             allow_blank=False, compact=True, id="provider")  # fmt: skip
            for name, label, hint in _TEXTS:
                with Horizontal(classes="labelled"):
                    yield Static(label, classes="label", markup=False)
                    value = getattr(self.entry, name)
                    yield Input(str(value) if value else "", placeholder=hint, id=name, compact=True)
            yield Static("", markup=False, id="fault")
            with Horizontal(classes="buttons"):
                yield Button(Content("Keep"), id="keep", variant="primary")
                yield Button("Cancel", id="cancel")

    def on_mount(self) -> None:
        """Start typing at once."""
        self.query_one("#model" if self.stage else "#stage", Input).focus()
        self._look()

    def _stage(self) -> str:
        return self.stage or stage_named(self.query_one("#stage", Input).value.strip())

    def _read(self) -> Override:
        given = {name: self.query_one(f"#{name}", Input).value for name, _, _ in _TEXTS}
        given["provider"] = str(self.query_one("#provider", Select).value)
        return read_override(self._stage(), given, self.models)

    @on(Input.Changed)
    @on(Select.Changed)
    def _look(self) -> None:
        if not self.is_mounted:
            return
        self.query_one("#about-stage", Static).update(Content(about_stage(self._stage())))
        fault = self.query_one("#fault", Static)
        try:
            self._read()
        except ValueError as error:
            fault.update(line((f"✗ {error}", BAD)) if self._stage() else "")
        else:
            fault.update(line(("✓ this can be kept; it is written when you save", GOOD)))

    @on(Input.Submitted)
    def action_keep(self) -> None:
        """Keep it, if nothing is wrong."""
        try:
            entry = self._read()
        except ValueError:
            self._look()
            return
        self.dismiss((self._stage(), entry))

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "keep":
            self.action_keep()
        else:
            self.dismiss(None)

    def action_cancel(self) -> None:
        """Leave everything as it is."""
        self.dismiss(None)


_MARKS = {"+": GOOD, "-": BAD, "@": LABEL}


class SaveDialog(ModalScreen[bool]):
    """The diff of the file, and whether to write it."""

    CSS_PATH = STYLES / "dialogs.tcss"
    BINDINGS = [
        Binding("y,ctrl+s,enter", "answer(True)", "Save", show=False),
        Binding("n,escape,q", "answer(False)", "Back", show=False),
    ]

    def __init__(self, path: str, diff: str, note: str = "") -> None:
        super().__init__()
        self.path, self.diff, self.note = path, diff, note

    def compose(self) -> ComposeResult:
        """The file's name, the diff, what it means."""
        with Vertical(classes="dialog wide"):
            yield Static(clean(self.note), markup=False, classes="explanation", id="save-note")
            yield LinesView(id="save-diff")
            with Horizontal(classes="buttons"):
                yield Button(Content("y  Save"), id="yes", variant="primary")
                yield Button(Content("n  Back to the form"), id="no")

    def on_mount(self) -> None:
        """Show the diff."""
        box = self.query_one(".dialog")
        box.border_title = line(f"Save {self.path}?")
        self.query_one("#save-note").display = bool(self.note)
        view = self.query_one(LinesView)
        view.set_lines([line((row, _MARKS.get(row[:1], MUTED))) for row in clean(self.diff).split("\n")])
        view.focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A button was chosen."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """Answer by key."""
        self.dismiss(yes)
