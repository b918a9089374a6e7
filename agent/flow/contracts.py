"""Which of the functions that a run wrote do what the checks ask of them, and which do not, told one by one at its end."""

from __future__ import annotations

import asyncio

from agent.events import ContractChecked
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.language.test_names import test_function


async def tell_contracts(parts: RunParts, runner: StepRunner) -> None:
    """Emit what the last run of the checks says of each function that the plan had written, in their order. Nothing is told
    where the checks ran to no end: then no function is known to hold."""
    now = parts.outcome.final
    if now is None or not (now.passed or now.failed):
        return
    failing = {test_function(one): one for one in now.failing}
    for step in (one for one in runner.executed if one.kind == "function_implement"):
        for name in step.target_symbols:
            using = await asyncio.to_thread(runner.tests_of, name)
            bad = tuple(sorted(using & failing.keys()))
            holds = None if not using else not bad
            path = next(iter(step.target_files), "")
            parts.ctx.emit(ContractChecked(name, path, holds, len(using) - len(bad), bad, runner.tries_at(name)))
