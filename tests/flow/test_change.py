"""A change that was left undecided is applied, kept or discarded later, by another process, as if its run were in front."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.history import delete_run, events_of, fold, list_runs
from agent.audit.reader import LogReader
from agent.flow.change import Choice, decide
from agent.labels.items import load_items
from agent.launch import open_run
from agent.state.run_state import RunState
from agent.workspace.git import WorkspaceError
from agent.workspace.lease import RunLease, held
from tests.fakes.server import ScriptedServer
from tests.flow.ended import AFTER, BEFORE, ended_run, has_branch, repository
from tests.flow.test_run import settings


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo")


def state_of(repo: Path) -> RunState:
    reader = LogReader(repo / ".clean_room" / "raw.sqlite")
    try:
        return fold(events_of(reader, "r1"))
    finally:
        reader.close()


@pytest.mark.parametrize(
    ("choice", "became", "text", "branch"),
    [("apply", "applied", AFTER, True), ("keep", "kept", BEFORE, True), ("discard", "discarded", BEFORE, False)],
)
async def test_what_becomes_of_it(repo: Path, choice: Choice, became: str, text: str, branch: bool) -> None:
    place = await ended_run(repo)
    reader = LogReader(repo / ".clean_room" / "raw.sqlite")
    (before,) = list_runs(reader, repo)
    assert before.undecided and (before.fate.files, before.fate.added, before.fate.removed) == (1, 1, 0)
    done, said = await decide(repo, "r1", choice)
    assert done and said
    (after,) = list_runs(reader, repo)
    assert after.fate.choice == became and not after.undecided and not after.place
    assert (repo / "a.c").read_text() == text and has_branch(repo) is branch and not place.top.exists()
    assert state_of(repo).diff_choice == became, "a replay says it, too"
    labels = [(item.label, item.source) for item in load_items(reader)]
    assert labels == ([(True, "outcome")] if choice == "apply" else [(None, None)])
    reader.close()
    with pytest.raises(WorkspaceError, match="No unfinished run"):
        await decide(repo, "r1", choice)


async def test_what_does_not_fit_any_more_changes_nothing_and_stays_undecided(repo: Path) -> None:
    await ended_run(repo)
    (repo / "a.c").write_text("int z;\n")
    done, said = await decide(repo, "r1", "apply")
    assert not done and "a.c" in said
    assert (repo / "a.c").read_text() == "int z;\n" and has_branch(repo)
    reader = LogReader(repo / ".clean_room" / "raw.sqlite")
    assert list_runs(reader, repo)[0].undecided
    reader.close()


async def test_a_run_that_goes_on_is_neither_decided_nor_deleted_nor_taken_up_twice(repo: Path) -> None:
    await ended_run(repo, status="stopped")
    lease = RunLease(repo, "r1")
    assert held(repo, "r1")
    for work in (decide(repo, "r1", "discard"), delete_run(repo, "r1")):
        with pytest.raises(WorkspaceError, match="is going on"):
            await work
    async with ScriptedServer("yes") as server:
        with pytest.raises(WorkspaceError, match="is going on"):
            await open_run("Add y to a.c", repo, extra=settings(server), resume="r1")
        assert has_branch(repo) and list_busy(repo) == [True]
        lease.release()
        lease.release()
        assert not held(repo, "r1") and list_busy(repo) == [False]
        run = await open_run("Add y to a.c", repo, extra=settings(server), resume="r1")
        assert held(repo, "r1"), "a run holds its place while it is open"
        await run.aclose()
    assert not held(repo, "r1")


def list_busy(repo: Path) -> list[bool]:
    reader = LogReader(repo / ".clean_room" / "raw.sqlite")
    try:
        return [run.busy for run in list_runs(reader, repo)]
    finally:
        reader.close()


async def test_nothing_waits_where_nothing_was_changed(repo: Path) -> None:
    await ended_run(repo, text=BEFORE)
    reader = LogReader(repo / ".clean_room" / "raw.sqlite")
    (run,) = list_runs(reader, repo)
    reader.close()
    assert run.place and not run.undecided


async def test_outside_git_a_kept_copy_is_decided_though_it_is_still_there(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.c").write_text(BEFORE)
    await ended_run(folder)
    reader = LogReader(folder / ".clean_room" / "raw.sqlite")
    assert list_runs(reader, folder)[0].undecided
    assert (await decide(folder, "r1", "apply"))[0]
    (run,) = list_runs(reader, folder)
    reader.close()
    assert run.place and run.fate.choice == "applied" and not run.undecided
    assert (folder / "a.c").read_text() == AFTER
