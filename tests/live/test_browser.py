"""``cra serve`` in a real browser: headless Chromium shows the application and its keys reach it.

The browser is driven by its own debugging protocol over a websocket; aiohttp comes with textual-serve.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="needs the extra 'web'")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 90.0

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(300),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
    pytest.mark.filterwarnings("default"),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def child(*command: str, cwd: Path, said: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own, ended with everything it started; ``said`` is where its errors go."""
    nothing = subprocess.DEVNULL
    with said.open("wb") as errors:
        process = subprocess.Popen(command, cwd=cwd, stdin=nothing, stdout=nothing, stderr=errors, start_new_session=True)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


async def fetched(session: Any, url: str) -> str:
    """The text at ``url``, once somebody answers there."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(aiohttp.ClientError, OSError):
                async with session.get(url) as reply:
                    return str(await reply.text())
            await asyncio.sleep(0.2)


async def printed_address(said: Path) -> str:
    """The address with its token, once ``cra serve`` has printed it."""
    async with asyncio.timeout(PATIENCE):
        while (found := re.search(r"http://\S+", said.read_text(encoding="utf-8"))) is None:
            await asyncio.sleep(0.1)
    return found[0]


class ProtocolError(Exception):
    """The browser refused, for instance because the page is just being replaced."""


class Page:
    """One page of the browser, by the debugging protocol."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.count = 0

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.count += 1
        await self.socket.send_json({"id": self.count, "method": method, "params": params})
        while True:
            message = json.loads((await self.socket.receive(timeout=PATIENCE)).data)
            if message.get("id") == self.count:
                if "error" in message:
                    raise ProtocolError(message["error"]["message"])
                return dict(message.get("result", {}))

    async def evaluate(self, expression: str) -> Any:
        result = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return result["result"].get("value")

    async def picture(self) -> bytes:
        async with asyncio.timeout(PATIENCE):
            while True:
                with contextlib.suppress(ProtocolError):
                    return base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])
                await asyncio.sleep(0.3)

    async def type(self, text: str) -> None:
        for letter in text:
            await self.call("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter, unmodifiedText=letter)
            await self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    async def key(self, name: str, code: int) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    async def rows(self) -> str:
        """The terminal's text, where the page keeps it as text."""
        return str(await self.evaluate("document.querySelector('.xterm-rows')?.innerText ?? ''"))


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    """The application in a page, on an empty repository."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "main.c").write_text("int main(void) { return 0; }\n")
    port, debug = free_port(), free_port()
    serve = (sys.executable, "-m", "tui", "serve", "--repo", str(repo), "--port", str(port))
    assert CHROMIUM is not None
    browser = (
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
        "--disable-component-update", "--disable-dev-shm-usage", "--no-first-run", "--mute-audio", "--window-size=1280,800",
        f"--remote-debugging-port={debug}", f"--user-data-dir={tmp_path / 'profile'}", "about:blank",
    )  # fmt: skip
    said, noise = tmp_path / "serve.txt", tmp_path / "browser.txt"
    with child(*serve, cwd=Path(__file__).parents[2], said=said), child(*browser, cwd=tmp_path, said=noise):
        address = await printed_address(said) + "&fontsize=14"
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:  # cookies of an IP address
            assert "Clean Room" in await fetched(session, address)
        async with aiohttp.ClientSession() as session:
            assert "Clean Room" not in await fetched(session, f"http://127.0.0.1:{port}/"), "nobody without the token"
            await fetched(session, f"http://127.0.0.1:{debug}/json/version")
            targets = json.loads(await fetched(session, f"http://127.0.0.1:{debug}/json"))
            target = next(entry for entry in targets if entry["type"] == "page")
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=1 << 26) as socket:
                shown = Page(socket)
                await shown.call("Page.enable")
                await shown.call("Page.navigate", url=address)
                yield shown


async def until_changed(page: Page, before: bytes) -> bytes:
    """A picture that differs from ``before`` and stands still."""
    async with asyncio.timeout(PATIENCE):
        last = before
        while True:
            await asyncio.sleep(0.5)
            now = await page.picture()
            if now != before and now == last:
                return now
            last = now


async def until_said(page: Page, words: str) -> str:
    """The terminal's text, once it holds ``words``."""
    async with asyncio.timeout(PATIENCE):
        while True:
            text = await page.rows()
            if words in text.replace("\xa0", " "):
                return text
            await asyncio.sleep(0.3)


async def test_the_page_shows_the_application_and_takes_keys(page: Page) -> None:
    blank = await page.picture()
    first = await until_changed(page, blank)
    assert len(first) > 10_000 and zlib.crc32(first) != zlib.crc32(blank)
    said = await page.rows()
    if said.strip():
        await until_said(page, "Ready-made tasks")
    await page.evaluate("document.querySelector('textarea')?.focus()")
    await page.type("?")
    helped = await until_changed(page, first)
    if said.strip():
        await until_said(page, "Palette: every action by name")
    await page.key("Escape", 27)
    again = await until_changed(page, helped)
    assert again != helped
