"""The command palette: every action that works now, found by name, with its key."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from screens.actions import Action, key_text, of_group


class ActionCommands(Provider):
    """Reads the table of actions; an action whose check says no is left out."""

    def _offered(self) -> Iterator[tuple[Action, Any]]:
        app, screen = self.app, self.screen
        for group, owner in ((getattr(screen, "ACTION_GROUP", ""), screen), ("app", app)):
            for action in of_group(group):
                name, _, rest = action.action.partition("(")
                parameters = (rest.rstrip(")").strip("'"),) if rest else ()
                if owner.check_action(name, parameters):
                    yield action, owner

    def _text(self, action: Action) -> str:
        keys = key_text(action, self.app.config.ui.keys)  # type: ignore[attr-defined]
        return f"{action.description}  ({keys})"

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action, owner in self._offered():
            yield DiscoveryHit(
                action.label, partial(self.app.run_action, action.action, owner), help=self._text(action)
            )

    async def search(self, query: str) -> Hits:
        """Those whose name or description fits."""
        matcher = self.matcher(query)
        for action, owner in self._offered():
            score = max(matcher.match(action.label), matcher.match(action.description) * 0.8)
            if score > 0:
                yield Hit(
                    score, matcher.highlight(action.label), partial(self.app.run_action, action.action, owner),
                    help=self._text(action),
                )  # fmt: skip
