"""A screen whose footer follows the table of actions: which keys it shows, and by which word in which state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.widgets import Footer, Input, TextArea

from screens.actions import BY_ID, key_names

Result = TypeVar("Result")

NARROW = 100
"""Below so many columns a screen shows one pane at a time."""
_PALETTE = 13
"""Cells of the palette's key at the right end of the footer."""


class KeyedScreen(Screen[Result]):
    """A screen with a group of actions. An action that has another word is asked about with :meth:`turned`."""

    ACTION_GROUP: ClassVar[str] = ""

    def turned(self, action_id: str) -> bool:
        """Whether an action would do the other thing now, such as going on instead of pausing."""
        return False

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """As Textual's, with the words and places that the table of actions gives. Where the footer has too little room,
        the keys that can be spared most are left out of it; they work all the same."""
        active = {key: self._named(binding) for key, binding in super().active_bindings.items()}
        spared = _spared([binding.binding for binding in active.values() if binding.binding.show], self.app)
        return {
            key: _hidden(binding) if binding.binding.id in spared else binding for key, binding in active.items()
        }

    def _named(self, active: ActiveBinding) -> ActiveBinding:
        action = BY_ID.get(active.binding.id or "")
        if action is None:
            return active
        word, show = action.word(self.turned(action.id)), action.in_footer(self.ACTION_GROUP)
        display = active.binding.key_display
        if show and isinstance(self.focused, Input | TextArea):  # letters are text there: show a key that is none
            others = [key.strip() for key in action.keys.split(",") if not _types(key.strip())]
            show, display = active.binding.key in others[:1], key_names(others[0]) if others else ""
        if (word, show, display) == (active.binding.description, active.binding.show, active.binding.key_display):
            return active
        return active._replace(binding=replace(active.binding, description=word, show=show, key_display=display))


def _types(key: str) -> bool:
    """Whether a key by Textual's name writes a character."""
    return len(key) == 1 or key in _CHARACTERS


_CHARACTERS = {_character_to_key(chr(code)) for code in range(0x20, 0x7F)}


def _hidden(active: ActiveBinding) -> ActiveBinding:
    return active._replace(binding=replace(active.binding, show=False))


def _spared(shown: list[Binding], app: App[Any]) -> set[str]:
    """The ids of the keys that do not fit, those with the highest ``spare`` first."""
    narrow = app.size.width < NARROW
    gap, room = (1, app.size.width - 1) if narrow else (2, app.size.width - 1 - _PALETTE)
    cells = {one.id or one.key: len(app.get_key_display(one)) + 1 + len(one.description) + gap for one in shown}
    spared: set[str] = set()
    for name in sorted(cells, key=lambda name: -BY_ID[name].spare if name in BY_ID else 0):
        fits = sum(width for other, width in cells.items() if other not in spared) <= room
        if fits or name not in BY_ID or not BY_ID[name].spare:
            break
        spared.add(name)
    return spared


class KeyFooter(Footer):
    """The keys at the bottom. On a narrow screen the palette's key gives its place to the others."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=True, compact=True)

    def compose(self) -> ComposeResult:
        """The keys, and the palette's where there is room for it."""
        self.set_reactive(Footer.show_command_palette, self.app.size.width >= NARROW)
        yield from super().compose()

    def on_resize(self) -> None:
        """Narrow or not."""
        self.show_command_palette = self.app.size.width >= NARROW
        self.screen.refresh_bindings()
