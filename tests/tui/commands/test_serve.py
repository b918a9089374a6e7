"""``cra serve``: the page is there, the application is behind it, and keys reach it. Spoken as a browser speaks it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="needs the extra 'web'")

PATIENCE = 60.0
pytestmark = pytest.mark.filterwarnings("default")


def free_port() -> int:
    """A port below those that the system gives to whoever asks for any, so that no other test gets it meanwhile."""
    for port in random.sample(range(20_000, 32_000), 50):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port was found")


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Any, str]]:
    """A client session and the address of the application over a small repository."""
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    port = free_port()
    command = (sys.executable, "-m", "tui", "serve", "--repo", str(tmp_path), "--port", str(port))
    root, nothing = Path(__file__).parents[3], subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, cwd=root, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        said = (await asyncio.wait_for(process.stderr.readline(), PATIENCE)).decode()
        address = re.search(r"Open (\S+)", said)[1]
        jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address, as browsers keep them
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            yield session, address
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        await asyncio.wait_for(process.wait(), 20)


async def until_there(session: Any, url: str) -> str:
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(aiohttp.ClientError, OSError):
                async with session.get(url) as reply:
                    return str(await reply.text())
            await asyncio.sleep(0.1)


def plain(data: bytes) -> str:
    """Terminal output without its control sequences."""
    return re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", data.decode("utf-8", "replace"))


async def until_said(pipe: Any, *words: str) -> None:
    """Read what the application paints until every word was painted."""
    painted = b""
    async with asyncio.timeout(PATIENCE):
        while not all(word in plain(painted) for word in words):
            message = await pipe.receive()
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), message
            painted += message.data if isinstance(message.data, bytes) else message.data.encode()


async def test_the_page_is_there_and_keys_reach_the_application(served: tuple[Any, str]) -> None:
    session, address = served
    page = await until_there(session, address)
    url = address.partition("/?")[0]
    assert "Clean Room" in page and "ws://127.0.0.1" in page
    async with session.ws_connect(url.replace("http", "ws") + "/ws?width=120&height=40") as pipe:
        await pipe.send_str(json.dumps(["resize", {"width": 120, "height": 40}]))
        await until_said(pipe, "Clean Room", "Ready-made tasks", "Repository")
        await pipe.send_str(json.dumps(["stdin", "Mend it"]))
        await until_said(pipe, "Mend it")
