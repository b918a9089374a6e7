"""Commands of a project: their processes, limits, environment and output."""

import asyncio
import os
import subprocess
import sys
import time

import pytest

from agent.scratch import scratch_folder
from agent.workspace.git import WorkspaceError
from agent.workspace.isolation import Walls, isolation, wrap
from agent.workspace.processes import members
from agent.workspace.sandbox import Limits, command_line, needs_shell, run_command
from agent.workspace.worktree import Workspace
from tests.workspace.support import fingerprint, make_repo

PYTHON = sys.executable


def running(mark):
    listed = subprocess.run(["ps", "-axww", "-o", "args="], check=True, capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if line == f"sleep {mark}"]


async def test_exit_codes_output_and_order(tmp_path):
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    result = await run_command([PYTHON, "-c", code], tmp_path)
    assert (result.exit_code, result.output, result.signal) == (3, "out\nerr\n", None)
    assert not result.timed_out and not result.ok
    assert (await run_command("true", tmp_path)).ok
    assert (await run_command("echo a && exit 4", tmp_path)).exit_code == 4


async def test_death_by_a_signal_reads_as_in_a_shell(tmp_path):
    result = await run_command([PYTHON, "-c", "import os; os.kill(os.getpid(), 11)"], tmp_path)
    assert (result.exit_code, result.signal) == (139, 11)


async def test_a_missing_program_is_127_and_a_missing_folder_a_sentence(tmp_path):
    result = await run_command("no-such-program --x", tmp_path)
    assert result.exit_code == 127 and "no-such-program" in result.output
    with pytest.raises(WorkspaceError, match="There is no folder"):
        await run_command("true", tmp_path / "nowhere")
    with pytest.raises(WorkspaceError, match="empty"):
        await run_command("  ", tmp_path)


def test_a_shell_only_where_one_is_needed():
    for plain in ("make test", "pytest -q tests/x.py", "python -m unittest discover -v", "a 'b c' --d=e"):
        assert not needs_shell(plain)
    for shell in ("a && b", "a | b", "X=1 make", "cd x", "ls *.c", "echo $HOME", "a; b", "a > b", "unclosed 'quote"):
        assert needs_shell(shell)
    assert command_line("a 'b c'") == ["a", "b c"]
    assert command_line("a | b") == ["/bin/sh", "-c", "a | b"]


def test_pytest_and_python_that_are_not_on_path_are_our_own(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command_line("pytest -q") == [PYTHON, "-m", "pytest", "-q"]
    assert command_line("python x.py") == [PYTHON, "x.py"]


async def test_timeout_ends_grandchildren_in_sessions_of_their_own(tmp_path):
    mark = f"97{os.getpid()}.5"
    start = time.monotonic()
    script = f"sleep {mark} & setsid sleep {mark} & (setsid setsid sleep {mark} &) ; sleep {mark}"
    result = await run_command(script, tmp_path, 0.6)
    assert result.timed_out and result.exit_code == 124 and "time allowed" in result.output
    assert time.monotonic() - start < 20
    assert running(mark) == []


async def test_what_a_command_leaves_running_is_ended(tmp_path):
    mark = f"98{os.getpid()}.5"
    start = time.monotonic()
    result = await run_command(f"setsid sleep {mark} & echo started", tmp_path, 30)
    assert result.output == "started\n" and result.ok
    assert time.monotonic() - start < 20 and running(mark) == []


async def test_cancelling_ends_all_processes(tmp_path):
    mark = f"99{os.getpid()}.5"
    task = asyncio.create_task(run_command(f"setsid sleep {mark} & sleep {mark}", tmp_path, 30))
    for _ in range(100):
        await asyncio.sleep(0.05)
        if len(running(mark)) == 2:
            break
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running(mark) == []


async def test_a_flood_is_cut_in_the_middle_and_stopped(tmp_path):
    limits = Limits(output=1000, flood=5_000_000)
    code = "import sys; print('first'); sys.stdout.write('x' * 100_000 + '\\nlast\\n')"
    result = await run_command([PYTHON, "-c", code], tmp_path, limits=limits)
    assert result.ok and result.output.startswith("first") and result.output.endswith("last\n")
    assert "bytes left out" in result.output and len(result.output) < 1100
    result = await run_command("yes", tmp_path, 60, limits=limits)
    assert result.exit_code == 137 and "of output" in result.reason and not result.timed_out


async def test_memory_file_size_and_cpu_are_limited(tmp_path):
    if not sys.platform.startswith("linux"):
        pytest.skip("watched through /proc")
    hog = "import time; x = bytearray(400 << 20); time.sleep(20)"
    result = await run_command([PYTHON, "-c", hog], tmp_path, 15, limits=Limits(memory=100 << 20))
    assert not result.ok and "of memory" in result.reason
    big = "f = open('big', 'wb')\nfor _ in range(64): f.write(b'0' * (1 << 20))"
    result = await run_command([PYTHON, "-c", big], tmp_path, limits=Limits(file_size=8 << 20))
    assert not result.ok and (tmp_path / "big").stat().st_size <= 8 << 20
    result = await run_command([PYTHON, "-c", "while True: pass"], tmp_path, 15, limits=Limits(cpu=1))
    assert not result.ok and not result.timed_out


async def test_too_many_processes_are_stopped(tmp_path):
    if not sys.platform.startswith("linux"):
        pytest.skip("watched through /proc")
    mark = f"95{os.getpid()}.5"
    script = f"for i in $(seq 40); do sleep {mark} & done; wait"
    result = await run_command(script, tmp_path, 30, limits=Limits(processes=20))
    assert not result.ok and not result.timed_out and running(mark) == []


async def test_address_sanitizer_works_under_the_limits(tmp_path):
    code = "#include <stdlib.h>\nint main(void) { int *p = malloc(4); p[1] = 1; free(p); return 0; }\n"
    (tmp_path / "t.c").write_text(code)
    built = await run_command("cc -g -fsanitize=address -o t t.c", tmp_path)
    if not built.ok:
        pytest.skip("no sanitizer here")
    result = await run_command("./t", tmp_path)
    assert "heap-buffer-overflow" in result.output and not result.ok


async def test_the_environment_holds_no_secrets_and_no_home(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp-secret")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("CFLAGS", "-O1")
    result = await run_command("env", tmp_path, env={"EXTRA": "1"})
    names = {line.split("=", 1)[0] for line in result.output.splitlines()}
    assert {"PATH", "HOME", "LANG", "PYTHONDONTWRITEBYTECODE", "CFLAGS", "EXTRA", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"} <= names
    assert not {"OPENAI_API_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK"} & names and "secret" not in result.output
    home = next(line for line in result.output.splitlines() if line.startswith("HOME="))[5:]
    assert home != os.path.expanduser("~") and not os.path.exists(home)


async def test_there_is_no_standard_input(tmp_path):
    assert (await run_command("cat", tmp_path, 10)).ok


async def test_bytes_that_are_no_text_are_replaced(tmp_path):
    result = await run_command("printf 'a\\377\\000b\\r\\n'", tmp_path)
    assert result.output == "a\ufffd\0b\n"


async def test_network_is_out_of_reach_and_loopback_works_where_this_machine_can(tmp_path):
    if isolation() == "none":
        pytest.skip("this machine has no namespaces for us")
    code = """
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), 2).close()
print("loopback")
try:
    socket.create_connection(("192.0.2.1", 9), 2)
except OSError as error:
    print(error.strerror)
"""
    result = await run_command([PYTHON, "-c", code], tmp_path, 20)
    assert result.output == "loopback\nNetwork is unreachable\n" and result.isolation == isolation()


async def test_only_the_runs_own_place_can_be_written(tmp_path):
    if isolation() not in ("bwrap", "bwrap-net"):
        pytest.skip("needs bubblewrap")
    repo = make_repo(tmp_path / "repo")
    space = await Workspace.create(repo, "r1")
    before = fingerprint(repo)
    script = f"cat {repo}/a.c; echo bad > {repo}/a.c; rm -rf {repo}/dir; echo ok > here; mkdir -p dir/x; echo t > $TMPDIR/t"
    result = await run_command(script, space.root / "dir")
    assert "No such file" in result.output and "int a" not in result.output
    assert fingerprint(repo) == before
    assert (space.root / "dir" / "here").read_text() == "ok\n" and (space.root / "dir" / "dir" / "x").is_dir()


@pytest.mark.parametrize("kind", ["bwrap", "bwrap-net", "unshare", "none"])
async def test_every_kind_of_isolation_runs_and_ends_what_it_started(tmp_path, monkeypatch, kind):
    probe = await asyncio.create_subprocess_exec(*wrap(kind, ["true"], tmp_path, Walls((tmp_path,))))
    if await probe.wait() != 0:
        pytest.skip(f"{kind} does not work here")
    monkeypatch.setattr("agent.workspace.sandbox.isolation", lambda: kind)
    mark = f"96{os.getpid()}.{len(kind)}"
    result = await run_command(f"pwd; echo hi > x; cat x; setsid sleep {mark} & exit 5", tmp_path, 20)
    assert (result.exit_code, result.output, result.isolation) == (5, f"{tmp_path}\nhi\n", kind)
    assert running(mark) == []
    result = await run_command(f"setsid env -i sleep {mark} & sleep {mark}", tmp_path, 0.5)
    assert result.timed_out and running(mark) == []


async def test_many_commands_at_once_leave_no_process_and_no_folder(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    results = await asyncio.gather(*(run_command(f"echo {n}", tmp_path) for n in range(12)))
    assert [result.output for result in results] == [f"{n}\n" for n in range(12)]
    assert list((tmp_path / "tmp").iterdir()) == [scratch_folder()] and os.listdir(scratch_folder()) == [".lock"]
    assert members("nobody") == []
