"""Relabelling: a queue of yes/no calls, one card at a time, labels by single keys."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from agent.audit.items import Item
from agent.audit.log import LogError
from agent.audit.queue import ORDER_WORDS, ORDERS, Filter, Order
from screens import STYLES
from screens.actions import bindings
from screens.export_dialog import ExportDialog
from screens.label_dialogs import CommentDialog
from screens.label_model import QUEUES, LabelSession, parse_filter
from screens.lines import LinesView
from screens.panes.label_card import label_card, queue_heading, queue_row
from screens.panes.rows import RowList
from screens.runner import Services
from screens.text import LABEL, MUTED, WARN, block, line, one_line

_FILTER_HINT = "stage:scope run:ID model:NAME yes no defaulted disputed unlabelled disagrees, or words"


class RelabelScreen(Screen[None]):
    """Labels calls of one repository's log. ``call_id`` opens at that call, ``run_id`` with that run's
    calls, ``wanted`` with a filter."""

    CSS_PATH = STYLES / "learning.tcss"
    BINDINGS = bindings("relabel")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    ACTION_GROUP = "relabel"

    def __init__(
        self, services: Services, *, repo: Path, call_id: int | None = None, run_id: str = "", wanted: Filter | None = None
    ) -> None:
        super().__init__()
        self.services, self.repo = services, repo
        self.call_id, self.run_id, self.wanted = call_id, run_id, wanted
        self.labels: LabelSession | None = None
        self.blind = False
        self.said = ""
        self.queue_key = "1"

    def compose(self) -> ComposeResult:
        """Queues on top, the queue on the left, the card and the guidelines on the right."""
        yield Static("", id="learn-title", markup=False)
        yield Static("", id="queues", markup=False)
        yield Input(id="label-filter", compact=True, placeholder=_FILTER_HINT)
        with Horizontal(id="learn-body"):
            yield RowList(id="queue", empty="No call passes. 6 shows all, / filters.")
            with Vertical(id="learn-right"):
                yield LinesView(id="label-card")
                yield LinesView(id="guidelines")
        yield Static("", id="learn-said", markup=False)
        yield Footer(show_command_palette=True, compact=True)

    async def on_mount(self) -> None:
        """Read the log and show the first card."""
        self.query_one("#label-filter").display = False
        self.query_one("#guidelines").display = False
        self.rows.heading = queue_heading
        self.rows.border_title = Content("Queue")
        self.rows.focus()
        try:
            self.labels = LabelSession(self.repo, self.services.clock)
            await asyncio.to_thread(self.labels.load)
        except LogError as error:
            self.rows.empty = str(error)
            self.rows.refresh()
            return
        self._open_first()

    def on_unmount(self) -> None:
        """Close the log."""
        if self.labels is not None:
            self.labels.close()

    def _open_first(self) -> None:
        assert self.labels is not None
        if self.call_id is not None:
            item = self.labels.find(self.call_id)
            if item is None:
                self.app.notify("That call asked for a text, not for yes or no, so there is nothing to label.",
                                severity="warning", markup=False)  # fmt: skip
            self._show_queue(Filter(run_id=item.run_id) if item else Filter(), "oldest", "", self.call_id)
        elif self.run_id or self.wanted is not None:
            self._show_queue(self.wanted or Filter(run_id=self.run_id), "least_certain", "")
        else:
            self.action_queue("1")

    # -- parts

    @property
    def rows(self) -> RowList:
        """The queue."""
        return self.query_one("#queue", RowList)

    @property
    def card(self) -> LinesView:
        """The card."""
        return self.query_one("#label-card", LinesView)

    @property
    def item(self) -> Item | None:
        """The call in front."""
        return self.labels.item if self.labels is not None else None

    # -- showing

    def _show_queue(self, wanted: Filter, order: Order, key: str, call_id: int | None = None) -> None:
        if self.labels is None:
            return
        self.queue_key = key
        self.labels.show(wanted, order, call_id)
        self._show()
        self.card.scroll_home(animate=False)

    def _show(self) -> None:
        labels = self.labels
        if labels is None or not self.is_attached:
            return
        queue, blind = labels.queue, self.blind
        self.rows.set_rows(len(queue), lambda row, width: queue_row(queue[row], width, blind), labels.place)
        self.rows.border_subtitle = Content(ORDER_WORDS.get(labels.order, ""))
        self.query_one("#learn-title", Static).update(self._title())
        self.query_one("#queues", Static).update(self._queues())
        self.query_one("#learn-said", Static).update(Content(self.said))
        self._show_card()

    def _show_card(self) -> None:
        labels, item = self.labels, self.item
        if labels is None or item is None:
            self.card.border_title = Content("Card")
            self.card.set_lines([Content.styled("Nothing to label in this queue.", MUTED)])
            return
        self.card.border_title = line(f"{item.stage} · {one_line(item.item)}")
        note = labels.notes.get(item.call_id, "")
        lines = label_card(item, labels.texts(item), labels.history(item), self.blind, labels.twins(item), note)
        self.card.set_lines(lines)
        if self.query_one("#guidelines").display:
            self._show_guidelines()

    def _title(self) -> Content:
        assert self.labels is not None
        blind = ("  ◌ blind: answers hidden", WARN) if self.blind else ""
        return line(("Relabel", f"bold {LABEL}"), "  ", (self.labels.progress(), MUTED), blind)

    def _queues(self) -> Content:
        assert self.labels is not None
        parts: list[Any] = []
        for key, (name, _, _) in QUEUES.items():
            style = "bold $text-primary underline" if key == self.queue_key else MUTED
            parts += [(f"{key} {name} {self.labels.counts[key]}", style), "   "]
        wanted = self.labels.filter
        if not self.queue_key:
            fields = (("stage", wanted.stage), ("run", wanted.run_id), ("model", wanted.model))
            chosen = " ".join(f"{name}:{value}" for name, value in fields if value)
            parts.append((f"filter {chosen} {wanted.text}".rstrip(), "bold $text-primary underline"))
        return line(*parts)

    def _show_guidelines(self) -> None:
        labels, item = self.labels, self.item
        view = self.query_one("#guidelines", LinesView)
        if labels is None or item is None:
            return
        text = labels.guideline(item.stage)
        view.border_title = Content(f"Guidelines for {item.stage}, version {text.version}")
        whose = "your text" if text.own else "our text; write your own in"
        place = f".clean_room/guidelines/{item.stage}.md"
        view.set_lines([*block(text.text.strip()), Content(""), line((f"{whose} {place}", MUTED))])

    @on(RowList.Moved, "#queue")
    def _moved(self, event: RowList.Moved) -> None:
        if self.labels is not None:
            self.labels.place = event.row
            self._show_card()
            self.card.scroll_home(animate=False)

    # -- labelling

    async def action_label(self, answer: str) -> None:
        """The right answer is yes, or no."""
        item = self.item
        if item is not None and self.labels is not None:
            await self._label(item, answer == "yes")

    async def action_agree(self) -> None:
        """The model is right."""
        item = self.item
        if item is None:
            return
        if self.blind:
            self._say("Blind mode hides the model's answer, so there is nothing to agree with: y or n.")
        elif item.model_verdict is None:
            self._say("The model's answer could not be read, so there is nothing to agree with: y or n.")
        else:
            await self._label(item, item.model_verdict)

    async def _label(self, item: Item, right: bool) -> None:
        assert self.labels is not None
        try:
            await asyncio.to_thread(self.labels.label, item, right)
        except LogError as error:
            self.app.notify(str(error), severity="error", markup=False, timeout=15)
            return
        model = "unreadable" if item.model_verdict is None else ("yes" if item.model_verdict else "no")
        verb = "agrees" if item.agrees else "differs"
        self.said = f"{one_line(item.item)}: you {'yes' if right else 'no'}, model {model} ({verb})   u takes it back"
        self._next()

    def _next(self) -> None:
        assert self.labels is not None
        if self.labels.place + 1 >= len(self.labels.queue):
            self.said += "   that was the last in this queue"
        self.labels.move(1)
        self._show()
        self.card.scroll_home(animate=False)

    def _say(self, text: str) -> None:
        self.said = text
        self.query_one("#learn-said", Static).update(Content(text))

    def action_skip(self) -> None:
        """Leave it for later; it stays in the queue."""
        if self.item is not None:
            self.said = f"{one_line(self.item.item)}: skipped, still in the queue"
            self._next()

    def action_go(self, by: int) -> None:
        """To the next or the previous call."""
        if self.labels is not None:
            self.labels.move(by)
            self._show()
            self.card.scroll_home(animate=False)

    async def action_undo(self, again: bool = False) -> None:
        """Take the last label back, or give it again."""
        if self.labels is None:
            return
        try:
            item = await asyncio.to_thread(self.labels.redo if again else self.labels.undo)
        except LogError as error:
            self.app.notify(str(error), severity="error", markup=False, timeout=15)
            return
        if item is None:
            self._say("Nothing to give again." if again else "Nothing to take back in this sitting.")
            return
        now = "no label" if item.label is None else ("yes" if item.label else "no")
        self.said = f"{one_line(item.item)}: {'again' if again else 'taken back,'} now {now}"
        self._show()

    def action_comment(self) -> None:
        """Write why."""
        labels, item = self.labels, self.item
        if labels is None or item is None:
            return
        note = labels.notes.get(item.call_id) or item.note

        def written(text: str | None) -> None:
            if text is not None:
                self.run_worker(self._comment(item, text), group="label", exit_on_error=False)

        self.app.push_screen(CommentDialog(one_line(item.item), note), written)

    async def _comment(self, item: Item, text: str) -> None:
        assert self.labels is not None
        try:
            await asyncio.to_thread(self.labels.comment, item, text)
        except LogError as error:
            self.app.notify(str(error), severity="error", markup=False, timeout=15)
        self._show()

    # -- the view

    def action_queue(self, key: str) -> None:
        """One of the ready-made queues."""
        _, wanted, order = QUEUES[key]
        self._show_queue(wanted, order, key)

    def action_order(self) -> None:
        """The next order."""
        labels = self.labels
        if labels is None:
            return
        following = ORDERS[(ORDERS.index(labels.order) + 1) % len(ORDERS)]
        if following == "random":
            labels.seed += 1
        self._show_queue(labels.filter, following, self.queue_key)
        self._say(f"Ordered: {ORDER_WORDS[following]}, {len(labels.queue)} in the queue.")

    def action_blind(self) -> None:
        """Hide what the model said, or show it."""
        self.blind = not self.blind
        self._show()

    def action_guidelines(self) -> None:
        """Show or hide what yes and no mean here."""
        view = self.query_one("#guidelines")
        view.display = not view.display
        self._show_card()

    def action_filter(self) -> None:
        """Type a filter."""
        field = self.query_one("#label-filter", Input)
        field.display = True
        field.focus()

    @on(Input.Changed, "#label-filter")
    def _filtered(self, event: Input.Changed) -> None:
        if self.labels is not None and event.input.display:
            self._show_queue(parse_filter(event.value), self.labels.order, "")

    @on(Input.Submitted, "#label-filter")
    def _filter_done(self) -> None:
        self.rows.focus()

    def action_export(self) -> None:
        """Write training files."""
        self.app.push_screen(ExportDialog(self.repo, self.labels.filter if self.labels else Filter()))

    def action_copy(self) -> None:
        """Copy the card."""
        self.app.copy_to_clipboard(self.card.plain)

    def action_back(self) -> None:
        """Close the filter, or leave."""
        field = self.query_one("#label-filter", Input)
        if field.display:
            field.value = ""
            field.display = False
            self.rows.focus()
            self.action_queue("6")
        else:
            self.dismiss()
