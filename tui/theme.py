"""The application's own themes: quiet surfaces, colour only where it says something."""

from __future__ import annotations

from collections.abc import Mapping

from textual.color import Color
from textual.theme import Theme

CLEAN_ROOM = Theme(
    name="clean-room",
    primary="#7aa2d6",
    secondary="#86b5a6",
    accent="#c6a3e0",
    success="#8cc285",
    warning="#e3b269",
    error="#e27d7d",
    foreground="#d3d7de",
    background="#14161b",
    surface="#1a1d23",
    panel="#22262e",
    dark=True,
    variables={"border-blurred": "#3a404b", "footer-background": "#14161b", "block-cursor-foreground": "#14161b"},
)

CLEAN_ROOM_LIGHT = Theme(
    name="clean-room-light",
    primary="#2f63a8",
    secondary="#2e7566",
    accent="#7b4aa8",
    success="#37772f",
    warning="#93620a",
    error="#b03a3a",
    foreground="#22262e",
    background="#f7f7f5",
    surface="#efefec",
    panel="#e5e6e3",
    dark=False,
)


def grounds(variables: Mapping[str, str], ansi: bool) -> dict[str, str]:
    """What stands behind added and removed lines, from a theme's variables. A terminal's own sixteen colours cannot be
    thinned and would hide what is written on them: there is no ground then, and sign and colour tell."""
    names = {"added-ground": "success", "removed-ground": "error"}
    if ansi:
        return dict.fromkeys(names, "transparent")
    return {name: Color.parse(variables[of]).with_alpha(0.12).hex for name, of in names.items()}
