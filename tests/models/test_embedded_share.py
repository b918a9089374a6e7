"""One embedded server for all programs of a person, which never outlives them: real processes, killed in every way."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from agent.models.embedded_share import Place, ServerRecord, edition, running
from agent.models.waiting import WAITING
from tests.models.processes import Program, gone

StartProgram = Callable[[], Awaitable[Program]]


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[StartProgram]:
    started: list[Program] = []

    async def start() -> Program:
        started.append(await Program.start(tmp_path))
        return started[-1]

    yield start
    for one in started:
        await one.kill()


def files(data: Path) -> set[str]:
    return {path.name for path in (data / "servers").iterdir()}


async def ends(pid: int) -> bool:
    return await asyncio.to_thread(gone, pid)


async def test_two_programs_that_begin_at_the_same_moment_share_one_server(program: StartProgram, tmp_path: Path) -> None:
    first, second = await asyncio.gather(program(), program())
    pids = await asyncio.gather(first.server(), second.server())
    assert pids[0] == pids[1]
    assert first.notices() + second.notices() == []
    assert ("ready", "small (shared with another program)") in first.heard + second.heard
    await first.close()
    assert await second.server() == pids[0]
    await second.close()
    assert await ends(pids[0])
    assert await asyncio.to_thread(_empties, tmp_path)


def _empties(data: Path) -> bool:
    end = time.monotonic() + 20
    while files(data) != {"start.lock"} and time.monotonic() < end:
        time.sleep(0.05)
    return files(data) == {"start.lock"}


async def test_the_server_survives_its_starter_and_ends_with_the_last_that_is_killed(
    program: StartProgram, tmp_path: Path
) -> None:
    first, second = await program(), await program()
    pid = await first.server()
    assert await second.server() == pid
    await first.kill()
    await asyncio.sleep(1)
    assert await second.server() == pid
    third = await program()
    assert await third.server() == pid
    for one in (second, third):
        await one.kill()
    assert await ends(pid)
    assert await asyncio.to_thread(_empties, tmp_path)


async def test_a_program_killed_while_it_loads_leaves_no_server_and_nobody_waits_for_it(
    program: StartProgram, tmp_path: Path
) -> None:
    first, second = await program(), await program()
    first.send(model="slow", window=4096, prompt="who")
    await first.hears("loading", "slow")
    while not list(tmp_path.glob("servers/*.json")):
        await asyncio.sleep(0.05)
    second.send(model="small", window=4096, prompt="who")
    await second.hears("loading", "small (another program is loading a model)")
    await first.kill()
    assert await second.reply("answer")
    assert second.notices() == []  # the orphan was waited for, so there never were two
    await second.close()


async def test_a_server_that_is_killed_comes_back_once_for_all(program: StartProgram) -> None:
    first, second = await program(), await program()
    pid = await first.server()
    assert await second.server() == pid
    os.kill(pid, 9)
    assert await ends(pid)
    again = await asyncio.gather(first.server(), second.server())
    assert again[0] == again[1] != pid


async def test_another_model_is_a_second_server_and_says_what_that_costs(program: StartProgram) -> None:
    first, second = await program(), await program()
    small, large = await first.server("small"), await second.server("large")
    assert small != large
    assert first.notices() == []
    [notice] = second.notices()
    assert f"(process {small}) serves small" in notice
    assert "less than 1" in notice
    assert await first.server("small") == small
    await second.close()
    assert await ends(large)
    assert await first.server("small") == small


async def test_a_program_that_alternates_between_models_is_told_once(program: StartProgram) -> None:
    first, second = await program(), await program()
    small = await first.server("small")
    for _ in range(2):
        assert await second.server("large") != small
        assert await second.server("small") == small
    assert len(second.notices()) == 1


async def test_a_larger_window_takes_a_second_server_and_a_smaller_one_none(program: StartProgram) -> None:
    first, second, third = await program(), await program(), await program()
    pid = await first.server(window=4096)
    larger = await second.server(window=8192)
    assert larger != pid
    assert "a window of 4,096 tokens" in second.notices()[0]
    assert await third.server(window=2048) in (pid, larger)
    assert third.notices() == []
    assert await first.server(window=8192) == larger  # the first leaves its own for the larger


async def test_what_a_dead_server_left_behind_is_cleared_and_its_process_id_never_used(
    program: StartProgram, tmp_path: Path
) -> None:
    folder = tmp_path / "servers"
    folder.mkdir()
    bystander = await asyncio.create_subprocess_exec("sleep", "60")
    stale = Place(folder)
    lease = stale.make()
    lease.write(
        ServerRecord(
            model="/models/small.gguf", file=(0, 0), context=4096, speculative=False, edition=edition(),
            host=os.uname().nodename, pid=bystander.pid, port=9, key="k", log="", log_start=0,
        )
    )  # fmt: skip
    await lease.give_back()
    (folder / "0123.json").write_text("")
    try:
        one = await program()
        pid = await one.server()
        assert pid != bystander.pid
        assert one.notices() == []
        assert bystander.returncode is None
        assert len(files(tmp_path)) == 3
    finally:
        bystander.kill()
        await bystander.wait()


async def test_the_key_is_its_owner_s_alone(program: StartProgram, tmp_path: Path) -> None:
    folder = tmp_path / "servers"
    folder.mkdir(mode=0o755)
    one = await program()
    pid = await one.server()
    [(place, record)] = running(folder)
    assert record is not None
    assert stat.S_IMODE(place.record.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(record.key) >= 32
    command = Path(f"/proc/{pid}/cmdline")
    if command.exists():
        assert record.key not in command.read_text()


async def test_a_place_that_cannot_be_used_means_a_server_of_ones_own(program: StartProgram, tmp_path: Path) -> None:
    (tmp_path / "servers").write_text("not a folder")
    first, second = await program(), await program()
    pids = await asyncio.gather(first.server(), second.server())
    assert pids[0] != pids[1]
    assert "cannot be shared" in first.notices()[0]
    await first.kill()
    assert await ends(pids[0])
    assert await second.server() == pids[1]


async def test_a_server_whose_watcher_is_killed_ends_as_well(program: StartProgram) -> None:
    one = await program()
    pid = await one.server()
    children = Path(f"/proc/{pid}/task/{pid}/children")
    if not children.exists():
        pytest.skip("only Linux lists a process's children")
    os.kill(int(children.read_text().split()[0]), 9)
    assert await ends(pid)
    assert await one.server() != pid


async def test_a_record_whose_port_nobody_listens_on_is_not_joined(program: StartProgram, tmp_path: Path) -> None:
    first, second = await program(), await program()
    pid = await first.server()
    [(place, record)] = running(tmp_path / "servers")
    assert record is not None
    place.record.write_bytes(place.record.read_bytes().replace(f":{record.port},".encode(), b":1,"))
    assert await second.server() != pid
    assert second.notices()
    assert await first.server() == pid


async def test_a_program_is_told_that_it_waits_for_the_calls_of_another(program: StartProgram) -> None:
    if sys.platform != "linux":
        pytest.skip("only there it can be known")
    first, second = await program(), await program()
    await asyncio.gather(first.server(), second.server())
    second.send(model="small", window=4096, prompt="linger")
    assert await second.reply("answer") == "yes"
    assert WAITING not in [text for _, text in first.heard + second.heard], "a slow answer alone is not waiting for others"
    first.send(model="small", window=4096, prompt="linger")
    await asyncio.sleep(0.1)
    second.send(model="small", window=4096, prompt="linger")
    await second.hears("waiting", WAITING)
    assert await second.reply("answer") == "yes"
    assert second.heard[-1] == ("ready", "small")
    assert await first.reply("answer") == "yes"
    first.send(model="small", window=4096, prompt="linger")
    await first.kill()
    told = second.heard.count(("waiting", WAITING))
    second.send(model="small", window=4096, prompt="linger")
    assert await second.reply("answer") == "yes"
    assert second.heard.count(("waiting", WAITING)) == told, "a program that is gone is not waited for"
