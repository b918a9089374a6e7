"""What the compiler said and what was done about it, newest last: diagnostics, the ladder of questions, the include."""

from __future__ import annotations

from textual.content import Content

from agent.state.records import CompileEntry
from agent.state.run_state import RunState
from agent.values import Diagnostic
from screens.panes.base import Pane
from screens.text import ACCENT, BAD, GOOD, LABEL, MUTED, STRONG, WARN, block, line, one_line, plural

_SHOWN = 200
_SEVERITY = {"error": ("error", BAD), "fatal": ("fatal", BAD), "warning": ("warning", WARN), "note": ("note", MUTED)}
_HOW = {"deterministic": "fact", "model": "asked", "recompile": "tried", "default": "default"}


class Compile(Pane):
    """The story of every compile."""

    title = "Compile"
    follows_end = True
    empty = "Nothing was compiled yet. Errors, the questions asked about them and the fixes appear here."

    def build(self, state: RunState, width: int) -> list[Content]:
        """A summary line, then one group an entry."""
        if not state.compiles:
            return [Content.styled(self.empty, MUTED)]
        lines = [_summary(state), Content("")]
        hidden = len(state.compiles) - _SHOWN
        if hidden > 0:
            lines.append(Content.styled(f"… {hidden} earlier entries; the audit log has them all", MUTED))
        for entry in state.compiles[-_SHOWN:]:
            lines += _ENTRIES[entry.kind](entry, width)
        return lines


def _summary(state: RunState) -> Content:
    compiles = [entry for entry in state.compiles if entry.kind == "compile"]
    good = sum(bool(entry.ok) for entry in compiles)
    includes = sum(entry.kind == "include" and bool(entry.ok) for entry in state.compiles)
    spent = sum(entry.attempt_consumed is True for entry in state.compiles)
    free = sum(entry.attempt_consumed is False for entry in state.compiles)
    text = f"{plural(len(compiles), 'compile')}, {good} clean · {plural(includes, 'include')} inserted"
    if spent or free:
        text += f" · attempts: {spent} used, {free} saved"
    return Content.styled(text, MUTED)


def _compiled(entry: CompileEntry, width: int) -> list[Content]:
    glyph, style, word = ("✓", GOOD, "compiles") if entry.ok else ("✗", BAD, "does not compile")
    if entry.link:
        word = "links" if entry.ok else "does not link"
    what = f"{entry.file} " + (f"({entry.symbol}) " if entry.symbol else "")
    took = f"  {entry.ms:.0f} ms" if entry.ms else ""
    lines = [line((f"{glyph} ", style), (one_line(what), STRONG), f" {word}", (took, MUTED))]
    for name, group in _grouped(entry.diagnostics).items():
        if name and name != entry.file:
            lines.append(line((f"  {one_line(name)}", LABEL)))
        for diagnostic in group:
            lines += _diagnostic(diagnostic, width)
    return lines


def _grouped(diagnostics: tuple[Diagnostic, ...]) -> dict[str, list[Diagnostic]]:
    groups: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        groups.setdefault(diagnostic.file, []).append(diagnostic)
    return groups


def _diagnostic(diagnostic: Diagnostic, width: int) -> list[Content]:
    word, style = _SEVERITY[diagnostic.severity]
    place = f"{diagnostic.line}:{diagnostic.column}" if diagnostic.column else str(diagnostic.line or "")
    option = f"  -W{diagnostic.option}" if diagnostic.option and width >= 80 else ""
    lines = [line((f"  {place:>7} ", MUTED), (word, style), f"  {one_line(diagnostic.message)}", (option, MUTED))]
    if diagnostic.source_line.strip():
        lines.append(line(("          │ ", MUTED), diagnostic.source_line.rstrip()))
    lines += [line(("          note  ", MUTED), (one_line(note), MUTED)) for note in diagnostic.notes]
    if diagnostic.includes:
        lines.append(line(("          proposed ", MUTED), ", ".join(f"<{h}>" for h in diagnostic.includes)))
    return lines


def _classified(entry: CompileEntry, width: int) -> list[Content]:
    category = entry.category.replace("_", " ")
    lines = [line("  ", ("why? ", STRONG), (category, f"bold {WARN}"), (f"  ({one_line(entry.how)})", MUTED))]
    for number, rung in enumerate(entry.path):
        branch = "└" if number == len(entry.path) - 1 else "├"
        how, style = _HOW[rung.how], ACCENT if rung.how == "model" else MUTED
        call = f" call {rung.call_id}" if rung.call_id else ""
        lines.append(
            line(
                (f"    {branch} ", MUTED), one_line(rung.question), "  ", (one_line(rung.answer), STRONG),
                (f"  {how}{call}", style),
            )
        )  # fmt: skip
    if entry.text:
        lines += block(entry.text, MUTED, indent=6)[:6]
    return lines


def _include(entry: CompileEntry, width: int) -> list[Content]:
    if not entry.line:  # it was put in, and nothing was tried without it: see ``Trial.take_back``
        why = "  taken out with the version it was put in for"
        return [line("  ", (one_line(entry.file), LABEL)), line((f"  - {one_line(entry.text)}", MUTED), (why, MUTED))]
    place = line("  ", (f"{one_line(entry.file)}:{entry.line}", LABEL), (f"  {one_line(entry.how)}", MUTED))
    if entry.ok:
        return [place, line((f"  + {one_line(entry.text)}", GOOD))]
    return [place, line((f"  - {one_line(entry.text)}", BAD), ("  taken out again: it did not help", MUTED))]


def _recovery(entry: CompileEntry, width: int) -> list[Content]:
    glyph, style = ("✓", GOOD) if entry.ok else ("✗", BAD)
    cost = "an attempt used" if entry.attempt_consumed else "no attempt used"
    text = line((f"  {glyph} ", style), one_line(entry.text), (f"  {cost}", WARN if entry.attempt_consumed else MUTED))
    return [text, Content("")]


_ENTRIES = {"compile": _compiled, "classified": _classified, "include": _include, "recovery": _recovery}
