"""A new test file for an interface, in a step of its own. It never touches a test that was there before.

What a small model writes as a test is as likely wrong as the code it tests. So the file is run, and test functions that fail
while others pass are taken out and told, since either side may be at fault; so are those that do not compile.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from agent.coding.files import Files
from agent.coding.writing.candidates import (
    CompileFile,
    compile_trouble,
    errors_of,
    headline,
    room_for,
    temperature_for,
)
from agent.context import RunContext
from agent.events import EditApplied, EditRejected
from agent.language.code_blocks import code_blocks
from agent.languages import is_unit, language_of, named
from agent.prompts import test_implement as words
from agent.values import Diagnostic, PlanStep

LONGEST = 512
"""Tokens of a reply: some six short tests, half a minute on a processor. What is cut off is used as far as it is whole."""

_SHOWN = 3
"""Failing tests in a retry prompt."""


class TestRun(msgspec.Struct, frozen=True):
    """What running a file of tests came to. ``failures`` maps a test function to a line that says how it failed; ``trouble``
    says why the file as a whole does not pass ("" when it does, or when single functions explain it)."""

    __test__ = False

    ok: bool
    failures: dict[str, str] = {}
    trouble: str = ""


RunTests = Callable[[str], Awaitable[TestRun]]
"""Run the file of tests at a path, as it stands there."""


class TestsWritten(msgspec.Struct, frozen=True):
    """How the writing of a test file ended. ``tests`` are its test functions; ``dropped`` those that were taken out because
    they failed, with how; ``reason`` is a sentence when nothing was kept, ``calls`` are log ids."""

    __test__ = False

    ok: bool
    path: str = ""
    tests: tuple[str, ...] = ()
    dropped: dict[str, str] = {}
    attempts: int = 0
    reason: str = ""
    calls: tuple[int, ...] = ()


class _Best(msgspec.Struct, frozen=True):
    text: str
    tests: tuple[str, ...]
    dropped: dict[str, str]


async def implement_tests(
    ctx: RunContext,
    step: PlanStep,
    *,
    files: Files,
    compile: CompileFile,
    interface: Sequence[str],
    run: RunTests | None = None,
    task: str = "",
    flavour: str = "",
    max_attempts: int | None = None,
) -> TestsWritten:
    """Write the step's first target file, a test of what ``interface`` (paths of headers or modules) promises.

    The file must be new: an existing test is refused, since whoever is measured does not change the measure. It counts when
    it parses (Python) or compiles (C), uses the interface, holds at least one test that checks something, and passes when
    ``run`` runs it. Where only a few of its tests fail they are taken out at once; where most do it is asked for anew, and
    the best that came is kept. ``flavour`` is ``unittest`` where that is what runs Python tests.

    Raises:
        ModelError: if the model cannot answer.
    """
    path = next(iter(step.target_files), "")
    if not path or files.exists(path):
        reason = (
            f"{path} exists already: tests are only added, in files of their own." if path else "The step names no file."
        )
        ctx.emit(EditRejected(path, reason))
        return TestsWritten(False, path, reason=reason)
    job = _Job(files, compile, run, path, interface, step.target_symbols)
    attempts = ctx.config.coding.max_attempts if max_attempts is None else max_attempts
    llm = ctx.llm("test_implement")
    room = room_for(llm.target, llm.target.max_tokens) - len(task)
    task_context = words.task_context(task, _interface(files, interface, room))
    trouble, calls = "", []
    for attempt in range(1, attempts + 1):
        asked = await llm.generate(
            system=words.system(job.language.name, flavour),
            task_context=task_context,
            prompt=words.question(step.description, path, hint=job.tests.how_to_use(path, interface), trouble=trouble),
            item=path,
            attempt=attempt,
            temperature=temperature_for(attempt, llm.target.temperature),
            max_tokens=min(LONGEST, llm.target.max_tokens),
            stop=("\n```\n",) if attempt == 1 else (),
        )
        calls.append(asked.call_id)
        text = max((block.text for block in code_blocks(asked.text)), key=len, default="").strip("\n") + "\n"
        if asked.finish != "stop":
            text = job.tests.whole_part(text)
        trouble = await job.take(text) if text else "The reply was cut off. Write fewer tests."
        if not trouble or job.good_enough:
            break
        ctx.emit(EditRejected(path, trouble))
    if job.best is None:
        reason = f"{path} could not be written in {attempts} tries: {headline(trouble)}"
        return TestsWritten(False, path, (), {}, attempts, reason, tuple(calls))
    files.write_bytes(path, job.best.text.encode())
    ctx.emit(EditApplied(path, "new", added=job.best.text.count("\n")))
    return TestsWritten(True, path, job.best.tests, job.best.dropped, attempt, "", tuple(calls))


class _Job:
    """The tries at one file, and the best that came of them. Between tries the file is not there."""

    def __init__(
        self,
        files: Files,
        compile: CompileFile,
        run: RunTests | None,
        path: str,
        interface: Sequence[str],
        wanted: Sequence[str] = (),
    ) -> None:
        self.files, self.compile, self.run, self.path = files, compile, run, path
        self.language = named(language_of(path))
        self.tests = self.language.tests
        self.best: _Best | None = None
        self._seen: set[str] = set()
        self._names: set[str] = set()
        for one in interface:
            self._names |= named(language_of(one)).public_names(files.read_bytes(one))
        self._wanted = {name.rpartition(".")[2] for name in wanted} or self._names

    @property
    def good_enough(self) -> bool:
        """Whether at least as many tests were kept as were taken out: the rest is not worth another try."""
        return self.best is not None and len(self.best.tests) >= len(self.best.dropped)

    async def take(self, text: str) -> str:
        """Try ``text`` as the file. Returns what is wrong with it, "" when it stands as it is."""
        trouble = self.tests.problem(text) or self._misses_the_point(text)
        if trouble:
            return trouble
        if text in self._seen:
            return "It is the same as before, and that failed. Write other tests."
        self._seen.add(text)
        text = self.tests.complete(text)
        try:
            return await self._tried(text)
        finally:
            if self.files.exists(self.path):
                self.files.remove(self.path)

    async def _tried(self, text: str) -> str:
        trouble, refused = await self._written(text)
        if trouble and (not (text := self._left(text, refused)) or (await self._written(text))[0]):
            return trouble
        done = await self.run(self.path) if self.run is not None else TestRun(True)
        standing = self.files.read_bytes(self.path).decode("utf-8", "replace")  # includes may have been put in
        if done.ok:
            self._keep(standing, refused)
            return trouble
        await self._trim(standing, done, refused)
        return _told(done)

    async def _written(self, text: str) -> tuple[str, dict[str, str]]:
        """Write the file and compile it. Returns what the compiler says against it, "" for nothing, and against which tests
        where only tests have errors."""
        self.files.write_bytes(self.path, text.encode())
        compiled = await self.compile(self.path, "") if is_unit(self.path) else None
        if compiled is None or compiled.ok:
            return "", {}
        standing = self.files.read_bytes(self.path)
        return compile_trouble(compiled, self.path, standing), self._tests_with(errors_of(compiled.diagnostics), standing)

    def _tests_with(self, errors: Sequence[Diagnostic], source: bytes) -> dict[str, str]:
        """The test functions with an error in them, with what the compiler says; none where an error lies elsewhere."""
        names = self.tests.names(source.decode("utf-8", "replace"))
        symbols = [one for one in self.language.parse(source).symbols if one.name in names]
        own = {one.name: range(one.line, one.end_line + 1) for one in symbols}
        found: dict[str, str] = {}
        for error in errors:
            name = next((name for name, lines in own.items() if error.line in lines), "")
            if not name:
                return {}
            found.setdefault(name, error.message)
        return found

    def _left(self, text: str, unwanted: Mapping[str, str]) -> str:
        """The file without these tests; "" where they are none, or nothing is left that is to the point."""
        left = self.tests.without(text, unwanted) if unwanted else ""
        return "" if left and self._misses_the_point(left) else left

    async def _trim(self, text: str, done: TestRun, refused: Mapping[str, str]) -> None:
        """Keep what passes of a file some of whose tests fail, if it passes without them."""
        left = self._left(text, done.failures)
        if not left or self.run is None:
            return
        if self.best is not None and len(self.tests.names(left)) <= len(self.best.tests):
            return
        if not (await self._written(left))[0] and (await self.run(self.path)).ok:
            self._keep(self.files.read_bytes(self.path).decode("utf-8", "replace"), {**refused, **done.failures})

    def _keep(self, text: str, dropped: dict[str, str]) -> None:
        self.best = _Best(text, tuple(self.tests.names(text)), dropped)

    def _misses_the_point(self, text: str) -> str:
        if not self._names:
            return ""
        if own := sorted(self.tests.defined(text) & self._names):
            return f"It defines {own[0]} itself. Test the one that is there."
        if self._wanted.isdisjoint(re.findall(r"\w+", text)):
            return f"It uses nothing of what is to be tested: {', '.join(sorted(self._wanted)[:8])}."
        return ""


def _told(done: TestRun) -> str:
    """The failures as the next prompt shows them."""
    if not done.failures:
        return done.trouble or "It fails when it is run."
    shown = [f"{name}: {why}" for name, why in list(done.failures.items())[:_SHOWN]]
    return "These tests fail when they are run. Check what they expect against the comments:\n" + "\n".join(shown)


def _interface(files: Files, paths: Sequence[str], room: int) -> str:
    parts: list[str] = []
    for path in paths:
        text = files.read_bytes(path).decode("utf-8", "replace").replace("\r\n", "\n")
        part = f"File {path}:\n```{language_of(path)}\n{text.strip()}\n```"
        if len(part) > room and parts:
            break
        parts.append(part[: max(room, 1000)])
        room -= len(part)
    return "\n\n".join(parts)
