"""The sections of the settings: a list of them, and the fields of the chosen one, or of all that a search finds."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from agent.config.schema import sections
from agent.stages import GROUPS, STAGES
from screens.settings.form import FieldRow
from screens.settings.model import Field, SettingsModel, fields
from screens.settings.overrides import OverrideTable
from screens.text import LABEL, MUTED, line

_TABLE = "overrides"
_TABLE_TITLE = "Which model answers which question; e gives the chosen one a model of its own."
_TABLE_WORDS = f"models.overrides {_TABLE_TITLE} {' '.join((*GROUPS, *STAGES))}".lower()


class SectionBox(Vertical):
    """The fields of one section under its name. A row is made when it is first to be seen."""

    def __init__(self, name: str, title: str, model: SettingsModel, members: list[Field], *rows: Widget) -> None:
        super().__init__(*rows, id=f"section-{name}", classes="section")
        self.section, self.model, self.members = name, model, members
        self.made: dict[str, FieldRow] = {}
        self.border_title = line((name, f"bold {LABEL}"), (f"  {title}", MUTED))
        self.display = False

    def show(self, members: list[Field]) -> None:
        """Show these of its fields, in their order."""
        wanted = {field.key for field in members}
        for key, row in self.made.items():
            row.display = key in wanted
        new = [field for field in members if field.key not in self.made]
        for field in new:
            row = FieldRow(field, self.model)
            later = [self.made[other.key] for other in self.members[self.members.index(field) :] if other.key in self.made]
            self.made[field.key] = row
            self.mount(row, before=later[0] if later else None)
        self.display = True


class SettingsForm(Horizontal):
    """Sections on the left, fields on the right. Fields are made when they are first shown: there are many."""

    def __init__(self, model: SettingsModel) -> None:
        super().__init__(id="settings-body")
        self.model = model
        self.section = ""
        self.words: list[str] = []

    def compose(self) -> ComposeResult:
        """A box for every section, and one for the overrides."""
        yield OptionList(id="settings-sections", markup=False, compact=True)
        with VerticalScroll(id="settings-form", can_focus=False):
            for name, struct in sections().items():
                members = [field for field in fields() if field.section == name]
                yield SectionBox(name, (struct.__doc__ or "").strip(), self.model, members)
                if name == "models":
                    yield SectionBox(_TABLE, _TABLE_TITLE, self.model, [], OverrideTable(self.model))

    @property
    def sections(self) -> OptionList:
        """The list on the left."""
        return self.query_one("#settings-sections", OptionList)

    def rows(self) -> list[FieldRow]:
        """The fields that are shown."""
        return [row for box in self.query(SectionBox) if box.display for row in box.query(FieldRow) if row.display]

    def sync(self) -> None:
        """Show the model's values again."""
        for row in self.query(FieldRow):
            row.sync()
        self.query_one(OverrideTable).sync()

    def search(self, text: str) -> int:
        """Show the fields that hold every word, of all sections; without words the section chosen on the left.

        Returns how many sections hold one."""
        self.words = text.lower().split()
        found = self._found()
        names = list(found)
        chosen = self.section if self.section in names else (names or [""])[0]
        with self.prevent(OptionList.OptionHighlighted):
            self.sections.clear_options()
            self.sections.add_options([Option(Content(name), id=name) for name in names])
            self.sections.highlighted = names.index(chosen) if names else None
        self._show(chosen, found)
        return len(names)

    def enter(self) -> None:
        """To the first field that is shown."""
        found = self.rows()
        if found:
            found[0].enter()
        elif self.query_one(f"#section-{_TABLE}").display:
            self.query_one(OverrideTable).focus()

    def go_to(self, section: str, key: str) -> None:
        """Show a field and put the focus on it."""
        self.search("")
        self.sections.highlighted = next(n for n, option in enumerate(self.sections.options) if option.id == section)
        self._show(section, self._found())
        self.call_after_refresh(self.query_one(f"#section-{section}", SectionBox).made[key].enter)

    def _found(self) -> dict[str, list[Field]]:
        """Section to the fields of it that are to be seen; sections without any are left out."""
        found = {}
        for box in self.query(SectionBox):
            members = [field for field in box.members if field.matches(self.words)]
            if members or (box.section == _TABLE and all(word in _TABLE_WORDS for word in self.words)):
                found[box.section] = members
        return found

    def _show(self, chosen: str, found: dict[str, list[Field]]) -> None:
        self.section = chosen or self.section
        with self.app.batch_update():
            for box in self.query(SectionBox):
                if box.section in found and (self.words or box.section == chosen):
                    box.show(found[box.section])
                else:
                    box.display = False

    @on(OptionList.OptionHighlighted, "#settings-sections")
    def _looked_at(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        name = str(event.option.id)
        if self.words:
            self.query_one(f"#section-{name}").scroll_visible(top=True, animate=False)
        elif name != self.section:
            self._show(name, self._found())
            self.query_one("#settings-form").scroll_home(animate=False)

    @on(OptionList.OptionSelected, "#settings-sections")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option.id == _TABLE:
            self.query_one(OverrideTable).focus()
            return
        rows = [row for row in self.rows() if row.field.section == event.option.id]
        if rows:
            rows[0].enter()
