"""A step that changes code which exists: one symbol after the other rewritten, or search/replace blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from agent.coding.files import Files, LazyFiles, content, put_back
from agent.coding.open_items import source_of
from agent.coding.replace import find_symbol, replace_symbol, symbol_source
from agent.coding.replies.new_symbol import add_symbol
from agent.coding.replies.search_replace import EditResult, apply_edits, changed_lines, parse_edits
from agent.coding.writing.best_version import Versions
from agent.coding.writing.candidates import (
    Candidate,
    CheckScore,
    CompileFile,
    Score,
    brief,
    compile_trouble,
    headline,
    room_for,
    temperature_for,
)
from agent.context import RunContext
from agent.events import CandidateChosen, EditApplied, EditRejected, FunctionCandidate
from agent.judgment.asking import Asked
from agent.language.quoted_code import without_quoted
from agent.languages import is_interface, is_module, is_unit, language_of, reader_of
from agent.prompts import implement as words
from agent.task.documents import with_documents
from agent.values import FailureCategory, PlanStep

LONG_SYMBOL = 120
"""Lines above which a symbol is changed by search/replace: a small model loses its way when it copies so much."""

SHOWN_FILE = 12_000
"""Characters of one file in a search/replace prompt."""


class StepOutcome(msgspec.Struct, frozen=True):
    """How a step ended. ``files`` are those it changed; ``reason`` is a sentence and ``kind`` the category when it failed;
    ``calls`` log ids; ``versions`` of a symbol were measured and not right."""

    ok: bool
    step_id: str
    files: tuple[str, ...] = ()
    attempts: int = 0
    reason: str = ""
    calls: tuple[int, ...] = ()
    kind: FailureCategory = "unknown"
    versions: tuple[Candidate, ...] = ()


async def implement_step(
    ctx: RunContext,
    step: PlanStep,
    *,
    files: Files,
    compile: CompileFile,
    task: str = "",
    context: str = "",
    failure: str = "",
    examples: Callable[[str, str], Sequence[str]] = lambda name, language: (),
    protected: Collection[str] | Callable[[str], bool] = (),
    max_attempts: int | None = None,
    score: Score | None = None,
    samples: int = 1,
    enough: float = 1.0,
    more: Callable[[], bool] = lambda: True,
    cards: Callable[[str, str, str], Sequence[str]] = lambda path, source, told: (),
    asked: int = 0,
    stub: str = "",
    callers: Collection[bytes] = (),
) -> StepOutcome:
    """Carry out ``step``. It succeeds when everything it asked for was changed, parses (Python) and compiles (C); otherwise
    every file is as before.

    Args:
        context: what retrieval found, as text; shared by all steps.
        failure: what a failing check says, when there is one.
        examples: what the tests say of a symbol, by its name and language.
        protected: paths, or a rule for them, that must stay as they are (tests).
        score: measures a version of a symbol in place; up to ``samples`` versions are tried and the best is kept.
        enough: the points of a version from which no other is drawn: an edit of it may be all that lacks.
        more: whether the budget allows another version once one is there.
        asked: how often the symbol was asked for before: versions are drawn with the seeds and temperatures behind these.
        stub: the symbol as it was before anybody wrote it, shown in place of what stands there.
        callers: sources of tests, which tell how the symbol is used.
        cards: advice for a symbol without a body, by its file, source and what the tests say of it.

    Raises:
        ModelError: if the model cannot answer.
    """
    attempts = ctx.config.coding.max_attempts if max_attempts is None else max_attempts
    guard = protected if callable(protected) else lambda path: path in protected
    contexts = (words.task_context(task, context), words.task_context(task, ""))
    worker = _Step(ctx, step, files, compile, contexts, failure, guard, attempts)
    worker.score, worker.samples, worker.examples, worker.more, worker.cards = score, samples, examples, more, cards
    worker.asked, worker.stub, worker.callers, worker.enough = asked, stub, callers, enough
    if step.kind == "function_implement":
        worker.open_context = words.task_context(with_documents(task, LazyFiles(files)), "")
    return await worker.run()


class _Step:
    def __init__(
        self,
        ctx: RunContext,
        step: PlanStep,
        files: Files,
        compile: CompileFile,
        contexts: tuple[str, str],
        failure: str,
        guard: Callable[[str], bool],
        attempts: int,
    ) -> None:
        self.ctx = ctx
        self.step = step
        self.files = files
        self.compile = compile
        self.contexts = contexts
        self.failure = failure
        self.guard = guard
        self.attempts = attempts
        self.before: dict[str, bytes | None] = {}
        self.calls: list[int] = []
        self.versions: list[Candidate] = []
        self.tried = 0
        self.kind: FailureCategory = "unknown"
        self.score: Score | None = None
        self.samples = 1
        self.enough = 1.0
        self.examples: Callable[[str, str], Sequence[str]] = lambda name, language: ()
        self.cards: Callable[[str, str, str], Sequence[str]] = lambda path, source, told: ()
        self.more: Callable[[], bool] = lambda: True
        self.asked = 0
        self.stub = ""
        self.callers: Collection[bytes] = ()
        self.open_context = ""
        """What all symbols without a body share in their prompts; "" for a step that changes what is written."""

    async def run(self) -> StepOutcome:
        refused = [path for path in self.step.target_files if self.guard(path)]
        if refused:
            reason = f"{refused[0]} is protected: a step may not change the tests that measure it."
            self.ctx.emit(EditRejected(refused[0], reason))
            return StepOutcome(False, self.step.id, reason=reason)
        try:
            reason = await self._all_rounds()
        except BaseException:
            put_back(self.files, self.before)  # a step that is broken off leaves nothing half done
            raise
        if reason:
            put_back(self.files, self.before)
            found = tuple(self.versions)
            return StepOutcome(False, self.step.id, (), self.tried, reason, tuple(self.calls), self.kind, found)
        changed = tuple(path for path, data in self.before.items() if content(self.files, path) != data)
        return StepOutcome(
            True, self.step.id, changed, self.tried, "", tuple(self.calls), versions=tuple(self.versions)
        )

    async def _all_rounds(self) -> str:
        """Each symbol, then what is left for search/replace. Returns "" or why it could not be done."""
        symbols, rest = self._targets()
        for name, path in symbols:
            if reason := await self._rounds(name, path):
                return reason
        return await self._rounds("", "") if rest or not symbols else ""

    def _targets(self) -> tuple[list[tuple[str, str]], list[str]]:
        """(symbol, file) pairs to be written whole, and the symbols that are left to search/replace."""
        whole, rest = [], []
        for name in self.step.target_symbols:
            path = next((one for one in self.step.target_files if self._source(one, name)), "")
            lines = self._source(path, name).count("\n") if path else 0
            module = next((one for one in self.step.target_files if is_module(one)), "")
            if path and lines <= LONG_SYMBOL:
                whole.append((name, path))
            elif not path and module:
                whole.append((name, module))
            else:
                rest.append(name)
        return whole, rest

    def _source(self, path: str, name: str) -> str:
        data = content(self.files, path)
        return symbol_source(data, language_of(path), name) if data is not None else ""

    async def _rounds(self, name: str, path: str) -> str:
        """Try until it works. Returns "" or why it did not."""
        if await self._by_facts(name, path):
            return ""
        trouble, seen, again = "", set[str](), False
        measured = Versions(self.files)
        for attempt in range(1, self.attempts + self.samples):
            if measured and not self.more():
                break
            self.tried += 1
            asked = await self._ask(name, path, attempt, trouble, again)
            self.calls.append(asked.call_id)
            if asked.text.strip() in seen:
                self.ctx.emit(EditRejected(path, "The reply is the same as one that failed before."))
                if again and (self.score is None or self.open_context):
                    break  # it was asked again with more variety, and still has nothing else to say
                again = True
                continue
            seen.add(asked.text.strip())
            results = self._edit(name, path, asked)
            bad = [result for result in results if not result.ok]
            again = again or any(result.unchanged for result in bad)
            for result in bad:
                self.ctx.emit(EditRejected(result.path, result.reason, result.nearest))
            before = measured.before([result.path for result in results])
            self.kind = "patch_failure"
            trouble = "\n".join(_explained(result) for result in bad) if bad else await self._check(name, results)
            if trouble:
                continue
            points = await self.score(name) if self.score is not None and name else None
            if self.score is not None and name:
                self._tell(name, path, len(measured) + 1, points, asked.call_id)
            if points is None or points.points == 1.0:
                self._choose(name, path, len(measured) + 1, len(measured) + 1, "only" if points is None else "right")
                return ""
            text = self._source(path, name)
            self.versions.append(Candidate(text, (), points.points, 0, len(measured) + 1, reply=asked.text))
            measured.take_back(points.points, before)
            self.failure = points.failure or self.failure
            if len(measured) == self.samples or points.points >= self.enough:
                break
        if measured:
            best = measured.put_best()
            self._choose(name, path, best, len(measured), "best" if measured.differ else "only")
            return ""
        return f"{name or 'The edit'} could not be made in {self.attempts} tries: {headline(trouble)}"

    async def _by_facts(self, name: str, path: str) -> bool:
        """Whether facts alone make a stub whole: then nobody is asked."""
        language = reader_of(path) if name and self.open_context else None
        if language is None or not self._source(path, name):
            return False
        source = self.files.read_bytes(path)
        data, told = language.without_slips(source, name, self.callers)
        if not told or any(one.name == name or one.name.startswith(f"{name}.") for one in language.stubs(data, [name])):
            return False
        removed, added = changed_lines(source.decode("utf-8", "replace"), data.decode("utf-8", "replace"))
        self.ctx.notice("info", f"{name} is written by facts: {' '.join(told)}", "implement")
        return not await self._check(name, [EditResult(True, path, data, how="symbol", added=added, removed=removed)])

    def _tell(self, name: str, path: str, number: int, points: CheckScore | None, call: int) -> None:
        failure = brief(points.failure).partition("\n")[0] if points is not None else ""
        share = points.points if points is not None else None
        self.ctx.emit(FunctionCandidate(name, path, number, share, int(points is not None and points.faulty), failure, call))

    def _choose(self, name: str, path: str, number: int, of: int, why: str) -> None:
        if self.score is not None and name:
            self.ctx.emit(CandidateChosen(name, path, number, of, why))

    async def _ask(self, name: str, path: str, attempt: int, trouble: str, again: bool) -> Asked:
        """``again`` when the model only copied what it was shown: then a Python function is shown without its body."""
        llm = self.ctx.llm("implement")
        said = self.step.description
        if self.open_context and name and (source := self._source(path, name)):
            return await self._ask_open(name, path, source, self.asked + attempt, trouble)
        if name:
            language = language_of(path)
            source = self._source(path, name)
            system = words.symbol_system(language)
            known = reader_of(path)
            bare = known.without_body(source) if again and known is not None else ""
            told = words.tests_say(self.examples(name, language))
            said_besides = {"told": told, "failure": self.failure, "trouble": trouble}
            if bare:
                prompt = words.anew_question(said, name, path, bare, language, **said_besides)
            elif source:
                prompt = words.symbol_question(said, name, path, source, language, **said_besides)
            else:
                prompt = words.new_symbol_question(said, name, path, **said_besides)
        else:
            shown = self._shown()
            language = language_of(next(iter(shown), ""))
            system = words.edit_system(language)
            prompt = words.edit_question(said, shown, language, failure=self.failure, trouble=trouble)
        full, bare = self.contexts
        fits = len(full) + len(prompt) <= room_for(llm.target, llm.target.max_tokens)
        return await llm.generate(
            system=system,
            task_context=full if fits else bare,
            prompt=prompt,
            item=f"{self.step.id} {name}".strip(),
            attempt=attempt,
            temperature=temperature_for(attempt, llm.target.temperature),
            stop=("\n```\n",) if name and attempt == 1 else (),
        )

    async def _ask_open(self, name: str, path: str, source: str, attempt: int, trouble: str) -> Asked:
        """A symbol without a body. What checks say of the version before is told every second time, so that the others are
        drawn afresh."""
        llm, language = self.ctx.llm("implement", attempt - 1), language_of(path)
        told = words.tests_say(self.examples(name, language))
        module = self.files.read_bytes(path).decode("utf-8", "replace").replace("\r\n", "\n")
        cut = bool(trouble)
        tells = attempt % 2 and self.ctx.config.coding.tell_failures
        trouble = without_quoted(trouble) or (brief(self.failure) if tells else "")
        shown = self.stub or source
        stops: tuple[str, ...] = ()
        if (reader := reader_of(path)) is not None:
            shown = reader.without_slips(shown.encode(), name.rpartition(".")[2], self.callers)[0].decode()
            stops = ("\n```\n", *reader.beyond, *(f"\n{head}" for head in reader.heads_after(module, name)))
        module, source = module.replace(source, shown), shown
        prompt = words.write_question(
            name, path, module[:SHOWN_FILE], source, language,
            told=told, cards=self.cards(path, source, told), order=attempt, trouble=trouble,
        )  # fmt: skip
        return await llm.generate(
            system=words.write_system(language),
            task_context=self.open_context,
            prompt=prompt,
            item=f"{self.step.id} {name}".strip(),
            attempt=attempt,
            temperature=temperature_for(attempt, llm.target.temperature),
            stop=() if cut else stops,
            no_circles=True,
        )

    def _shown(self) -> dict[str, str]:
        """The target files; of a long one only the symbols that the step names."""
        shown = {}
        for path in self.step.target_files:
            data = content(self.files, path)
            if data is None:
                continue
            text = data.decode("utf-8", "replace").replace("\r\n", "\n")
            parts = [self._source(path, name) for name in self.step.target_symbols]
            shown[path] = "\n\n".join(filter(None, parts)) or text[:SHOWN_FILE] if len(text) > SHOWN_FILE else text
        return shown

    def _edit(self, name: str, path: str, asked: Asked) -> list[EditResult]:
        """What the reply makes of the files, nothing written yet."""
        if name:
            source = self.files.read_bytes(path)
            change = replace_symbol if find_symbol(source, language_of(path), name) else add_symbol
            return [change(source, language_of(path), name, asked.text, path=path, finish=asked.finish)]
        parsed = parse_edits(asked.text, self.step.target_files[0] if len(self.step.target_files) == 1 else "")
        if not parsed.edits:
            return [EditResult(False, "", b"", reason=" ".join(parsed.problems))]
        known = LazyFiles(self.files)
        outcome = apply_edits(known, parsed.edits, protected=self.guard)
        final = {result.path: result for result in outcome.results}
        return list(outcome.results) if not outcome.ok else list(final.values())

    async def _check(self, name: str, results: list[EditResult]) -> str:
        """Write the new contents and compile them; taken back, with the trouble returned, when that fails."""
        results = [self._with_imports(self._without_slips(one, name)) for one in results]
        for one in results:
            problem = self._problem(one, name)
            if problem:
                self.kind = "compile_error"
                self.ctx.emit(EditRejected(one.path, problem))
                return problem
        previous = {one.path: content(self.files, one.path) for one in results}
        for one in results:
            self.before.setdefault(one.path, previous[one.path])
            self.files.write_bytes(one.path, one.data)
            self.ctx.emit(EditApplied(one.path, one.how, name, one.added, one.removed))
        for path in self._to_compile([one.path for one in results]):
            compiled = await self.compile(path, name)
            if not compiled.ok:
                trouble = compile_trouble(compiled, path, self.files.read_bytes(path))
                put_back(self.files, previous)
                self.kind = "compile_error"
                return trouble
        return ""

    def _without_slips(self, result: EditResult, name: str) -> EditResult:
        """The result with what facts alone set right in the symbol ``name``."""
        language = reader_of(result.path)
        if language is None or not name or not self.open_context:
            return result
        data, told = language.without_slips(result.data, name, self.callers)
        if told:
            self.ctx.notice("info", f"{name}: {' '.join(told)}", "implement")
        return msgspec.structs.replace(result, data=data)

    def _with_imports(self, result: EditResult) -> EditResult:
        """The result with standard imports that the new code uses and the file lacks: a fact, so nobody is asked."""
        language = reader_of(result.path)
        fresh = self._undefined(result)
        if language is None or not fresh:
            return result
        data, lines = language.with_imports(result.data, fresh)
        for line in lines:
            self.ctx.emit(EditApplied(result.path, "import", line, 1, 0))
        return msgspec.structs.replace(result, data=data)

    def _problem(self, result: EditResult, name: str) -> str:
        """Why the new content cannot be right, told without running it; "" when nothing speaks against it."""
        language = reader_of(result.path)
        if language is None or is_unit(result.path) or is_interface(result.path):
            return ""  # the compiler tells
        problem = language.syntax_problem(result.data)
        if problem:
            return f"{result.path} would no longer be valid {language.title}: {problem}"
        fresh = self._undefined(result) - set(self.step.target_symbols)  # the step is about to write those
        if fresh:
            return f"{', '.join(sorted(fresh))} is not defined in {result.path}. Use only names that it has, or import it."
        if name and any(name in (stub.name, stub.name.rpartition(".")[0]) for stub in language.stubs(result.data)):
            return f"{name} is still a stub: write the code that does what its docstring says."
        return ""

    def _undefined(self, result: EditResult) -> set[str]:
        """Names that the new content uses, nothing binds, and the old content did not use so."""
        language = reader_of(result.path)
        if language is None:
            return set()
        return language.undefined_names(result.data) - language.undefined_names(content(self.files, result.path) or b"")

    def _to_compile(self, changed: list[str]) -> list[str]:
        """The units among ``changed``, and for an interface those of the step and the one that goes with it."""
        found = [path for path in changed if is_unit(path)]
        for header in (path for path in changed if is_interface(path)):
            sources = [*self.step.target_files, source_of(header, self.files.list())]
            found += [path for path in sources if is_unit(path) and self.files.exists(path)]
        return list(dict.fromkeys(found))


def _explained(result: EditResult) -> str:
    if not result.nearest:
        return result.reason
    return f"{result.reason} The nearest text, at line {result.nearest_line}, is:\n{result.nearest}"
