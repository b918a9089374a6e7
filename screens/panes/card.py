"""The card of the selected call: how the verdict came about, what was asked with the item marked, what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
from rich.cells import cell_len
from textual.content import Content
from textual.timer import Timer

from agent.audit.reader import CallTexts
from agent.events import CallProgress
from agent.state.records import ShownCall
from screens.code import code_lines
from screens.lines import LinesView
from screens.panes.call_row import outcome_sentence, verdict_cell
from screens.panes.writing import Writing
from screens.text import HIGHLIGHT, LABEL, MUTED, WARN, block, clean, line, one_line, short_count, stage_short, stage_title
from screens.workers import start

_WAIT_SECONDS = 0.08
_LONGEST_WAIT = 2.0
_MOST_READS = 10
"""What the log does not have yet is read again at growing intervals, for some 12 seconds after the call's last change."""
_FOLDED = 3
_SOURCES = {
    "overrule": "a person overruled it", "threshold": "by the question's threshold",
    "parsed": "by the words of the answer", "default": "not an answer, so the default was applied",
}  # fmt: skip
"""How a verdict came about, where no sentence says it. That of a threshold only has the figures."""


class CardView(LinesView):
    """Shows one call. ``read(call_id)`` gives its texts, None while the log has none; it may block and runs in a thread."""

    def __init__(self, *, id: str | None = None, whole: bool = False) -> None:
        super().__init__(id=id)
        self.whole = whole
        self.call: ShownCall | None = None
        self.texts: CallTexts | None = None
        self.pending: bool | None = None
        self.read: Callable[[int], CallTexts | None] = lambda call_id: None
        self.writing: Writing | None = None
        self._heard: CallProgress | None = None
        self._followed_to = 0
        self._shown: tuple[object, ...] = ()
        self._reads = 0
        self._before: list[Content] = []
        """What the card before said, shown dimmed until this one's texts are read."""
        self._next_read: Timer | None = None

    def show_call(self, call: ShownCall | None, pending: bool | None = None) -> None:
        """Show a call; ``pending`` is its verdict while it waits at the gate. To be called on every change."""
        other = (call.call_id if call else None) != (self.call.call_id if self.call else None)
        self.call, self.pending = call, pending
        if other:
            if self.texts is not None:
                self._before = card_body(self.texts, True, self.whole)
            self.texts, self.writing, self._heard = None, None, None
            self.scroll_to(y=0, animate=False, immediate=True)
        state = (call.call_id, call.done, call.broken_off, call.verdict, call.outcome, pending) if call else ()
        if state != self._shown or other:
            self._shown = state
            self._reads = 0
            self._read_later()
            self.rebuild()

    def show_writing(self, writing: Writing | None, now: float) -> None:
        """What has come of the call's text while it is written, None when it is not; ``now`` by the session's clock. The
        end stays in sight unless the person has scrolled away from it."""
        self.writing = writing
        self.border_subtitle = Content(writing.facts(now)) if writing is not None else ""
        if writing is None or writing.progress is None or writing.progress is self._heard:
            return
        following = self._heard is None or self._follows
        self._heard = writing.progress
        self.rebuild()
        if following:
            self._follow()
            self.call_after_refresh(self._follow_on)  # before its first layout a card has no end to go to

    @property
    def _follows(self) -> bool:
        """Whether the view follows the text: the person has not scrolled away from where it put itself, or is at the end."""
        return self.scroll_offset.y == self._followed_to or self.scroll_offset.y >= self.max_scroll_y - 1

    def _follow_on(self) -> None:
        if self._follows:
            self._follow()

    def _follow(self) -> None:
        if self.writing is not None:
            self.scroll_end(animate=False, immediate=True)
            self._followed_to = self.scroll_offset.y

    def set_texts(self, texts: CallTexts) -> None:
        """The texts have been read from the log."""
        if self.call is not None and texts.call_id == self.call.call_id:
            written = self._heard is not None and (self.texts is None or self.texts.raw is None)
            following = written and self._follows
            self.texts = texts
            self.rebuild()
            if written and texts.raw is not None:  # it stands whole now, above what was asked
                self.scroll_to(y=0, animate=False, immediate=True)
            elif following:  # the question has come above what is written
                self._follow()
                self.call_after_refresh(self._follow_on)

    @property
    def lacks_texts(self) -> bool:
        """Whether the log will have more of this call than is shown: the question, or the answer that has come since."""
        call, texts = self.call, self.texts
        if call is None:
            return False
        answered = self.pending is not None or (call.done and not call.answer.error)
        return texts is None or (answered and texts.raw is None)

    def _read_later(self) -> None:
        if self._next_read is not None:
            self._next_read.stop()
            self._next_read = None
        if self._reads < _MOST_READS and self.lacks_texts:
            self._next_read = self.set_timer(min(_LONGEST_WAIT, _WAIT_SECONDS * 2**self._reads), self._read_now)

    def _read_now(self) -> None:
        if self.call is not None and self.lacks_texts:
            self._reads += 1
            start(self, self._read_texts, self.call.call_id, group="texts")
            self._read_later()

    async def _read_texts(self, call_id: int) -> None:
        texts = await asyncio.to_thread(self.read, call_id)
        if texts is not None and self.is_attached:
            self.set_texts(texts)

    def rebuild(self) -> None:
        """Build the lines for the call shown."""
        call = self.call
        if call is None:
            self.border_title = Content("Card")
            self.set_lines([Content.styled("Select a call to see what was asked and how it was decided.", MUTED)])
            return
        self.border_title = call_title(call, self.outer_size.width - 6)
        said = self._heard.text if self._heard is not None and not (self.texts and self.texts.raw is not None) else ""
        lines = card_lines(call, self.texts, self.pending, self.whole, said)
        if self.texts is None and not said and self._before and self._reads < _MOST_READS:
            lines += [Content.styled(row.plain, f"dim {MUTED}") for row in self._before]
        self.set_lines(lines)


def call_title(call: ShownCall, width: int) -> Content:
    """What was asked, in words if they leave room for it, and about what."""
    item = one_line(call.item)
    whole = f"{stage_title(call.stage) if call.binary else stage_short(call.stage)} · {item}"
    return line(whole if cell_len(whole) <= width else f"{stage_short(call.stage)} · {item}")


def card_lines(
    call: ShownCall, texts: CallTexts | None, pending: bool | None, whole: bool, writing: str = ""
) -> list[Content]:
    """The lines of a card: verdict first, then the question with the item marked, then what all items share. ``writing`` is
    what has come of the answer while it is written; it stands at the end, where it grows."""
    lines = _verdict_lines(call, texts, pending, bool(writing))
    if texts is not None:
        lines += card_body(texts, call.binary, whole)
        if whole and not writing:
            lines += _options(texts)
    return lines + _written(writing)


def card_body(texts: CallTexts, binary: bool, whole: bool) -> list[Content]:
    """The answer, the question, and what all items share."""
    lines = _answer_lines(texts, binary) if texts.raw is not None else []
    lines += [Content(""), *_section("item asked about" if binary else "asked")]
    lines += block(texts.question.strip("\n"), HIGHLIGHT if binary else "", indent=1)
    lines += _folded("system", texts.system, whole)
    if texts.task_context.strip():
        lines += _folded("task context, shared by every item", texts.task_context, whole)
    return lines


def _written(text: str) -> list[Content]:
    return [Content(""), *_section("answer so far"), *code_lines(text.lstrip("\n"), "", indent=1)] if text else []


def _section(name: str) -> list[Content]:
    return [Content.styled(f"─ {name} ", LABEL)]


def _verdict_lines(call: ShownCall, texts: CallTexts | None, pending: bool | None, writing: bool) -> list[Content]:
    text, style = verdict_cell(call, pending is not None, pending)
    how = call.answer.explanation or (texts.explanation if texts else "")
    if pending is not None:
        how = "waits for you" + (f" · P(yes) {texts.p_yes:.2f}" if texts and texts.p_yes is not None else "")
    elif not call.done:
        how = "the model is writing" if writing else "waiting for the model"
        how = "the run ended before it was answered" if call.broken_off else how
    elif call.answer.error:
        how = call.answer.error
    elif not call.binary:
        how = "a text, not a decision" if call.outcome is None else outcome_sentence(call.outcome)
    source = _SOURCES.get(call.answer.source or "", "") if not how or call.answer.source == "threshold" else ""
    lines = [line((text, f"bold {style}"), "  ", one_line(how), (f"  {source}" if source else "", MUTED))]
    extra = []
    if call.answer.cached:
        twin = f" of call {texts.cached_from}" if texts is not None and texts.cached_from else ""
        extra.append(f"answer reused{twin}, nothing was asked again")
    if extra:
        lines.append(line((" · ".join(extra), MUTED)))
    facts = [f"{call.answer.ms:,.0f} ms" if call.answer.ms else "", _tokens(call), call.model]
    if call.asked.attempt > 1:
        facts.append(f"attempt {call.asked.attempt}")
    lines.append(line(("  ".join(clean(fact) for fact in facts if fact), MUTED)))
    return lines


def _tokens(call: ShownCall) -> str:
    if not call.answer.prompt_tokens:
        return ""
    cached = f" ({short_count(call.answer.cached_tokens)} cached)" if call.answer.cached_tokens else ""
    return f"{short_count(call.answer.prompt_tokens)} tokens in{cached}, {short_count(call.answer.completion_tokens)} out"


def _answer_lines(texts: CallTexts, binary: bool) -> list[Content]:
    raw = texts.raw or ""
    cut = {"length": "  (cut by max_tokens)", "context": "  (the window was full)"}.get(texts.finish, "")
    if binary and "\n" not in raw.strip() and len(raw) < 60:
        said = f"“{clean(raw.strip())}”" if raw.strip() else "(empty)"
        return [line(("raw answer  ", LABEL), (said, "bold"), (cut, WARN))]
    rows = block(raw.strip("\n"), indent=1) if binary else code_lines(raw.strip("\n"), texts.item, indent=1)
    return [line((f"─ raw answer{cut} ", LABEL)), *rows]


def _folded(name: str, text: str, whole: bool) -> list[Content]:
    rows = block(text.strip("\n"), MUTED, indent=1)
    if not whole and len(rows) > _FOLDED:
        hidden = len(rows) - _FOLDED
        rows = [*rows[:_FOLDED], Content.styled(f" … {hidden} more lines; enter shows everything", f"italic {MUTED}")]
    return [Content(""), *_section(name), *rows]


def _options(texts: CallTexts) -> list[Content]:
    try:
        options = msgspec.json.decode(texts.options or "{}")
    except msgspec.DecodeError:
        options = {"options": texts.options}
    said = [f"{key} {value}" for key, value in options.items()] if isinstance(options, dict) else [str(options)]
    facts = [f"call {texts.call_id}, number {texts.seq} of run {texts.run_id}", f"provider {texts.provider}", *said]
    return [Content(""), *_section("sent with"), *(line((f" {fact}", MUTED)) for fact in facts)]
