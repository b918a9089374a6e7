"""The search for an edit: suspects, what was tried, what passes, what was chosen and why."""

from __future__ import annotations

from textual.content import Content

from agent.state.records import CandidateState, RepairState, SuspectState
from agent.state.run_state import RunState
from screens.panes.base import Pane
from screens.panes.diff import diff_lines
from screens.text import BAD, GOOD, LABEL, MUTED, STRONG, WARN, bar, block, line, one_line, plural, probability, verdict_mark

_MOST_SHOWN = 12
_SOURCES = {"operators": "edits by operators", "pairs": "two edits at once", "cloze": "lines filled in by the model"}
_HEAD = 26


class RepairPane(Pane):
    """Suspects with bars, counts that run, the edits that pass with their verdicts, the chosen diff."""

    title = "Repair"
    empty = "No repair was searched. When a task is to fix something and checks fail, the search appears here."

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
    shown = ", ".join(repair.failing[:3]) + (f" and {len(repair.failing) - 3} more" if len(repair.failing) > 3 else "")
    head = line((plural(len(repair.failing), "failing check"), STRONG), (f"  {repair.passing_checks} passing", MUTED))
    lines = [head, line(("  ✗ ", BAD), one_line(shown))]
    if len(repair.clusters) > 1:
        lines.append(line((f"  they execute different code: {len(repair.clusters)} causes are possible", WARN)))
    if repair.flaky:
        lines.append(line((f"  flaky, left out: {one_line(', '.join(repair.flaky[:3]))}", WARN)))
    return lines


def _suspects(repair: RepairState, width: int) -> list[Content]:
    lines = [line(("suspects", LABEL))]
    best = max((one.score for one in repair.suspects), default=1.0) or 1.0
    room = max(4, min(24, width - _HEAD - 16))
    lines += [_suspect(one, best, room) for one in repair.suspects[:_MOST_SHOWN]]
    return lines if repair.suspects else [*lines, line(("  being traced …", MUTED))]


def _suspect(one: SuspectState, best: float, room: int) -> Content:
    name = one_line(one.function)[: _HEAD - 2].ljust(_HEAD - 2)
    mark: tuple[str, str] = ("  ", MUTED)
    if one.suspected is not None:
        text, style = verdict_mark(one.suspected)
        mark = (f"  {text} {probability(one.p_yes)}", style)
    score = bar(round(one.score * 100), round(best * 100), room)
    return line(("  ", ""), (name, STRONG), (score.ljust(room), LABEL), (f" {one.score:.2f}", MUTED), mark)


def _counts(repair: RepairState, width: int) -> list[Content]:
    source = _SOURCES.get(repair.source, repair.source or "nothing yet")
    left = f"{repair.seconds_left:.0f} of {repair.budget_s:.0f} s left" if repair.mended is None else "ended"
    lines = [line(("tried ", MUTED), (f"{repair.tried:,}", STRONG), (f"  {source}", ""), (f"  {left}", MUTED))]
    most = max(1, repair.tried)
    room = max(4, min(24, width - _HEAD - 16))
    rows = (
        ("compiling", repair.tried - repair.unbuilt, LABEL),
        ("mending a check", repair.partial + repair.passing, WARN),
        ("passing all", repair.passing, GOOD),
        ("out of time", repair.cut, MUTED),
    )
    for name, count, style in rows:
        lines.append(line(("  ", ""), name.ljust(_HEAD - 2), (bar(count, most, room).ljust(room), style), f" {count:,}"))
    return lines


def _passing(repair: RepairState) -> list[Content]:
    if not repair.candidates:
        return [Content(""), line((f"  {one_line(repair.reason)}", MUTED))] if repair.reason else []
    lines = [Content(""), line(("edits that pass", LABEL))]
    lines += [_candidate(one, one.number == repair.chosen) for one in repair.candidates[:_MOST_SHOWN]]
    if len(repair.candidates) > _MOST_SHOWN:
        lines.append(line((f"  and {len(repair.candidates) - _MOST_SHOWN} more", MUTED)))
    return lines


def _candidate(one: CandidateState, chosen: bool) -> Content:
    mark: tuple[str, str] = ("", MUTED)
    if one.fits is not None:
        text, style = verdict_mark(one.fits)
        mark = (f"  {text} {probability(one.p_yes)}", style)
    place = f"{one.function}, line {one.line}"
    return line(("» " if chosen else "  ", GOOD), (f"{one.number:<3}", MUTED), (one_line(one.operator), STRONG),
                f"  {one_line(place)}", mark)  # fmt: skip


def _chosen(repair: RepairState) -> list[Content]:
    one = next((one for one in repair.candidates if one.number == repair.chosen), None)
    if one is None:
        return []
    who = "you picked it" if repair.picked else "a guess" if repair.guess else "chosen"
    lines = [Content(""), line((who, WARN if repair.guess else GOOD), f"  {one_line(repair.why)}")]
    if repair.differing:
        lines += block(repair.differing, MUTED, 2)
    return [*lines, Content(""), *diff_lines(one.diff)]
