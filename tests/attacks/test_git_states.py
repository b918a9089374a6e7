"""A run begins, works and ends in every state of a repository, or says in a sentence why it cannot; nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.workspace.git import WorkspaceError
from agent.workspace.worktree import Workspace
from tests.attacks.git_states import STATES
from tests.workspace.support import fingerprint, make_repo


async def survive(repo: Path) -> str:
    """A run on ``repo``: "worked" or "refused". Asserts that the person's side is theirs at every point."""
    before = fingerprint(repo, refs=False)
    try:
        space = await Workspace.create(repo, "r1")
    except WorkspaceError as error:
        assert str(error).strip() and "Traceback" not in str(error)
        assert fingerprint(repo, refs=False) == before
        return "refused"
    assert fingerprint(repo, refs=False) == before
    space.write_bytes("made.c", b"int made;\n")
    await space.commit("Step")
    assert "made.c" in await space.changed_files() and "int made" in await space.diff()
    again = await Workspace.reopen(repo, "r1")
    assert (again.root / "made.c").read_text() == "int made;\n" and fingerprint(repo, refs=False) == before
    done = await again.apply_to_user_tree()
    assert done.ok and done.files == ("made.c",)
    (repo / "made.c").unlink()
    assert fingerprint(repo, refs=False) == before
    await again.discard()
    assert fingerprint(repo, refs=False) == before
    assert not (repo.parent / "hook-ran").exists()
    return "worked"


@pytest.mark.parametrize("name", STATES)
async def test_a_state(tmp_path: Path, name: str) -> None:
    repo = make_repo(tmp_path / "repo")
    STATES[name](repo)
    await survive(repo)
    if (victim := tmp_path / "victim").exists():
        assert [path.name for path in victim.iterdir()] == ["mine.c"]
