"""The actions on the call in front: label, agree, skip, undo, comment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from agent.audit.log import LogError
from agent.labels.items import Item
from screens.learning.label_model import LabelSession
from screens.learning.log_screen import LogScreen
from screens.learning.text_dialog import TextDialog
from screens.text import one_line


class Labelling(LogScreen):
    """The writing half of the relabelling screen. Every label is committed before the next card is shown."""

    labels: LabelSession | None = None
    blind = False
    said = ""

    @property
    def item(self) -> Item | None:
        """The call in front."""
        return self.labels.item if self.labels is not None else None

    def show(self) -> None:
        """Show the queue and the card as they are now."""
        raise NotImplementedError

    def show_anew(self) -> None:
        """The same, from the top of the card."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """The line above the keys; it stays until something else is said."""
        self.said = text
        super().say(text)

    async def _write(self, work: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
        """Do ``work`` in a thread. Returns whether it was done, and what it gave; a fault is said."""
        try:
            return True, await asyncio.to_thread(work, *arguments)
        except LogError as error:
            self.app.notify(str(error), severity="error", markup=False, timeout=15)
            return False, None

    async def action_label(self, answer: str) -> None:
        """The right answer is yes, or no."""
        if self.item is not None:
            await self._label(self.item, answer == "yes")

    async def action_agree(self) -> None:
        """The model is right."""
        item = self.item
        if item is None:
            return
        if self.blind:
            self.say("Blind mode hides the model's answer, so there is nothing to agree with: y or n.")
        elif item.model_verdict is None:
            self.say("The model's answer could not be read, so there is nothing to agree with: y or n.")
        else:
            await self._label(item, item.model_verdict)

    async def _label(self, item: Item, right: bool) -> None:
        assert self.labels is not None
        done, _ = await self._write(self.labels.label, item, right)
        if not done:
            return
        model = "unreadable" if item.model_verdict is None else ("yes" if item.model_verdict else "no")
        verb = "agrees" if item.agrees else "differs"
        worth = self.labels.worth(item)
        said = f"{one_line(item.item)}: you {'yes' if right else 'no'}, model {model} ({verb})"
        self._next(f"{said}   {worth or 'u takes it back'}")

    def _next(self, said: str) -> None:
        assert self.labels is not None
        self.said = f"{said}{self._on()}"
        self.show_anew()

    def _on(self) -> str:
        """To the next call; from the last one back to the first that still has no label. Returns what is said of it."""
        assert self.labels is not None
        if self.labels.place + 1 < len(self.labels.queue):
            self.labels.move(1)
            return ""
        if self.labels.move_to_open():
            return "   that was the last one; now at the first without a label"
        return "   that was the last in this queue"

    def action_skip(self) -> None:
        """Leave it for later; it stays in the queue."""
        if self.item is not None:
            self._next(f"{one_line(self.item.item)}: skipped, still in the queue")

    def action_go(self, by: int) -> None:
        """To the next or the previous call."""
        if self.labels is not None:
            self.labels.move(by)
            self.show_anew()

    async def action_undo(self, again: bool = False) -> None:
        """Take the last label back, or give it again."""
        if self.labels is None:
            return
        done, item = await self._write(self.labels.redo if again else self.labels.undo)
        if not done:
            return
        if item is None:
            self.say("Nothing to redo." if again else "Nothing to take back in this session.")
            return
        now = "no label" if item.label is None else ("yes" if item.label else "no")
        self.said = f"{one_line(item.item)}: {'again' if again else 'taken back,'} now {now}"
        self.show()

    def action_comment(self) -> None:
        """Write why."""
        labels, item = self.labels, self.item
        if labels is None or item is None:
            return
        note = labels.notes.get(item.call_id) or item.note

        def written(text: str | None) -> None:
            if text is not None:
                self.run_worker(self._comment(item, text), group="label", exit_on_error=False)

        question = f"Comment on {one_line(item.item)}"
        self.app.push_screen(TextDialog(question, note, "why the answer is right or wrong"), written)

    async def _comment(self, item: Item, text: str) -> None:
        assert self.labels is not None
        await self._write(self.labels.comment, item, text)
        self.show()
