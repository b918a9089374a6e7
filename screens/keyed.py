"""A screen whose footer follows the table of actions: which keys it shows, and by which word in which state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, TypeVar

from rich.cells import cell_len
from textual import events
from textual.app import App
from textual.binding import ActiveBinding, Binding
from textual.content import Content
from textual.keys import _character_to_key
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, TextArea

from screens.actions import BY_ID, key_names

Result = TypeVar("Result")

NARROW = 100
"""Below so many columns a screen shows one pane at a time."""
_PALETTE = 13
"""Cells of the palette's key at the right end of the footer."""


class KeyedScreen(Screen[Result]):
    """A screen with a group of actions. An action that has another word is asked about with :meth:`turned`: while it would
    do the other thing its key is in the footer, so that what was turned on is seen to be turned off."""

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
        turned = self.turned(action.id)
        word, show = action.word(turned), action.in_footer(self.ACTION_GROUP) or (turned and bool(action.other))
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


class FooterKey(NamedTuple):
    """A key at the bottom: by Textual's name and as a person reads it, its word, whether it works now, what it does; the
    cells from ``start`` up to ``end`` show it."""

    key: str
    display: str
    word: str
    enabled: bool
    tip: str
    start: int
    end: int


class KeyFooter(Widget):
    """The keys at the bottom, on one line. On a narrow screen the palette's key gives its place to the others.

    It is painted anew only when it says something else: bindings are looked over whenever the focus moves, and a widget for
    each key cost more than all else that a key does.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyFooter { dock: bottom; height: 1; padding-left: 1; text-wrap: nowrap; background: $background; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.keys: tuple[FooterKey, ...] = ()

    def on_mount(self) -> None:
        """Follow the keys."""
        self.screen.bindings_updated_signal.subscribe(self, self._look)

    def on_resize(self) -> None:
        """Narrow or not."""
        self.screen.refresh_bindings()
        self._look(self.screen)

    def _look(self, screen: Screen[Any]) -> None:
        if screen is self.screen and self.is_attached and self.app.app_focus:
            keys = tuple(self._found())
            if keys != self.keys:
                self.keys = keys
                self.refresh()

    def _found(self) -> Iterator[FooterKey]:
        active = self.screen.active_bindings
        gap, place, actions = 1 if self.app.size.width < NARROW else 2, 0, set()
        for _, binding, enabled, tip in active.values():
            if binding.show and binding.action not in actions:
                actions.add(binding.action)
                display = self.app.get_key_display(binding)
                end = place + cell_len(f"{display} {binding.description}")
                yield FooterKey(binding.key, display, binding.description, enabled, tip, place, end)
                place = end + gap
        palette = active.get(self.app.COMMAND_PALETTE_BINDING)
        if palette is not None and self.app.size.width >= NARROW and self.app.ENABLE_COMMAND_PALETTE:
            display, word = self.app.get_key_display(palette.binding), palette.binding.description
            end = self.content_size.width - gap
            start = end - cell_len(f"{display} {word}")
            yield FooterKey(palette.binding.key, display, word, palette.enabled, palette.binding.tooltip, start, end)

    def render(self) -> Content:
        """Every key and its word; the palette's at the right end."""
        parts: list[tuple[str, str] | str] = []
        place = 0
        for key in self.keys:
            apart = key.start - place
            parts += [" " * (apart - 1), ("▏", "$foreground 20%")] if apart > 2 else [" " * apart]
            style = "" if key.enabled else " dim"
            parts += [(f"{key.display} ", f"bold $text-primary{style}"), (key.word, f"$foreground 60%{style}")]
            place = key.end
        return Content.assemble(*parts)

    def _at(self, x: int) -> FooterKey | None:
        return next((key for key in self.keys if key.start <= x - 1 < key.end), None)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """What the key under the mouse does."""
        key = self._at(event.x)
        self.tooltip = key.tip if key is not None else None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """As if the key were pressed."""
        key = self._at(event.x)
        if key is not None and key.enabled:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()
