"""The three yes/no questions about what facts leave open, and which header it is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Protocol

from agent.c.headers import header_table
from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.classifying.classification import (
    ERROR_CAT_LOGIC_ERROR,
    ERROR_CAT_MISSING_DEFINITION,
    ERROR_CAT_MISSING_INCLUDE,
    ERROR_CAT_SIGNATURE_MISMATCH,
    CompilerErrorClassification,
    NeededInclude,
)
from agent.compiling.classifying.deterministic import Deterministic, deterministic_check
from agent.compiling.classifying.findings import SystemNames
from agent.compiling.reading.excerpt import decisive_excerpt
from agent.context import RunContext
from agent.events import CallFinished
from agent.judgment.binary import run_binary_judgment
from agent.prompts import (
    error_classify_definition,
    error_classify_include,
    error_classify_signature,
    error_which_include,
)
from agent.values import Diagnostic, ErrorCategory, Rung

EXCERPT_LIMIT = 500
"""Characters of compiler text in a yes/no question, centred on the decisive line."""

WHICH_LIMIT = 800
"""Characters of compiler text where a header is to be named."""

WHICH_TOKENS = 32
"""Longest reply that can be a header's name."""


class ClassifyLlm(Protocol):
    """Who answers: asks one of the three questions, or for a header's name. :class:`RunQuestions` is the real one."""

    async def ask(self, stage: str, system: str, context: str, question: str, item: str) -> tuple[bool, int | None]:
        """The verdict (an unreadable answer is a no) and the call's id."""
        ...

    async def name(self, stage: str, system: str, prompt: str, item: str) -> tuple[str, int | None]:
        """The raw reply and the call's id."""
        ...


class _Words(Protocol):
    """The module of ``agent/prompts`` that words a yes/no question."""

    SYSTEM: str

    def item(self, excerpt: str) -> str:
        """The question about the compiler's words."""
        ...


class RunQuestions:
    """Asks through a run's context: every call logged, gated and shown like any other."""

    def __init__(self, ctx: RunContext) -> None:
        self.ctx = ctx

    async def ask(self, stage: str, system: str, context: str, question: str, item: str) -> tuple[bool, int | None]:
        """One binary judgment with one item; unreadable answers deny.

        Raises:
            ModelError: if the model cannot be asked.
        """
        calls: list[CallFinished] = []
        verdicts, _ = await run_binary_judgment(
            [question],
            system_prompt=system,
            task_context=context,
            llm=self.ctx.llm(stage),
            format_item=str,
            item_key=lambda _: item,
            stage_name=stage,
            default_action="not classified so",
            on_verdict=lambda _, event: calls.append(event),
        )
        return verdicts.get(item, False), calls[0].call_id if calls else None

    async def name(self, stage: str, system: str, prompt: str, item: str) -> tuple[str, int | None]:
        """One short generation.

        Raises:
            ModelError: if the model cannot be asked.
        """
        asked = await self.ctx.llm(stage).generate(
            system=system, prompt=prompt, item=item, max_tokens=WHICH_TOKENS, stop=("\n\n",)
        )
        return asked.text, asked.call_id


async def classify_compiler_error(
    raw_error: str,
    project: ProjectFiles,
    target: str,
    *,
    llm: ClassifyLlm | None = None,
    diagnostics: Sequence[Diagnostic] | None = None,
    facts: BuildFacts | None = None,
    system: SystemNames | None = None,
    disproven: Sequence[str] = (),
    function: str = "",
    signature: str = "",
    foresee: bool = True,
    use_facts: bool = True,
) -> CompilerErrorClassification:
    """Why ``target`` did not compile or link: facts first, then ``llm``'s three questions about what they leave open.
    Without ``llm`` what is left open is a logic error, ``how`` being ``default``. ``use_facts`` off: the questions only.

    Raises:
        ModelError: if a question is to be asked and the model cannot be.
    """
    check = await asyncio.to_thread(
        deterministic_check, raw_error, project, target, diagnostics=diagnostics, facts=facts, system=system,
        disproven=disproven, foresee=foresee,
    )  # fmt: skip
    if not use_facts:
        check = without_facts(check)
    if check.classification is not None:
        return check.classification
    if llm is None:
        return undecided(raw_error, check)
    return await ask_questions(raw_error, project, target, check, llm, function=function, signature=signature, system=system)


def without_facts(check: Deterministic) -> Deterministic:
    """The diagnostics alone, for when the questions are to be asked whatever facts say."""
    return Deterministic(None, (), (), check.diagnostics)


def undecided(raw_error: str, check: Deterministic) -> CompilerErrorClassification:
    """What no fact explains and nobody is asked about: a logic error by default, and the ladder says so."""
    rungs = (*check.rungs, Rung("Is it a fault of the code itself?", "taken as one: no fact says otherwise", "default"))
    return CompilerErrorClassification(
        ERROR_CAT_LOGIC_ERROR, raw_error, how="default", path=rungs, diagnostics=check.diagnostics
    )


async def ask_questions(
    raw_error: str,
    project: ProjectFiles,
    target: str,
    check: Deterministic,
    llm: ClassifyLlm,
    *,
    function: str = "",
    signature: str = "",
    system: SystemNames | None = None,
) -> CompilerErrorClassification:
    """Include? signature? definition? The first yes decides, three noes make a logic error.

    A header that the model names must exist, in the project or on the compiler's search path; else the error counts as
    a logic error.
    """
    return await _Questions(raw_error, project, target, check, llm, function, signature, system).classify()


class _Questions:
    """The questions about one error, each with its rung on the ladder."""

    def __init__(
        self, raw_error: str, project: ProjectFiles, target: str, check: Deterministic, llm: ClassifyLlm,
        function: str, signature: str, system: SystemNames | None,
    ) -> None:  # fmt: skip
        self.raw_error, self.project, self.target, self.check, self.llm = raw_error, project, target, check, llm
        self.system = system
        self.item = function or target
        self.context = error_classify_include.context(function, target, signature)
        self.excerpt = decisive_excerpt(raw_error, EXCERPT_LIMIT)
        self.rungs = list(check.rungs)

    async def classify(self) -> CompilerErrorClassification:
        if await self._yes("error_classify_include", error_classify_include, "Is an include missing?"):
            return await self._missing_include()
        if await self._yes("error_classify_signature", error_classify_signature, "Do signatures disagree?"):
            return self._done(
                ERROR_CAT_SIGNATURE_MISMATCH,
                "A function's declaration and its definition or call disagree: make them match exactly.",
            )
        if await self._yes("error_classify_definition", error_classify_definition, "Is something never defined?"):
            return self._done(
                ERROR_CAT_MISSING_DEFINITION,
                "Something is declared or called but defined nowhere.",
                symbol=_first_unknown(self.check),
            )
        return self._done(ERROR_CAT_LOGIC_ERROR, None)

    async def _yes(self, stage: str, words: _Words, short: str) -> bool:
        verdict, call = await self.llm.ask(stage, words.SYSTEM, self.context, words.item(self.excerpt), self.item)
        self.rungs.append(Rung(short, "yes" if verdict else "no", "model", call))
        return verdict

    async def _missing_include(self) -> CompilerErrorClassification:
        """A missing include when the model names a header that exists, else a logic error."""
        own = [h for h in self.project.headers() if h != self.target]
        prompt = error_which_include.prompt(decisive_excerpt(self.raw_error, WHICH_LIMIT), own)
        reply, call = await self.llm.name("error_which_include", error_which_include.SYSTEM, prompt, self.item)
        header = header_in_reply(reply)
        needed = _existing(header, self.project, self.target, self.check, self.system) if header else None
        answer = f"{header}: no such header, refused" if header else "no header's name in the answer"
        self.rungs.append(Rung("Which header?", needed.text if needed else answer, "model", call))
        if needed is None:
            return self._done(ERROR_CAT_LOGIC_ERROR, None)
        return self._done(
            ERROR_CAT_MISSING_INCLUDE,
            f"{needed.text} is missing in {needed.file}.",
            suggested_include=needed.header,
            includes=(needed,),
        )

    def _done(self, category: ErrorCategory, detail: str | None, **more: Any) -> CompilerErrorClassification:
        return CompilerErrorClassification(
            category, self.raw_error, diagnostic_context=detail, how="model", path=tuple(self.rungs),
            diagnostics=self.check.diagnostics, **more,
        )  # fmt: skip


_HEADER = re.compile(r"[\w./+-]+\.(?:h|hh|hpp|inc)\b")


def header_in_reply(reply: str) -> str:
    """The first thing in a reply that can be a header's name, brackets and words around it dropped; "" when none can."""
    match = _HEADER.search(reply)
    name = match[0].strip("/") if match else ""
    return "" if ".." in name.split("/") else name.removeprefix("./")


def _existing(
    header: str, project: ProjectFiles, target: str, check: Deterministic, system: SystemNames | None
) -> NeededInclude | None:
    table = header_table()
    finding = next((f for f in check.findings if f.outcome == "unknown"), None)
    file = finding.file if finding and finding.file else target
    line = finding.line if finding and finding.line else project.shape(file).line_count + 1
    symbols = (finding.name,) if finding and finding.name else ()
    own = project.included_file(file, header)
    if own is not None and own != file:
        if project.is_active(file, header, line):
            return None
        brackets = project.names_in_brackets(file, own)
        return NeededInclude(project.spelled_from(file, own), False, file, line, symbols, brackets=brackets)
    header = table.proper(header)
    known = system.exists(header) if system is not None else header in table.headers
    if not known or table.never(header) or header in project.active_headers(file, line):
        return None
    return NeededInclude(header, True, file, line, symbols)


def _first_unknown(check: Deterministic) -> str:
    return next((f.name for f in check.findings if f.outcome == "unknown" and f.name), "")
