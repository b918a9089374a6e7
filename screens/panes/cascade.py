"""The precision cascade: three passes, each smaller than the last, then the classes; before it the files in scope."""

from __future__ import annotations

from itertools import islice

from textual.content import Content

from agent.events import FileScoped
from agent.state.records import SymbolState
from agent.state.run_state import RunState
from screens.panes.base import Pane
from screens.text import (
    ACCENT,
    BAD,
    GOOD,
    LABEL,
    MUTED,
    STRONG,
    VERDICT_WORDS,
    WARN,
    bar,
    fit,
    keep_tail,
    line,
    one_line,
    plural,
    short_count,
    verdict_mark,
)

_PASSES = ((1, "relevant?"), (2, "direct?"), (3, "source?"))
_MOST_SYMBOLS = 300
"""Symbols looked at for the lists, the newest; the bars count all."""
_CLASSES = (
    ("primary", GOOD, "full source, first"),
    ("supporting", LABEL, "full source"),
    ("type_context", ACCENT, "signature only"),
    ("excluded", MUTED, "not shown"),
)


class Cascade(Pane):
    """Fills while the verdicts come in."""

    title = "Cascade"
    empty = "Which files and symbols matter is decided here, one yes or no at a time."

    def build(self, state: RunState, width: int) -> list[Content]:
        """Files, three bars with their symbols, the classes, the budget."""
        lines: list[Content] = []
        if state.files:
            lines += self._files(state, width)
        if state.passes or any(f"precision_pass{number}" in state.stages for number, _ in _PASSES):
            lines += self._bars(state, width)
        shown = newest_symbols(state)
        if any(symbol.detail_level for symbol in shown):
            lines += self._final(state, shown, width)
        if state.context is not None:
            lines += self._budget(state, width)
        return lines or [Content.styled(self.empty, MUTED)]

    def _files(self, state: RunState, width: int) -> list[Content]:
        kept = sum(file.included for file in state.files.values())
        pending = _scope_to_come(state)
        count = f"{kept} so far" if pending else f"{kept} of {len(state.files)}"
        head = line(("files in scope ", LABEL), (count, STRONG), (pending, MUTED))
        longest = max(len(one_line(file.path)) for file in state.files.values())
        room = max(8, min(longest, width - 24))
        return [head, *(fit(self._file(state, file, room), width) for file in state.files.values()), Content("")]

    def _file(self, state: RunState, file: FileScoped, room: int) -> Content:
        path = Content(keep_tail(one_line(file.path), room))
        gap = " " * max(1, room - path.cell_length + 1)
        how = "" if file.judged else "not asked: "
        mark = ("✓ ", GOOD) if file.included else ("✗ ", ACCENT)
        if state.overruled.get(("scope", file.path)) is file.included:
            how, mark = f"overruled, {VERDICT_WORDS[file.included]}: ", ("✎ ", WARN)
        return line(mark, path, gap, (f"{how}{one_line(file.reason)}", MUTED))

    def _bars(self, state: RunState, width: int) -> list[Content]:
        shown = newest_symbols(state)
        counts = [pass_counts(state, number) for number, _ in _PASSES]
        most = max(1, *(max(total, expected) for total, _, expected in counts))
        room = max(4, width - 28)
        lines = []
        for (number, name), (total, yes, expected) in zip(_PASSES, counts, strict=True):
            over = number in state.passes or state.finished is not None
            yes_cells, all_cells = len(bar(yes, most, room)), len(bar(total, most, room))
            to_ask = len(bar(max(total, expected), most, room)) - all_cells
            lines.append(
                line(
                    (name.ljust(10), STRONG), ("━" * yes_cells, GOOD), ("╍" * (all_cells - yes_cells), ACCENT),
                    ("┈" * to_ask, MUTED), "  " if max(total, expected) else "", *_pass_words(total, yes, expected, over),
                )
            )  # fmt: skip
            lines += self._symbols(state, [s for s in shown if number in s.passes], number, width)
        return [*lines, line(("━ yes  ╍ no  ┈ to ask", MUTED)), Content("")]

    def _symbols(self, state: RunState, symbols: list[SymbolState], number: int, width: int) -> list[Content]:
        rows: list[Content] = []
        current = Content("  ")
        for symbol in symbols:
            glyph, style = verdict_mark(symbol.passes[number])
            person = (f"precision_pass{number}", symbol.symbol) in state.overruled
            part = line(("✎" if person else "", WARN), (glyph[:2], style), short_symbol(symbol.symbol), "  ")
            if current.cell_length + part.cell_length > width and current.cell_length > 2:
                rows.append(current)
                current = Content("  ")
            current = current + part
        return [*rows, current] if current.cell_length > 2 else rows

    def _final(self, state: RunState, symbols: list[SymbolState], width: int) -> list[Content]:
        lines = []
        for level, style, meaning in _CLASSES:
            members = [s for s in symbols if s.detail_level == level]
            names = "  ".join(short_symbol(s.symbol) for s in members) or "–"
            lines.append(line((level.ljust(13), f"bold {style}"), (str(len(members)).rjust(3), STRONG), f"  {names}"))
            if level != "excluded" and width >= 56 and members:
                lines[-1] = lines[-1] + line((f"  ({meaning})", MUTED))
        return [*lines, Content("")]

    def _budget(self, state: RunState, width: int) -> list[Content]:
        context = state.context
        assert context is not None
        room = max(6, min(24, width - 32))
        over = context.tokens > context.budget
        used = len(bar(min(context.tokens, context.budget), max(1, context.budget), room))
        head = line(
            ("context ".ljust(10), STRONG), ("━" * used, BAD if over else LABEL), ("┈" * (room - used), MUTED),
            f" {short_count(context.tokens)} of {short_count(context.budget)} tokens",
            (" over budget" if over else "", BAD),
        )  # fmt: skip
        lines = [head]
        if context.files:
            lines.append(line((f"  {plural(len(context.files), 'file')}: {', '.join(context.files)}", MUTED)))
        if context.dropped:
            lines.append(line(("  did not fit: ", WARN), ", ".join(context.dropped)))
        return lines


def _scope_to_come(state: RunState) -> str:
    stage = state.stages.get("scope")
    if stage is None or stage.done or not stage.total:
        return ""
    return f"  {stage.total} asked, {stage.asked} of {stage.total} decided"


def _pass_words(total: int, yes: int, expected: int, over: bool) -> list[tuple[str, str]]:
    """A pass in numbers; nothing is counted as a no before it was asked."""
    if expected > total:
        return [(f"{total} of {expected}", STRONG), (" decided", MUTED)]
    if not total:
        return [("nothing to ask" if over else "to come", MUTED)]
    return [(f"{yes} of {total}", STRONG), (" yes", MUTED)]


def newest_symbols(state: RunState) -> list[SymbolState]:
    """The newest symbols, oldest of them first: a fixed number, so that the pane's cost does not grow with the run."""
    return list(islice(reversed(state.symbols.values()), _MOST_SYMBOLS))[::-1]


def pass_counts(state: RunState, number: int) -> tuple[int, int, int]:
    """(asked, yes, expected) of a pass of the cascade."""
    done = state.passes.get(number)
    if done is not None:
        return done.asked, done.yes, done.asked
    stage = state.stages.get(f"precision_pass{number}")
    return (stage.asked, stage.yes, stage.total or 0) if stage is not None else (0, 0, 0)


def short_symbol(name: str) -> str:
    """The symbol of ``path:symbol``."""
    return one_line(name.rpartition(":")[2] or name)
