"""The funnel: how many files, and of their symbols how many relevant, direct, in full; below it what was decided of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from textual.content import Content

from agent.events import CascadePass, ContextAssembled, FileScoped, SymbolClassified
from agent.stages import stage_of
from agent.state.records import SymbolState
from agent.state.run_state import RunState
from screens.lines import Target, folded
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
    probability,
    short_count,
)

_PASSES = (1, 2, 3)
_MOST_SYMBOLS = 300
"""Symbols looked at for the lists, the newest; the bars count all."""
_MOST_LEFT_OUT = 12
"""Left-out files that are listed at once; more of them are behind a line that opens."""
_CLASSES = (
    ("primary", GOOD, "full source, first"),
    ("supporting", LABEL, "full source"),
    ("type_context", ACCENT, "signature only"),
    ("excluded", MUTED, "not shown"),
)


@dataclass(frozen=True)
class Level:
    """One bar of the funnel. ``total`` items, of which ``asked`` were decided so far, ``yes`` with yes."""

    name: str
    total: int
    asked: int
    yes: int
    over: bool
    why: tuple[str, ...] = ()
    """Where yes of one level is not what the next one begins with: why."""


class CascadePane(Pane):
    """The bars stay in sight. Of the lists, what was left out is open; a row opens the card of the call that decided it."""

    name, title, short = "cascade", "Cascade", "Casc"
    about = "The three passes over the symbols, each smaller than the last, and what became of each."
    look = "look at what was relevant"
    wishes = {FileScoped: 1, CascadePass: 1, SymbolClassified: 1, ContextAssembled: 1}
    fold = False
    empty = "Which files and symbols matter is decided here, one yes or no at a time."

    def build(self, state: RunState, width: int) -> list[Content]:
        """The funnel, the budget, then the lists."""
        levels = funnel(state)
        if not levels:
            return list(Content.styled(self.empty, MUTED).wrap(max(4, width)))
        lines = [row for level in levels for row in _bar_lines(level, levels, width)]
        lines.append(fit(line(("━ yes  ╍ no  ┈ to ask", MUTED)), width))
        if state.context is not None:
            lines += _budget(state, width)
        self.keep(len(lines))
        lines.append(Content(""))
        self._files(state, width, lines)
        self._symbols(state, width, lines)
        return lines

    def _section(self, lines: list[Content], name: str, title: Content, opened: bool) -> bool:
        """A heading that opens and closes; whether it is open."""
        target: Target = ("fold", name)
        opened = opened != (target in self.toggled)
        self.leads(len(lines), target)
        lines.append(line(("▾ " if opened else "▸ ", MUTED)) + title)
        return opened

    def _files(self, state: RunState, width: int, lines: list[Content]) -> None:
        out = [file for file in state.files.values() if not file.included]
        kept = [file for file in state.files.values() if file.included]
        for name, files, first in (("left out", out, _MOST_LEFT_OUT), ("in scope", kept, 0)):
            if not files:
                continue
            title = line(("files ", LABEL), (name, LABEL), (f"  {len(files)}", STRONG))
            if self._section(lines, f"files {name}", title, len(files) <= first or name == "left out"):
                shown = files if ("fold", f"all {name}") in self.toggled or not first else files[:first]
                room = max(8, min(max(len(one_line(file.path)) for file in shown), width - 30))
                for file in shown:
                    if file.path in state.file_calls:
                        self.leads(len(lines), ("call", state.file_calls[file.path]))
                    lines.append(fit(_file(state, file, room), width))
                if len(files) > len(shown):
                    self.leads(len(lines), ("fold", f"all {name}"))
                    lines.append(line((f"    … {len(files) - len(shown)} more", MUTED)))

    def _symbols(self, state: RunState, width: int, lines: list[Content]) -> None:
        newest = newest_symbols(state)
        if any(symbol.classified for symbol in newest):
            groups = [(level, meaning, [s for s in newest if s.classified and s.classified.detail_level == level])
                      for level, _, meaning in _CLASSES]  # fmt: skip
        else:
            groups = [
                (f"{stage_of(f'precision_pass{number}').short} {VERDICT_WORDS[said]}", "",
                 [s for s in newest if s.calls and max(s.calls) == number and s.calls[number].verdict is said])
                for number in _PASSES for said in (True, False)
            ]  # fmt: skip
        styles = {name: style for name, style, _ in _CLASSES}
        for name, meaning, members in groups:
            if not members and not meaning:
                continue
            names = "  ".join(short_symbol(symbol.symbol) for symbol in members) or "–"
            said = f"  ({meaning})" if meaning and width >= 56 else ""
            shown, style = name.replace("_", " "), f"bold {styles.get(name, LABEL)}"
            title = line((shown, style), (f" {len(members)}", STRONG), (said, MUTED))
            closed = title + line(f"  {names}")
            opened = self._section(lines, f"symbols {name}", title, False)
            if not opened:
                lines[-1] = fit(line(("▸ ", MUTED)) + closed, width)
                continue
            for symbol in members:
                if symbol.calls:
                    self.leads(len(lines), ("call", symbol.calls[max(symbol.calls)].call_id))
                lines.append(fit(_symbol(state, symbol), width))


def funnel(state: RunState) -> list[Level]:
    """The levels reached so far: files, then the three passes; nothing while neither has begun."""
    levels = []
    scope = state.stages.get("scope")
    if state.files or scope is not None:
        kept = sum(file.included for file in state.files.values())
        total = max(len(state.files), (scope.total or 0) if scope is not None and not scope.done else 0)
        named = sum(file.included and not file.judged for file in state.files.values())
        capped = sum(not file.included and not file.judged for file in state.files.values())
        why = [f"{plural(named, 'file')} named by the task or its neighbour: not asked"] if named else []
        why += [f"{plural(capped, 'file')} left out without asking"] if capped else []
        over = scope is None or scope.done
        levels.append(Level("files", total, len(state.files), kept, over, (*why, *_said(state, "scope"))))
    if state.passes or any(f"precision_pass{number}" in state.stages for number in _PASSES):
        for number in _PASSES:
            asked, yes, expected = pass_counts(state, number)
            over = number in state.passes or state.finished is not None
            stage = f"precision_pass{number}"
            why = [] if number == 1 else _gap(state, number, asked, expected)
            levels.append(
                Level(stage_of(stage).short, max(asked, expected), asked, yes, over, (*why, *_said(state, stage)))
            )
    return levels


def _gap(state: RunState, number: int, asked: int, expected: int) -> list[str]:
    """Why a pass begins with another number than the pass before it let through."""
    before = state.passes.get(number - 1)
    begins = max(asked, expected)
    if before is None or (number not in state.passes and not begins):
        return []
    passed = before.yes if number == 2 else before.no  # pass 3 asks of those that are relevant and not direct
    word = "relevant" if number == 2 else "not direct"
    if number == 2 and not before.yes:
        return []  # a notice says what was kept instead
    if begins == passed:
        return [f"asked of those that are {word}"] if number == 3 and begins else []
    if not begins:
        return [f"nothing left to ask: all {before.asked} are direct" if not passed else "nothing was asked"]
    return [f"{passed} {word}, {begins} asked"]


def _said(state: RunState, stage: str) -> list[str]:
    """The first sentence of each notice about a stage."""
    return [one_line(notice.text).partition(". ")[0].rstrip(".") for _, notice in state.notices if notice.stage == stage]


def _bar_lines(level: Level, levels: list[Level], width: int) -> list[Content]:
    most = max(1, *(each.total for each in levels))
    room = max(4, min(48, width - 32))
    yes, asked = len(bar(level.yes, most, room)), len(bar(level.asked, most, room))
    to_ask = max(0, len(bar(level.total, most, room)) - asked)
    words: list[tuple[str, str]]
    if level.asked < level.total:
        words = [(f"{level.asked} of {level.total}", STRONG), (" decided", MUTED)]
    elif not level.total:
        words = [("none to ask" if level.over else "to come", MUTED)]
    else:
        words = [(f"{level.total} → {level.yes}", STRONG)]
    head = line(
        (level.name.ljust(10), STRONG), ("━" * yes, GOOD), ("╍" * (asked - yes), ACCENT), ("┈" * to_ask, MUTED),
        "  " if level.total else "", *words,
    )  # fmt: skip
    why = [part for text in level.why for part in folded(line((" " * 10 + f"↳ {text}", WARN)), width)]
    return [fit(head, width), *why]


def _file(state: RunState, file: FileScoped, room: int) -> Content:
    path = Content(keep_tail(one_line(file.path), room))
    gap = " " * max(1, room - path.cell_length + 1)
    mark = ("  ✓ ", GOOD) if file.included else ("  ✗ ", ACCENT)
    how = "" if file.judged else "not asked: "
    call = state.call(state.file_calls.get(file.path, -1))
    answer = None if call is None else call.answer
    if answer is not None and answer.p_yes is not None:
        limit = answer.threshold
        sign = f" {'≥' if file.included else '<'} {probability(limit)}" if limit is not None else ""
        score = answer.score if answer.score is not None else answer.p_yes
        how = f"{probability(score)}{sign}  "
    if state.overruled.get(("scope", file.path)) is file.included:
        how, mark = f"overruled, {VERDICT_WORDS[file.included]}: ", ("  ✎ ", WARN)
    return line(mark, path, gap, (how, LABEL), (one_line(file.reason), MUTED))


def _symbol(state: RunState, symbol: SymbolState) -> Content:
    answers = [
        f"{'✎' if (f'precision_pass{number}', symbol.symbol) in state.overruled else ''}"
        f"{stage_of(f'precision_pass{number}').short} {VERDICT_WORDS[bool(call.verdict)]}"
        for number, call in sorted(symbol.calls.items())
    ]
    said = "  ".join(answers) or one_line(symbol.classified.reason if symbol.classified else "")
    return line(f"    {short_symbol(symbol.symbol)}  ", (said, MUTED))


def _budget(state: RunState, width: int) -> list[Content]:
    context = state.context
    assert context is not None
    room = max(4, min(24, width - 40))
    over = context.tokens > context.budget
    used = len(bar(min(context.tokens, context.budget), max(1, context.budget), room))
    head = line(
        ("context ".ljust(10), STRONG), ("━" * used, BAD if over else LABEL), ("┈" * (room - used), MUTED),
        f"  {short_count(context.tokens)} of {short_count(context.budget)} tokens",
        (" over budget" if over else "", BAD), (f", {plural(len(context.files), 'file')}", MUTED),
    )  # fmt: skip
    lines = [fit(head, width)]
    if context.dropped:
        lines.append(fit(line(("          ↳ did not fit: ", WARN), ", ".join(context.dropped)), width))
    return lines


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


