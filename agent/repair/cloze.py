"""Cloze: a line of a suspect function is blanked and the model fills it; it cannot copy what it does not see.

The most suspicious lines come first, and each is asked for twice: as it stands between its neighbours, and as a line that is
missing after it. Neighbouring gaps share their beginning, so the server's prefix cache serves most of a call.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from agent.context import RunContext
from agent.languages import named
from agent.models.types import ModelError
from agent.prompts import cloze as words
from agent.repair.edits import Candidate, Edit
from agent.repair.localize import Suspect

STAGE = "cloze"
BEFORE = 4000
AFTER = 1500
"""Characters of the file around a gap."""

LINE_TOKENS = 48
_TEMPERATURES = (0.0, 0.8)
_MOST_LINES = 24


class Gap(msgspec.Struct, frozen=True):
    """A place for one line: bytes ``start`` to ``end`` of the file. ``line`` is the line that it stands for, or is after."""

    suspect: Suspect
    line: int
    start: int
    end: int
    inserts: bool


def gaps_of(suspects: Sequence[Suspect]) -> list[Gap]:
    """Lines to blank and places between lines, the most suspicious first, in file order where they are equal."""
    found: list[tuple[float, Gap]] = []
    for place, suspect in enumerate(suspects):
        function = suspect.function
        lines = function.source.split(b"\n")
        starts = [0]
        for text in lines:
            starts.append(starts[-1] + len(text) + 1)
        first = function.body.start_point[0] + (2 if (function.body.text or b"").startswith(b"{") else 1)
        for line in range(first, function.last + 1):
            text = lines[line - 1]
            stripped = text.strip()
            if not stripped or stripped[:2] in (b"//", b"/*") or stripped[:1] == b"#" or stripped[:3] in (b'"""', b"'''"):
                continue
            if stripped in (b"{", b"}", b"else:", b"else {", b"} else {", b"};", b"else", b"try:"):
                continue
            score = suspect.lines.get(line, 0.2) - 0.05 * place
            indent = len(text) - len(text.lstrip())
            begin, end = starts[line - 1] + indent, starts[line - 1] + len(text.rstrip(b"\r"))
            found.append((score, Gap(suspect, line, begin, end, False)))
            found.append((score - 0.01, Gap(suspect, line, end, end, True)))
    found.sort(key=lambda one: (-round(one[0], 1), one[1].line, one[1].inserts))
    return [gap for _, gap in found[: 2 * _MOST_LINES]]


class Filler:
    """Asks for gaps. ``about`` is put above the file: its path, and what the code is to do."""

    def __init__(self, ctx: RunContext, about: str = "") -> None:
        self.ctx = ctx
        self.about = about
        self._llm = ctx.llm(STAGE)
        self._in_words = False

    async def candidates(
        self, suspects: Sequence[Suspect], over: Callable[[], bool] = lambda: False
    ) -> AsyncGenerator[Candidate]:
        """One candidate for each answer that says something new; first all greedy ones, then a sample of each gap. Nothing
        more is asked once ``over`` says so."""
        gaps = gaps_of(suspects)
        seen: set[tuple[int, int, str]] = set()
        for attempt, temperature in enumerate(_TEMPERATURES, 1):
            for gap in gaps:
                if over():
                    return
                text = await self._fill(gap, attempt, temperature)
                key = (gap.start, gap.end, text)
                if not text or key in seen:
                    continue
                seen.add(key)
                yield _candidate(gap, text)

    async def _fill(self, gap: Gap, attempt: int, temperature: float) -> str:
        function = gap.suspect.function
        before, after = _around(gap)
        item = f"{function.name}, line {gap.line}{' and after' if gap.inserts else ''}"
        kind = named(function.language).line_comment
        head = "".join(f"{kind} {line}\n" for line in (function.path, *self.about.strip().splitlines()))
        if not self._in_words:
            try:
                asked = await self._llm.fill(
                    head + before, after, item=item, attempt=attempt, temperature=temperature, max_tokens=LINE_TOKENS,
                    stop=("\n",),
                )  # fmt: skip
                return asked.text.strip()
            except ModelError as error:
                if error.kind != "no_infill":
                    raise
                self._in_words = True
        asked = await self._llm.generate(
            system=words.SYSTEM, prompt=words.question(function.path, before, after), item=item, attempt=attempt,
            temperature=temperature, max_tokens=LINE_TOKENS,
        )  # fmt: skip
        lines = [line.strip() for line in asked.text.splitlines() if line.strip() and not line.strip().startswith("```")]
        return lines[0] if lines else ""


def _around(gap: Gap) -> tuple[str, str]:
    source = gap.suspect.function.source
    before = source[: gap.start].decode("utf-8", "replace")
    after = source[gap.end :].decode("utf-8", "replace")
    if gap.inserts:
        before += "\n" + _indent(gap)
    if len(before) > BEFORE:
        before = before[-BEFORE:].partition("\n")[2]
    return before, after[:AFTER]


def _indent(gap: Gap) -> str:
    """A line after one that opens a block stands further in."""
    source = gap.suspect.function.source
    start = source.rfind(b"\n", 0, gap.start) + 1
    text = source[start : gap.start].decode("utf-8", "replace")
    indent = text[: len(text) - len(text.lstrip())]
    opens = text.rstrip().endswith((":", "{"))
    return indent + ("    " if opens and "\t" not in indent else "\t" if opens else "")


def _candidate(gap: Gap, text: str) -> Candidate:
    function = gap.suspect.function
    new = f"\n{_indent(gap)}{text}" if gap.inserts else text
    name = "a line added" if gap.inserts else "a line filled in"
    edit = Edit(function.path, gap.start, gap.end, new)
    rank = gap.suspect.lines.get(gap.line, 0.2) * 0.5
    return Candidate((edit,), name, function.path, function.name, gap.line, "cloze", round(rank, 5))
