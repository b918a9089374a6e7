"""How one call looks as a row, which columns fit a width, and which calls a filter lets through."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len
from textual.content import Content

from agent.state import Call
from screens.text import (
    ACCENT,
    BAD,
    GOOD,
    MUTED,
    WARN,
    clean,
    keep_tail,
    milliseconds,
    one_line,
    probability,
    stage_short,
)

_VERDICT = 7
_MS = 6


@dataclass(frozen=True)
class Columns:
    """Widths in cells; 0 leaves a column out."""

    number: int
    stage: int
    item: int
    confidence: int
    model: int
    ms: int

    @classmethod
    @lru_cache(maxsize=64)
    def fitting(cls, width: int, calls: int) -> Columns:
        """The columns for a width. When it is short, model goes first, then milliseconds, then the stage."""
        number = max(2, len(str(calls)))
        stage, confidence, ms = 10, 4, _MS
        model = 18 if width >= 84 else 0
        if width < 44:
            ms = 0
        if width < 38:
            stage = 0
        if width < 30:
            confidence = 0
        used = 2 + number + 1 + _VERDICT + 1
        used += sum(column + 1 for column in (stage, confidence, ms, model) if column)
        return cls(number, stage, max(4, width - used), confidence, model, ms)


def heading(columns: Columns) -> Content:
    """The names above the columns."""
    cells = ["  " + "#".rjust(columns.number)]
    if columns.stage:
        cells.append("question".ljust(columns.stage))
    cells.append("item".ljust(columns.item))
    cells.append("verdict".ljust(_VERDICT))
    if columns.confidence:
        cells.append("P(y)")
    if columns.model:
        cells.append("model".ljust(columns.model))
    if columns.ms:
        cells.append("ms".rjust(columns.ms))
    return Content.styled(" ".join(cells), MUTED)


def row(call: Call, number: int, columns: Columns, *, waiting: bool, pending: bool | None, cursor: bool) -> Content:
    """One call. ``pending`` is the verdict that waits at the gate."""
    mark = "‖" if waiting else "▸" if cursor else " "
    parts: list[tuple[str, str] | str] = [
        (f"{mark} ", WARN if waiting else ""),
        (str(number).rjust(columns.number), MUTED),
        " ",
    ]
    if columns.stage:
        parts += [(stage_short(call.stage).ljust(columns.stage)[: columns.stage], MUTED), " "]
    parts += [*_item(one_line(call.item), columns.item), " "]
    text, style = verdict_cell(call, waiting, pending)
    parts.append((text.ljust(_VERDICT), style))
    if columns.confidence:
        parts += [" ", (probability(call.p_yes).rjust(columns.confidence), "")]
    if columns.model:
        model = keep_tail(clean(call.model), columns.model)
        parts += [" ", (model.ljust(columns.model), MUTED)]
    if columns.ms:
        took = "reused" if call.cached else milliseconds(call.ms)
        parts += [" ", (took.rjust(columns.ms), MUTED)]
    return Content.assemble(*parts)


def _item(item: str, width: int) -> list[tuple[str, str] | str]:
    """``path:symbol`` shows the symbol first, then as much of the path's end as fits."""
    path, _, symbol = item.rpartition(":")
    if not path or not symbol or " " in path:
        text = keep_tail(item, width)
        return [text, " " * max(0, width - cell_len(text))]
    text = keep_tail(symbol, width)
    room = width - cell_len(text) - 1
    place = keep_tail(path, room) if room >= 6 else ""
    gap = " " if place else ""
    return [text, gap, (place, MUTED), " " * max(0, width - cell_len(text) - len(gap) - cell_len(place))]


def verdict_cell(call: Call, waiting: bool = False, pending: bool | None = None) -> tuple[str, str]:
    """Glyph and word of a call's outcome, and their style. The mark before the word says how it came about."""
    if waiting and pending is not None:
        return f"‖ {_word(pending)}?", WARN
    if not call.done:
        return "· asked", MUTED
    if call.error:
        return "! error", BAD
    if call.verdict is None:
        return "» text", MUTED
    if call.overridden:
        return f"✎ {_word(call.verdict)}", WARN
    if call.defaulted:
        return f"? {_word(call.verdict)}", BAD
    return ("✓ yes", GOOD) if call.verdict else ("✗ no", ACCENT)


def _word(value: bool) -> str:
    return "yes" if value else "no"


def matches(call: Call, words: tuple[str, ...]) -> bool:
    """Whether every word occurs in stage, item, verdict, model or a flag (cached, defaulted, overruled, error)."""
    text = f"{call.item} {call.stage} {stage_short(call.stage)} {call.model}".lower()
    return all(word in text or word in _flags(call) for word in words)


def _flags(call: Call) -> tuple[str, ...]:
    flags = ["" if call.verdict is None else _word(call.verdict)]
    flags += [
        name
        for name, on in (
            ("cached", call.cached), ("defaulted", call.defaulted), ("overruled", call.overridden),
            ("error", bool(call.error)), ("text", not call.binary),
        )
        if on
    ]  # fmt: skip
    return tuple(flags)
