"""The checks in a copy of a run's place, built with sanitizers."""

from __future__ import annotations

from pathlib import Path

from agent.workspace.sandbox import Limits
from agent.workspace.sanitized import run_sanitized
from agent.workspace.worktree import Workspace
from tests.workspace.support import git, make_repo

MAKEFILE = "test: main.c box/box.h\n\t$(CC) -o main main.c\n\t./main\n"
MAIN = """#include "box/box.h"

int main(void)
{
    int room[BOX_ROOM] = {0};
    volatile int at = BOX_ROOM;
    return room[at] * 0;
}
"""


async def test_a_copy_has_the_files_of_submodules(tmp_path: Path) -> None:
    box = make_repo(tmp_path / "box", {"box.h": "#define BOX_ROOM 3\n"})
    repo = make_repo(tmp_path / "repo", {"Makefile": MAKEFILE, "main.c": MAIN})
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(box), "box")
    git(repo, "commit", "-q", "-m", "Box")
    space = await Workspace.create(repo, "r1")
    output, place = await run_sanitized(space.root, "make test", "gcc", 120.0, limits=Limits())
    assert "main.c:7" in output and "out of bounds" in output and not Path(place).exists()
