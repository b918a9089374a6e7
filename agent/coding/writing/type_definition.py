"""The definition of a struct that a header only names, written before any function that uses it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agent.c.declarations.open_types import type_facts
from agent.c.surroundings import headers_for, include_spelling, names_in_scope, top_of_file
from agent.c.writing.type_definition import ExtractedType, extract_type, place_type
from agent.coding.files import Files, LazyFiles, content, put_back
from agent.coding.open_items import OpenType
from agent.coding.writing.candidates import (
    CompileFile,
    FunctionResult,
    compile_trouble,
    errors_of,
    headline,
    room_for,
    temperature_for,
)
from agent.context import RunContext
from agent.events import EditApplied, EditRejected, FunctionFailed, FunctionImplemented, FunctionStarted
from agent.prompts import function_implement as words
from agent.task.documents import with_documents
from agent.values import Diagnostic, FailureCategory


async def implement_type(
    ctx: RunContext,
    wanted: OpenType,
    *,
    files: Files,
    compile: CompileFile,
    task: str = "",
    max_attempts: int | None = None,
) -> FunctionResult:
    """Have the struct defined in its source file, compiled there. On failure the file is as before.

    Raises:
        ModelError: if the model cannot answer.
    """
    attempts = ctx.config.coding.max_attempts if max_attempts is None else max_attempts
    writer = _TypeWriter(ctx, wanted, files, compile, with_documents(task, LazyFiles(files)))
    for attempt in range(1, attempts + 1):
        ctx.emit(FunctionStarted(wanted.spelling, wanted.path, attempt, attempts))
        text = await writer.attempt(attempt)
        if text:
            lines = text.count("\n") + 1
            ctx.emit(FunctionImplemented(wanted.spelling, wanted.path, attempt, lines))
            return FunctionResult(True, wanted.spelling, wanted.path, attempt, "", lines, calls=tuple(writer.calls))
    why = headline(writer.trouble.split("```\n")[-1])
    reason = f"{wanted.spelling} was not defined in {attempts} tries: {why}"
    ctx.emit(FunctionFailed(wanted.spelling, wanted.path, reason, attempts))
    return FunctionResult(False, wanted.spelling, wanted.path, attempts, reason, calls=tuple(writer.calls), kind=writer.kind)


class _TypeWriter:
    def __init__(self, ctx: RunContext, wanted: OpenType, files: Files, compile: CompileFile, task: str) -> None:
        self.ctx = ctx
        self.wanted = wanted
        self.files = files
        self.compile = compile
        self.task = task
        self.trouble = ""
        self.kind: FailureCategory = "unknown"
        self.seen: set[str] = set()
        self.calls: list[int] = []

    async def attempt(self, number: int) -> str:
        """Ask once and try the reply. Returns the definition that now stands in the file, "" when it does not."""
        wanted, everything = self.wanted, LazyFiles(self.files)
        before = content(self.files, wanted.path)
        extracted = await self._ask(number, everything, before or b"")
        repeated = extracted.text in self.seen
        if extracted.problem or repeated:
            self.trouble = self.trouble if repeated else extracted.problem
            said = "The reply is the same as one that failed before." if repeated else extracted.problem
            self.kind = self.kind if repeated else "patch_failure"
            self.ctx.emit(EditRejected(wanted.path, f"{wanted.spelling}: {said}"))
            return ""
        self.seen.add(extracted.text)
        start = before if before and before.strip() else _new_file(wanted, everything)
        placed = place_type(start, extracted)
        self.files.write_bytes(wanted.path, placed)
        self.ctx.emit(EditApplied(wanted.path, "type", wanted.spelling, extracted.text.count("\n") + 1, 0))
        stands = False
        try:
            compiled = await self.compile(wanted.path, wanted.spelling)
            stands = compiled.ok or _only_elsewhere(compiled.diagnostics, placed, extracted)
        finally:
            if not stands:
                put_back(self.files, {wanted.path: before})
        if stands:
            return extracted.text
        said, self.kind = compile_trouble(compiled, wanted.path, placed), "compile_error"
        self.trouble = f"This was wrong:\n```c\n{extracted.text}\n```\n{said}"
        return ""

    async def _ask(self, attempt: int, everything: LazyFiles, source: bytes) -> ExtractedType:
        wanted, llm = self.wanted, self.ctx.llm("function_implement")
        room = room_for(llm.target, llm.target.max_tokens) - len(self.task)
        headers = headers_for(wanted.path, everything, first=wanted.header, limit=min(12_000, room * 7 // 10))
        asked = await llm.generate(
            system=words.TYPE_SYSTEM,
            task_context=words.task_context(self.task, headers, wanted.path, top_of_file(source)),
            prompt=words.type_question(wanted.spelling, wanted.path, wanted.doc, wanted.users, self.trouble),
            item=wanted.spelling,
            attempt=attempt,
            temperature=temperature_for(attempt, llm.target.temperature),
            stop=("\n```\n",) if attempt == 1 else (),
        )
        self.calls.append(asked.call_id)
        known = names_in_scope(wanted.path, list(headers), everything)
        return extract_type(asked.text, wanted.spelling, wanted.typedefs, known=known, finish=asked.finish)


def _only_elsewhere(diagnostics: Sequence[Diagnostic], placed: bytes, extracted: ExtractedType) -> bool:
    """Whether every error lies outside the new lines: a function that guessed at other members is rewritten later."""
    first = placed[: placed.find(extracted.text.split("\n")[0].encode())].count(b"\n") + 1
    lines = range(first, first + extracted.text.count("\n") + 1)
    errors = errors_of(diagnostics)
    return bool(errors) and all(one.line and one.line not in lines for one in errors)


def _new_file(wanted: OpenType, files: LazyFiles) -> bytes:
    return f'#include "{include_spelling(wanted.header, wanted.path, files)}"\n\n'.encode()


def still_open(wanted: OpenType, sources: Collection[bytes]) -> bool:
    """Whether none of ``sources`` defines the type."""
    return not any(wanted.spelling in type_facts(source).defined for source in sources)
