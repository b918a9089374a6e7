"""The definition of a struct that a header only names, written before any function that uses it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec
import tree_sitter

from agent.c.declarations.definitions import pieces_of
from agent.c.declarations.open_types import type_facts
from agent.c.preprocessor.comments import blanked
from agent.c.syntax.tree import parse_c
from agent.c.writing.insertion import insert_before_functions
from agent.coding.c_context import headers_for, include_spelling, names_in_scope, top_of_file
from agent.coding.files import Files, LazyFiles, content, put_back
from agent.coding.open_items import OpenType
from agent.coding.spelled_out import with_documents
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
from agent.language.code_blocks import code_blocks
from agent.language.nodes import text_of, walk
from agent.prompts import function_implement as words
from agent.textfile import newline_of, to_newline
from agent.values import Diagnostic, FailureCategory


class ExtractedType(msgspec.Struct, frozen=True):
    """A struct definition out of a reply: ``text`` with the declared tag and no typedef, ``helpers`` the types and macros
    it needs that nobody has. ``problem`` is a sentence, "" when there is none."""

    text: str = ""
    helpers: tuple[str, ...] = ()
    problem: str = ""


def extract_type(reply: str, wanted: OpenType, *, known: Collection[str] = (), finish: str = "stop") -> ExtractedType:
    """Take the definition of ``wanted`` out of ``reply``; a typedef around it is taken off, since the header has one."""
    code = "\n\n".join(block.text for block in code_blocks(reply))
    source = code.encode()
    body = next((found for node in walk(parse_c(source)) if (found := _body(node, wanted))), None)
    if body is None:
        if finish != "stop":
            return ExtractedType(problem=f"The reply was cut off before {wanted.spelling} was complete. Write it shorter.")
        return ExtractedType(problem=f"The reply does not define `{wanted.spelling} {{ ... }};`.")
    if not any(child.type == "field_declaration" for child in body.named_children):
        return ExtractedType(problem=f"`{wanted.spelling}` needs members.")
    text = f"{wanted.spelling} {text_of(body)};"
    taken = {*known, wanted.name, *wanted.typedefs}
    helpers: list[str] = []
    words_used = set(re.findall(r"\w+", blanked(text)))
    for piece in reversed(pieces_of(source)):
        fresh = piece.kind in ("type", "macro") and piece.end <= body.start_byte and not set(piece.names) & taken
        if fresh and set(piece.names) & words_used:
            helpers.insert(0, piece.text)
            words_used |= set(re.findall(r"\w+", blanked(piece.text)))
    return ExtractedType(text, tuple(helpers))


def _body(node: tree_sitter.Node, wanted: OpenType) -> tree_sitter.Node | None:
    """The braces of the wanted struct if ``node`` defines it: by its tag, or nameless under one of its typedefs."""
    body = node.child_by_field_name("body")
    if body is None or node.type != f"{wanted.spelling.split()[0]}_specifier":
        return None
    tag = node.child_by_field_name("name")
    if tag is not None:
        return body if text_of(tag) in (wanted.name, *wanted.typedefs) else None
    parent = node.parent
    alias = "" if parent is None else text_of(parent).rstrip("; \n").rsplit("}", 1)[-1].strip(" *")
    return body if alias in (wanted.name, *wanted.typedefs) else None


def place_type(source: bytes, extracted: ExtractedType, doc: str = "") -> bytes:
    """``source`` with the definition and its helpers before the first function, after includes, macros and other types."""
    text = "\n\n".join([*extracted.helpers, f"{doc}\n{extracted.text}" if doc else extracted.text]) + "\n\n"
    return insert_before_functions(source, to_newline(text, newline_of(source)).encode())


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
        return extract_type(asked.text, wanted, known=known, finish=asked.finish)


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
