"""What was out of the ordinary, in one line each: for the strip under the tabs and as the heading of its own pane."""

from __future__ import annotations

import re

from textual.content import Content

from agent.events import CallFinished
from agent.stages import stage_of
from agent.state.records import Adjustment, CompileIncident, Incident, RepairState, errors_of
from agent.values import Diagnostic
from screens.actions import PANES
from screens.text import BAD, GOOD, MUTED, STRONG, VERDICT_WORDS, WARN, line, one_line, plural

_NAME = re.compile(r"'([^']+)'|‘([^’]+)’|`([^`]+)`")


def pane_of(incident: Incident) -> str:
    """The pane that tells the whole of it."""
    if isinstance(incident, CompileIncident):
        return "compile"
    if isinstance(incident, Adjustment):
        return "adjust"
    if isinstance(incident, RepairState):
        return "repair"
    pane = stage_of(incident.stage).pane
    return pane if pane in PANES else "cascade"


def headline(incident: Incident) -> Content:
    """Such as ``✗ memset undeclared → <string.h> → ✓ recompiled 2→0``."""
    if isinstance(incident, CompileIncident):
        return _of_compile(incident)
    if isinstance(incident, Adjustment):
        return _of_adjustment(incident)
    if isinstance(incident, RepairState):
        return _of_repair(incident)
    return _of_overruled(incident)


def _of_compile(incident: CompileIncident) -> Content:
    arrow = (" → ", MUTED)
    parts: list[tuple[str, str] | str] = [("✗ ", f"bold {BAD}"), cause(incident)]
    kept = [include for include in incident.includes if include.kept]
    if kept:
        parts += [arrow, (" ".join(one_line(include.spelling).removeprefix("#include ") for include in kept), STRONG)]
    elif incident.classified:
        parts += [arrow, incident.classified[-1].category.replace("_", " ")]
    if incident.proofs:
        before, after = errors_of(incident.failed), errors_of(incident.proofs[-1])
        glyph, style = ("✓", GOOD) if incident.proofs[-1].ok else ("✗", BAD)
        word = "relinked" if incident.failed.link else "recompiled"
        parts += [arrow, (f"{glyph} {word} {before}→{0 if incident.proofs[-1].ok else after}", style)]
    elif incident.recovery is not None:
        glyph, style = ("✓", GOOD) if incident.recovery.ok else ("✗", BAD)
        parts += [arrow, (f"{glyph} {one_line(incident.recovery.action)}", style)]
    return line(*parts)


def cause(incident: CompileIncident) -> str:
    """The first error, in a few words."""
    errors = [one for one in incident.failed.diagnostics if one.severity in ("error", "fatal")]
    first = next(iter(errors or incident.failed.diagnostics), None)
    if first is None:
        return f"{one_line(incident.failed.file)} does not {'link' if incident.failed.link else 'compile'}"
    return _shortly(first)


def _shortly(diagnostic: Diagnostic) -> str:
    message = one_line(diagnostic.message)
    named = _NAME.search(message)
    name = next((group for group in named.groups() if group), "") if named else ""
    if name and re.search(r"undeclared|implicit declaration|unknown type name", message):
        return f"{name} undeclared"
    if name and "undefined reference" in message:
        return f"{name} undefined"
    return message


def _of_adjustment(adjustment: Adjustment) -> Content:
    failures = adjustment.started.failures
    what = one_line(failures[0]) if failures else "a step failed"
    more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
    parts: list[tuple[str, str] | str] = [("✗ ", f"bold {BAD}"), what[:60], (more, MUTED), (" → ", MUTED)]
    if adjustment.adjusted is None:
        return line(*parts, ("looking for the cause", WARN))
    changes = adjustment.adjusted.changes
    changed = plural(len(changes), "change") if changes else "no change"
    return line(*parts, (f"plan adjusted, {changed}", STRONG))


def _of_repair(repair: RepairState) -> Content:
    checks, passing = repair.started.failing, repair.counts.passing
    failing = one_line(checks[0]).partition(" ")[0] if checks else "the checks"
    more = f" and {len(checks) - 1} more" if len(checks) > 1 else ""
    parts: list[tuple[str, str] | str] = [("✗ ", f"bold {BAD}"), f"{failing} fails", (more, MUTED), (" → ", MUTED)]
    parts.append(f"{plural(repair.tried, 'edit')} tried" if repair.tried else plural(len(repair.suspects), "suspect"))
    if repair.mended is not None:
        parts += [(" → ", MUTED), ("✓ mended", GOOD) if repair.mended else ("✗ not mended", BAD)]
    elif passing:
        parts += [(" → ", MUTED), (f"{plural(passing, 'edit')} pass", STRONG)]
    return line(*parts)


def _of_overruled(overruled: CallFinished) -> Content:
    said, model = VERDICT_WORDS[bool(overruled.verdict)], VERDICT_WORDS[not overruled.verdict]
    question = stage_of(overruled.stage).short or overruled.stage
    return line(("✎ ", f"bold {WARN}"), f"{question} {one_line(overruled.item)} ", (f"{model} → {said}", STRONG),
                (", by you", MUTED))  # fmt: skip
