"""A helper that new code calls and nobody defines, asked for by itself.

A small model that invents a call repeats it when told that there is no such function, but writes the function when asked.
"""

from __future__ import annotations

import asyncio

import msgspec

from agent.c.writing import beyond_standard, extract
from agent.coding.files import Files, LazyFiles
from agent.coding.open_items import OpenFunction
from agent.coding.writing.candidates import room_for, temperature_for
from agent.coding.writing.prompt_context import surroundings
from agent.context import RunContext
from agent.prompts import function_implement as words

MOST = 2
"""Helpers asked for at most for one version of a function; code that lacks more is better rewritten."""

REPLY_TOKENS = 256
"""Longest reply: a helper of some twenty lines."""


async def with_missing_helpers(
    ctx: RunContext,
    wanted: OpenFunction,
    extracted: extract.Extracted,
    names: list[str],
    *,
    files: Files,
    lock: asyncio.Lock,
    task: str,
    attempt: int,
    calls: list[int],
) -> extract.Extracted | None:
    """``extracted`` with the functions ``names``, which it calls, as static helpers; None when the model does not give them.
    It is not asked for what libraries beyond the standard's have.

    ``lock`` guards the files; ``calls`` takes the log ids of the calls made.

    Raises:
        ModelError: if the model cannot answer.
    """
    if not names or len(names) > MOST:
        return None
    llm = ctx.llm("function_implement")
    caller = "\n\n".join([*extracted.helpers, extracted.function_text])
    async with lock:
        around = surroundings(wanted, LazyFiles(files), task, room_for(llm.target, REPLY_TOKENS) - len(task) - len(caller))
    extracted = beyond_standard.with_own_functions(extracted, names, around.known)
    names = [name for name in names if name not in beyond_standard.OWN]
    helpers = list(extracted.helpers)
    for name in names:
        asked = await llm.generate(
            system=words.SYSTEM,
            task_context=around.task_context,
            prompt=words.helper_question(name, caller, wanted.path, around.written),
            item=f"{wanted.name} {name}",
            attempt=attempt,
            temperature=temperature_for(attempt, llm.target.temperature),
            max_tokens=REPLY_TOKENS,
        )
        calls.append(asked.call_id)
        fresh = extract.extract_helper(asked.text, name, known=around.known | {wanted.name})
        if not fresh:
            return None
        helpers += [piece for piece in fresh if piece not in helpers]
    return msgspec.structs.replace(extracted, helpers=tuple(helpers))
