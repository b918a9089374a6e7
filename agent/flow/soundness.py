"""What sanitizers find in C that a run wrote although the checks pass: such code works by chance."""

from __future__ import annotations

from collections.abc import Sequence

from agent.flow.checks import functions_in
from agent.flow.diagnosis import Fault
from agent.flow.run_parts import RunParts
from agent.flow.steps import StepRunner
from agent.languages import is_compiled
from agent.planning.signals import as_shown


async def mend_unsound(parts: RunParts, runner: StepRunner) -> None:
    """Have each function of the run that sanitizers blame written once more with the fault shown, and keep it if they find
    less and the checks still pass. What is left is told.

    Raises:
        ModelError, Stopped: the run cannot go on; what was committed stays.
    """
    best = parts.checks.best
    if best is None or not best.ok or not any(map(is_compiled, await parts.workspace.changed_files())):
        return
    faults = await _faults(parts, runner)
    parts.checks.blame(functions_in(faults))
    for step in runner.done if faults else ():
        own = [one.signal for one in faults if one.function in step.target_symbols]
        if own and parts.budget.allows():
            await runner.carry_out(step, as_shown(own), anew=True)
    left = await _faults(parts, runner) if faults else ()
    if left:
        text = f"The checks pass, but sanitizers find a fault in what was written. {left[0].signal.message}"
        parts.ctx.notice("warning", text, "diagnosis")


async def _faults(parts: RunParts, runner: StepRunner) -> Sequence[Fault]:
    written = {name for step in runner.done for name in step.target_symbols}
    return [one for one in await parts.checks.faults() if one.function in written]
