"""One C function written: asked for, taken out of the reply, put in place, compiled, and taken back when it fails."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from agent.c.declarations.functions import definitions, find_definition
from agent.c.writing.extract import Extracted, extract_function
from agent.c.writing.stub_insertion import with_stub
from agent.c.writing.stubs import is_stub
from agent.coding.files import Files, LazyFiles
from agent.coding.open_items import OpenFunction
from agent.coding.writing.candidates import (
    Candidate,
    CheckScore,
    CompileFile,
    FunctionResult,
    Score,
    brief,
    bugs_in,
    compile_trouble,
    errors_of,
    room_for,
    temperature_for,
    undeclared_calls,
    warning_trouble,
)
from agent.coding.writing.compiled_candidate import CandidateTrial
from agent.coding.writing.missing_helper import with_missing_helpers
from agent.coding.writing.prompt_context import surroundings
from agent.context import RunContext
from agent.counts import plural
from agent.events import (
    CandidateChosen,
    EditRejected,
    FunctionCandidate,
    FunctionFailed,
    FunctionImplemented,
    FunctionStarted,
)
from agent.judgment.asking import StageLlm
from agent.language.code_blocks import code_blocks
from agent.languages import reader_of
from agent.prompts import function_implement as words
from agent.task.documents import with_documents
from agent.values import FailureCategory

FIRST_REPLY_TOKENS = 640
"""Longest first reply: a function of fifty lines. A reply cut by it is asked again with all that the stage allows."""

REPEATS = 2
"""Replies that were there before, after which no further one is asked for: the model has nothing else to say."""

_ONE_POINTER = re.compile(r"\(\s*[\w\s]+\*[\s*]*(\w+)\s*\)\s*;?\s*$")
"""The only parameter of a function, a pointer."""

CLOSED = "\n```\n"
"""Ends a reply behind its code block: an explanation costs as long as the function. A retry after a reply that could not be
used goes without, for the model that opens its block with a bare fence."""


async def implement_function(
    ctx: RunContext,
    wanted: OpenFunction,
    *,
    files: Files,
    compile: CompileFile,
    task: str = "",
    failure: str = "",
    score: Score | None = None,
    lock: asyncio.Lock | None = None,
    kept: Kept | None = None,
    max_attempts: int | None = None,
    samples: int | None = None,
    enough: float = 1.0,
    examples: Sequence[str] = (),
    cards: Sequence[str] = (),
    waiting: Waiting | None = None,
    more: Callable[[], bool] = lambda: True,
    asked: int = 0,
    helpers: Collection[str] = (),
) -> FunctionResult:
    """Write ``wanted`` into its file. On success its new body stands there and compiles; on failure the file is as before
    (with a stub where the function was not defined at all, so that the program can still be linked).

    Args:
        files: the project; only ``wanted.path`` is written here (and headers, by ``compile``).
        compile: the compiler with its recoveries.
        failure: what a failing check said, when a function that compiles is to be rewritten.
        enough: the score from which no further version is drawn.
        examples: what the tests say of it, one a line.
        cards: advice for functions of its kind, shown with it.
        score: measures a compiled candidate in place; with it, ``samples`` candidates are tried and the best is kept.
        lock: guards the files while functions are written concurrently; the model is asked outside of it.
        kept: awaited under the lock as soon as the version to keep stands in its file.
        asked: how often the function was asked for before: versions are drawn with the seeds and temperatures behind these.
        helpers: the functions that came along with versions before; those that nobody calls any more go.
        more: whether the budget allows another version once one compiles.
        waiting: versions that wait for something else to be defined first. One that waits for this function's turn is
            compiled again before the model is asked; one that comes to wait ends the work without a try being spent.

    Raises:
        ModelError: if the model cannot answer.
    """
    writer = _Writer(ctx, wanted, files, compile, task, failure, score, lock or asyncio.Lock(), kept, waiting or Waiting())
    writer.examples, writer.cards, writer.more = tuple(examples), tuple(cards), more
    writer.asked, writer.enough, writer.trial.helpers = asked, enough, helpers
    return await writer.run(
        ctx.config.coding.max_attempts if max_attempts is None else max_attempts,
        ctx.config.coding.samples if samples is None else samples,
    )


Kept = Callable[[], Awaitable[object]]


class Waiting:
    """Versions of functions for which nobody need be asked: those that could not compile because something else is not
    defined yet, and those that stand in a reply to the question for another one; each kept once. ``can_define`` tells
    whether a name is still to be written."""

    def __init__(self, can_define: Callable[[str], bool] = lambda _name: False) -> None:
        self.can_define = can_define
        self._versions: dict[tuple[str, str], Extracted | None] = {}
        self._beside: dict[str, str] = {}

    def keep(self, wanted: OpenFunction, version: Extracted, needs: str) -> bool:
        """Have ``version`` wait for ``needs``; False when nobody can define that, or the function has waited before."""
        key = (wanted.path, wanted.name)
        if not needs or key in self._versions or not self.can_define(needs):
            return False
        self._versions[key] = version
        return True

    def note_beside(self, reply: str, name: str) -> None:
        """Remember what a reply to the question for ``name`` defines besides, where it is still to be written."""
        source = "\n\n".join(block.text for block in code_blocks(reply)).encode()
        for one in definitions(source):
            if one.name not in (name, "main") and one.name not in self._beside and self.can_define(one.name):
                self._beside[one.name] = reply

    def holds(self, wanted: OpenFunction) -> bool:
        """Whether another function's reply held a version of ``wanted`` that was not taken yet."""
        return bool(self._beside.get(wanted.name))

    def take_beside(self, wanted: OpenFunction, known: Collection[str]) -> Extracted | None:
        """The version of ``wanted`` that another function's reply held, once; ``known`` names are not taken again."""
        reply = self._beside.get(wanted.name, "")
        self._beside[wanted.name] = ""
        found = extract_function(reply, wanted.signature, known=known, result_freed=wanted.result_freed) if reply else None
        return found if found is not None and found.ok else None

    def take(self, wanted: OpenFunction) -> Extracted | None:
        """The version of ``wanted`` that waits, None when there is none."""
        key = (wanted.path, wanted.name)
        version = self._versions.get(key)
        if version is not None:
            self._versions[key] = None
        return version


class _Writer:
    def __init__(
        self,
        ctx: RunContext,
        wanted: OpenFunction,
        files: Files,
        compile: CompileFile,
        task: str,
        failure: str,
        score: Score | None,
        lock: asyncio.Lock,
        kept: Kept | None,
        waiting: Waiting,
    ) -> None:
        self.waiting = waiting
        self.waits_for = ""
        self.ctx = ctx
        self.wanted = wanted
        self.files = files
        self.trial = CandidateTrial(ctx, wanted, files, compile)
        self.task = with_documents(task, LazyFiles(files))
        self.score = score
        self.lock = lock
        self.kept = kept
        self.is_kept = False
        self.failure = failure
        self.trouble = ""
        self.kind: FailureCategory = "unknown"
        self.examples: tuple[str, ...] = ()
        self.cards: tuple[str, ...] = ()
        self.more: Callable[[], bool] = lambda: True
        self.unusable = False
        self.repeats = 0
        self.asked = 0
        self.enough = 1.0
        self.seen: set[str] = set()
        self.calls: list[int] = []
        self.compiled: list[Candidate] = []

    async def run(self, max_attempts: int, samples: int) -> FunctionResult:
        async with self.lock:
            source = self._prepare()
        current = find_definition(source, self.wanted.name)
        if self.failure and current is not None:
            self.seen.add(_text(source, current.start, current.end).strip())
        attempt, failures = 0, 0
        if (version := self.waiting.take(self.wanted) or await self._written_beside()) is not None:
            await self._take_up(version)
        most = max_attempts + samples - 1
        while failures < max_attempts and attempt < most and not (self.waits_for or self._enough(samples)):
            if self.repeats == REPEATS:
                break
            attempt += 1
            self.ctx.emit(FunctionStarted(self.wanted.name, self.wanted.path, attempt, most))
            failures += not await self._attempt(attempt)
        if not self.compiled and self.wanted.only_frees and not self.waits_for:
            await self._free_argument(attempt)
        if not self.compiled:
            return self._failed(attempt)
        return await self._choose(max(1, attempt))

    def _prepare(self) -> bytes:
        """Lay the stub of a function that is not defined anywhere. Returns the file as it then is."""
        path = self.wanted.path
        source = self.files.read_bytes(path) if self.files.exists(path) else b""
        stubbed = with_stub(source, self.wanted.signature, path, self.wanted.header, LazyFiles(self.files))
        if stubbed != source:
            self.files.write_bytes(path, stubbed)
        return stubbed

    async def _free_argument(self, attempt: int) -> None:
        """What frees, and did not compile as the model wrote it, frees its argument: no result depends on the rest."""
        found, name = _ONE_POINTER.search(self.wanted.signature), self.wanted.name
        if found is None:
            return
        text = f"{self.wanted.signature.rstrip('; ')}\n{{\n    free({found[1]});\n}}"
        told = f"No version of {name} compiled, so it frees its argument and nothing else: look at it."
        self.ctx.notice("warning", told, "function_implement")
        async with self.lock:
            await self._try(Extracted(text), attempt)

    def _enough(self, samples: int) -> bool:
        sound = [one for one in self.compiled if not one.bugs]
        if not sound:
            return False
        best = max(sound, key=lambda one: one.rank)
        right = best.warnings == 0 if best.score is None else best.score >= self.enough  # None: nothing can tell
        return right or len(sound) >= samples or not self.more()

    async def _attempt(self, attempt: int) -> bool:
        """Ask once and try the reply. True when it compiled."""
        extracted = await self._ask(attempt)
        self.unusable = not extracted.ok
        if not extracted.ok:
            self.trouble = " ".join(extracted.problems)
            self.kind = "patch_failure"
            self._reject(self.trouble)
            return False
        key = "\n".join([*extracted.helpers, extracted.function_text]).strip()
        if key in self.seen or extracted.function_text.strip() in self.seen:
            self._reject("The reply is the same as one that failed before; asked again with more variety.")
            self.repeats += 1
            return False
        self.seen.add(key)
        if extracted.repairs:
            self.ctx.notice("info", f"{self.wanted.name}: {' '.join(extracted.repairs)}", "function_implement")
        async with self.lock:
            if await self._try(extracted, attempt):
                return True
        if self.waiting.keep(self.wanted, extracted, needs := self.trial.last.needs):
            self.waits_for = needs
            return True  # no try of the function: it is compiled again once that is there
        return await self._try_with_helpers(extracted, attempt)

    async def _written_beside(self) -> Extracted | None:
        """What an earlier reply holds of this function, unless it is written again: it costs no call."""
        if self.failure or not self.waiting.holds(self.wanted):
            return None
        async with self.lock:
            around = surroundings(self.wanted, LazyFiles(self.files), self.task, room_for(self._llm(1).target, 0))
        return self.waiting.take_beside(self.wanted, around.known)

    def _llm(self, attempt: int) -> StageLlm:
        return self.ctx.llm("function_implement", self.asked + attempt - 1)

    async def _take_up(self, version: Extracted) -> None:
        """Compile the version that waited, now that what it needs is there."""
        self.ctx.emit(FunctionStarted(self.wanted.name, self.wanted.path, 1, 1))
        self.seen.add("\n".join([*version.helpers, version.function_text]).strip())
        async with self.lock:
            await self._try(version, 1)

    async def _try_with_helpers(self, extracted: Extracted, attempt: int) -> bool:
        """Once more with the functions that the refused version calls and nobody has. They are asked for after the version
        is taken back, so that the model sees the file as it is."""
        names = undeclared_calls(self.trial.last.diagnostics)
        whole = await with_missing_helpers(
            self.ctx, self.wanted, extracted, names, files=self.files, lock=self.lock, task=self.task, attempt=attempt,
            calls=self.calls,
        )  # fmt: skip
        if whole is None:
            return False
        async with self.lock:
            return await self._try(whole, attempt)

    async def _ask(self, attempt: int) -> Extracted:
        wanted = self.wanted
        llm = self._llm(attempt)
        cut, reader = "cut off" in self.trouble, reader_of(wanted.path)
        limit = llm.target.max_tokens if cut else min(llm.target.max_tokens, FIRST_REPLY_TOKENS)
        room = room_for(llm.target, limit) - len(self.task)
        async with self.lock:
            around = surroundings(wanted, LazyFiles(self.files), self.task, room)
        asked = await llm.generate(
            system=words.SYSTEM,
            task_context=around.task_context,
            prompt=words.question(
                wanted.name,
                wanted.signature,
                wanted.doc,
                wanted.path,
                written=around.written,
                examples=self.examples,
                cards=self.cards,
                result_freed=wanted.result_freed,
                order=self.asked + attempt,
                trouble=self.trouble,
                failing=self._told(attempt),
            ),
            item=wanted.name,
            no_circles=True,
            attempt=self.asked + attempt,
            temperature=temperature_for(self.asked + attempt, llm.target.temperature),
            max_tokens=limit,
            stop=() if self.unusable else (CLOSED, *(reader.beyond if reader is not None else ())),
        )
        self.calls.append(asked.call_id)
        self.waiting.note_beside(asked.text, wanted.name)
        return extract_function(
            asked.text, wanted.signature, known=around.known, finish=asked.finish, result_freed=wanted.result_freed
        )

    async def _try(self, extracted: Extracted, attempt: int) -> bool:
        """Place and compile one candidate; the files are as before unless it is one to keep."""
        trial, name = self.trial, self.wanted.name
        before = trial.snapshot()
        trial.put(extracted)
        try:
            compiles = await trial.compiles(before)
            stub = is_stub(trial.source, name)
            measured = await self.score(name) if compiles and not stub and self.score is not None else None
        except BaseException:
            trial.take_back(before)
            raise
        if compiles and not stub:
            return await self._judge(extracted, attempt, measured, before)
        wrong = compile_trouble(trial.last, self.wanted.path, trial.source, quoting=False)
        self.trouble = f"{name} does nothing yet." if stub else wrong
        trial.take_back(before)
        return False

    async def _judge(
        self, extracted: Extracted, attempt: int, measured: CheckScore | None, before: Mapping[str, bytes]
    ) -> bool:
        """Take note of a candidate that compiled. It stays in its file when nothing speaks against it; the next prompt shows
        it with what does. False when a warning says that it has a bug."""
        warnings = [one for one in self.trial.last.diagnostics if one.severity == "warning"]
        bugs = bugs_in(warnings, self.wanted.path, self.trial.lines())
        said = warning_trouble(bugs, self.trial.source) if bugs else ""
        points = measured.points if measured is not None else None
        signs = len(bugs) + (measured is not None and measured.faulty)
        stands = self.trial.standing(extracted)
        self.compiled.append(Candidate(stands.function_text, stands.helpers, points, len(warnings), attempt, signs))
        told = brief(measured.failure).partition("\n")[0] if measured is not None else ""
        name, number = self.wanted.name, len(self.compiled)
        self.ctx.emit(FunctionCandidate(name, self.wanted.path, number, points, signs, told, self._call))
        if not bugs and points in (None, 1.0):
            if self.score is None or points == 1.0 or not warnings:  # the last one: kept before the next function comes
                await self._keep()
            return True
        self.trial.take_back(before)
        self.failure = measured.failure if measured is not None and measured.failure else self.failure
        self.trouble = said
        if bugs:
            self._reject(f"It compiles, but with a bug: {bugs[0].message}. Asked again.")
        return not bugs

    async def _keep(self) -> None:
        """Have the version that stands in the file kept, once."""
        if self.kept is not None and not self.is_kept:
            self.is_kept = True
            await self.kept()

    async def _choose(self, attempts: int) -> FunctionResult:
        """Put the best candidate in place, unless it stands there already, and report it."""
        path, name = self.wanted.path, self.wanted.name
        best = max(self.compiled, key=lambda one: one.rank)
        async with self.lock:
            if best.text.encode() not in self.trial.source.replace(b"\r\n", b"\n"):
                before = self.trial.snapshot()
                self.trial.put(Extracted(best.text, best.helpers))
                await self.trial.compiles(before)
            await self._keep()
        lines = best.text.count("\n") + 1
        why = "right" if best.score == 1.0 else "only" if len({one.rank[0] for one in self.compiled}) == 1 else "best"
        number, of = self.compiled.index(best) + 1, len(self.compiled)
        self.ctx.emit(CandidateChosen(name, path, number, of, why))
        self.ctx.emit(FunctionImplemented(name, path, attempts, lines))
        return FunctionResult(
            True,
            name,
            path,
            attempts,
            "",
            lines,
            self.trial.last.diagnostics,
            len(self.compiled),
            best.score,
            tuple(self.calls),
            versions=tuple(self.compiled),
        )

    def _failed(self, attempts: int) -> FunctionResult:
        first = next(iter(errors_of(self.trial.last.diagnostics)), None)
        why = f"it does not compile: {first.message}" if first is not None else self.trouble or "no usable reply came"
        reason = f"{self.wanted.name} was not written in {plural(attempts, 'try', 'tries')}: {why}"
        if self.waits_for:
            reason = f"{self.wanted.name} waits for {self.waits_for}, which must be defined first."
        self.ctx.emit(FunctionFailed(self.wanted.name, self.wanted.path, reason, attempts))
        return FunctionResult(
            False,
            self.wanted.name,
            self.wanted.path,
            attempts,
            reason,
            0,
            self.trial.last.diagnostics,
            calls=tuple(self.calls),
            kind="compile_error" if first is not None else self.kind,
        )

    def _told(self, attempt: int) -> str:
        """What a check says of the last version, told every second time, so that the others are drawn afresh."""
        tells = attempt % 2 == 1 and self.ctx.config.coding.tell_failures
        return brief(self.failure) if self.trouble or tells else ""

    @property
    def _call(self) -> int:
        """The log's id of the newest call."""
        return self.calls[-1] if self.calls else 0

    def _reject(self, reason: str) -> None:
        self.ctx.emit(EditRejected(self.wanted.path, f"{self.wanted.name}: {reason}"))


def _text(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode("utf-8", "replace").replace("\r\n", "\n")
