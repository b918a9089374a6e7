"""What a project's checks may not read: the person's keys and tokens, wherever these lie."""

import os
import socket
import sys

import pytest

from agent.workspace.isolation import isolation, shortfall
from agent.workspace.private import private_places
from agent.workspace.sandbox import run_command
from agent.workspace.worktree import Workspace
from tests.workspace.support import make_repo

KEYS = (".ssh/id_ed25519", ".gnupg/private-keys-v1.d/a.key", ".aws/credentials", ".config/gh/hosts.yml", ".netrc",
        ".git-credentials", ".config/git/credentials", ".npmrc", ".pypirc", ".cargo/credentials.toml")  # fmt: skip

shut_in = pytest.mark.skipif(isolation() not in ("bwrap", "bwrap-net"), reason="needs bubblewrap")


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in KEYS:
        (tmp_path / "home" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / name).write_text("a secret")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


READ_ALL = """
import os, sys
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        try:
            text = open(os.path.join(folder, name), errors='replace').read()
        except OSError:
            continue
        if "secret" in text:
            print(os.path.relpath(os.path.join(folder, name), sys.argv[1]))
"""


@shut_in
async def test_no_key_of_a_home_can_be_read_and_none_is_gone_afterwards(home, tmp_path):
    result = await run_command([sys.executable, "-c", READ_ALL, str(home)], tmp_path)
    assert (result.exit_code, result.output) == (0, "")
    result = await run_command(f"rm -rf {home}/.ssh/*; echo x >> {home}/.netrc", tmp_path)
    assert all((home / name).read_text() == "a secret" for name in KEYS)


@shut_in
async def test_keys_stay_hidden_when_the_home_is_the_repository(home):
    space = await Workspace.create(make_repo(home, {"a.c": "int a;\n", ".gitignore": "*\n"}, commit=False), "r1")
    (home / "mine").write_text("a secret")
    result = await run_command([sys.executable, "-c", READ_ALL, str(home)], space.root)
    assert (result.exit_code, result.output) == (0, "")


@shut_in
async def test_a_link_a_folder_elsewhere_and_an_agent_are_hidden_too(home, tmp_path, monkeypatch):
    (tmp_path / "dotfiles").mkdir()
    (home / ".pypirc").rename(tmp_path / "dotfiles" / "pypirc")
    (home / ".pypirc").symlink_to(tmp_path / "dotfiles" / "pypirc")
    (home / ".ssh").rename(tmp_path / "keys")
    (home / ".ssh").symlink_to(tmp_path / "keys")
    (tmp_path / "kube").write_text("a secret")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/nothing:{tmp_path}/kube")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind("agent")
        agent.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
        (tmp_path / "at").mkdir()
        result = await run_command([sys.executable, "-c", READ_ALL, str(tmp_path)], tmp_path / "at")
        assert result.output == ""
        call = f"import socket; socket.socket(socket.AF_UNIX).connect('{tmp_path}/agent')"
        assert not (await run_command([sys.executable, "-c", call], tmp_path / "at")).ok


@shut_in
async def test_toolchains_below_a_home_work(home, tmp_path, monkeypatch):
    for name in (".pyenv/shims/tool", ".cargo/bin/tool", "venv/bin/tool", ".local/bin/tool"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("#!/bin/sh\necho works\n")
        (home / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{(home / name).parent}:/usr/bin:/bin")
        assert (await run_command("tool", tmp_path)).output == "works\n"


def test_a_repository_kept_among_keys_and_a_variable_that_names_everything_hide_nothing_needed(home, monkeypatch):
    repo = home / ".config" / "gh" / "repo"
    repo.mkdir()
    for value in ("/", str(home), os.path.dirname(sys.prefix), "/dev/null", "/nowhere"):
        monkeypatch.setenv("DOCKER_CONFIG", value)
        folders, files = private_places((repo,))
        assert home / ".ssh" in folders and home / ".netrc" in files
        assert not {repo, *repo.parents} & set(folders) and not [f for f in folders if repo.is_relative_to(f)]


def test_what_isolation_lacks_is_said():
    assert shortfall("bwrap") == "" and "network" in shortfall("none") and "network" not in shortfall("unshare")
