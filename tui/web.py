"""The application in a browser, only for a person who has the printed address.

A page of any web site can send requests to this machine. So every request must come with a cookie that is only given for the
random token in the printed address; it must name this server as its host (a foreign name that points here is DNS
rebinding), and must not come from a page of another origin (RFC 6454).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import re
import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import aiohttp_jinja2
import jinja2
from aiohttp import web
from textual_serve.server import Server, to_int

COOKIE = "cra_session"
LARGEST_SCREEN = 1000
"""Columns and lines of a terminal at most."""

_FOREIGN_STYLE = re.compile(r"<link\s[^>]*https?://[^>]*>", re.S)
_FONT = (
    "<style>@font-face {{ font-family: 'Roboto Mono'; src: url('{url}fonts/RobotoMono-VariableFont_wght.ttf'); }}</style>"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class GuardedServer(Server):
    """Serves ``command`` on ``host``:``port`` to at most ``sessions`` browsers at once. ``address`` is what to open;
    ``patience`` the seconds that another window waits for room."""

    patience = 5.0

    def __init__(self, command: str, *, host: str, port: int, title: str, sessions: int = 1) -> None:
        super().__init__(command, host=host, port=port, title=title)
        self.sessions = sessions
        self._token, self._cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._open = 0
        self._room = asyncio.Condition()

    @property
    def address(self) -> str:
        """The address with its token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/?token={self._token}"

    def initialize_logging(self) -> None:
        """Log errors only: an access log would contain the token."""
        logging.basicConfig(level="ERROR", format="%(message)s")

    async def on_startup(self, app: web.Application) -> None:
        """Print nothing: the command has printed the address."""

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=1 << 16)
        aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader(self.templates_path))
        app.add_routes(
            [
                web.get("/", self._index, name="index"),
                web.get("/ws", self._socket, name="websocket"),
                web.get("/download/{key}", self.handle_download, name="download"),
                web.static("/static", self.statics_path, name="static"),
            ]
        )
        return app

    @property
    def _guard(self) -> Any:
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if not self._is_own_host(request):
                return _refused("This server is not known by that name.")
            if not self._is_own_origin(request):
                return _refused("Pages of other sites may not talk to this server.")
            if request.method != "GET":
                return _refused("Only GET is answered here.", 405)
            given = request.cookies.get(COOKIE, "")
            if hmac.compare_digest(given.encode(), self._cookie.encode()):
                response = await handler(request)
            elif request.path == "/" and hmac.compare_digest(request.query.get("token", "").encode(), self._token.encode()):
                response = web.Response(status=303, headers={"Location": "/"})
                response.set_cookie(COOKIE, self._cookie, httponly=True, samesite="Strict", path="/")
            else:
                return _refused("Open the address that cra serve printed: it holds the key to this page.")
            if not response.prepared:
                response.headers.update(_HEADERS)
            return response

        return guard

    def _is_own_host(self, request: web.Request) -> bool:
        parts = urlsplit(f"//{request.host}")
        try:
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        return port == self.port and (host in ("localhost", self.host) or _is_address(host))

    @staticmethod
    def _is_own_origin(request: web.Request) -> bool:
        origin = request.headers.get("Origin")
        if origin is not None:
            return origin == f"http://{request.host}"
        site = request.headers.get("Sec-Fetch-Site", "none")
        return site in ("none", "same-origin") or (request.path == "/" and site in ("cross-site", "same-site"))

    async def _index(self, request: web.Request) -> web.StreamResponse:
        """The page, with every asset from this server."""
        base = f"http://{request.host}"
        context = {
            "font_size": min(64, max(6, to_int(request.query.get("fontsize", "16"), 16))),
            "app_websocket_url": f"ws://{request.host}/ws",
            "config": {"static": {"url": f"{base}/static/"}},
            "application": {"name": self.title},
        }
        page = aiohttp_jinja2.render_string("app_index.html", request, context)
        page = _FOREIGN_STYLE.sub(lambda link: link[0] if base in link[0] else "", page)
        page = page.replace("</head>", _FONT.format(url=f"{base}/static/") + "</head>", 1)
        return web.Response(text=page, content_type="text/html")

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        """The wire to one application, if there is room for it."""
        sizes = [to_int(request.query.get(name, "1"), 0) for name in ("width", "height")]
        if not all(1 <= size <= LARGEST_SCREEN for size in sizes):
            return _refused("No terminal is that large.", 400)
        try:
            async with asyncio.timeout(self.patience), self._room:  # a page that is loaded again leaves its old one first
                await self._room.wait_for(lambda: self._open < self.sessions)
                self._open += 1
        except TimeoutError:
            return _refused("The application is open in another window. Close it there, or serve with --sessions.", 409)
        try:
            return await self.handle_websocket(request)
        finally:
            async with self._room:
                self._open -= 1
                self._room.notify()


def _is_address(host: str) -> bool:
    """Whether a host is an IP address: anyone can make a name point here, but not an address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _refused(sentence: str, status: int = 403) -> web.Response:
    return web.Response(text=sentence + "\n", status=status, headers=_HEADERS)
