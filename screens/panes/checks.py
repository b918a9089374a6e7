"""The checks: what passed before the first change, what passes now, and the end of the output."""

from __future__ import annotations

from textual.content import Content

from agent.events import ChecksRun, ChecksStarted
from agent.state.run_state import RunState
from agent.values import CheckResult
from screens.panes.base import Pane
from screens.text import BAD, GOOD, LABEL, MUTED, STRONG, WARN, block, line, one_line, plural

_TAIL = 60
_NAMES = 40


class ChecksPane(Pane):
    """Baseline against now."""

    name, title, short = "checks", "Checks", "Chk"
    about = "Your tests, before the first change and now."
    look = "look at the failing checks"
    wishes = {ChecksStarted: 1, ChecksRun: 1}
    empty = "The checks have not run yet. A baseline is taken before the first change."

    def build(self, state: RunState, width: int) -> list[Content]:
        """Two result lines, what changed between them, the output's tail."""
        lines: list[Content] = []
        if state.checks_running:
            lines += [line(("▸ running  ", WARN), one_line(state.checks_running)), Content("")]
        if state.baseline is None:
            return lines or [Content.styled(self.empty, MUTED)]
        lines.append(line(("$ ", MUTED), one_line(state.baseline.command)))
        lines.append(_result("before", state.baseline))
        worse: tuple[str, ...] = ()
        if state.measured is not None and state.checks is not None:
            lines.append(_result("now", state.checks))
            worse = state.measured.newly_failing
            lines += _names("newly passing", "✓", GOOD, state.measured.newly_passing)
            lines += _names("newly failing", "✗", BAD, worse)
        latest = state.checks or state.baseline
        lines += _names("failing", "✗", BAD, tuple(n for n in latest.failing if n not in worse))
        if latest.output.strip():
            rows = block(latest.output.rstrip("\n"), indent=1)
            lines += [Content(""), line(("output", LABEL), (f"  the last {min(len(rows), _TAIL)} lines", MUTED))]
            lines += rows[-_TAIL:]
        return lines


def _result(name: str, result: CheckResult) -> Content:
    glyph, style, word = ("✓", GOOD, "pass") if result.ok else ("✗", BAD, "fail")
    counts = []
    told = result.ok or result.passed or result.failed  # a build that broke counts 0 passed, and says nothing by it
    if result.passed is not None and told:
        counts.append(f"{result.passed} passed")
    if result.failed is not None and told:
        counts.append(f"{result.failed} failed")
    facts = [*counts, f"{result.seconds:.1f} s", f"exit code {result.exit_code}"]
    if result.timed_out:
        facts.append("timed out")
    return line((name.ljust(8), STRONG), (f"{glyph} {word}", f"bold {style}"), (f"  {' · '.join(facts)}", MUTED))


def _names(title: str, glyph: str, style: str, names: tuple[str, ...]) -> list[Content]:
    if not names:
        return []
    lines = [Content(""), line((title, LABEL), (f"  {plural(len(names), 'test')}", MUTED))]
    lines += [line((f"  {glyph} ", style), one_line(name)) for name in names[:_NAMES]]
    if len(names) > _NAMES:
        lines.append(line((f"  … {len(names) - _NAMES} more", MUTED)))
    return lines
