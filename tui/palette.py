"""The command palette: every action that works now, found by name, with its key."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from screens.actions import Action, key_text, of_screen
from screens.keyed import KeyedScreen


class ActionCommands(Provider):
    """Reads the table of actions; an action whose check says no is left out."""

    def _offered(self) -> Iterator[tuple[Action, Any]]:
        app, screen = self.app, self.screen
        for _, actions in of_screen(getattr(screen, "ACTION_GROUP", "")):
            for action in actions:
                owner = app if action.group == "app" else screen
                name, _, rest = action.action.partition("(")
                parameters = (rest.rstrip(")").strip("'"),) if rest else ()
                if owner.check_action(name, parameters):
                    yield action, owner

    def _name(self, action: Action, owner: Any) -> str:
        turned = bool(action.other) and isinstance(owner, KeyedScreen) and owner.turned(action.id)
        return action.other if turned else action.label

    def _text(self, action: Action) -> str:
        keys = key_text(action, self.app.own_keys)  # type: ignore[attr-defined]
        return f"{action.description}  ({keys})"

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action, owner in self._offered():
            run = partial(self.app.run_action, action.action, owner)
            yield DiscoveryHit(self._name(action, owner), run, help=self._text(action))

    async def search(self, query: str) -> Hits:
        """Those whose name or description fits."""
        matcher = self.matcher(query)
        for action, owner in self._offered():
            name = self._name(action, owner)
            score = max(matcher.match(name), matcher.match(action.description) * 0.8)
            if score > 0:
                run = partial(self.app.run_action, action.action, owner)
                yield Hit(score, matcher.highlight(name), run, help=self._text(action))
