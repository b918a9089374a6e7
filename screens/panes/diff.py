"""The work as a unified diff: what would be changed in the person's tree."""

from __future__ import annotations

from textual.content import Content

from agent.state.run_state import RunState
from screens.panes.base import Pane
from screens.text import BAD, GOOD, LABEL, MUTED, STRONG, block, fit, line, one_line, plural

_CHOICES = {"applied": "applied to your tree", "kept": "kept on its branch", "discarded": "thrown away",
            "undone": "taken back"}  # fmt: skip


class Diff(Pane):
    """Files first, then the diff; long lines scroll sideways."""

    title = "Diff"
    fold = False
    DEFAULT_CSS = "Diff { overflow-x: auto; }"
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
        counts = file_counts(ready.diff)
        for path in ready.files:
            added, removed = counts.get(path, (0, 0))
            lines.append(line((f"  +{added:<4}", GOOD), (f"-{removed:<4}", BAD), one_line(path)))
        lines.append(Content(""))
        return lines + diff_lines(ready.diff)


    def _so_far(self, state: RunState, width: int) -> list[Content]:
        """Before there is a diff: the steps that are committed already."""
        done = [step for step in state.steps.values() if step.status == "done" and step.commit]
        if not done:
            return [Content.styled(self.empty, MUTED)]
        said = f"{plural(len(done), 'step')} {'is' if len(done) == 1 else 'are'} committed on "
        head = line((said, STRONG), (one_line(state.branch) or "the run's branch", LABEL))
        when = "The diff is shown at the end. " if state.finished is None else ""
        note = f"{when}Your files stay as they are until you apply it."
        rows = [line((f"  {step.commit[:8]}  ", MUTED), one_line(step.step.description)) for step in done]
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


def diff_lines(diff: str) -> list[Content]:
    """A unified diff with its signs kept and its lines coloured."""
    lines: list[Content] = []
    in_hunk = False
    for row in block(diff.rstrip("\n")):
        text = row.plain
        if text.startswith("diff --git"):
            in_hunk = False
            lines += [Content(""), row.stylize(f"bold {LABEL}")] if lines else [row.stylize(f"bold {LABEL}")]
            continue
        in_hunk = in_hunk or text.startswith("@@")
        lines.append(row.stylize(style) if (style := _style(text, in_hunk)) else row)
    return lines


def _style(text: str, in_hunk: bool) -> str:
    if text.startswith("@@"):
        return LABEL
    if not in_hunk:
        return MUTED
    return {"+": GOOD, "-": BAD, "\\": MUTED}.get(text[:1], "")
