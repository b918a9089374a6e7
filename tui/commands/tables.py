"""Tables and figures as the commands about labels print them."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tui.say import say

SHARED = click.option("--shared", is_flag=True, help="Your labels of all repositories (cra labels gather).")


def _stages(_context: click.Context, _option: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """The stages meant, by their own names."""
    from agent.config.errors import nearest
    from agent.stages import binary_stages, stage_named

    known, names = binary_stages(), tuple(stage_named(word) for word in words)
    for word, name in zip(words, names, strict=True):
        if name not in known:
            near = nearest(word, known)
            hint = f"Did you mean {near!r}?" if near else f"There are: {', '.join(known)}."
            raise click.BadParameter(f"no yes/no stage is called {word!r}. {hint}")
    return names


STAGES = click.option(
    "--stage", "stages", multiple=True, callback=_stages, help="Only this yes/no stage (may be repeated)."
)


def share(value: float | None) -> str:
    """A figure with two places, "-" for none."""
    return "-" if value is None else f"{value:.2f}"


def between(interval: tuple[float, float] | None) -> str:
    """An interval, "-" for none."""
    return "-" if interval is None else f"{interval[0]:.2f}-{interval[1]:.2f}"


def print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows in columns, the first two to the left."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[:2] = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        say("  ".join(cells).rstrip())


