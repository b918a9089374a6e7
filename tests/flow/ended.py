"""A run that has ended with a change nobody has decided on, made without a model: real git, real log."""

from __future__ import annotations

from pathlib import Path

from agent.audit.log import AuditLog, log_path
from agent.audit.rows import CallDraft, Question
from agent.events import DiffReady, Envelope, Event, RunFinished, RunStarted
from agent.flow.diffs import count_lines
from agent.models.types import Completion
from agent.values import RunStatus
from agent.verdict.decide import Verdict
from agent.workspace.git import run_git
from agent.workspace.worktree import Workspace

BEFORE, AFTER = "int x;\n", "int x;\nint y;\n"


def repository(folder: Path) -> Path:
    """A repository of one committed file, ``a.c``."""
    folder.mkdir(parents=True, exist_ok=True)
    run_git(folder, "init", "-q")
    (folder / "a.c").write_text(BEFORE)
    run_git(folder, "add", "a.c")
    run_git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
    return folder


async def ended_run(repo: Path, run_id: str = "r1", status: RunStatus = "complete", text: str = AFTER) -> Workspace:
    """Run ``run_id`` has written ``text`` into ``a.c`` on its branch and has said how it ended. One call, about ``a.c``.
    Its configuration has outcomes labelled."""
    place = await Workspace.create(repo, run_id)
    if text != BEFORE:
        place.write_bytes("a.c", text.encode())
    await place.commit("the change")
    diff = await place.diff()
    log = AuditLog(log_path(repo))
    config = '{"judgment": {"outcome_labels": true}}'
    log.start_run(run_id, task="Add y to a.c", repo=str(repo), model="m1", branch=place.branch, config=config)
    draft = CallDraft(Question("s", "t\n", "File: a.c", "a.c", True), run_id, 1, "scope", "m1", "openai", "{}")
    call = log.insert_call(draft)
    log.answer_call(call, Completion("yes", 0.9, prompt_tokens=10, cached_tokens=5, completion_tokens=1, ms=12.0))
    log.settle_call(call, Verdict(True))
    events: list[Event] = [
        RunStarted("Add y to a.c", str(repo), place.branch, place.base, model="m1"),
        DiffReady(diff, tuple(await place.changed_files()), *count_lines(diff), place.branch),
        RunFinished(status, "Said.", calls=1, seconds=2.0, branch=place.branch if diff else ""),
    ]
    for seq, event in enumerate(events, 1):
        log.append(Envelope(run_id, seq, float(seq), event))  # type: ignore[arg-type]
    log.close()
    return place


def has_branch(repo: Path, run_id: str = "r1") -> bool:
    """Whether the run's branch is there."""
    return run_git(repo, "rev-parse", "-q", "--verify", f"refs/heads/cra/{run_id}", check=False).returncode == 0
