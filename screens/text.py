"""Text that is safe to show, and the words and glyphs every pane shares.

Whatever a model, a compiler or a file said passes through :func:`clean` and is shown as ``Content``, never parsed as
markup. A meaning always has a glyph and a word; colour only repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from textual.content import Content

from agent.counts import plural as plural
from agent.stages import stage_of
from agent.terminal_text import clean as clean

MUTED = "$foreground 60%"
STRONG = "bold"
GOOD = "$text-success"
BAD = "$text-error"
WARN = "$text-warning"
ACCENT = "$text-accent"
TITLE = "bold $text-primary"
LABEL = "$text-primary"
HIGHLIGHT = "bold $text-warning"


def one_line(text: str) -> str:
    """``text`` cleaned and on one line."""
    return " ".join(clean(text).split())


def line(*parts: str | Content | tuple[str, str]) -> Content:
    """One line of parts, each plain or (text, style). The texts are taken literally."""
    return Content.assemble(*(_literal(part) for part in parts))


def _literal(part: str | Content | tuple[str, str]) -> str | Content | tuple[str, str]:
    if isinstance(part, str):
        return clean(part)
    if isinstance(part, tuple):
        return (clean(part[0]), part[1])
    return part


def block(text: str, style: str = "", indent: int = 0) -> list[Content]:
    """The lines of a longer text, literally."""
    pad = " " * indent
    return [Content.styled(pad + row, style) if style else Content(pad + row) for row in clean(text).split("\n")]


def joined(parts: Iterable[Content], gap: str = "  ") -> Content:
    """Parts side by side."""
    return Content(gap).join(parts)


def duration(seconds: float) -> str:
    """``9s``, ``1m12s``, ``2h05m``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def local_time(moment: str, seconds: bool = False) -> str:
    """An ISO 8601 moment on the clock of this machine: ``2026-11-27 19:42``; as it stands where it is none."""
    try:
        there = datetime.fromisoformat(moment)
    except ValueError:
        return clean(moment)[: 19 if seconds else 16].replace("T", " ")
    return there.astimezone().strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def about_time(seconds: float) -> str:
    """An estimate, no finer than it is known: ``5 s``, ``40 s``, ``3 minutes``, ``1 hour``."""
    if seconds < 60:
        return f"{max(5, 5 * round(seconds / 5))} s"
    if seconds < 3570:
        return plural(round(seconds / 60), "minute")
    return plural(round(seconds / 3600), "hour")


def milliseconds(ms: float) -> str:
    """``412``, ``8.4s``: at most five characters."""
    if ms <= 0:
        return ""
    if ms < 10_000:
        return f"{ms:.0f}"
    return f"{ms / 1000:.0f}s" if ms >= 100_000 else f"{ms / 1000:.1f}s"


def short_count(count: int) -> str:
    """``950``, ``5.1k``, ``1.2M``."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def probability(value: float | None) -> str:
    """``.81``; empty when there is none."""
    if value is None:
        return ""
    return "1.0" if value >= 0.995 else f"{value:.2f}"[1:]


def keep_tail(text: str, width: int) -> str:
    """The end of ``text`` in ``width`` cells: of a path the end says most."""
    if width <= 0:
        return ""
    content = Content(text)
    if content.cell_length <= width:
        return text
    if width == 1:
        return "…"
    while text and Content(text).cell_length > width - 1:
        text = text[1:]
    return "…" + text


def fit(content: Content, width: int) -> Content:
    """``content`` on one line of ``width`` cells, with an ellipsis where it was cut."""
    return content.truncate(max(1, width), ellipsis=True)


def bar(value: int, most: int, width: int) -> str:
    """A bar of at most ``width`` cells in proportion to ``most``, at least one cell when ``value`` is not 0."""
    if width <= 0 or most <= 0:
        return ""
    filled = min(width, round(width * value / most))
    return "━" * max(filled, 1 if value > 0 else 0)


VERDICT_WORDS = {True: "yes", False: "no"}
VERDICT_GLYPHS = {True: "✓", False: "✗"}
VERDICT_STYLES = {True: GOOD, False: ACCENT}


def verdict_mark(verdict: bool) -> tuple[str, str]:
    """(``✓ yes`` or ``✗ no``, its style)."""
    return f"{VERDICT_GLYPHS[verdict]} {VERDICT_WORDS[verdict]}", VERDICT_STYLES[verdict]


_FOUND_BY = {"deterministic": "facts", "model": "the model's answers", "recompile": "compiling again", "default": "default"}


def found_by(how: str) -> str:
    """What decided the category of a failed compile, in words."""
    return _FOUND_BY.get(how, how)


_PLANNED_BY = {
    "facts": "by facts: what is declared, named and missing", "decomposed": "by small questions",
    "monolithic": "by the model, in one reply", "default": "by default", "search": "by the search for an edit",
}  # fmt: skip


def planned_by(how: str) -> str:
    """How a plan came about, in words."""
    return _PLANNED_BY.get(how, how)


def stage_title(stage: str) -> str:
    """The stage's question, or what it makes, in one line."""
    return one_line(stage_of(stage).title)


def stage_short(stage: str) -> str:
    """A call's stage in at most ten characters: for a yes/no, the question in one word."""
    return stage_of(stage).short
