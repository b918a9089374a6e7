"""How one call looks as a row, which columns fit a width, and which calls a filter lets through."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len
from textual.content import Content

from agent.state.records import ShownCall, TextOutcome
from screens.text import (
    ACCENT,
    BAD,
    GOOD,
    MUTED,
    WARN,
    clean,
    fit,
    keep_tail,
    milliseconds,
    one_line,
    plural,
    probability,
    stage_short,
)

_VERDICT = 7
_MS = 6
_WITH_MS = 54
"""Cells from which on there is room for milliseconds."""


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
        """The columns for a width. When it is short, model goes first, then milliseconds, so that names can be read; then
        the stage."""
        number = max(2, len(str(calls)))
        stage, confidence, ms = 10, 4, _MS
        model = 18 if width >= 84 else 0
        if width < _WITH_MS:
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


def row(
    call: ShownCall, number: int, columns: Columns, *, waiting: bool, pending: bool | None, cursor: bool, mark: str = ""
) -> Content:
    """One call. ``pending`` is the verdict that waits at the gate; ``mark`` stands before the row."""
    mark = "‖" if waiting else mark or ("▸" if cursor else " ")
    parts: list[tuple[str, str] | str | Content] = [
        (f"{mark} ", WARN if mark in "‖≈✎" else ""),
        (str(number).rjust(columns.number), MUTED),
        " ",
    ]
    if columns.stage:
        parts += [(stage_short(call.stage).ljust(columns.stage)[: columns.stage], MUTED), " "]
    tries = f"try {call.asked.attempt}" if call.asked.attempt > 1 and columns.item >= 16 else ""
    room = columns.item - len(tries) - (1 if tries else 0)
    parts += [*item_cells(one_line(call.item), room), (f" {tries}" if tries else "", MUTED), " "]
    text, style = verdict_cell(call, waiting, pending)
    if not call.binary and call.done:
        wide = _VERDICT + (columns.confidence + 1 if columns.confidence else 0)
        parts.append(fit(Content.styled(text, style), wide).pad_right(max(0, wide - cell_len(text))))
    else:
        parts.append((text.ljust(_VERDICT), style))
    if columns.confidence and (call.binary or not call.done):
        parts += [" ", (probability(call.answer.p_yes).rjust(columns.confidence), "")]
    if columns.model:
        model = keep_tail(clean(call.model), columns.model)
        parts += [" ", (model.ljust(columns.model), MUTED)]
    if columns.ms:
        took = "reused" if call.answer.cached else milliseconds(call.answer.ms)
        parts += [" ", (took.rjust(columns.ms), MUTED)]
    return Content.assemble(*parts)


def item_cells(item: str, width: int) -> list[tuple[str, str] | str]:
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


def verdict_cell(call: ShownCall, waiting: bool = False, pending: bool | None = None) -> tuple[str, str]:
    """Glyph and word of a call's outcome, and their style. The mark before the word says how it came about."""
    if waiting and pending is not None:
        return f"‖ {_word(pending)}?", WARN
    if not call.done:
        return ("– ended" if call.broken_off else "· asked"), MUTED
    if call.answer.error:
        return "! error", BAD
    if call.verdict is None and call.binary:
        return "– unused", MUTED
    if call.verdict is None:
        return ("» text", MUTED) if call.outcome is None else outcome_cell(call.outcome)
    if call.answer.overruled:
        return f"✎ {_word(call.verdict)}", WARN
    if call.answer.defaulted:
        return f"? {_word(call.verdict)}", BAD
    return ("✓ yes", GOOD) if call.verdict else ("✗ no", ACCENT)


def outcome_cell(outcome: TextOutcome) -> tuple[str, str]:
    """What became of a text, in a glyph and a few words, and the style."""
    match outcome.kind:
        case "compiles":
            words = "compiles"
        case "applied":
            words = "applied"
        case "tests_pass":
            words = f"+{plural(outcome.count, 'test')}" if outcome.count else "tests pass"
        case "errors":
            words = plural(outcome.count, "error")
        case "tests_fail":
            words = one_line(outcome.name).partition(" ")[0] or "tests"
        case "refused":
            words = "refused"
        case "given_up":
            words = "given up"
    return (f"✓ {words}", GOOD) if outcome.ok else (f"✗ {words}", BAD)


def outcome_sentence(outcome: TextOutcome) -> str:
    """The same in a sentence, for the card."""
    match outcome.kind:
        case "compiles":
            return ""  # its mark says it
        case "applied":
            return "it was put into the file"
        case "tests_pass":
            return f"{plural(outcome.count, 'more test')} pass with it" if outcome.count else "the checks pass with it"
        case "errors":
            return f"it does not compile: {plural(outcome.count, 'error')}"
        case "tests_fail":
            more = f" and {outcome.count - 1} more" if outcome.count > 1 else ""
            return f"the checks fail with it: {outcome.name}{more}"
        case "refused":
            return f"it was not used: {outcome.name}"
        case "given_up":
            return f"given up: {outcome.name}" if outcome.name else "given up"


def _word(value: bool) -> str:
    return "yes" if value else "no"


def haystack(call: ShownCall) -> str:
    """What the words of a filter are looked for in. Stage, item and model do not change once a call is there."""
    return f"{call.item.lower()} {_asked_of(call.stage, call.model)}"


@lru_cache(maxsize=256)
def _asked_of(stage: str, model: str) -> str:
    """The part that thousands of calls share."""
    return f"{stage} {stage_short(stage)} {model}".lower()


def _verdict_is(word: str, call: ShownCall) -> bool:
    return call.verdict is not None and _word(call.verdict) == word


_FLAGS: dict[str, Callable[[ShownCall], bool]] = {
    "yes": lambda call: _verdict_is("yes", call),
    "no": lambda call: _verdict_is("no", call),
    "cached": lambda call: call.answer.cached,
    "reused": lambda call: call.answer.cached,
    "defaulted": lambda call: call.answer.defaulted,
    "overruled": lambda call: call.answer.overruled,
    "error": lambda call: bool(call.answer.error),
    "text": lambda call: not call.binary,
    "failed": lambda call: call.outcome is not None and not call.outcome.ok,
}
"""Whole words that ask for a property of the call instead of looking for themselves."""


def filtered(calls: list[ShownCall], texts: list[str], places: Iterable[int], words: tuple[str, ...]) -> list[int]:
    """Those of ``places`` whose call passes every word: a flag holds, any other word occurs in ``texts[place]``."""
    found = list(places)
    for word in words:
        flag = _FLAGS.get(word)
        if flag is None:
            found = [place for place in found if word in texts[place]]
        else:
            found = [place for place in found if flag(calls[place])]
    return found
