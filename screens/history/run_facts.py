"""What the history says about one run, and about two side by side."""

from __future__ import annotations

import difflib

from textual.content import Content

from agent.audit.history import RunDiff, RunSummary, VerdictChange
from screens.text import (
    BAD,
    GOOD,
    LABEL,
    MUTED,
    STRONG,
    WARN,
    clean,
    duration,
    line,
    local_time,
    one_line,
    plural,
    probability,
    stage_short,
)

MARKS = {"complete": ("✓", GOOD), "partial": ("◐", WARN), "failed": ("✗", BAD), "stopped": ("■", WARN), "": ("…", MUTED)}


def history_heading(width: int) -> Content:
    """The names above the columns."""
    return Content.styled("  started           " + ("calls   time  " if width >= 60 else "") + "task", MUTED)


def history_row(run: RunSummary, width: int, marked: bool) -> Content:
    """One run in the table."""
    glyph, style = MARKS.get(run.status, ("·", MUTED))
    counts = f"{run.calls:>5} {duration(run.seconds):>6}  " if width >= 60 else ""
    mark = "»" if marked else " "
    when = local_time(run.started_at)
    labels = f"  {plural(run.labels, 'label')}" if run.labels else ""
    state = "● going on  " if run.busy else "‖ undecided  " if run.undecided else ""
    return line(
        (glyph, style), (mark, STRONG), (f"{when}  ", MUTED), (counts, MUTED), (state, f"bold {WARN}"), one_line(run.task),
        (labels, LABEL),
    )  # fmt: skip


def run_facts(run: RunSummary) -> list[Content]:
    """Everything the table has no room for."""
    glyph, style = MARKS.get(run.status, ("·", MUTED))
    lines = [
        line((f"{glyph} {run.status or 'unfinished'}", f"bold {style}"), (f"  {one_line(run.reason)}", "")),
        *_change_lines(run), *_place_lines(run), Content(""),
        line(("task   ", LABEL), one_line(run.task)),
        line(("run    ", LABEL), run.run_id),
        line(("began  ", LABEL), local_time(run.started_at, seconds=True)),
        line(("took   ", LABEL), duration(run.seconds), (f", {plural(run.calls, 'call')}", "")),
        line(("model  ", LABEL), clean(run.model)),
        line(("labels ", LABEL), str(run.labels)),
    ]  # fmt: skip
    if run.branch and run.fate.choice != "discarded":
        lines.append(line(("branch ", LABEL), run.branch))
    return lines


_DECIDED = {
    "applied": ("✓ applied to your files", GOOD), "kept": ("kept", ""), "discarded": ("discarded", MUTED),
    "undone": ("applied, then undone; its branch is kept", ""),
}  # fmt: skip


def _change_lines(run: RunSummary) -> list[Content]:
    """What it changed, and what became of that; without a decision, how to decide."""
    if run.undecided:
        how = "a applies it, w keeps its branch, d discards it, enter shows it"
        return [
            line(("change ", LABEL), change_counts(run), ("  waits for your decision", f"bold {WARN}")),
            line(("       ", ""), (how, MUTED)),
        ]
    if run.fate.choice:
        counts = f"{change_counts(run)}, " if run.fate.files else ""
        return [line(("change ", LABEL), counts, _DECIDED[run.fate.choice], (_kept_where(run), MUTED))]
    return [line(("change ", LABEL), ("none", MUTED))] if run.status and not run.fate.files else []


def _kept_where(run: RunSummary) -> str:
    """A copy outside git stays in its place; a branch is merged."""
    if run.fate.choice != "kept" or not run.branch:
        return ""
    return f" in .clean_room/work/{run.run_id}" if run.place else f" (git merge {one_line(run.branch)} takes it)"


def _place_lines(run: RunSummary) -> list[Content]:
    if run.busy:
        return [line(("● it is running, here or in another window", f"bold {WARN}"))]
    if run.place and may_resume(run):
        return [line(("place  ", LABEL), "its worktree is still there", (" (R continues it)", MUTED))]
    if run.unfinished and not run.place:
        return [line(("it has no recorded end, and its worktree is gone", WARN))]
    return []


def change_counts(run: RunSummary) -> str:
    """``2 files, +30 −4``."""
    return f"{plural(run.fate.files, 'file')}, +{run.fate.added} −{run.fate.removed}"


def may_resume(run: RunSummary) -> bool:
    """Whether the run can be resumed: it has no recorded end or was stopped, and its place still exists."""
    return run.unfinished or (run.place and run.status in ("stopped", "partial", "failed") and not run.fate.choice)


def diff_lines(diff: RunDiff) -> list[Content]:
    """Two runs side by side: verdicts that changed first, then plan, files, checks and ends."""
    lines = [
        line(("before ", LABEL), diff.before, ("   after ", LABEL), diff.after),
        *_pair("status", diff.status), *_pair("model", diff.models), *_pair("checks", diff.checks),
        *_pair("calls", (str(diff.calls[0]), str(diff.calls[1]))),
        *_pair("time", (duration(diff.seconds[0]), duration(diff.seconds[1]))), Content(""),
    ]  # fmt: skip
    lines.append(line((f"{plural(len(diff.changed), 'verdict')} changed, {diff.same} the same", STRONG)))
    lines += [_change(change) for change in diff.changed]
    for name, changes in (("asked only before", diff.only_before), ("asked only after", diff.only_after)):
        if changes:
            lines += [Content(""), line((f"{name} ({len(changes)})", LABEL)), *(_change(change) for change in changes)]
    for name, (before, after) in (("plan", diff.steps), ("files changed", diff.files)):
        lines += [Content(""), line((name, LABEL)), *_listed(before, after)]
    return lines


def _pair(name: str, values: tuple[str, str]) -> list[Content]:
    before, after = (one_line(value) or "-" for value in values)
    if before == after:
        return [line((f"{name:<8}", LABEL), (before, MUTED))]
    return [line((f"{name:<8}", LABEL), (before, ""), (" → ", MUTED), (after, STRONG))]


def _change(change: VerdictChange) -> Content:
    return line(
        f"  {_word(change.before, change.before_p)} → {_word(change.after, change.after_p)}  ",
        (f"{stage_short(change.stage):<11}", MUTED), one_line(change.item),
    )  # fmt: skip


def _word(verdict: bool | None, p: float | None) -> str:
    return f"{'-' if verdict is None else 'yes' if verdict else 'no':<3} {probability(p):<3}"


def _listed(before: tuple[str, ...], after: tuple[str, ...]) -> list[Content]:
    if before == after:
        return [line((f"  {one_line(entry)}", MUTED)) for entry in before] or [line(("  none", MUTED))]
    styles = {"- ": BAD, "+ ": GOOD, "  ": MUTED}
    rows = (row for row in difflib.ndiff([one_line(e) for e in before], [one_line(e) for e in after]) if row[:2] != "? ")
    return [line((f"  {row}", styles.get(row[:2], ""))) for row in rows]
