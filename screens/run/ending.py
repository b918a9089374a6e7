"""How a run ended: the cause in plain words, the pane that explains it, and what can be done next, with its keys."""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len
from textual.content import Content

from agent.events import RunFinished
from agent.state.run_state import RunState
from agent.values import CheckResult
from agent.workspace.undo import can_undo
from screens.panes.order import BY_NAME, key_of
from screens.run.session import RunSession
from screens.text import BAD, GOOD, MUTED, STRONG, WARN, duration, fit, line, one_line, plural, short_count

_ENDS = {
    "complete": ("✓ complete", GOOD, "Everything asked for was done and measured."),
    "partial": ("◐ partial", WARN, "Some of it was done; the rest is listed in Plan and Log."),
    "failed": ("✗ failed", BAD, "It produced nothing usable."),
    "stopped": ("■ stopped", WARN, "You stopped the run."),
}


def explaining_pane(state: RunState) -> str:
    """The pane that says most about how the run ended: the change where there is one, else what stood in its way."""
    if state.diff is not None and state.diff.diff.strip():
        return "diff"
    if state.repair is not None and state.repair.mended is False:
        return "repair"
    if any(incident.settled is False for incident in state.compile_incidents[-3:]):
        return "compile"
    if state.finished is not None and state.finished.status == "stopped":
        return "plan" if state.steps else "cascade"
    now = state.checks or state.baseline
    if state.checks is not None and now is not None and not now.ok:
        return "checks"
    if any(entry.status == "failed" for entry in state.steps.values()):
        return "plan"
    return "log"


def may_retry(session: RunSession) -> bool:
    """Whether going on with the run, or starting its task again, makes sense."""
    end = session.state.finished
    return end is not None and not session.live and end.status != "complete" and session.state.diff_choice != "applied"


def may_undo(session: RunSession) -> bool:
    """Whether the applied change can be taken back."""
    state = session.state
    applied = state.diff_choice == "applied" or (state.finished is not None and state.finished.applied)
    return applied and state.diff_choice != "undone" and can_undo(session.repo, state.run_id)


def ending_lines(session: RunSession, end: RunFinished, width: int = 120) -> list[Content]:
    """The panel: cause, figures, next steps; each on one line of ``width`` cells but the cause."""
    state = session.state
    word, style, meaning = _ENDS[end.status]
    head = line((f"{word}  ", f"bold {style}"), one_line(end.reason) or meaning)
    lines = [head, line((_as_many_as_fit(_facts(state, end), width), MUTED))]
    if not session.deciding:
        lines.append(line(_where(state, end)))
    first = [*_decisions(state, end), *_other_edits(session)] if session.deciding else []
    keys = _fitting(first, _next_steps(session), width)
    return [*lines, keys] if keys is not None else lines


def _as_many_as_fit(facts: list[str], width: int) -> str:
    """Those that fit whole, from the first on."""
    while len(facts) > 1 and cell_len(" · ".join(facts)) > width:
        facts = facts[:-1]
    return " · ".join(facts)


def _facts(state: RunState, end: RunFinished) -> list[str]:
    """What can be counted of a run, first what matters most."""
    facts = [_checks(end.tests_before, end.tests_after)]
    planned = {name for entry in state.steps.values() if entry.step.kind == "function_implement"
               for name in entry.step.target_symbols}  # fmt: skip
    written = {name for name, function in state.functions.items() if function.status == "done"}
    wanted = planned | set(state.functions)
    if wanted:
        facts.append(f"{max(len(written), end.functions)} of {plural(len(wanted), 'function')} written")
    if state.includes:
        facts.append(f"{plural(len(state.includes), 'include')} added")
    if end.stubs_left:
        facts.append(f"{plural(end.stubs_left, 'stub')} left")
    calls = max(end.calls, sum(call.done and not call.answer.cached for call in state.calls))
    reused = max(end.cached_calls, sum(call.answer.cached for call in state.calls))
    seconds = max(end.seconds, state.seconds)
    facts.append(f"{plural(calls, 'call')}{f' ({reused} reused)' if reused else ''} in {duration(seconds)}")
    if state.tokens_in:
        facts.append(f"{short_count(state.tokens_in)} tokens in, {short_count(state.tokens_out)} out")
    return [fact for fact in facts if fact]


def _checks(before: CheckResult | None, now: CheckResult | None) -> str:
    if now is None:
        return ""
    if now.passed is None or not (now.passed or now.failed):
        if before is not None and before.ok and now.ok:
            return "the checks pass, as before"
        return f"the checks {'pass' if now.ok else 'fail'} now"
    old = f"{before.passed} → " if before is not None and before.passed is not None else ""
    failing = f", {now.failed} still fail" if now.failed else ""
    return f"tests passing: {old}{now.passed}{failing}"


Keys = list[tuple[str, tuple[str, ...]]]
"""(Key, what it does: the longest words first)."""


def _decisions(state: RunState, end: RunFinished) -> Keys:
    branch = one_line(end.branch or state.started.branch) or "its branch"
    return [
        ("a", ("apply it to your files", "apply")),
        ("w", (f"keep the work on {branch}", f"keep {branch}", "keep its branch", "keep")),
        ("d", ("discard it", "discard")),
    ]


def _other_edits(session: RunSession) -> Keys:
    if not session.may_pick or session.state.repair is None:
        return []
    count = len(session.state.repair.candidates)
    return [("e", (f"look at all {count} edits that pass", f"all {count} edits", "edits"))]


def _next_steps(session: RunSession) -> Keys:
    keys: Keys = []
    if may_undo(session):
        keys.append(("U", ("undo: take the change out of your files", "undo the apply", "undo")))
    if may_retry(session):
        keys.append(("R", _again(session)))
        keys.append(("m", ("choose another model", "another model", "model")))
    if session.deciding or may_retry(session):
        pane = BY_NAME[explaining_pane(session.state)]
        keys.append((key_of(pane.name), (pane.look, pane.title)))
    return keys


def _again(session: RunSession) -> tuple[str, ...]:
    """What going on, or trying again, would do."""
    if not session.resumable:
        return ("try again; the verdicts are reused", "try again") if session.state.calls else ("try again",)
    end = session.state.finished
    if end is None or end.status == "stopped":
        return "go on where it stopped", "go on"
    failed = sum(function.status == "failed" for function in session.state.functions.values())
    what = f"the {'function' if failed == 1 else plural(failed, 'function')} that failed" if failed else "what fails"
    return f"go on with {what}", "go on"


def _fitting(first: Keys, rest: Keys, width: int) -> Content | None:
    """All keys in words that fit; nothing of this may be out of sight."""
    keys = first + rest
    if not keys:
        return None
    for level in range(4):
        row = Content("  ").join(
            [line((key, STRONG), f" {words[min(level, len(words) - 1)]}") for key, words in keys]
        )
        if row.cell_length <= width:
            return row
    return fit(row, width)


def _in_git(repo: str) -> bool:
    """Whether the folder lies in a git repository; one that is not on this machine is taken to."""
    place = Path(repo)
    return not place.is_dir() or any((above / ".git").exists() for above in (place, *place.parents))


def _where(state: RunState, end: RunFinished) -> str:
    """Where the work is now."""
    branch = one_line(end.branch or state.started.branch)
    on_branch = f"git merge {branch} takes the work."
    if state.diff_choice == "undone":
        return f"The change was undone: your files are as they were. {on_branch if branch else ''}".rstrip()
    if end.applied or state.diff_choice == "applied":
        look = ": git diff shows it" if _in_git(state.repo) else ""
        return f"The change is in your files{look}."
    if state.diff_choice == "discarded":
        return "The work was discarded; your files are unchanged."
    if state.diff is None or not state.diff.diff.strip():
        return "The run changed nothing; your files are unchanged."
    if branch and not _in_git(state.repo):
        return f"Your files are unchanged. The changed copy is in {one_line(state.started.worktree)}."
    return f"Your tree is unchanged. {on_branch if branch else ''}".rstrip()
