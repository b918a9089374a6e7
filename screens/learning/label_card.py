"""One call to be labelled: the question with its item marked, what the model said (unless that is hidden), the labels."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from agent.audit.reader import CallTexts
from agent.labels.book import LabelRow
from agent.labels.items import Item
from agent.labels.queue import uncertainty
from screens.learning.item_source import ItemSource, excerpt
from screens.panes.call_row import item_cells
from screens.text import (
    HIGHLIGHT,
    LABEL,
    MUTED,
    WARN,
    block,
    clean,
    fit,
    line,
    local_time,
    one_line,
    probability,
    stage_short,
    verdict_mark,
)

_NARROW = 36
_SOURCE_WORDS = {"person": "you", "overrule": "overruled in the run", "outcome": "what the applied diff changed"}


def queue_heading(width: int) -> Content:
    """The names above the columns of the queue."""
    narrow = width < _NARROW
    return Content.styled("  label   " + ("" if narrow else "question   ") + "item", MUTED)


def queue_row(item: Item, width: int, blind: bool) -> Content:
    """One row of the queue: the label, the question, the item, what the model said."""
    label = Content(" " * 8)
    if item.label is not None and not (blind and item.source != "person"):
        text, style = verdict_mark(item.label)
        label = Content.styled(f"{text}{'' if item.own else ' ='}".ljust(8), style)
    stage = "" if width < _NARROW else stage_short(item.stage).ljust(10) + " "
    said = "" if blind else _said(item)
    room = max(4, width - 2 - 8 - len(stage) - len(said) - 2)
    name = Content.assemble(*item_cells(one_line(item.item), room))
    return Content("  ") + label + Content.styled(stage, MUTED) + name + Content.styled(f" {said}", MUTED)


def _said(item: Item) -> str:
    if item.model_verdict is None:
        return "?"
    return f"{'yes' if item.model_verdict else 'no'} {probability(item.p_yes)}".strip().rjust(7)


def label_card(
    item: Item, texts: CallTexts | None, history: list[LabelRow], blind: bool, twins: list[Item], note: str = "",
    meaning: Iterable[tuple[str, str]] = (), width: int = 80, source: ItemSource | None = None,
) -> list[Content]:  # fmt: skip
    """The lines of the card. ``twins`` are other calls with the same prompt; ``note`` waits for the next label;
    ``meaning`` is what each answer says here, from :func:`meanings`, on one line of ``width`` cells; ``source`` is the
    item as it stands in the repository now."""
    lines = [] if texts is None else block(texts.question.strip("\n"), HIGHLIGHT)  # first: it is what is judged
    if texts is None or one_line(item.item).rpartition(":")[2] not in texts.question:
        lines.insert(0, line((one_line(item.item), "bold")))
    lines += [Content(""), *_label_lines(item, note, blind)]
    if blind:
        lines.append(Content.styled("the model's answer is hidden until you have said yours", MUTED))
    else:
        lines += _model_lines(item, texts)
    said = " · ".join(f"{word}: {one_line(text)}" for word, text in meaning)
    if said:
        lines.append(fit(Content.styled(said, f"dim {MUTED}"), width))
    rows = excerpt(source, texts.question if texts is not None else "") if source is not None else []
    if rows:
        lines += [Content(""), _section("its source now, which the model did not see"), *rows]
    if texts is not None:
        if texts.task_context.strip():
            shared = block(texts.task_context.strip("\n"), MUTED, indent=1)
            lines += [Content(""), _section("task context, shared by every item"), *shared]
        lines += [Content(""), _section("system"), *block(texts.system.strip("\n"), MUTED, indent=1)]
    if twins and not blind:
        lines += [Content(""), _section("the same question elsewhere"), *(_twin(twin) for twin in twins[:20])]
    if history and not (blind and item.source != "person"):
        lines += [Content(""), _section("labels so far"), *(_history(row) for row in history)]
    return lines


def meanings(guideline: str) -> list[tuple[str, str]]:
    """("yes" or "no", what it means) from the lines of a guideline that say so."""
    found = []
    for row in guideline.splitlines():
        word, colon, text = row.strip().lstrip("-*# ").partition(":")
        if colon and word.strip("*_ ").lower() in ("yes", "no") and text.strip():
            found.append((word.strip("*_ ").lower(), text.strip("*_ ")))
    return found


def _section(name: str) -> Content:
    return Content.styled(f"─ {name} ", LABEL)


def _label_lines(item: Item, note: str, blind: bool) -> list[Content]:
    waiting = [line((f"comment for your label: {one_line(note)}", MUTED))] if note else []
    if item.label is None or (blind and item.source != "person"):  # an overrule tells what the model said
        return [line(("no label of yours yet" if blind else "no label yet", "bold")), *waiting]
    text, style = verdict_mark(item.label)
    whose = _SOURCE_WORDS.get(str(item.source), str(item.source))
    if not item.own:
        whose += ", on another call with the same question"
    said = f"  “{one_line(item.note)}”" if item.note else ""
    lines = [line(("right answer ", LABEL), (text, f"bold {style}"), (f"  {whose}{said}", MUTED))]
    if item.contested:
        lines.append(line(("calls with this question carry different labels", WARN)))
    return [*lines, *waiting]


def _model_lines(item: Item, texts: CallTexts | None) -> list[Content]:
    raw = (texts.raw if texts is not None else item.raw) or ""
    shown = f"“{one_line(raw)}”" if raw.strip() else "(empty)"
    said = "unreadable" if item.model_verdict is None else ("yes" if item.model_verdict else "no")
    lines = [line(("model said ", LABEL), (said, "bold"), (f"  {shown}", MUTED), (f"  {clean(item.model)}", MUTED))]
    how = one_line(texts.explanation) if texts is not None and texts.explanation else ""
    if item.verdict is not None and item.verdict is not item.model_verdict:
        how = f"used: {'yes' if item.verdict else 'no'}. {how}"
    if how:
        lines.append(line((how, MUTED)))
    return [*lines, line((f"ordered by: {uncertainty(item)[1]}", MUTED))]


def _twin(twin: Item) -> Content:
    said = "?" if twin.model_verdict is None else ("yes" if twin.model_verdict else "no")
    label = "" if not twin.own or twin.label is None else f"  labelled {'yes' if twin.label else 'no'}"
    where = f"{clean(twin.model)}  run {twin.run_id}"
    return line(f" call {twin.call_id}  {said} {probability(twin.p_yes)}  ", (where, MUTED), (label, "bold"))


def _history(row: LabelRow) -> Content:
    word = "taken back" if row.label is None else ("yes" if row.label else "no")
    note = f"  “{one_line(row.note)}”" if row.note else ""
    version = f"  guidelines {row.guideline}" if row.guideline else ""
    return line(f" {local_time(row.created_at, seconds=True)}  {word}", (f"  {row.source}{version}{note}", MUTED))
