"""The precision cascade: three passes, each smaller than the last, then the classes; before it the files in scope."""

from __future__ import annotations

from textual.content import Content

from agent.events import FileScoped
from agent.state import RunState, SymbolState
from screens.panes.base import Pane
from screens.text import (
    ACCENT,
    BAD,
    GOOD,
    LABEL,
    MUTED,
    STRONG,
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

_PASSES = ((1, "relevant?", "in the task's way at all"), (2, "direct?", "changed itself"), (3, "source?", "needed in full"))
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
        if any(symbol.passes for symbol in state.symbols.values()) or state.passes:
            lines += self._bars(state, width)
        if any(symbol.detail_level for symbol in state.symbols.values()):
            lines += self._final(state, width)
        if state.context is not None:
            lines += self._budget(state, width)
        return lines or [Content.styled(self.empty, MUTED)]

    def _files(self, state: RunState, width: int) -> list[Content]:
        kept = sum(file.included for file in state.files.values())
        head = line(("files in scope ", LABEL), (f"{len(state.files)} → {kept}", STRONG))
        longest = max(len(one_line(file.path)) for file in state.files.values())
        room = max(8, min(longest, width - 24))
        return [head, *(fit(self._file(file, room), width) for file in state.files.values()), Content("")]

    def _file(self, file: FileScoped, room: int) -> Content:
        path = Content(keep_tail(one_line(file.path), room))
        gap = " " * max(1, room - path.cell_length + 1)
        how = "" if file.judged else "not asked: "
        mark = ("✓ ", GOOD) if file.included else ("✗ ", ACCENT)
        return line(mark, path, gap, (f"{how}{one_line(file.reason)}", MUTED))

    def _bars(self, state: RunState, width: int) -> list[Content]:
        asked = {number: [s for s in state.symbols.values() if number in s.passes] for number, _, _ in _PASSES}
        totals = {n: state.passes[n].asked if n in state.passes else len(asked[n]) for n in asked}
        stage = state.stages.get("precision_pass1")
        most = max(totals[1], (stage.total or 0) if stage else 0, 1)
        room = max(4, width - 16)
        lines = []
        for number, name, _ in _PASSES:
            total = totals[number]
            current = state.stages.get(f"precision_pass{number}")
            expected = (current.total or 0) if current is not None and not current.done else 0
            yes = sum(symbol.passes[number] for symbol in asked[number])
            width_all = len(bar(max(total, expected), most, room))
            lines.append(
                line(
                    (name.ljust(10), STRONG), (bar(yes, most, room), GOOD),
                    ("╍" * (len(bar(total, most, room)) - len(bar(yes, most, room))), ACCENT),
                    ("┈" * (width_all - len(bar(total, most, room))), MUTED),
                    " ", (str(total) if total >= expected else f"{total}/{expected}", STRONG),
                )
            )  # fmt: skip
            lines += self._symbols(asked[number], number, width)
        return [*lines, line(("━ yes  ╍ no  ┈ to ask", MUTED)), Content("")]

    def _symbols(self, symbols: list[SymbolState], number: int, width: int) -> list[Content]:
        rows: list[Content] = []
        current = Content("  ")
        for symbol in symbols:
            glyph, style = verdict_mark(symbol.passes[number])
            part = line((glyph[:2], style), short_symbol(symbol.symbol), "  ")
            if current.cell_length + part.cell_length > width and current.cell_length > 2:
                rows.append(current)
                current = Content("  ")
            current = current + part
        return [*rows, current] if current.cell_length > 2 else rows

    def _final(self, state: RunState, width: int) -> list[Content]:
        lines = []
        for level, style, meaning in _CLASSES:
            members = [s for s in state.symbols.values() if s.detail_level == level]
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


def short_symbol(name: str) -> str:
    """The symbol of ``path:symbol``."""
    return one_line(name.rpartition(":")[2] or name)
