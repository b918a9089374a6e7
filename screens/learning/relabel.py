"""Relabelling: a queue of yes/no calls, one card at a time, labels by single keys."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from agent.audit.log import LogError
from agent.labels.queue import ORDER_WORDS, ORDERS, Filter, Order
from screens.actions import bindings
from screens.finding import LineBox
from screens.keyed import NARROW
from screens.learning.item_source import item_source
from screens.learning.label_card import label_card, meanings, queue_heading, queue_row
from screens.learning.label_model import QUEUES, LabelSession, parse_filter
from screens.learning.labelling import Labelling
from screens.learning.source_screen import SourceScreen
from screens.lines import LinesView
from screens.panes.rows import RowList
from screens.runner import Services
from screens.text import MUTED, WARN, block, line, stage_short, stage_title
from screens.workers import start

_FILTER_HINT = "stage:scope run:ID model:NAME yes no defaulted disputed unlabelled disagrees, or words"
_EMPTY = "No call passes. 6 shows all, / filters."
_SHORT = {"to label": "to do", "model was wrong": "wrong", "labelled": "done"}
_OF_A_CALL = ("label", "agree", "skip", "comment", "guidelines", "source")
_NO_QUESTION = "No yes/no question was asked in this repository yet, so there is nothing to label."
_NO_LOG = "Nothing was asked in this repository yet: run a task first."


class RelabelScreen(Labelling):
    """Labels calls of one repository's log. ``call_id`` opens at that call, ``run_id`` with that run's
    calls, ``wanted`` with a filter."""

    BINDINGS = bindings("relabel")
    ACTION_GROUP = "relabel"
    NAME = "Relabel"

    def __init__(
        self, services: Services, *, repo: Path, call_id: int | None = None, run_id: str = "", wanted: Filter | None = None
    ) -> None:
        super().__init__(services, repo)
        self.call_id, self.run_id, self.wanted = call_id, run_id, wanted
        self.queue_key = "1"
        self._offered: bool | None = None
        self._before: tuple[str, Filter, Order, int | None] | None = None
        """The queue, and the call in it, that a filter being typed has taken the place of."""

    def above(self) -> Iterable[Widget]:
        """The ready-made queues and the filter."""
        yield Static("", id="queues", markup=False)
        yield LineBox(id="label-filter", compact=True, placeholder=_FILTER_HINT)

    def body(self) -> Iterable[Widget]:
        """The queue, the card and the guidelines."""
        yield RowList(id="queue", empty=_EMPTY)
        yield Vertical(LinesView(id="label-card"), LinesView(id="guidelines"), id="learn-right")

    def on_mount(self) -> None:
        """Read the log and show the first card."""
        self.query_one("#label-filter").display = False
        self.query_one("#guidelines").display = False
        self.rows.heading = queue_heading
        self.rows.border_title = Content("Queue")
        self.rows.focus()
        self.name_it("")
        if self.log_file.is_file():
            start(self, self._load, group="load")
        else:
            self._nothing(_NO_LOG)

    def on_unmount(self) -> None:
        """Close the log."""
        if self.labels is not None:
            self.labels.close()

    async def _load(self) -> None:
        try:
            labels = LabelSession(self.repo, self.services.clock)
        except LogError as error:
            self._nothing(str(error))
            return
        try:
            await asyncio.to_thread(labels.load)
        except LogError as error:
            labels.close()
            self._nothing(str(error))
            return
        if not self.is_attached:
            labels.close()
            return
        self.labels = labels
        if not labels.items:
            self._nothing(_NO_QUESTION)
        self._open_first(labels)

    def _nothing(self, why: str) -> None:
        self.rows.empty = why
        self.rows.refresh()
        self._show_card()

    def _open_first(self, labels: LabelSession) -> None:
        if self.call_id is not None:
            item = labels.find(self.call_id)
            if item is None and labels.items:
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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what can be done is offered."""
        if action in _OF_A_CALL:
            return self.item is not None
        return action not in ("filter", "export", "blind", "order") or self.labels is not None

    def turned(self, action_id: str) -> bool:
        """Blind: the key shows the answers again."""
        return action_id == "relabel.blind" and self.blind

    # -- showing

    def _show_queue(self, wanted: Filter, order: Order, key: str, call_id: int | None = None) -> None:
        if self.labels is None:
            return
        self.queue_key = key
        self.labels.show(wanted, order, call_id)
        self.show_anew()

    def show_anew(self) -> None:
        """Queue and card, the card from its top."""
        self.show()
        self.card.scroll_home(animate=False)

    def show(self) -> None:
        """Queue, card, progress and what was said last."""
        labels = self.labels
        if labels is None or not self.is_attached:
            return
        queue, blind = labels.queue, self.blind
        self.rows.set_rows(len(queue), lambda row, width: queue_row(queue[row], width, blind), labels.place)
        self.rows.border_title = Content(f"Queue: {self._queue_name(labels)}")
        self.rows.border_subtitle = Content(ORDER_WORDS.get(labels.order, ""))
        self.name_it(labels.progress(), ("  ◌ blind: answers hidden", WARN) if blind else "")
        self.query_one("#queues", Static).update(self._queues(labels))
        self.say(self.said)
        self._show_card()
        if self._offered is not (self.item is not None):
            self._offered = self.item is not None
            self.refresh_bindings()

    def on_resize(self) -> None:
        """What is cut to the card's width is cut again."""
        self.call_after_refresh(self._show_card)

    def _show_card(self) -> None:
        labels, item = self.labels, self.item
        if labels is None or item is None:
            self.card.border_title = Content("Card")
            said = "Nothing to label in this queue." if labels is not None else "The call in front is shown here."
            self.card.set_lines([Content.styled(said, MUTED)])
            return
        self.card.border_title = Content(stage_title(item.stage))
        note = labels.notes.get(item.call_id, "")
        meaning = meanings(labels.guideline(item.stage).text)
        self.card.set_lines(
            label_card(item, labels.texts(item), labels.history(item), self.blind, labels.twins(item), note, meaning,
                       self.card.scrollable_content_region.width, item_source(self.repo, item.item))
        )  # fmt: skip
        if self.query_one("#guidelines").display:
            self._show_guidelines()

    def _queues(self, labels: LabelSession) -> Content:
        parts: list[Any] = []
        narrow = self.app.size.width < NARROW
        for key, (name, _, _) in QUEUES.items():
            style = "bold $text-primary underline" if key == self.queue_key else MUTED
            parts += [(f"{key} {_SHORT.get(name, name) if narrow else name} {labels.counts[key]}", style), "  "]
        if not self.queue_key:
            parts.append((self._queue_name(labels), "bold $text-primary underline"))
        return line(*parts)

    def _queue_name(self, labels: LabelSession) -> str:
        """The name of the ready-made queue, or what the filter asks for."""
        if self.queue_key:
            return QUEUES[self.queue_key][0]
        wanted = labels.filter
        stage = stage_short(wanted.stage) if wanted.stage else ""
        fields = (("question", stage), ("run", wanted.run_id), ("model", wanted.model))
        chosen = " ".join(f"{name} {value}" for name, value in fields if value)
        typed = self.query_one("#label-filter", Input).value if self._before is not None else wanted.text
        return f"filter {chosen if not typed else ''} {typed}".strip() if chosen or typed else "filter: all"

    def _show_guidelines(self) -> None:
        labels, item = self.labels, self.item
        view = self.query_one("#guidelines", LinesView)
        if labels is None or item is None:
            return
        text = labels.guideline(item.stage)
        view.border_title = Content(f"Guidelines for {stage_short(item.stage)}, version {text.version}")
        whose = "your text" if text.own else "the built-in text; write your own in"
        place = f".clean_room/guidelines/{item.stage}.md"
        view.set_lines([*block(text.text.strip()), Content(""), line((f"{whose} {place}", MUTED))])

    @on(RowList.Moved, "#queue")
    def _moved(self, event: RowList.Moved) -> None:
        if self.labels is not None:
            self.labels.place = event.row
            self._show_card()
            self.card.scroll_home(animate=False)

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
        self.say(f"Ordered: {ORDER_WORDS[following]}, {len(labels.queue)} in the queue.")

    def action_blind(self) -> None:
        """Hide what the model said, or show it."""
        self.blind = not self.blind
        self.show()
        self.refresh_bindings()

    def action_guidelines(self) -> None:
        """Show or hide what yes and no mean here."""
        view = self.query_one("#guidelines")
        view.display = not view.display
        self._show_card()

    def action_filter(self) -> None:
        """Type a filter."""
        field = self.query_one("#label-filter", Input)
        labels = self.labels
        if labels is not None and self._before is None:
            call = labels.item.call_id if labels.item is not None else None
            self._before = (self.queue_key, labels.filter, labels.order, call)
        field.display = True
        field.focus()

    @on(Input.Changed, "#label-filter")
    def _filtered(self, event: Input.Changed) -> None:
        if self.labels is not None and event.input.display and (event.value or not self.queue_key):
            self._show_queue(parse_filter(event.value), self.labels.order, "")

    @on(Input.Submitted, "#label-filter")
    def _filter_done(self) -> None:
        self.rows.focus()

    def action_export(self) -> None:
        """Write training files."""
        self.export_of(self.labels.filter if self.labels else Filter())

    def action_source(self) -> None:
        """The source that the item is about, as it is in the repository now; the model has not seen it."""
        if self.item is not None:
            self.app.push_screen(SourceScreen(self.repo, self.item.item))

    def action_copy(self) -> None:
        """Copy the card."""
        self.app.copy_to_clipboard(self.card.plain)

    def action_back(self) -> None:
        """Close the filter, or leave."""
        field = self.query_one("#label-filter", Input)
        if field.display:
            field.display = False
            field.value = ""
            self.rows.focus()
            if self._before is not None:
                key, wanted, order, call = self._before
                self._before = None
                self._show_queue(wanted, order, key, call)
        else:
            self.dismiss()
