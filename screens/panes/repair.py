"""The search for an edit: suspects, what was tried, what passes, what was chosen and why."""

from __future__ import annotations

import re

from rich.cells import cell_len
from textual.content import Content

from agent.events import CandidatePassed, RepairChosen, RepairStarted, SuspectsRanked
from agent.repair.edit_words import edit_words
from agent.state.records import CandidateState, RepairState, SuspectState
from agent.state.run_state import RunState
from screens.panes.base import Pane
from screens.panes.diff import diff_lines
from screens.text import (
    BAD,
    GOOD,
    LABEL,
    MUTED,
    STRONG,
    WARN,
    bar,
    block,
    keep_tail,
    line,
    one_line,
    plural,
    probability,
    verdict_mark,
)

_MOST_SHOWN = 12
_SOURCES = {"operators": "edits by operators", "pairs": "two edits at once", "conditions": "conditions made from parts",
            "cloze": "lines filled in by the model",
            "anew": "functions rewritten"}  # fmt: skip
_MOST_NAME = 24
"""Cells of a suspect's name."""
_COUNTED = 16
"""Cells of what is counted."""
_LEAST_BAR = 4
_FIGURES = 19
"""Cells of a suspect's row beside its name and its bar: gaps, score, verdict and P(yes)."""


def short_test(name: str) -> str:
    """A test's own name, without the module and the class that it is in."""
    return re.split(r"::|\.", one_line(name).partition(" ")[0])[-1] or one_line(name)


def headline(repair: RepairState) -> Content:
    """Such as ``✗ test_sum fails → 40 edits tried → ✓ mended``."""
    checks, passing = repair.started.failing, repair.counts.passing
    failing = short_test(checks[0]) if checks else "the checks"
    more = f" and {len(checks) - 1} more" if len(checks) > 1 else ""
    parts: list[tuple[str, str] | str] = [("✗ ", f"bold {BAD}"), f"{failing} fails", (more, MUTED), (" → ", MUTED)]
    tried = f"{plural(repair.tried, 'edit')} tried"
    parts.append(tried if repair.tried else plural(len(repair.suspects), "suspect"))
    if repair.mended is not None:
        parts += [(" → ", MUTED), ("✓ mended", GOOD) if repair.mended else ("✗ not mended", BAD)]
    elif passing:
        parts += [(" → ", MUTED), (f"{plural(passing, 'edit')} pass", STRONG)]
    return line(*parts)


class RepairPane(Pane):
    """Suspects with bars, counts that run, the edits that pass with their verdicts, the chosen diff."""

    name, title, short = "repair", "Repair", "Rep"
    about = "Where the fault may be, the edits that were tried, those that pass, and which was chosen."
    look = "look at the search for the fault"
    wishes = {RepairStarted: 2, SuspectsRanked: 2, CandidatePassed: 2, RepairChosen: 2}
    incident = RepairState
    headline = staticmethod(headline)
    empty = "No repair was searched for. When a task is to fix something and checks fail, the search appears here."

    def build(self, state: RunState, width: int) -> list[Content]:
        """From the failing checks to the chosen edit."""
        repair = state.repair
        if repair is None:
            return [Content.styled(self.empty, MUTED)]
        return [
            *_failing(repair),
            Content(""),
            *_suspects(repair, width),
            Content(""),
            *_counts(repair, width),
            *_passing(repair),
            *_chosen(repair),
        ]


def _failing(repair: RepairState) -> list[Content]:
    started = repair.started
    failing = started.failing
    shown = ", ".join(failing[:3]) + (f" and {len(failing) - 3} more" if len(failing) > 3 else "")
    head = line((plural(len(failing), "failing check"), STRONG), (f"  {started.passing} passing", MUTED))
    lines = [head, line(("  ✗ ", BAD), one_line(shown))]
    if len(started.clusters) > 1:
        lines.append(line((f"  they execute different code: {len(started.clusters)} causes are possible", WARN)))
    if started.flaky:
        lines.append(line((f"  flaky, left out: {one_line(', '.join(started.flaky[:3]))}", WARN)))
    return lines


def _suspects(repair: RepairState, width: int) -> list[Content]:
    lines = [line(("suspects", LABEL))]
    best = max((one.suspect.score for one in repair.suspects), default=1.0) or 1.0
    names = [one_line(one.suspect.function) for one in repair.suspects[:_MOST_SHOWN]]
    head = max(8, min(max(map(cell_len, names), default=0), _MOST_NAME, width - _LEAST_BAR - _FIGURES))
    room = max(_LEAST_BAR, min(24, width - head - _FIGURES))
    lines += [_suspect(one, best, head, room) for one in repair.suspects[:_MOST_SHOWN]]
    return lines if repair.suspects else [*lines, line(("  being traced …", MUTED))]


def _suspect(one: SuspectState, best: float, head: int, room: int) -> Content:
    score = one.suspect.score
    name = keep_tail(one_line(one.suspect.function), head)
    name += " " * (head - cell_len(name) + 1)
    mark: tuple[str, str] = ("  ", MUTED)
    if one.judged is not None:
        text, style = verdict_mark(one.judged.suspected)
        mark = (f"  {text} {probability(one.judged.p_yes)}", style)
    shown = bar(round(score * 100), round(best * 100), room)
    return line(("  ", ""), (name, STRONG), (shown.ljust(room), LABEL), (f" {score:.2f}", MUTED), mark)


def _counts(repair: RepairState, width: int) -> list[Content]:
    counts = repair.counts
    source = _SOURCES.get(counts.source, counts.source or "nothing yet")
    left = f"{counts.seconds_left:.0f} of {repair.started.budget_s:.0f} s left" if repair.mended is None else "ended"
    lines = [line(("tried ", MUTED), (f"{repair.tried:,}", STRONG), (f"  {source}", ""), (f"  {left}", MUTED))]
    most = max(1, repair.tried)
    room = max(_LEAST_BAR, min(24, width - _COUNTED - 10))
    rows = (
        ("compiling", repair.tried - counts.unbuilt, LABEL),
        ("mending a check", counts.partial + counts.passing, WARN),
        ("passing all", counts.passing, GOOD),
        ("out of time", counts.cut, MUTED),
    )
    for name, count, style in rows:
        lines.append(line(("  ", ""), name.ljust(_COUNTED), (bar(count, most, room).ljust(room), style), f" {count:,}"))
    return lines


def _passing(repair: RepairState) -> list[Content]:
    if not repair.candidates:
        reason = repair.finished.reason if repair.finished is not None else ""
        return [Content(""), line((f"  {one_line(reason)}", MUTED))] if reason else []
    lines = [Content(""), line(("edits that pass", LABEL))]
    lines += [candidate_row(one, one is repair.taken) for one in repair.candidates[:_MOST_SHOWN]]
    if len(repair.candidates) > _MOST_SHOWN:
        lines.append(line((f"  and {len(repair.candidates) - _MOST_SHOWN} more", MUTED)))
    return lines


def candidate_row(one: CandidateState, chosen: bool) -> Content:
    """An edit that passes: its kind and place, what was said of it, or which other one it does the same as."""
    mark: tuple[str, str] = ("", MUTED)
    if one.judged is not None:
        text, style = verdict_mark(one.judged.fits)
        mark = (f"  {text} {probability(one.judged.p_yes)}", style)
    elif one.like is not None:
        mark = (f"  does as {one.like}", MUTED)
    elif chosen:
        mark = ("  not asked", MUTED)
    passed = one.passed
    kind, place = one_line(edit_words(passed.operator)), f"{passed.function}, line {passed.line}"
    return line(("» " if chosen else "  ", GOOD), (f"{passed.number:<3}", MUTED), (kind, STRONG),
                f"  {one_line(place)}", mark)  # fmt: skip


def _chosen(repair: RepairState) -> list[Content]:
    chosen, taken = repair.chosen, repair.taken
    if chosen is None or taken is None:
        return []
    who = "you picked it" if chosen.picked else "a guess" if chosen.guess else "chosen"
    lines = [Content(""), line((who, WARN if chosen.guess else GOOD), f"  {one_line(chosen.why)}")]
    if chosen.differing:
        lines += block(chosen.differing, MUTED, 2)
    return [*lines, Content(""), *diff_lines(taken.passed.diff)]
