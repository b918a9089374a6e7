"""The box at the bottom of the run screen: what waits for the person, or how the run ended, and what to do next."""

from __future__ import annotations

from pathlib import Path

from textual.content import Content
from textual.widgets import Static

from agent.events import GateWaiting, RunFinished
from agent.state.run_state import RunState
from agent.values import CheckResult
from screens.run.session import RunSession
from screens.text import BAD, GOOD, MUTED, STRONG, WARN, duration, fit, line, one_line, plural, stage_short, stage_title


class Prompt(Static):
    """Hidden while there is nothing to say."""

    def __init__(self, session: RunSession, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self.session = session
        self.can_focus = False
        self.shown: list[Content] = []

    def sync(self) -> bool:
        """Say what is to be said now. Whether that is something new."""
        lines = prompt_lines(self.session, self.app.size.width - 4)
        if lines == self.shown:
            return False
        self.shown = lines
        self.display = bool(lines)
        self.update(Content("\n").join(lines))
        return True


def prompt_lines(session: RunSession, width: int = 120) -> list[Content]:
    """The lines for a session's present state, for so many cells."""
    state = session.state
    if state.waiting is not None:
        return _waiting(state.waiting, width) if session.handle is not None else [fit(_waited(state.waiting), width)]
    if state.finished is not None:
        return outcome(session, state.finished, width)
    if session.stopping:
        when = "when the call in flight has come back; the work so far is kept"
        return [line(("■ stopping ", f"bold {WARN}"), when)]
    if session.live and session.gate.mode == "step":
        return [line(("‖ pausing ", f"bold {WARN}"), "at the next decision  ", ("space goes on", MUTED))]
    if session.live and session.gate.mode == "stage":
        return [line(("‖ pausing ", f"bold {WARN}"), "at the end of this stage  ", ("space goes on", MUTED))]
    return []


def _waited(waiting: GateWaiting) -> Content:
    """Of a recording: nothing can be answered any more."""
    if waiting.kind == "stage":
        what = f"at the end of stage {waiting.stage.replace('_', ' ')}"
    else:
        what = f"{stage_short(waiting.stage)} {one_line(waiting.item)}  model: {'yes' if waiting.verdict else 'no'}"
    return line((f"‖ waited here for the person  {what}", MUTED))


def _waiting(waiting: GateWaiting, width: int) -> list[Content]:
    if waiting.kind == "stage":
        done = line(("‖ end of stage ", f"bold {WARN}"), (waiting.stage.replace("_", " "), STRONG))
        return [done, _keys(("S", "next stage"), ("s", "one decision"), ("space", "go on"))]
    says = "yes" if waiting.verdict else "no"
    why = "  (a breakpoint stopped here)" if waiting.reason == "breakpoint" else ""
    for question in (stage_title(waiting.stage), stage_short(waiting.stage)):
        head = line(
            ("‖ ", f"bold {WARN}"), (question, STRONG), f" {one_line(waiting.item)}  the verdict would be ",
            (says, f"bold {WARN}"), (why, MUTED),
        )  # fmt: skip
        if head.cell_length <= width:
            break
    for take in (f"take “{says}”, stop at the next", f"take “{says}”"):
        keys = _keys(("y", "yes is right"), ("n", "no is right"), ("s", take), ("K", "rest of stage"), ("space", "go on"))
        if keys.cell_length <= width:
            break
    return [head, keys]


def _keys(*pairs: tuple[str, str]) -> Content:
    return Content("  ").join([line((key, STRONG), f" {text}") for key, text in pairs])


def _checks(before: CheckResult | None, now: CheckResult | None) -> str:
    if now is None:
        return ""
    if now.passed is None or not (now.passed or now.failed):
        return f"The checks {'pass' if now.ok else 'fail'} now. "
    old = f"{before.passed} → " if before is not None and before.passed is not None else ""
    failing = f", {now.failed} still fail" if now.failed else ""
    return f"Tests passing: {old}{now.passed}{failing}. "


_ENDS = {
    "complete": ("✓ complete", GOOD, "Everything asked for was done and measured."),
    "partial": ("◐ partial", WARN, "Some of it was done; the rest is listed in Plan and Log."),
    "failed": ("✗ failed", BAD, "Nothing usable came of it."),
    "stopped": ("■ stopped", WARN, "You stopped the run."),
}


def outcome(session: RunSession, end: RunFinished, width: int = 120) -> list[Content]:
    """How the run ended, in plain words, and what to do next."""
    state = session.state
    word, style, meaning = _ENDS[end.status]
    cached = f" ({end.cached_calls} reused)" if end.cached_calls else ""
    tests = _checks(end.tests_before, end.tests_after).strip().rstrip(".")
    facts = [tests[0].lower() + tests[1:]] if tests else []  # first: of what does not fit the end is cut
    if end.functions or end.functions_failed:
        facts.append(f"{end.functions} of {plural(end.functions + end.functions_failed, 'function')} written")
    if end.includes_added:
        facts.append(f"{plural(end.includes_added, 'include')} inserted")
    if end.stubs_left:
        facts.append(f"{plural(end.stubs_left, 'stub')} left")
    facts.append(f"{plural(end.calls, 'call')}{cached} in {duration(end.seconds)}")
    head = line((f"{word}  ", f"bold {style}"), one_line(end.reason) or meaning)
    lines = [head, fit(line((" · ".join(facts), MUTED)), width)]
    return [*lines, _decide(state, end, width) if session.deciding else line(_next(state, end))]


def _decide(state: RunState, end: RunFinished, width: int) -> Content:
    """What can become of the change; in words that fit, for nothing of this may be out of sight."""
    branch = one_line(end.branch or state.branch) or "its branch"
    for keep in (f"keep the work on {branch}", f"keep {branch}", "keep its branch"):
        keys = _keys(("a", "apply it to your files"), ("w", keep), ("d", "discard it"), ("5", "look at the diff"))
        if keys.cell_length <= width:
            break
    return keys


def _in_git(repo: str) -> bool:
    """Whether the folder lies in a git repository; one that is not on this machine is taken to."""
    place = Path(repo)
    return not place.is_dir() or any((above / ".git").exists() for above in (place, *place.parents))


def _next(state: RunState, end: RunFinished) -> str:
    branch = one_line(end.branch or state.branch)
    if end.applied or state.diff_choice == "applied":
        look = ": look at it with git diff" if _in_git(state.repo) else ""
        return f"The change is in your tree{look}."
    if state.diff_choice == "discarded":
        return "The work was thrown away; your tree is as it was."
    if state.diff is not None and not state.diff.diff.strip():
        why = " Log (7) says what went wrong; starting again reuses the verdicts." if end.status == "failed" else ""
        return f"The run changed nothing; your tree is as it was.{why}"
    if branch and (state.diff is not None or end.status in ("partial", "stopped")):
        if not _in_git(state.repo):
            return f"Your files are as they were. The changed copy is in {one_line(state.worktree)}."
        return f"Your tree is as it was. The work is on branch {branch}; take it with git merge {branch}."
    if end.status == "failed":
        return "Your tree is as it was. Log (7) says what went wrong; starting again reuses the verdicts."
    return "Your tree is as it was."
