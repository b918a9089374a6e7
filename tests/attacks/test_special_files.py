"""Pipes, devices and huge files where a repository usually has small ones: nothing waits, nothing is read whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.launch import open_run
from agent.regular_files import read_inside, read_regular
from agent.repair import c_testbed
from agent.repair.c_schema import starts
from agent.repair.c_trace import read_traces
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder, small_ring
from tests.flow.test_run import RING, TASK
from tests.repair.test_phase import play, repository
from tests.workspace.support import git, make_repo
from tui.cli import cli

NAMES = (
    ".gitignore", "Makefile", "pyproject.toml", "setup.cfg", "compile_commands.json", "CMakeLists.txt", "README.md",
    "conftest.py", "p.c", "q.py",
)  # fmt: skip
HUGE = 6 << 30


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _nested(path: Path) -> None:
    path.write_text("a = " + "[" * 100_000)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


@pytest.mark.parametrize("make", [_pipe, _device, _nested, _huge])
@pytest.mark.parametrize("words", [["index"], ["retrieve", "ring_len", "--no-model"], ["run", "Fix ring_len in a.c"]])
def test_commands_do_not_wait_for_special_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], words: list[str]
) -> None:
    monkeypatch.setenv("CRA_STATE_DIR", str(tmp_path / "state"))
    repo = make_repo(tmp_path / "repo", {"a.c": "int ring_len(void) { return 1; }\n"})
    for name in NAMES:
        make(repo / name)
    monkeypatch.chdir(repo)
    done = CliRunner().invoke(cli, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == (2 if words[0] == "run" else 0), done.output
    assert "a.c" in done.output or words[0] != "retrieve"


def test_a_pipe_that_git_itself_would_wait_for_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = make_repo(tmp_path / "mailmap", {"a.c": "int ring_len(void) { return 1; }\n"})
    os.mkfifo(repo / ".mailmap")
    monkeypatch.chdir(repo)
    assert CliRunner().invoke(cli, ["index"]).exit_code == 0
    repo = make_repo(tmp_path / "attributes", {"a.c": "int ring_len(void) { return 1; }\n"})
    os.mkfifo(repo / ".gitattributes")
    monkeypatch.chdir(repo)
    for words in (["index"], ["retrieve", "ring_len", "--no-model"], ["run", "Fix ring_len in a.c"]):
        done = CliRunner().invoke(cli, words)
        assert done.exit_code and ".gitattributes is no regular file" in done.output + str(done.exception), words


def test_only_regular_files_of_a_bearable_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("small")
    assert read_regular(tmp_path / "small") == read_regular(tmp_path / "link") == b"abc"
    for make in (_pipe, _device, _huge):
        make(tmp_path / make.__name__)
        with pytest.raises(OSError, match=r"no regular file|larger than"):
            read_regular(tmp_path / make.__name__)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "nothing")


async def test_a_source_that_the_checks_turn_into_a_link_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    repo = small_ring(tmp_path / "ring")
    (repo / "spoil.sh").write_text("ln -sf /etc/passwd ring_buffer.c\nmake test\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Spoil")
    async with ScriptedServer(Coder(RING)) as server:
        models = {"provider": "openai", "base_url": server.base_url}
        run = await open_run(TASK, repo, extra={"models": models, "testing": {"test_command": "sh spoil.sh"}})
        done = await run.execute()
        await run.aclose()
    assert done.status in ("failed", "partial") and "/etc/passwd" not in done.reason
    assert not (repo / "ring_buffer.c").is_symlink()


def test_what_leads_out_of_a_folder_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (tmp_path / "secret").write_bytes(b"dear diary")
    (root / "out").symlink_to("../secret")
    (root / "folder").symlink_to("..")
    (root / "in").write_bytes(b"ours")
    (root / "link").symlink_to("in")
    assert read_inside(root, root / "in") == read_inside(root, root / "link") == b"ours"
    for name in ("out", "folder/secret", "../secret", "nothing"):
        with pytest.raises(OSError):
            read_inside(root, root / name)
    assert c_testbed._read(f"{root}/../secret", root) == "" and c_testbed._read(f"{root}/in", root) == "ours"


def test_records_that_a_program_made_something_else_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(b"12345678")
    os.mkfifo(tmp_path / "2")
    (tmp_path / "3").symlink_to("/dev/zero")
    assert len(read_traces(tmp_path)) == 1 and starts(tmp_path) == []


async def test_a_readme_that_leads_out_is_shown_to_no_model(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("dear diary\n")
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "README.md").symlink_to("../secret")
    source = "def largest(a, b):\n    if a < b:\n        return a\n    return b\n"
    test = "from largest import largest\n\n\ndef test_it():\n    assert largest(1, 2) == 2\n"
    repository(repo, {"largest.py": source, "test_largest.py": test})
    async with ScriptedServer("no") as server:
        await play(repo, server)
    assert server.calls
    assert not [call for call in server.calls if "dear diary" in call.text]
