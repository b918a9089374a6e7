"""A run's place when its process is killed at any moment: made, committed to, kept, discarded, copied, applied."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from agent.directories import state_directory
from agent.workspace import sweeping
from agent.workspace.apply import Apply
from agent.workspace.clean_room import known_work_folder
from agent.workspace.demo import create_demo
from agent.workspace.journal import Journal, recover
from agent.workspace.record import recorded
from agent.workspace.worktree import Workspace
from tests.fakes.cuts import every_moment
from tests.workspace.support import fingerprint, git, make_repo


class Bench:
    """A repository that is put back to how it was before each cut."""

    def __init__(self, folder: Path, files: dict[str, str], *, under_git: bool = True) -> None:
        self.repo, self.fresh, self.state = folder / "repo", folder / "fresh", folder / "state-kept"
        if under_git:
            make_repo(self.repo, files)
        else:
            for name, text in files.items():
                (self.repo / name).parent.mkdir(parents=True, exist_ok=True)
                (self.repo / name).write_text(text)

    def remember(self) -> None:
        shutil.copytree(self.repo, self.fresh, symlinks=True)
        shutil.rmtree(self.state, ignore_errors=True)
        if state_directory().is_dir():
            shutil.copytree(state_directory(), self.state, symlinks=True)
        self.before = fingerprint(self.repo)

    def restore(self) -> None:
        shutil.rmtree(self.repo)
        shutil.copytree(self.fresh, self.repo, symlinks=True)
        shutil.rmtree(state_directory(), ignore_errors=True)
        if self.state.is_dir():
            shutil.copytree(self.state, state_directory(), symlinks=True)

    def restore_files(self) -> None:
        """As :meth:`restore`, but for git and the runs."""
        for place, entries in ((self.repo, None), (self.fresh, self.repo)):
            for path in place.iterdir():
                if path.name in (".git", ".clean_room"):
                    continue
                if entries is None:
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
                elif path.is_dir() and not path.is_symlink():
                    shutil.copytree(path, entries / path.name, symlinks=True)
                else:
                    shutil.copy2(path, entries / path.name, follow_symlinks=False)

    def left(self) -> list[str]:
        """What is in the folder of runs."""
        work = known_work_folder(self.repo)
        return sorted(path.name for path in work.iterdir()) if work is not None else []


def files(repo: Path) -> object:
    """The files of a checkout, with their modes and links."""
    return fingerprint(repo, refs=False)[0]


def create(repo: Path, run: str = "r1") -> Workspace:
    return asyncio.run(Workspace.create(repo, run))


def reopen(repo: Path) -> Workspace:
    return asyncio.run(Workspace.reopen(repo, "r1"))


@pytest.mark.parametrize("under_git", [True, False])
def test_a_place_half_made_is_opened_whole_or_unknown_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, under_git: bool
) -> None:
    bench = Bench(tmp_path, {"a.c": "int a;\n", "dir/b.py": "b = 1\n"}, under_git=under_git)
    (bench.repo / "a.c").write_text("int changed;\n")
    bench.remember()
    monkeypatch.setattr(sweeping, "OLD_SECONDS", -1.0)
    opened = unknown = 0
    for _ in every_moment(lambda: create(bench.repo), bench.restore):
        assert fingerprint(bench.repo) == bench.before
        if recorded(bench.repo):
            space = reopen(bench.repo)
            assert (space.root / "a.c").read_text() == "int changed;\n" and asyncio.run(space.changed_files()) == []
            asyncio.run(space.discard())
            opened += 1
        else:
            unknown += 1
        other = create(bench.repo, "r2")
        assert (other.root / "a.c").read_text() == "int changed;\n"
        assert bench.left() == (["r2", "r2.json"] if under_git else ["r2", "r2.git", "r2.json"])
        assert fingerprint(bench.repo) == bench.before
    assert opened and unknown


@pytest.mark.parametrize("under_git", [True, False])
def test_a_step_half_committed_is_all_there_or_not_at_all(tmp_path: Path, under_git: bool) -> None:
    bench = Bench(tmp_path, {"a.c": "int a;\n"}, under_git=under_git)
    create(bench.repo)
    bench.remember()

    def step() -> None:
        space = reopen(bench.repo)
        space.write_bytes("a.c", b"int x;\n")
        space.write_bytes("new.c", b"int n;\n")
        asyncio.run(space.commit("Step"))

    seen = set()
    for _ in every_moment(step, bench.restore):
        space = reopen(bench.repo)
        seen.add(((space.root / "a.c").read_text(), (space.root / "new.c").exists()))
        assert asyncio.run(space.commit("Nothing")) == asyncio.run(space.head())
        assert fingerprint(bench.repo) == bench.before
    assert seen <= {("int a;\n", False), ("int x;\n", True)}


@pytest.mark.parametrize("choice", ["keep", "discard"])
def test_a_choice_cut_off_can_be_made_again(tmp_path: Path, choice: str) -> None:
    bench = Bench(tmp_path, {"a.c": "int a;\n"})
    space = create(bench.repo)
    space.write_bytes("a.c", b"int x;\n")
    asyncio.run(space.commit("Step"))
    bench.remember()
    for _ in every_moment(lambda: asyncio.run(getattr(space, choice)()), bench.restore):
        assert fingerprint(bench.repo) == bench.before
        if recorded(bench.repo):
            asyncio.run(getattr(reopen(bench.repo), choice)())
        assert bench.left() == [] and git(bench.repo, "worktree", "list").count("\n") == 1
        branches = git(bench.repo, "branch", "--list", "cra/*").split()
        assert branches == (["cra/r1"] if choice == "keep" else [])
        if choice == "keep":
            assert git(bench.repo, "show", "cra/r1:a.c") == "int x;\n"


def test_a_copy_half_discarded_is_whole_or_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "OLD_SECONDS", -1.0)
    bench = Bench(tmp_path, {"a.c": "int a;\n", "b.c": "int b;\n"}, under_git=False)
    space = create(bench.repo)
    bench.remember()
    for _ in every_moment(lambda: asyncio.run(space.discard()), bench.restore):
        if recorded(bench.repo):
            again = reopen(bench.repo)
            assert (again.root / "b.c").read_text() == "int b;\n"
            asyncio.run(again.discard())
        asyncio.run(create(bench.repo, "r2").discard())
        assert bench.left() == [] and fingerprint(bench.repo) == bench.before


def test_an_apply_half_done_is_undone_with_nothing_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path, {"a.c": "int a;\n", "gone.c": "int g;\n", "run.sh": "echo\n", "kind.c": "int k;\n"})
    (bench.repo / "link.c").symlink_to("a.c")
    git(bench.repo, "add", "-A")
    git(bench.repo, "commit", "-q", "-m", "A link")
    space = create(bench.repo)
    space.write_bytes("a.c", b"int x;\n")
    space.write_bytes("d/e/new.c", b"int n;\n")
    (space.root / "gone.c").unlink()
    (space.root / "run.sh").chmod(0o755)
    (space.root / "link.c").unlink()
    (space.root / "link.c").write_text("int file;\n")
    (space.root / "kind.c").unlink()
    (space.root / "kind.c").symlink_to("a.c")
    asyncio.run(space.commit("Step"))
    bench.remember()
    jobs: list[Callable[[], None]] = []
    write = Apply._write
    monkeypatch.setattr(Apply, "_write", lambda self, changes: jobs.append(partial(write, self, changes)))
    assert asyncio.run(space.apply_to_user_tree()).ok and jobs
    before, restore = files(bench.repo), bench.restore_files
    jobs[0]()
    after = files(bench.repo)
    seen = set()
    for _ in every_moment(jobs[0], restore):
        put_back = recover(bench.repo)
        now = files(bench.repo)
        assert now == before or (now == after and not put_back)
        assert bench.left() == ["r1", "r1.json"]
        seen.add(now == after)
    assert seen == {True, False}
    bench.restore_files()
    assert fingerprint(bench.repo) == bench.before


def test_an_undoing_that_is_cut_off_is_done_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.c": "int a;\n", "gone.c": "int g;\n", "run.sh": "echo\n"})
    (bench.repo / "link.c").symlink_to("a.c")
    before = files(bench.repo)
    journal = Journal(bench.repo, "r1", bench.repo)
    for path, new in (("a.c", b"x"), ("gone.c", None), ("link.c", b"y"), ("run.sh", b"echo\n"), ("d/new.c", b"n")):
        journal.remember(path, new)
    journal.seal()
    (bench.repo / "a.c").write_bytes(b"x")
    (bench.repo / "gone.c").unlink()
    (bench.repo / "link.c").unlink()
    (bench.repo / "link.c").write_bytes(b"y")
    (bench.repo / "run.sh").chmod(0o755)
    (bench.repo / "d").mkdir()
    (bench.repo / "d" / "new.c").write_bytes(b"n")
    bench.remember()
    journal.unlock()
    kept = shutil.copytree(state_directory(), tmp_path / "kept")

    def restore() -> None:
        bench.restore_files()
        shutil.rmtree(state_directory())
        shutil.copytree(kept, state_directory())

    for _ in every_moment(lambda: recover(bench.repo), restore):
        recover(bench.repo)
        assert files(bench.repo) == before and bench.left() == []


@pytest.mark.parametrize("where", ["data", "empty"])
def test_a_demo_half_copied_is_never_taken_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setattr(sweeping, "OLD_SECONDS", -1.0)
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path / "data"))
    home = tmp_path / "data" / "demos"
    place = home / "token_budget-1" if where == "data" else tmp_path / "mine" / "place"
    destination = None if where == "data" else place
    head = git(create_demo("token_budget", tmp_path / "whole"), "rev-parse", "HEAD")

    def prepare() -> None:
        shutil.rmtree(place.parent, ignore_errors=True)
        if where == "empty":
            place.mkdir(parents=True)

    def whole(repo: Path) -> bool:
        return git(repo, "rev-parse", "HEAD") == head and git(repo, "status", "--porcelain") == ""

    for _ in every_moment(lambda: create_demo("token_budget", destination), prepare, 8):
        if place.exists() and (place / ".git").exists():
            assert whole(place)
        elif where != "empty":
            assert not place.exists()
            assert create_demo("token_budget", destination) == place and whole(place)
            assert [path.name for path in place.parent.iterdir()] == [place.name]
