"""Every setting of the schema as a form over the person's configuration file or the repository's."""

from __future__ import annotations

from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from agent.config.errors import ConfigError
from agent.config.schema import Config
from screens import STYLES
from screens.actions import bindings
from screens.dialogs import Confirm
from screens.keyed import KeyedScreen, KeyFooter
from screens.runner import Services
from screens.settings.dialogs import SaveDialog
from screens.settings.form import FieldRow
from screens.settings.model import WORDS, SettingsModel
from screens.settings.overrides import OverrideTable
from screens.settings.sections import SettingsForm
from screens.text import BAD, LABEL, MUTED, STRONG, WARN, line, plural

_SNAPSHOT = "What you save applies from the next run on."
_LIVE = "The run that goes on keeps its settings; what you save applies from the next one on."
_TABLE_ACTIONS = ("edit_override", "remove_override", "try_connection", "try_question")


class ConfigSaved(Message):
    """A configuration file was written; ``config`` is what counts now."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config


class SettingsScreen(KeyedScreen[None]):
    """The form. Nothing is written before its diff was shown and accepted."""

    CSS_PATH = STYLES / "settings.tcss"
    BINDINGS = bindings("settings")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium")]
    ACTION_GROUP = "settings"
    AUTO_FOCUS = ""

    def __init__(self, services: Services, *, repo: Path | None = None, search: str = "") -> None:
        super().__init__()
        self.services, self.repo, self.search = services, repo, search
        self.model: SettingsModel | None = None
        self.fault = ""
        self.offered: list[bool | None] = []
        try:
            self.model = SettingsModel(repo.resolve() if repo is not None else None)
        except ConfigError as error:
            self.fault = str(error)

    def compose(self) -> ComposeResult:
        """Search on top, sections on the left, their fields on the right."""
        yield Static("", id="settings-title", markup=False)
        yield Static("", id="settings-note", markup=False)
        model = self.model
        if model is None:
            yield Static(_broken(self.fault), id="settings-fault", markup=False)
        else:
            yield Input(
                self.search, placeholder="/ search: part of a name or of what it does", id="settings-search", compact=True
            )
            yield Static("Nothing matches. Try fewer words.", id="settings-nothing", markup=False)
            yield SettingsForm(model)
        yield KeyFooter()

    def on_mount(self) -> None:
        """Say which file it is."""
        if self.model is not None:
            self.form.search("")
            self.form.sections.focus()
        self._changed()

    # -- what is shown

    def _changed(self) -> None:
        """Title, note and section list as the model is now."""
        model, note = self.model, self._note()
        self.query_one("#settings-note", Static).update(line((note, WARN if note == _LIVE else MUTED)))
        parts: list[str | tuple[str, str]] = [("Settings", f"bold {LABEL}")]
        if model is not None:
            fault = self._wrong()[:1] or ([model.fault()] if model.fault() else [])
            parts += [("  editing ", MUTED), (WORDS[model.scope], STRONG), f" {_short(model.draft.path)}"]
            count = model.unsaved()
            parts += [(f"  ● {plural(count, 'change')} not saved", f"bold {WARN}")] if count else []
            parts += [(f"  ✗ {fault[0]}", BAD)] if fault else []
        self.query_one("#settings-title", Static).update(line(*parts))
        self._offer()

    def _note(self) -> str:
        """Whom a saved change reaches."""
        session = getattr(self.app, "session", None)
        return _LIVE if session is not None and session.live else _SNAPSHOT

    def _wrong(self) -> list[str]:
        return [f"{row.field.name}: {row.error}" for row in self.query(FieldRow) if row.error]

    @on(FieldRow.Edited)
    @on(OverrideTable.Edited)
    def _edited(self, event: FieldRow.Edited | OverrideTable.Edited) -> None:
        event.stop()
        if isinstance(event, FieldRow.Edited):
            self.query_one(OverrideTable).sync()
        self._changed()

    def _sync(self) -> None:
        self.form.sync()
        self._changed()

    # -- searching

    @on(Input.Changed, "#settings-search")
    def _search_typed(self, event: Input.Changed) -> None:
        found = self.form.search(event.value)
        self.query_one("#settings-nothing").display = not found

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        if event.input.id == "settings-search":
            self.form.enter()
        else:
            self.focus_next()

    def action_search(self) -> None:
        """To the search box."""
        self.query_one("#settings-search").focus()

    @property
    def form(self) -> SettingsForm:
        """Sections and fields."""
        return self.query_one(SettingsForm)

    def _go_to(self, section: str, key: str) -> None:
        self.query_one("#settings-search", Input).value = ""
        self.form.go_to(section, key)

    # -- one field, one override

    def _row(self) -> FieldRow | None:
        return next((w for w in self.focused.ancestors if isinstance(w, FieldRow)), None) if self.focused else None

    def action_reset(self) -> None:
        """Take the focused key out of the file."""
        row = self._row()
        if row is not None:
            row.reset()

    def action_add_override(self) -> None:
        """A new row."""
        self.query_one(OverrideTable).edit("")

    def action_edit_override(self) -> None:
        """The chosen row."""
        table = self.query_one(OverrideTable)
        table.edit(table.row)

    @on(OverrideTable.RoleChosen)
    def _role_chosen(self, event: OverrideTable.RoleChosen) -> None:
        self._go_to("models", event.role)

    def action_remove_override(self) -> None:
        """Take the chosen row out."""
        self.query_one(OverrideTable).take_out()

    def action_try_connection(self) -> None:
        """Can the chosen row's model be reached?"""
        self.query_one(OverrideTable).try_connection()

    def action_try_question(self) -> None:
        """One question to the chosen row's model."""
        self.query_one(OverrideTable).try_question()

    # -- the file

    def action_switch_file(self) -> None:
        """Edit the other file. Changes to this one are kept."""
        if self.model is not None and self.model.switch():
            self._sync()
        else:
            self.app.notify("There is no repository here, so there is only your own file.", markup=False)

    def action_save(self) -> None:
        """Show the diff; write it when accepted."""
        model = self.model
        if model is None:
            return
        wrong = next((row for row in self.query(FieldRow) if row.error), None)
        if wrong is not None:
            self._go_to(wrong.field.section, wrong.field.key)
            self.app.notify(f"{wrong.field.name} is not right yet: {wrong.error}", severity="error", markup=False)
            return
        try:
            if model.draft.is_behind:
                model.draft.reload()
                self.app.notify("The file was changed elsewhere meanwhile; your changes are shown on top of that.",
                                severity="warning", timeout=8)  # fmt: skip
                self._sync()
            diff, fault = model.draft.diff(), model.fault()
        except ConfigError as error:
            diff, fault = "", str(error)
        if fault:
            self.app.notify(f"This cannot be saved yet. {fault}", severity="error", markup=False)
        elif not diff:
            self._nothing_to_save(model)
        else:
            self.app.push_screen(SaveDialog(_short(model.draft.path), diff, self._note()), self._save)

    def _nothing_to_save(self, model: SettingsModel) -> None:
        if model.unsaved() and model.switch():
            self._sync()
            self.action_save()
        else:
            self.app.notify("Nothing was changed.", markup=False)

    def _save(self, yes: bool | None) -> None:
        model = self.model
        if not yes or model is None:
            return
        try:
            model.save()
        except ConfigError as error:
            self._save_refused(model, error)
            return
        self.app.notify(f"Saved to {_short(model.draft.path)}. {_SNAPSHOT}", markup=False)
        self._sync()
        self.post_message(ConfigSaved(model.config()))

    def _save_refused(self, model: SettingsModel, error: ConfigError) -> None:
        """Read the file again, so that the next diff is against what is there now."""
        self.app.notify(f"{error} Look at the new diff and save again.", severity="error", timeout=12, markup=False)
        try:
            model.draft.reload()
        except ConfigError as worse:
            self.app.notify(str(worse), severity="error", timeout=20, markup=False)
        self._sync()

    # -- leaving

    def action_back(self) -> None:
        """Give up a trial, empty the search, or leave; changes that are not saved are asked about."""
        table = self.query(OverrideTable)
        search = self.query("#settings-search")
        if table and table.first().trying:
            table.first().give_up()
        elif search and search.first(Input).value:
            search.first(Input).value = ""
        elif self.model is not None and self.model.unsaved():
            count = plural(self.model.unsaved(), "change")
            self.app.push_screen(Confirm("Leave without saving?", f"{count} will be lost.", "Leave", "Stay"), self._left)
        else:
            self.dismiss()

    def _left(self, yes: bool | None) -> None:
        if yes:
            self.dismiss()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what works now is offered."""
        if self.model is None:
            return action not in (*_TABLE_ACTIONS, "save", "search", "switch_file", "reset", "add_override")
        if action in _TABLE_ACTIONS or action == "add_override":
            table = self.focused if isinstance(self.focused, OverrideTable) else None
            return table is not None and (action != "remove_override" or table.removable)
        if action == "reset":
            row = self._row()
            return row is not None and self.model.draft.is_set(row.field.section, row.field.key)
        if action == "switch_file":
            return len(self.model.drafts) > 1
        return True

    @on(OverrideTable.OptionHighlighted, "#overrides")
    def on_descendant_focus(self) -> None:
        """Other keys may work now."""
        self._offer()

    def _offer(self) -> None:
        """Paint the footer again, but only when other keys work now: that takes a while for every letter typed."""
        offered = [self.check_action(name, ()) for name in (*_TABLE_ACTIONS, "reset", "switch_file")]
        if offered != self.offered:
            self.offered = offered
            self.refresh_bindings()


def _short(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(path)


def _broken(fault: str) -> Content:
    return line((f"✗ {fault}", BAD), "\n\nFix the file by hand first; nothing was changed. escape goes back.")
