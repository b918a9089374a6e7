"""``cra serve`` against other pages of the browser, other names for this machine, and whoever has no token."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="needs the extra 'web'")
pytest.importorskip("textual_serve", reason="needs the extra 'web'")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
async def server() -> AsyncIterator[Any]:
    from tui.web import GuardedServer

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    made = GuardedServer("head -c 5", host="127.0.0.1", port=port, title="Clean Room")
    made.patience = 0.2
    runner = aiohttp.web.AppRunner(await made._make_app())
    await runner.setup()
    await aiohttp.web.TCPSite(runner, "127.0.0.1", port).start()
    yield made
    await runner.cleanup()


@pytest.fixture
async def stranger() -> AsyncIterator[Any]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield session


@pytest.fixture
async def person(server: Any) -> AsyncIterator[Any]:
    """A browser that opened the printed address."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        async with session.get(server.address) as reply:
            assert reply.status == 200 and "token" not in str(reply.url)
        yield session


def base(server: Any) -> str:
    return server.address.partition("/?")[0]


@pytest.mark.parametrize("path", ["/", "/ws", "/static/js/textual.js", "/download/x", "/?token=guess", "/?token="])
async def test_without_the_token_nothing_is_answered(server: Any, stranger: Any, path: str) -> None:
    async with stranger.get(base(server) + path) as reply:
        assert reply.status == 403 and COOKIE_NAME not in reply.cookies


COOKIE_NAME = "cra_session"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1:1"},
        {"Host": "localhost.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_another_page_or_another_name_is_refused_even_with_the_cookie(
    server: Any, person: Any, headers: dict[str, str]
) -> None:
    sent = {name: value.format(port=server.port) for name, value in headers.items()}
    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        await person.ws_connect(base(server).replace("http", "ws") + "/ws?width=80&height=24", headers=sent)


async def test_one_window_at_once_and_room_again_after_it(server: Any, person: Any) -> None:
    url = base(server).replace("http", "ws") + "/ws?width=80&height=24"
    own = {"Origin": base(server)}
    async with person.ws_connect(url, headers=own) as pipe:
        await pipe.send_str(json.dumps(["ping", "x"]))
        with pytest.raises(aiohttp.WSServerHandshakeError, match="409"):
            await person.ws_connect(url, headers=own)
    for size in ("width=0&height=24", "width=99999&height=24", "width=x&height=24"):
        with pytest.raises(aiohttp.WSServerHandshakeError, match="400"):
            await person.ws_connect(base(server).replace("http", "ws") + f"/ws?{size}", headers=own)


async def test_the_page_loads_nothing_from_elsewhere_and_cannot_be_framed(server: Any, person: Any) -> None:
    async with person.get(base(server) + "/") as reply:
        page = await reply.text()
        assert (
            reply.headers["X-Frame-Options"] == "DENY"
            and "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
        )
    assert "googleapis" not in page and page.count("http://") == page.count(base(server)) + page.count("http://www.w3.org")
    async with person.post(base(server) + "/") as reply:
        assert reply.status == 405


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(server: Any, stranger: Any) -> None:
    async with stranger.get(server.address, allow_redirects=False) as reply:
        cookie = reply.cookies[COOKIE_NAME]
        assert reply.status == 303 and cookie["httponly"] and cookie["samesite"] == "Strict"
