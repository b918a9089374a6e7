"""What code under check can reach: files, sockets, memory, processes, the network, and the product's own keys."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import sys
from pathlib import Path

import pytest

from agent.compiling.build import Build
from agent.models import keys
from agent.workspace.compiler_walls import shutting_in
from agent.workspace.isolation import Isolation, isolation, toolchains
from agent.workspace.sandbox import Limits, run_command
from agent.workspace.worktree import Workspace

MIB = 1 << 20


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def test_files_of_the_person_outside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, space: Workspace, walled: bool
) -> None:
    home = tmp_path / "home"
    (home / "Documents").mkdir(parents=True)
    (home / "Documents" / "letter.txt").write_text("dear diary")
    (home / ".env").write_text("TOKEN=dear diary")
    monkeypatch.setenv("HOME", str(home))
    seen = await run_command(f"cat {home}/Documents/letter.txt {home}/.env; ls {home}; true", space.root)
    if walled:
        assert "dear diary" not in seen.output and f"cannot access '{home}'" in seen.output


async def test_sockets_in_the_temporary_folder(tmp_path: Path, space: Workspace, walled: bool) -> None:
    if not walled:
        pytest.skip("only walls keep a command from sockets")
    name = f"/tmp/cra-test-{os.getpid()}.sock"
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(name)
        agent.listen()
        try:
            call = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
            assert not (await run_command(python(call), space.root)).ok
        finally:
            os.unlink(name)


async def test_no_new_privileges(space: Workspace, walled: bool) -> None:
    if walled:
        assert "NoNewPrivs:\t1" in (await run_command("cat /proc/self/status", space.root)).output


@pytest.mark.parametrize("how", ["", "unshare --user --map-root-user --mount "])
async def test_what_can_only_be_read_cannot_be_made_writable(space: Workspace, walled: bool, how: str) -> None:
    """Also when the product runs as root, whom bubblewrap would leave every capability."""
    if not walled:
        pytest.skip("only walls make a folder read-only")
    for place in ("/usr", "/proc", space.top / ".git"):
        assert not (await run_command(f"{how}mount -o remount,rw,bind {place}", space.root)).ok
    assert (await run_command("grep '^CapEff:.0*$' /proc/self/status", space.root)).ok


async def test_settings_of_the_kernel_and_devices_are_out_of_reach(space: Workspace, walled: bool) -> None:
    """``core_pattern`` names a program that the kernel starts outside of everything (core(5))."""
    if not walled:
        pytest.skip("only walls keep a command from files of root")
    core = Path("/proc/sys/kernel/core_pattern")
    kept = core.read_text()
    for name in (core, "/proc/sysrq-trigger", "/proc/self/oom_score_adj"):
        assert not (await run_command(f"echo {kept.strip()} > {name}", space.root)).ok
    use = "echo x > /dev/null && echo x > /dev/shm/x && cat < /dev/stdin"
    listed = await run_command(f"{use} && find /dev/ -maxdepth 1 -type b -o -maxdepth 1 -type c -printf '%f\\n'", space.root)
    assert listed.ok and set(listed.output.split()) <= {"null", "zero", "full", "random", "urandom", "tty", "console"}
    assert core.read_text() == kept


async def test_other_processes_do_not_lead_out(tmp_path: Path, space: Workspace, walled: bool) -> None:
    if not walled:
        pytest.skip("only walls keep a command from other processes")
    (tmp_path / "letter").write_text("dear diary")
    ways = (f"root{tmp_path}/letter", f"cwd/../{tmp_path}/letter", "environ", "mem")
    seen = await run_command(["cat", *(f"/proc/{os.getpid()}/{way}" for way in ways)], space.root)
    assert not seen.ok and "dear diary" not in seen.output and "PATH" not in seen.output


@pytest.mark.parametrize("allowed", [False, True])
async def test_the_network_is_as_configured(space: Workspace, kind: Isolation, allowed: bool) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        call = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)"
        done = await run_command(python(call), space.root, limits=Limits(network=allowed))
    assert done.ok == (allowed or kind == "none")


async def test_zero_is_no_limit(space: Workspace) -> None:
    code = f"x = bytearray({64 * MIB}); x[::4096] = b'x' * len(x[::4096]); import time; time.sleep(0.6)"
    assert (await run_command(python(code), space.root, limits=Limits(memory=0, processes=0))).ok
    stopped = await run_command(python(code), space.root, limits=Limits(memory=16 * MIB))
    assert not stopped.ok and "of memory" in stopped.reason


async def test_a_daemon_that_leaves_its_group_and_its_parent_is_ended(space: Workspace, kind: Isolation) -> None:
    mark = f"97{os.getpid()}.{len(kind)}"
    daemon = f"""
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        os.execve("/bin/sleep", ["sleep", "{mark}"], {{}})
    os._exit(0)
os.wait()
"""
    assert (await run_command(python(daemon), space.root)).ok
    async with asyncio.timeout(10):  # the kernel ends a namespace's processes a moment after its first
        while [pid for pid in os.listdir("/proc") if pid.isdigit() and mark in _line(pid)]:
            await asyncio.sleep(0.02)


def _line(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


async def test_keys_of_the_product_are_not_in_its_environment(tmp_path: Path) -> None:
    """In a process of its own, as the product is one: what a child of it can read of it."""
    script = tmp_path / "product.py"
    script.write_text(
        "import os, subprocess, sys\n"
        "from agent.models import keys\n"
        "keys.guard(['MY_KEY'])\n"
        "assert keys.key_of('MY_KEY') == 'hunter2'\n"
        "told = subprocess.run(['cat', f'/proc/{os.getpid()}/environ'], capture_output=True).stdout\n"
        "sys.exit(b'hunter2' in told or b'hunter2' in str(dict(os.environ)).encode())\n"
    )
    env = {**os.environ, "MY_KEY": "hunter2", "PYTHONPATH": str(Path(__file__).parents[2])}
    assert os.spawnve(os.P_WAIT, sys.executable, [sys.executable, str(script)], env) == 0


def test_a_key_stays_known_once_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "one")
    assert keys.key_of("MY_KEY") == "one" and "MY_KEY" not in os.environ
    assert keys.key_of("MY_KEY") == "one" and keys.key_of("ANOTHER") == ""


async def test_a_compiler_that_reads_without_end(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#include "/dev/zero"\nint x;\n')
    limits = Limits(memory=512 * MIB, cpu=20)
    build = Build(tmp_path, shut_in=shutting_in(tmp_path, limits), timeout=60)
    done = await build.compile("a.c")
    build.close()
    assert not done.ok and not done.timed_out


@pytest.mark.parametrize("shut_in", [True, False], ids=["walls", "no walls"])
async def test_private_files_do_not_reach_the_log_or_the_model(tmp_path: Path, shut_in: bool) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".env").write_text("DATABASE_URL=hunter2\n")
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.c").write_text(f'#include "{tmp_path}/home/.env"\n#include "../home/.env"\nint x;\n')
    build = Build(root, shut_in=shutting_in(root) if shut_in else None)
    done = await build.compile("a.c")
    build.close()
    said = done.stderr + "".join(f"{one.message}{one.source_line}" for one in done.diagnostics)
    assert not done.ok and "hunter2" not in said and "DATABASE_URL" not in said


def test_what_commands_can_read_is_no_home_and_not_everything() -> None:
    homes = {Path.home().resolve(), Path("/"), Path("/home"), Path("/root")}
    assert not homes & set(toolchains())


@pytest.mark.skipif(isolation() != "bwrap", reason="needs bubblewrap")
async def test_git_describe_works_behind_the_walls(space: Workspace) -> None:
    done = await run_command("git log -1 --format=%s && git status --short", space.root)
    assert done.ok and "Start" in done.output, shlex.join([done.output])
