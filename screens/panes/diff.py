"""The work as a unified diff: what would be changed in the person's tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest

from textual.content import Content

from agent.events import DiffReady
from agent.state.run_state import RunState
from agent.terminal_text import revealed
from screens.code import code_lines
from screens.panes.base import Pane
from screens.text import BAD, GOOD, LABEL, MUTED, STRONG, WARN, clean, fit, line, one_line, plural

_CHOICES = {"applied": "applied to your files", "kept": "kept on its branch", "discarded": "discarded",
            "undone": "undone"}  # fmt: skip


class DiffPane(Pane):
    """Files first, then the diff; long lines scroll sideways."""

    name, title, short = "diff", "Diff", "Diff"
    about = "What would change in your files. a applies it, w keeps it on its branch, d discards it."
    look = "look at the diff"
    wishes = {DiffReady: lambda event: 3 if event.diff.strip() else None}
    fold = False
    DEFAULT_CSS = "DiffPane { overflow-x: auto; }"
    empty = "There is no diff yet. Your files stay as they are until you apply it."

    def build(self, state: RunState, width: int) -> list[Content]:
        """Counts, files, hunks."""
        ready = state.diff
        if ready is None:
            return self._so_far(state, width)
        head = line(
            (plural(len(ready.files), "file"), STRONG), "  ", (f"+{ready.added}", GOOD), " ", (f"-{ready.removed}", BAD),
            (f"  {_CHOICES.get(state.diff_choice, 'not applied yet')}", LABEL),
        )  # fmt: skip
        branch = line((f"  branch {one_line(ready.branch)}" if ready.branch else "", MUTED))
        if head.cell_length + branch.cell_length <= width:
            lines = [head + branch]
        else:  # of a diff the code scrolls sideways, of its heading nothing may be out of sight
            lines = [fit(head, width), fit(branch, width)]
        if ready.protected:
            names = ", ".join(map(one_line, ready.protected))
            lines.append(fit(line((f"! changes what decides whether tests pass: {names}", WARN)), width))
        counts = file_counts(ready.diff)
        for path in ready.files if len(ready.files) > 1 else ():
            added, removed = counts.get(path, (0, 0))
            lines.append(line((f"  +{added:<4}", GOOD), (f"-{removed:<4}", BAD), one_line(path)))
        lines.append(Content(""))
        if width >= SIDE_BY_SIDE:
            return lines + side_by_side(ready.diff, width)
        return lines + diff_lines(ready.diff)

    @property
    def plain(self) -> str:
        """For the clipboard the diff itself, as ``git apply`` takes it; what drives a terminal is left out of it."""
        return clean(self.state.diff.diff, tab=None) if self.state.diff is not None else super().plain

    def _so_far(self, state: RunState, width: int) -> list[Content]:
        """Before there is a diff: the steps that are committed already."""
        done = [
            (step.finished.commit, step.step) for step in state.steps.values()
            if step.status == "done" and step.finished is not None and step.finished.commit
        ]  # fmt: skip
        if not done:
            return [Content.styled(self.empty, MUTED)]
        said = f"{plural(len(done), 'step')} {'is' if len(done) == 1 else 'are'} committed on "
        head = line((said, STRONG), (one_line(state.started.branch) or "the run's branch", LABEL))
        when = "The diff is shown at the end. " if state.finished is None else ""
        note = f"{when}Your files stay as they are until you apply it."
        rows = [line((f"  {commit[:8]}  ", MUTED), one_line(step.description)) for commit, step in done]
        return [*head.wrap(max(1, width)), *Content.styled(note, MUTED).wrap(max(1, width)), Content(""), *rows]


def file_counts(diff: str) -> dict[str, tuple[int, int]]:
    """Added and removed lines by path."""
    counts: dict[str, tuple[int, int]] = {}
    path, in_hunk = "", False
    for row in diff.split("\n"):
        if row.startswith("diff --git ") or (row.startswith("--- ") and not in_hunk):
            in_hunk = False
        elif row.startswith("+++ ") and not in_hunk:
            path = row[4:].split("\t")[0].strip().removeprefix("b/")
            counts.setdefault(path, (0, 0))
        elif row.startswith("@@"):
            in_hunk = True
        elif in_hunk and row[:1] in ("+", "-"):
            added, removed = counts.get(path, (0, 0))
            counts[path] = (added + (row[0] == "+"), removed + (row[0] == "-"))
    return counts


def _headed(hunk: _Hunk, apart: bool) -> list[Content]:
    """What stands above a hunk: of the first of a file its path, and what git says of the file besides, then the place."""
    lines: list[Content] = []
    if hunk.heading:
        remarks = [row for row in hunk.heading if not row.startswith(_NAMING)]
        lines += [Content("")] if apart else []
        lines.append(Content.styled(_path_in(hunk.heading), f"bold {LABEL}"))
        lines += [Content.styled(row, MUTED) for row in remarks]
    return [*lines, hunk.place.stylize(LABEL)] if hunk.place is not None else lines


_NAMING = ("diff --git ", "index ", "--- ", "+++ ")
"""Beginnings of the lines of a file's heading that only name it."""


def _path_in(heading: list[str]) -> str:
    """The path that a file's heading names: the new one, of a file that is deleted the old one."""
    for row in (*heading[::-1], ""):
        path = row[4:].split("\t")[0].strip()
        if row.startswith(("+++ ", "--- ")) and path != "/dev/null":
            return path[2:] if path.startswith(("a/", "b/")) else path
    return heading[0].rpartition(" b/")[2]


def diff_lines(diff: str) -> list[Content]:
    """A unified diff under the paths of its files, with its signs kept; sign and ground tell what was added or taken out,
    colours the syntax."""
    lines: list[Content] = []
    for hunk in _hunks(diff):
        lines += _headed(hunk, bool(lines))
        for sign, row in zip(hunk.signs, hunk.coloured(), strict=True):
            lines.append(_signed(sign, row))
    return lines


SIDE_BY_SIDE = 120
"""Cells from which the two sides of a diff stand beside each other."""


def side_by_side(diff: str, width: int) -> list[Content]:
    """The same with the old text on the left and the new on the right, each in half of ``width`` cells."""
    half = (width - 3) // 2
    lines: list[Content] = []
    for hunk in _hunks(diff):
        lines += [fit(row, width) for row in _headed(hunk, bool(lines))]
        rows = hunk.coloured()
        left: list[Content] = []
        right: list[Content] = []
        for sign, row in [*zip(hunk.signs, rows, strict=True), (" ", None)]:
            if sign == "-" and row is not None:
                left.append(_signed("-", row))
            elif sign == "+" and row is not None:
                right.append(_signed("+", row))
            else:
                for old, new in zip_longest(left, right, fillvalue=Content("")):
                    lines.append(_beside(old, new, half))
                left, right = [], []
                if row is not None:
                    lines.append(_beside(_signed(sign, row), _signed(sign, row), half))
    return lines


def _beside(old: Content, new: Content, half: int) -> Content:
    old = fit(old, half)
    return old + line((" " * (half - old.cell_length) + " │ ", MUTED)) + fit(new, half)


@dataclass
class _Hunk:
    """A part of a diff: the file's heading if it is its first, the place, and the rows with their signs apart."""

    path: str = ""
    heading: list[str] = field(default_factory=list)
    place: Content | None = None
    signs: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)

    def coloured(self) -> list[Content]:
        """The rows with their syntax in colours."""
        return code_lines("\n".join(self.rows), self.path) if self.rows else []


def _hunks(diff: str) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    path = ""
    for text in clean(revealed(diff.rstrip("\n"))).split("\n"):
        if text.startswith("diff --git"):
            hunks.append(_Hunk(heading=[text]))
        elif text.startswith("@@"):
            if not hunks or hunks[-1].place is not None:
                hunks.append(_Hunk())
            hunks[-1].place, hunks[-1].path = Content(text), path
        elif hunks and hunks[-1].place is not None:
            hunks[-1].signs.append(text[:1] or " ")
            hunks[-1].rows.append(text[1:])
        else:
            if not hunks:
                hunks.append(_Hunk())
            hunks[-1].heading.append(text)
            if text.startswith("+++ "):
                path = text[4:].split("\t")[0].strip().removeprefix("b/")
    return hunks


def _signed(sign: str, row: Content) -> Content:
    style = {"+": GOOD, "-": BAD, "\\": MUTED}.get(sign, "")
    if sign == "\\":
        return Content.styled(sign + row.plain, MUTED)
    ground = {"+": "on $added-ground", "-": "on $removed-ground"}.get(sign, "")
    shown = Content.styled(sign, style) + row if style else Content(sign) + row
    return shown.stylize_before(ground) if ground else shown
