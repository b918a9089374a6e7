"""One helper for a rule that several functions of a new module follow, written before them: each of them alone would
otherwise spell it out anew, or call a function that nobody wrote."""

from __future__ import annotations

from collections.abc import Sequence

from agent.c.declarations.functions import functions
from agent.c.writing.extract import extract_helper
from agent.c.writing.insertion import insert_before_functions
from agent.coding.files import Files, LazyFiles
from agent.coding.open_items import OpenFunction
from agent.coding.replies.search_replace import changed_lines
from agent.coding.writing.candidates import CompileFile, compile_trouble, room_for, temperature_for
from agent.coding.writing.prompt_context import surroundings
from agent.context import RunContext
from agent.events import EditApplied, EditRejected
from agent.judgment.binary import run_binary_judgment
from agent.language.code_blocks import code_blocks
from agent.prompts import function_implement, shared_helper

STAGE = "shared_helper"
REPLY_TOKENS = 256


async def lay_shared_helper(
    ctx: RunContext, rule: str, wanted: Sequence[OpenFunction], *, files: Files, compile: CompileFile, task: str
) -> str:
    """Write the helper that ``rule`` asks for into the source of ``wanted``, if a model says that several of them need it.

    Returns:
        its name; "" when none is needed or none came that compiles: then the file is as before.

    Raises:
        ModelError, Stopped: as ``run_binary_judgment``.
    """
    path = wanted[0].path
    mine = [one for one in wanted if one.path == path]
    if len(mine) < 2 or not await _needed(ctx, rule, mine):
        return ""
    trouble = ""
    for attempt in range(1, ctx.config.coding.max_attempts + 1):
        before = files.read_bytes(path)
        name, pieces = await _asked(ctx, rule, mine, files, task, attempt, trouble)
        if not name:
            trouble = "Reply with one new function in one ```c block."
            continue
        text = "\n\n".join(pieces) + "\n\n"
        after = insert_before_functions(before, text.encode())
        files.write_bytes(path, after)
        compiled = await compile(path, name)
        if compiled.ok:
            removed, added = changed_lines(before.decode("utf-8", "replace"), after.decode("utf-8", "replace"))
            ctx.emit(EditApplied(path, "function", name, added, removed))
            return name
        trouble = compile_trouble(compiled, path, files.read_bytes(path))
        files.write_bytes(path, before)
        ctx.emit(EditRejected(path, f"{name}: {trouble}"))
    return ""


async def _needed(ctx: RunContext, rule: str, wanted: Sequence[OpenFunction]) -> bool:
    async with ctx.stage(STAGE, 1, "one helper for several functions?") as report:
        verdicts, _ = await run_binary_judgment(
            [rule],
            system_prompt=shared_helper.SYSTEM,
            task_context=shared_helper.context([one.signature for one in wanted]),
            llm=ctx.llm(STAGE),
            format_item=shared_helper.item,
            item_key=lambda one: one,
            stage_name=STAGE,
            default_action="no helper",
        )
        report.counts = {"asked": 1, "yes": int(verdicts.get(rule, False))}
    return verdicts.get(rule, False)


async def _asked(
    ctx: RunContext, rule: str, wanted: Sequence[OpenFunction], files: Files, task: str, attempt: int, trouble: str
) -> tuple[str, tuple[str, ...]]:
    """(name, the helper and what it needs itself); ("", ()) when the reply has no new function."""
    llm = ctx.llm("function_implement")
    around = surroundings(wanted[0], LazyFiles(files), task, room_for(llm.target, REPLY_TOKENS) - len(task))
    asked = await llm.generate(
        system=function_implement.SYSTEM,
        task_context=around.task_context,
        prompt=shared_helper.question(rule, wanted[0].path, trouble),
        item="shared helper",
        attempt=attempt,
        temperature=temperature_for(attempt, llm.target.temperature),
        max_tokens=REPLY_TOKENS,
    )
    known = around.known | {one.name for one in wanted}
    code = "\n\n".join(block.text for block in code_blocks(asked.text))
    fresh = [one.name for one in functions(code.encode()) if one.defined and one.name not in known and one.name != "main"]
    pieces = extract_helper(asked.text, fresh[0], known=known) if fresh else ()
    return (fresh[0], pieces) if pieces else ("", ())
