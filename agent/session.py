"""A context for what is asked outside a run (retrieval alone, classification, enrichment): logged like everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from agent import __version__
from agent.audit.log import AuditLog, log_path
from agent.audit.recording import recording
from agent.audit.run_name import new_run_id
from agent.config.schema import Config
from agent.context import RunContext
from agent.events import RunFinished, RunStarted
from agent.launch import StatusRelay, require_models
from agent.models.router import Router
from agent.values import RunStatus
from agent.verdict.in_force import thresholds_of


@asynccontextmanager
async def asking_session(task: str, folder: Path, config: Config) -> AsyncIterator[RunContext]:
    """A context whose calls go to the log of ``folder``.

    Raises:
        PreflightError: a model cannot answer.
        LogError: the log cannot be opened.
    """
    status = StatusRelay()
    router = Router(config.models, status=status, lookup=recording(config.models.replay))
    try:
        await require_models(router)
        log = AuditLog(log_path(folder))
    except BaseException:
        await router.aclose()
        raise
    run_id = new_run_id()
    log.start_run(
        run_id, task=task, repo=str(folder), model=config.models.reasoning, version=__version__,
        config=msgspec.json.encode(config).decode(),
    )  # fmt: skip
    ctx = RunContext(run_id=run_id, config=config, log=log, router=router, thresholds=thresholds_of(folder, config))
    status.report_to(ctx)
    ctx.emit(RunStarted(task, str(folder), model=config.models.reasoning))
    outcome: RunStatus = "failed"
    try:
        yield ctx
        outcome = "complete"
    finally:
        ctx.emit(RunFinished(outcome, calls=ctx.calls, cached_calls=ctx.cached_calls, seconds=round(ctx.seconds(), 1)))
        await log.durable()
        await router.aclose()
        log.close()
