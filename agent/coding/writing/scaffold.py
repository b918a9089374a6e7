"""Headers and stubs before any body is written: interface, headers, deterministic stubs, compiled.

Decomposed (``decomposed_scaffold``): one call names the interface, one call a header writes it. Monolithic: one call writes
all headers. Both end in the same facts: declarations that the task spells out are in, every prototype has a stub that
compiles, and nothing that was there is overwritten.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from agent.c.declarations.definitions import defined_names
from agent.c.declarations.functions import functions
from agent.c.declarations.signature import definition_head, prototype_of
from agent.c.spelled_out import (
    Spelled,
    SpelledType,
    declarations_in,
    headers_named,
    structs_in,
    types_in,
)
from agent.c.usage import Usage
from agent.c.writing.header_text import guarded, header_from_reply, header_from_words, headers_from_reply, merged
from agent.c.writing.stub_insertion import with_stub
from agent.coding.files import Files, LazyFiles, content, put_back
from agent.coding.open_items import (
    OpenFunction,
    OpenType,
    find_open_functions,
    find_open_types,
    in_dependency_order,
    source_of,
)
from agent.coding.replies.interface import FunctionIdea, HeaderIdea, Interface, bad_path, check_interface
from agent.coding.writing.candidates import CompileFile, compile_trouble, headline, temperature_for
from agent.coding.writing.declaration import declare
from agent.coding.writing.shared_helper import lay_shared_helper
from agent.context import RunContext
from agent.counts import plural
from agent.events import EditApplied, EditRejected
from agent.judgment.batched import Unreadable, ask_structured
from agent.languages import is_compiled, is_interface
from agent.prompts import header_gen, interface_enum
from agent.task.documents import with_documents
from agent.values import FailureCategory


class Callers(msgspec.Struct, frozen=True):
    """The tests of a header that does not declare what they use: the ``header``, the ``usage``, and what the compiler says
    of them against the header as it stands (``trouble``; "" when they compile)."""

    header: str
    usage: Usage
    trouble: Callable[[], Awaitable[str]]


class ScaffoldResult(msgspec.Struct, frozen=True):
    """What was laid down. ``functions`` are the stubs to be written now, in dependency order, ``types`` the structs to be
    defined before them; ``files`` what changed. ``reason`` is a sentence when it failed (then every file is as before)
    and ``kind`` its category."""

    ok: bool
    files: tuple[str, ...] = ()
    functions: tuple[OpenFunction, ...] = ()
    types: tuple[OpenType, ...] = ()
    reason: str = ""
    kind: FailureCategory = "unknown"


async def scaffold(
    ctx: RunContext,
    *,
    files: Files,
    compile: CompileFile,
    task: str,
    part: str = "",
    targets: Sequence[str] = (),
    context: str = "",
    added: Sequence[str] = (),
    tested: Callers | None = None,
    decomposed: bool | None = None,
    max_attempts: int | None = None,
) -> ScaffoldResult:
    """Lay headers and stubs for ``task``.

    Args:
        part: the description of the part or step, when the task has several.
        targets: files that the plan names for it.
        context: what is there already, as text.
        added: functions that the first target, a header which is there, is to get; nothing else is laid then.
        tested: the tests whose use of a header says what it must declare.
        decomposed: takes the place of ``orchestrator.decomposed_scaffold``.

    Raises:
        ModelError: if the model cannot answer.
    """
    small_steps = ctx.config.orchestrator.decomposed_scaffold if decomposed is None else decomposed
    attempts = ctx.config.coding.max_attempts if max_attempts is None else max_attempts
    laying = _Scaffold(ctx, files, compile, task, part, targets, context, attempts)
    return await laying.run(small_steps, added, tested)


class _Scaffold:
    def __init__(
        self,
        ctx: RunContext,
        files: Files,
        compile: CompileFile,
        task: str,
        part: str,
        targets: Sequence[str],
        context: str,
        attempts: int,
    ) -> None:
        self.ctx = ctx
        self.files = files
        self.compile = compile
        self.task = with_documents(task, LazyFiles(files))
        self.part = part
        self.targets = targets
        self.context = context
        self.attempts = attempts
        self.before: dict[str, bytes | None] = {}
        self.exact = self._exact()
        self.types = self._types()
        self.kind: FailureCategory = "unknown"

    def _exact(self) -> list[Spelled]:
        """Declarations that the task's words hold and that no header of the project has yet."""
        known = LazyFiles(self.files)
        declared = {one.name for path in known if is_interface(path) for one in functions(known[path])}
        text = self.task if " ".join(self.part.split()) in " ".join(self.task.split()) else f"{self.task}\n\n{self.part}"
        return [one for one in declarations_in(text) if one.function.name not in declared]

    def _types(self) -> list[SpelledType]:
        """Types, macros and constants that the task's words hold as code and that no file of the project has yet."""
        known = LazyFiles(self.files)
        have = {name for path in known if is_compiled(path) for name in defined_names(known[path])}
        return [one for one in types_in(self.task) if not have & set(one.names)]

    def _spelled_out(self) -> Interface | None:
        """The interface, when the words themselves give it: at least two declarations for the one header they name."""
        headers = [path for path in self.targets if is_interface(path)] or headers_named(self.task)
        if len(self.exact) < 2 or len(headers) != 1 or bad_path(headers[0]):
            return None
        ideas = [FunctionIdea(one.function.name, one.contract) for one in self.exact]
        return Interface([HeaderIdea(headers[0], ideas)])

    async def run(self, small_steps: bool, added: Sequence[str] = (), tested: Callers | None = None) -> ScaffoldResult:
        try:
            if added:
                reason = await self._declared(self.targets[0], added)
            elif tested is not None:
                reason = await self._as_tested(tested)
            else:
                laid = await self._by_words()
                reason = "" if laid else await (self._decomposed() if small_steps else self._monolithic())
        except BaseException:
            put_back(self.files, self.before)
            raise
        if reason:
            put_back(self.files, self.before)
            return ScaffoldResult(False, reason=reason, kind=self.kind)
        changed = tuple(path for path, data in self.before.items() if content(self.files, path) != data)
        everything = {path: data for path, data in LazyFiles(self.files).items() if is_compiled(path)}
        mine = [one for one in find_open_functions(everything) if one.path in changed or one.header in changed]
        mine = [one for one in mine if not added or one.name in added]
        rules = " ".join(one.rules for one in self.exact if one.rules)
        if rules and mine:
            await lay_shared_helper(self.ctx, rules, mine, files=self.files, compile=self.compile, task=self.task)
        return ScaffoldResult(
            True, changed, tuple(in_dependency_order(mine)), tuple(find_open_types(everything, mine)) if mine else ()
        )

    async def _as_tested(self, tested: Callers) -> str:
        """The header that the tests' use of it makes: by facts where they tell all of it, else by a model that is told them.
        The tests themselves are compiled against it. Returns "" or why it could not be done."""
        header, usage = tested.header, tested.usage.listed_by(self.task)
        prototypes = [one.prototype for one in usage.functions]
        if usage.sure:
            text = "\n\n".join([*(one.definition for one in usage.types), *prototypes])
            trouble = await self._lay({header: text}) or await tested.trouble()
            if not trouble:
                names = ", ".join(one.name for one in usage.functions)
                text = f"{header} declares {names} now, as the tests use them; no model was asked."
                self.ctx.notice("info", text, "scaffold")
                return ""
            self.ctx.emit(EditRejected(header, trouble))
            put_back(self.files, self.before)
        exact = [Spelled(made) for one in usage.functions if one.sure and (made := prototype_of(one.prototype))]
        structs = [SpelledType((one.name,), one.definition) for one in usage.plain_structs]
        existing, trouble = content(self.files, header) or b"", ""
        fallback = ""
        for attempt in range(1, self.attempts + 1):
            llm = self.ctx.llm("header_gen")
            asked = await llm.generate(
                system=header_gen.SYSTEM,
                task_context=header_gen.task_context(self.task, "", {}),
                prompt=header_gen.tested_question(
                    header, prototypes, [one.described for one in usage.types], usage.constants, usage.lines,
                    existing=existing.decode("utf-8", "replace"), trouble=trouble,
                ),
                item=header,
                attempt=attempt,
                temperature=temperature_for(attempt, llm.target.temperature),
                stop=("\n```\n",) if attempt == 1 else (),
            )  # fmt: skip
            wanted = {one.name: "" for one in usage.functions}
            reply = header_from_reply(asked.text, header, wanted, exact, types=structs, finish=asked.finish)
            self.kind = "patch_failure"
            trouble = reply.problem or await self._lay({header: reply.text})
            if not trouble:
                trouble = await tested.trouble()
                if not trouble:
                    return ""
                fallback = reply.text
                put_back(self.files, self.before)
            self.ctx.emit(EditRejected(header, trouble))
        if fallback and not await self._lay({header: fallback}):
            self.ctx.notice("warning", f"The tests do not compile against {header} yet: {headline(trouble)}", "scaffold")
            return ""
        return f"{header} could not be written in {self.attempts} tries: {headline(trouble)}"

    async def _declared(self, header: str, names: Sequence[str]) -> str:
        """Declarations of ``names`` added to a header. Returns "" or why it could not be done."""
        spelled = {one.function.name: one for one in self.exact}
        for name in names:
            reason = await declare(
                self.ctx, header, name, spelled.get(name), files=self.files, lay=self._lay, task=self.task,
                part=self.part, attempts=self.attempts,
            )  # fmt: skip
            if reason:
                return reason
        return ""

    async def _by_words(self) -> bool:
        """Lay the header that the task's own words spell out; False when they do not, or when it does not compile."""
        interface = self._spelled_out()
        if interface is None:
            return False
        path = interface.headers[0].path
        told = plural(len(self.exact), "function")
        self.ctx.notice("info", f"The task spells out {told} of {path}; no model was asked for them.", "scaffold")
        trouble = await self._lay({path: header_from_words(path, self.exact, structs_in(self.task), self.types)})
        if trouble:
            self.ctx.emit(EditRejected(path, trouble))
        return not trouble

    async def _decomposed(self) -> str:
        try:
            interface = self._spelled_out() or await self._enumerated()
        except Unreadable as error:
            return str(error)
        ideas = self._with_all_exact(interface.headers)
        written: dict[str, str] = {}
        for idea in ideas:
            reason = await self._header(idea, written)
            if reason:
                return reason
        return ""

    async def _enumerated(self) -> Interface:
        return await ask_structured(
            Interface,
            llm=self.ctx.llm("interface_enum"),
            system=interface_enum.SYSTEM,
            task_context=interface_enum.task_context(self.task, self.context),
            prompt=interface_enum.question(self.part, self.targets, [one.function.head for one in self.exact]),
            item=self.part or "interface",
            check=check_interface,
        )

    def _with_all_exact(self, ideas: Sequence[HeaderIdea]) -> list[HeaderIdea]:
        """The ideas, with functions that the task spells out and none of them names given to the first header; a header that
        the plan names takes the place of an invented path when there is only one of each."""
        named = {function.name for idea in ideas for function in idea.functions}
        missing = [FunctionIdea(one.function.name, one.contract) for one in self.exact if one.function.name not in named]
        planned = [path for path in self.targets if is_interface(path)]
        first = ideas[0]
        path = planned[0] if len(planned) == 1 and len(ideas) == 1 else first.path
        changed = msgspec.structs.replace(first, path=path, functions=[*first.functions, *missing])
        return [changed, *ideas[1:]]

    async def _header(self, idea: HeaderIdea, written: dict[str, str]) -> str:
        """One header with its stubs. Returns "" or why it could not be made."""
        wanted = {function.name: function.does for function in idea.functions}
        exact = [one for one in self.exact if one.function.name in wanted]
        existing = content(self.files, idea.path)
        trouble = ""
        for attempt in range(1, self.attempts + 1):
            llm = self.ctx.llm("header_gen")
            asked = await llm.generate(
                system=header_gen.SYSTEM,
                task_context=header_gen.task_context(self.task, self.context, written),
                prompt=header_gen.question(
                    idea.path,
                    idea.purpose,
                    idea.types,
                    list(wanted.items()),
                    [definition_head(one.function) for one in exact],
                    existing=existing.decode("utf-8", "replace") if existing else "",
                    trouble=trouble,
                ),
                item=idea.path,
                attempt=attempt,
                temperature=temperature_for(attempt, llm.target.temperature),
                stop=("\n```\n",) if attempt == 1 else (),
            )
            have = {one.name for one in functions(existing or b"")}
            needed = {name: does for name, does in wanted.items() if name not in have}
            types = self.types if not written else []
            header = header_from_reply(asked.text, idea.path, needed, exact, types=types, finish=asked.finish)
            self.kind = "patch_failure"
            trouble = header.problem or await self._lay({idea.path: header.text})
            if not trouble:
                written[idea.path] = header.text
                return ""
            self.ctx.emit(EditRejected(idea.path, trouble))
        return f"{idea.path} could not be written in {self.attempts} tries: {headline(trouble)}"

    async def _monolithic(self) -> str:
        trouble = ""
        planned = [path for path in self.targets if is_interface(path)]
        for attempt in range(1, self.attempts + 1):
            llm = self.ctx.llm("scaffold")
            asked = await llm.generate(
                system=header_gen.ALL_SYSTEM,
                task_context=header_gen.task_context(self.task, self.context, {}),
                prompt=header_gen.all_question(
                    self.part, self.targets, [definition_head(one.function) for one in self.exact], trouble=trouble
                ),
                item=self.part or "headers",
                attempt=attempt,
                temperature=temperature_for(attempt, llm.target.temperature),
                stop=("\n```\n",) if attempt == 1 and len(planned) == 1 else (),
            )
            replies = headers_from_reply(asked.text)
            if not replies and planned:
                replies = {planned[0]: asked.text}
            laid: dict[str, str] = {}
            trouble = "" if replies else "The reply names no header. Write a line FILE: path/name.h above each."
            for number, (path, reply) in enumerate(replies.items()):
                exact, types = (self.exact, self.types) if number == 0 else ([], [])
                header = header_from_reply(reply, path, {}, exact, types=types, finish=asked.finish)
                trouble = trouble or header.problem or bad_path(path)
                laid[path] = header.text
            self.kind = "patch_failure"
            trouble = trouble or await self._lay(laid)
            if not trouble:
                return ""
            self.ctx.emit(EditRejected(next(iter(replies), ""), trouble))
        return f"The headers could not be written in {self.attempts} tries: {headline(trouble)}"

    async def _lay(self, headers: dict[str, str]) -> str:
        """Write headers, lay their stubs and compile. Taken back, with the trouble returned, when that fails."""
        previous: dict[str, bytes | None] = {}
        sources: list[str] = []
        for path, text in headers.items():
            old = previous.setdefault(path, content(self.files, path))
            self._write(path, merged(old, text) if old is not None else guarded(text, path).encode())
        for wanted in self._undefined(set(headers)):
            previous.setdefault(wanted.path, content(self.files, wanted.path))
            before = content(self.files, wanted.path) or b""
            stubbed = with_stub(before, wanted.signature, wanted.path, wanted.header, LazyFiles(self.files))
            self._write(wanted.path, stubbed)
            sources.append(wanted.path)
        known = self.files.list()
        sources += [path for path in (source_of(header, known) for header in headers) if self.files.exists(path)]
        for source in dict.fromkeys(sources):
            compiled = await self.compile(source, "")
            if not compiled.ok:
                trouble = compile_trouble(compiled, source, content(self.files, source) or b"")
                put_back(self.files, previous)
                self.kind = "compile_error"
                return trouble
        for path in (*headers, *dict.fromkeys(sources)):
            self.ctx.emit(EditApplied(path, "scaffold", added=(content(self.files, path) or b"").count(b"\n")))
        return ""

    def _undefined(self, headers: set[str]) -> list[OpenFunction]:
        everything = {path: data for path, data in LazyFiles(self.files).items() if is_compiled(path)}
        found = find_open_functions(everything)
        return [one for one in found if one.why == "undefined" and one.header in headers]

    def _write(self, path: str, data: bytes) -> None:
        self.before.setdefault(path, content(self.files, path))
        self.files.write_bytes(path, data)
