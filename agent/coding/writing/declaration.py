"""One function declared in a header that is there: as the task spells it out, else by one small call."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from agent.c.spelled_out import Spelled
from agent.c.writing.header_text import declaration_from_reply, header_from_words
from agent.coding.files import Files, content
from agent.coding.writing.candidates import headline, temperature_for
from agent.context import RunContext
from agent.events import EditRejected
from agent.prompts import header_gen

Lay = Callable[[dict[str, str]], Awaitable[str]]
"""Puts declarations into headers, stubs into sources, and compiles; returns the trouble, with everything taken back."""


async def declare(
    ctx: RunContext, header: str, name: str, exact: Spelled | None, *, files: Files, lay: Lay, task: str, part: str,
    attempts: int,
) -> str:  # fmt: skip
    """Add the declaration of ``name``. Returns "" or, as a sentence, why it could not be done.

    Raises:
        ModelError: if the model cannot answer.
    """
    if exact is not None and not await lay({header: header_from_words(header, [exact])}):
        return ""
    trouble = ""
    for attempt in range(1, attempts + 1):
        llm = ctx.llm("header_gen")
        text = (content(files, header) or b"").decode("utf-8", "replace")
        asked = await llm.generate(
            system=header_gen.ONE_SYSTEM,
            task_context=header_gen.task_context(task, "", {}),
            prompt=header_gen.one_question(header, text, name, trouble=trouble),
            item=f"{header} {name}",
            attempt=attempt,
            temperature=temperature_for(attempt, llm.target.temperature),
            stop=("\n```\n",) if attempt == 1 else (),
        )
        declared = declaration_from_reply(asked.text, name, said_of(name, part or task))
        trouble = declared.problem or await lay({header: declared.text})
        if not trouble:
            return ""
        ctx.emit(EditRejected(header, trouble))
    return f"{name} could not be declared in {header} in {attempts} tries: {headline(trouble)}"


def said_of(name: str, task: str) -> str:
    """What a task says that the function ``name`` does, as a comment says it: "Add a function NAME that counts nodes" is
    "Counts nodes." The whole task where no such sentence can be told apart."""
    text = re.sub(r",?\s+(?:to|in|into)\s+[\w./-]+\.[ch]\b", "", " ".join(task.split()))
    name_and_call = rf"\b{re.escape(name)}\b[`'\"]?\s*(?:\([^()]*\))?[`'\"]?\s*"
    found = re.search(name_and_call + r"(?:(?:,\s*)?(?:that|which|to)|:)\s+(?P<does>[^.;]*\w)", text)
    does = found["does"] if found else text.rstrip(".")
    return f"{does[:1].upper()}{does[1:]}."
