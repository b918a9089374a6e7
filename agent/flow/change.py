"""What becomes of the change of a run that has ended: applied, kept or discarded; each is said in the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from agent.audit.log import AuditLog, log_path
from agent.events import DiffResolved, Envelope, Event, Notice
from agent.labels.book import label_outcomes, outcomes_wanted
from agent.workspace.apply import ApplyResult
from agent.workspace.git import WorkspaceError
from agent.workspace.lease import RunLease
from agent.workspace.undo import undo
from agent.workspace.worktree import Workspace

Choice = Literal["apply", "keep", "discard"]


class RunChange:
    """The change in a run's place. ``emit`` takes the events: those of a run that is still in front, or of the log."""

    def __init__(self, workspace: Workspace, log: AuditLog, emit: Callable[[Event], None]) -> None:
        self.workspace, self.log, self.emit = workspace, log, emit

    async def apply(self) -> tuple[bool, str]:
        """Bring it into the person's files, whole or not at all. Returns whether it was, and a sentence."""
        try:
            result = await self.workspace.apply_to_user_tree()
        except WorkspaceError as error:
            result = ApplyResult(False, str(error))
        if not result.ok:
            self.emit(Notice("error", result.text))
            return False, result.text
        self.emit(DiffResolved("applied", result.text))
        if outcomes_wanted(self.log, self.workspace.run_id):
            label_outcomes(self.log, self.workspace.run_id)
        await self.workspace.keep()
        return True, result.text

    async def keep(self) -> str:
        """Leave it on its branch. Returns a sentence that says where."""
        text = await self.workspace.keep()
        self.emit(DiffResolved("kept", text))
        return text

    async def discard(self) -> str:
        """Delete the branch. Returns a sentence."""
        text = await self.workspace.discard()
        self.emit(DiffResolved("discarded", text))
        return text


async def decide(repo: Path, run_id: str, choice: Choice) -> tuple[bool, str]:
    """Decide on the change of a run that nobody has open any more. Returns whether it was done, and a sentence.

    Raises:
        WorkspaceError: its place or branch is gone, or the run is going on.
        LogError: the log cannot be written, or holds no such run.
    """
    lease = RunLease(repo, run_id)
    try:
        workspace = await Workspace.reopen(repo, run_id)
        log = AuditLog(log_path(repo))
        try:
            change = RunChange(workspace, log, _appender(log, run_id))
            if choice == "apply":
                return await change.apply()
            return True, await (change.keep() if choice == "keep" else change.discard())
        finally:
            log.close()
    finally:
        lease.release()


async def take_back(repo: Path, run_id: str) -> tuple[bool, str]:
    """Take the applied change of a run out of the person's files again; its work stays on its branch. Returns whether it
    was done, and a sentence.

    Raises:
        WorkspaceError: the disk failed.
        LogError: the log cannot be written, or holds no such run.
    """
    log = AuditLog(log_path(repo))
    try:
        emit = _appender(log, run_id)
        done, text = await asyncio.to_thread(undo, repo, run_id)
        if done:
            emit(DiffResolved("undone", text))
        return done, text
    finally:
        log.close()


def _appender(log: AuditLog, run_id: str) -> Callable[[Event], None]:
    """Writes events behind those that the run left; what is decided later takes no time of the run's."""
    seq, seconds = log.end_of(run_id)

    def emit(event: Event) -> None:
        nonlocal seq
        seq += 1
        log.append(Envelope(run_id, seq, seconds, event))  # type: ignore[arg-type]

    return emit
