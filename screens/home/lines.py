"""What the home screen says: its title, what will happen, a run that was left, a ready-made task, an earlier run."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from screens.lines import wrapped
from screens.run.session import RunSession
from screens.runner import DemoTask, RecentRun
from screens.text import BAD, GOOD, LABEL, MUTED, STRONG, WARN, about_time, duration, line, local_time, one_line, plural

_RUN_MARKS = {"complete": ("✓", GOOD), "partial": ("◐", WARN), "failed": ("✗", BAD), "stopped": ("■", WARN)}

_GUIDE = (
    Content.styled("What happens then", LABEL),
    Content("1 The repository is read: files, symbols, history. No model is needed for that."),
    Content("2 A small model answers yes/no questions one by one: which files and symbols matter."),
    Content("3 A plan is made; code is written in a copy, compiled and tested."),
    Content("4 You see the diff. Your own files change only when you apply it."),
    Content(""),
    Content("space pauses at any moment, s goes on to the next decision, y and n overrule it."),
)


def guide(width: int) -> Content:
    """What happens after the start, for so many cells."""
    return Content("\n").join(wrapped(_GUIDE, width))


def home_title(busy: str = "") -> Content:
    """The line at the top; ``busy`` says what is being made ready."""
    said = (f"  ● {busy}", f"bold {WARN}") if busy else ("  small models, one decision at a time, in the open", MUTED)
    return line(("Clean Room", f"bold {LABEL}"), said)


def moved_aside() -> Content:
    """That the repository's folder of state is not this machine's, and what to do if it is the person's."""
    head = ("! Runs and labels made elsewhere were set aside.", f"bold {WARN}")
    return line(head, ("  Yours? cra trust --state", STRONG))


def left_run(session: RunSession) -> list[str | tuple[str, str]]:
    """A run that is not over or not decided on, with the key that leads back; nothing for any other."""
    if session.live and session.waiting is not None:
        said, more = "‖ A run waits for you", "F3 goes back to it"
    elif session.live:
        said, more = "● A run is going on", "F3 goes back to it"
    elif session.deciding:
        said, more = "● A run has ended and its change waits for your decision", "F3 goes back to it"
    else:
        return []
    return [(f"{said}: ", f"bold {WARN}"), (more, STRONG), (f"   {one_line(session.task)}", MUTED)]


def earlier_run(run: RecentRun) -> list[str | tuple[str, str]]:
    """A run of an earlier session that was cut off, or whose change nobody has decided on, with the key that leads there."""
    if run.resumable:
        said, key = "■ A run did not finish: ", "F7 continues it"
    else:
        said, key = "‖ A change waits for your decision: ", "F7 opens it"
    return [(said, f"bold {WARN}"), (key, STRONG), (f"   {one_line(run.task)}", MUTED)]


def prediction(calls: int | None, runs: Iterable[RecentRun]) -> str:
    """``about 40 calls to the model, 3 minutes``; the time by what calls took in earlier runs here, if any."""
    if not calls:
        return ""
    paces = sorted(run.seconds / run.calls for run in runs if run.calls >= 5 and run.seconds)
    time = f", {about_time(calls * paces[len(paces) // 2])}" if paces else ""
    return f"about {plural(calls, 'call')} to the model{time}"


def demo_entry(demo: DemoTask, narrow: bool) -> Content:
    """A ready-made task on one line, or two."""
    gap = Content("" if narrow else "\n")
    return line((demo.title, STRONG)) + gap + line((f"  {one_line(demo.task)}", MUTED))


def run_entry(run: RecentRun, narrow: bool) -> Content:
    """An earlier run on one line, or two; one whose change nobody decided on says so."""
    glyph, style = _RUN_MARKS.get(run.status, ("·", MUTED))
    when = local_time(run.started)[5 if narrow else 0 :]
    waits = ("  ‖ its change waits for your decision", f"bold {WARN}") if run.undecided and not narrow else ""
    facts = f"  {run.status or 'unfinished'} · {plural(run.calls, 'call')} · {duration(run.seconds)}"
    if narrow:
        mark = ("‖ undecided  ", f"bold {WARN}") if run.undecided else ""
        return line((f"{glyph} ", style), (f"{when}  ", MUTED), mark, one_line(run.task))
    return (
        line((f"{glyph} ", style), one_line(run.task)) + Content("\n")
        + line((f"  {when}{facts}", MUTED), waits)
    )  # fmt: skip


def no_runs() -> Content:
    """In place of the runs."""
    return Content.styled("none in this repository yet", MUTED)
