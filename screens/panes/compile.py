"""Compiling as incidents: for each failed compile its cause, how it was classified, the fix, the proof and the cost."""

from __future__ import annotations

import re

from textual.content import Content

from agent.events import CompileFinished, ErrorClassified, IncludeAdded, RecoveryDone
from agent.state.records import CompileIncident, errors_of
from agent.state.run_state import RunState
from agent.values import Diagnostic
from screens.lines import Target
from screens.panes.base import Pane
from screens.text import ACCENT, BAD, GOOD, LABEL, MUTED, STRONG, WARN, block, found_by, line, one_line, plural

_NAME = re.compile(r"['‘`]([^'’`]+)['’`]")
"""A name as compilers quote it; the GNU linker opens with one sign and closes with another."""
_REMARK = "each undeclared identifier is reported only once"
"""What gcc adds to the first error of a name; it says nothing of the error."""
_SHOWN = 60
"""Incidents shown, the newest; the log has them all."""
_OPEN = 3
"""Incidents of which everything is shown at once; of the older ones the heading, until they are opened."""
_SEVERITY = {"error": ("error", BAD), "fatal": ("fatal", BAD), "warning": ("warning", WARN), "note": ("note", MUTED)}
_HOW = {"deterministic": "fact", "model": "asked", "recompile": "tried", "default": "default"}


def headline(incident: CompileIncident) -> Content:
    """Such as ``✗ memset undeclared → <string.h> → ✓ recompiled 2→0``."""
    arrow = (" → ", MUTED)
    parts: list[tuple[str, str] | str] = [("✗ ", f"bold {BAD}"), _cause_of(incident)]
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


def _cause_of(incident: CompileIncident) -> str:
    """The first error, in a few words."""
    errors = [one for one in incident.failed.diagnostics if one.severity in ("error", "fatal")]
    first = next(iter(errors or incident.failed.diagnostics), None)
    if first is None:
        return f"{one_line(incident.failed.file)} does not {'link' if incident.failed.link else 'compile'}"
    return _shortly(first)


def _shortly(diagnostic: Diagnostic) -> str:
    message = one_line(diagnostic.message)
    named = _NAME.search(message)
    name = named.group(1) if named else ""
    if name and re.search(r"undeclared|implicit declaration|unknown type name", message):
        return f"{name} undeclared"
    if name and "undefined reference" in message:
        return f"{name} undefined"
    return message


class CompilePane(Pane):
    """The newest incident first, whole; older ones as a line that opens."""

    name, title, short = "compile", "Compile", "Comp"
    about = "What the compiler said, the questions asked on the way to a category, what was fixed."
    look = "look at the compile error"
    wishes = {ErrorClassified: 2, IncludeAdded: 2, RecoveryDone: 2, CompileFinished: lambda event: None if event.ok else 2}
    incident = CompileIncident
    headline = staticmethod(headline)
    empty = "Nothing has been compiled yet. Errors, the questions asked about them and the fixes appear here."

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._headings: dict[int, tuple[CompileFinished, tuple[object, ...], Content]] = {}

    def build(self, state: RunState, width: int) -> list[Content]:
        """A line that counts, then the incidents."""
        if not state.compiles:
            return [Content.styled(self.empty, MUTED)]
        lines = [_summary(state), Content("")]
        incidents = list(enumerate(state.compile_incidents))[-_SHOWN:]
        for number, incident in reversed(incidents):
            whole = (number >= len(state.compile_incidents) - _OPEN) != (("fold", number) in self.toggled)
            self.leads(len(lines), ("fold", number))
            lines.append(self._heading(number, incident, whole))
            if whole:
                lines += self._whole(incident, width, len(lines))
        if not incidents and any(isinstance(event, CompileFinished) for event in state.compiles):
            lines.append(line(("✓ ", GOOD), "Every compile was clean so far."))
        told = {id(entry) for incident in state.compile_incidents for entry in incident.includes}
        later = [event for event in state.compiles if isinstance(event, IncludeAdded) and id(event) not in told]
        return [*lines, *(row for entry in later[-_SHOWN:] for row in _include(entry))]

    def _heading(self, number: int, incident: CompileIncident, whole: bool) -> Content:
        """The line of an incident, made again only when it has come further: each batch of events builds all of them."""
        come = (whole, len(incident.classified), len(incident.includes), len(incident.proofs), incident.recovery is None)
        known = self._headings.get(number)
        if known is None or known[0] is not incident.failed or known[1] != come:
            made = line(("▾ " if whole else "▸ ", MUTED)) + headline(incident)
            known = self._headings[number] = (incident.failed, come, made)
        return known[2]

    def _whole(self, incident: CompileIncident, width: int, at: int) -> list[Content]:
        lines = _cause(incident, width)
        for entry in incident.classified:
            lines += self._classified(entry, at + len(lines), told=any(include.kept for include in incident.includes))
        lines += [row for entry in incident.includes for row in _include(entry)]
        if incident.proofs:
            lines.append(_proof(incident))
        if incident.recovery is not None:
            lines.append(_cost(incident.recovery))
        return [*lines, Content("")]

    def _classified(self, entry: ErrorClassified, at: int, told: bool) -> list[Content]:
        """The category and the rungs to it; ``told`` where the fix below says what the context would."""
        category = entry.category.replace("_", " ")
        how = f"  by {found_by(one_line(entry.how))}"
        lines = [line(("  why    ", LABEL), (category, f"bold {WARN}"), (how, MUTED))]
        for number, rung in enumerate(entry.path):
            branch = "└" if number == len(entry.path) - 1 else "├"
            how, style = _HOW[rung.how], ACCENT if rung.how == "model" else MUTED
            if rung.call_id:
                target: Target = ("call", rung.call_id)
                self.leads(at + len(lines), target)
            lines.append(
                line(
                    (f"         {branch} ", MUTED), one_line(rung.question), "  ", (one_line(rung.answer), STRONG),
                    (f"  {how}{f' in call {rung.call_id}' if rung.call_id else ''}", style),
                )
            )  # fmt: skip
        if entry.context and not told:
            lines += block(entry.context, MUTED, indent=11)[:6]
        return lines


def _summary(state: RunState) -> Content:
    compiles = [event for event in state.compiles if isinstance(event, CompileFinished)]
    good = sum(event.ok for event in compiles)
    used = [event.attempt_consumed for event in state.compiles if isinstance(event, RecoveryDone)]
    spent, free = used.count(True), used.count(False)
    text = f"{plural(len(compiles), 'compile')}, {good} clean · {plural(len(state.includes), 'include')} inserted"
    if spent or free:
        text += f" · tries: {spent} used, {free} saved"
    return Content.styled(text, MUTED)


def _cause(incident: CompileIncident, width: int) -> list[Content]:
    entry = incident.failed
    what = one_line(entry.file) + (f" ({one_line(entry.symbol)})" if entry.symbol else "")
    verb = "does not link" if entry.link else "does not compile"
    took = f"  {entry.ms:.0f} ms" if entry.ms else ""
    lines = [line(("  cause  ", LABEL), (what, STRONG), f" {verb}", (took, MUTED))]
    found = _once(entry.diagnostics)
    wrong = [one for one in found if one.severity in ("error", "fatal")]
    for diagnostic in wrong or found:
        lines += _diagnostic(diagnostic, entry.file, width)
    if wrong and len(found) > len(wrong):
        lines.append(line((f"            and {plural(len(found) - len(wrong), 'warning')}", MUTED)))
    return lines


def _once(diagnostics: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    """Without the warnings that repeat an error of the same place."""
    wrong = {(one.file, one.line, one.column) for one in diagnostics if one.severity in ("error", "fatal")}
    return [one for one in diagnostics if one.severity != "warning" or (one.file, one.line, one.column) not in wrong]


def _diagnostic(diagnostic: Diagnostic, file: str, width: int) -> list[Content]:
    word, style = _SEVERITY[diagnostic.severity]
    place = f"{diagnostic.line}:{diagnostic.column}" if diagnostic.column else str(diagnostic.line or "")
    if diagnostic.file and diagnostic.file != file:
        place = f"{one_line(diagnostic.file)}:{place}"
    option = f"  -W{diagnostic.option}" if diagnostic.option and width >= 80 else ""
    lines = [line((f"    {place:>7} ", MUTED), (word, style), f"  {one_line(diagnostic.message)}", (option, MUTED))]
    if diagnostic.source_line.strip():
        lines.append(line(("            │ ", MUTED), diagnostic.source_line.rstrip()))
    notes = [one_line(note) for note in diagnostic.notes if not note.startswith(_REMARK)]
    lines += [line(("            note  ", MUTED), (note, MUTED)) for note in notes]
    said = " ".join((diagnostic.message, *notes))
    if any(f"<{header}>" not in said for header in diagnostic.includes):
        lines.append(line(("            proposed ", MUTED), ", ".join(f"<{h}>" for h in diagnostic.includes)))
    return lines


def _include(entry: IncludeAdded) -> list[Content]:
    place = f"{one_line(entry.file)}:{entry.line}" if entry.line else one_line(entry.file)
    head = line(("  fix    ", LABEL), place)
    if entry.kept:
        return [head, line((f"         + {one_line(entry.spelling)}", GOOD))]
    why = "taken out again: it did not help" if entry.line else "taken out with the version that needed it"
    return [head, line((f"         - {one_line(entry.spelling)}", BAD), (f"  {why}", MUTED))]


def _proof(incident: CompileIncident) -> Content:
    before, last = errors_of(incident.failed), incident.proofs[-1]
    after = 0 if last.ok else errors_of(last)
    glyph, style = ("✓", GOOD) if last.ok else ("✗", BAD)
    said = f"{glyph} {'relinked' if last.link else 'recompiled'}: {plural(before, 'error')} before, {after or 'none'} now"
    took = f"  {last.ms:.0f} ms" if last.ms else ""
    return line(("  proof  ", LABEL), (said, style), (took, MUTED))


def _cost(entry: RecoveryDone) -> Content:
    glyph, style = ("✓", GOOD) if entry.ok else ("✗", BAD)
    cost = "one try used" if entry.attempt_consumed else "no try used"
    return line(
        ("  result ", LABEL), (f"{glyph} ", style), one_line(entry.action),
        (f" · {cost}", WARN if entry.attempt_consumed else MUTED),
    )  # fmt: skip
