"""Talking JSON to one server: one pooled client, patient reads, retries where they help, errors that say what to do."""

from __future__ import annotations

import asyncio
import base64
import random
import ssl
import urllib.request
from collections.abc import Callable
from typing import Any

import httpx
import msgspec

from agent.config.authority import is_loopback
from agent.models import faults
from agent.models.keys import key_of
from agent.models.pooled_transport import LaneTransport
from agent.models.reply_fields import parse_json
from agent.models.streamed_reply import Pieces
from agent.models.types import ModelTarget

CONNECT_SECONDS = 5.0
RETRIES = 3
BACKOFF_SECONDS = 0.25
LOADING_SECONDS = 0.5
BODY_SECONDS = 60.0
"""The least time allowed from the first byte of a reply to its last. The timeout of a read starts again with each byte, so a
slow trickle of bytes would never end."""
MAX_REPLY_BYTES = 64 << 20
"""No answer is this long; a reply that is gets dropped unread."""

_RETRY_STATUS = frozenset((429, 500, 502, 503, 504))
_BUSY_STATUS = frozenset((429, 503, 504))
_BROKEN = (httpx.ConnectError, httpx.ConnectTimeout, httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


class _CutOff(httpx.ReadError):
    """The connection broke behind the head of an answer."""


def key_headers(key_env: str) -> dict[str, str]:
    """The authorisation header for the key in the environment variable ``key_env``; nothing when it is empty.

    Raises:
        ModelError: ``unauthorised`` if the variable is named but not set.
    """
    if not key_env:
        return {}
    key = key_of(key_env)
    if not key:
        raise faults.key_missing(key_env)
    return {"Authorization": f"Bearer {key}"}


def without_credentials(address: str) -> tuple[str, dict[str, str]]:
    """An address as it may be shown, and the header (RFC 7617) for the user name and password that it held."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        return address, {}
    if not url.userinfo:
        return address, {}
    words = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
    return str(url.copy_with(username=None, password=None)).rstrip("/"), {"Authorization": f"Basic {words}"}


def proxy_for(address: str) -> httpx.Proxy | None:
    """The proxy that the environment names for an address (``HTTPS_PROXY``, ``NO_PROXY`` and their like, as in curl(1)).
    A server on this machine is asked directly, whatever the environment says.

    Raises:
        ModelError: the proxy's address is no HTTP proxy's.
    """
    url = httpx.URL(address)
    if is_loopback(address) or urllib.request.proxy_bypass(url.host):
        return None
    named = urllib.request.getproxies()
    found = named.get(url.scheme) or named.get("all")
    if not found:
        return None
    found = found if "://" in found else f"http://{found}"
    if not found.startswith(("http://", "https://")):
        raise faults.no_http_proxy(without_credentials(found)[0])
    return httpx.Proxy(found)


class JsonClient:
    """POST and GET of JSON under one base URL, over pooled connections. The model comes with each request."""

    def __init__(self, base_url: str, provider: str, headers: dict[str, str] | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self.provider = provider
        self._headers = headers or {}
        self.refused: Callable[[], None] = lambda: None
        """Called when the server refuses a call because it is busy; the limit of calls in flight follows it."""
        self._transport: LaneTransport | None = None
        self._urls: dict[str, httpx.URL] = {}

    def _open(self) -> LaneTransport:
        if self._transport is None:
            secure = self.base_url.startswith("https")
            verify: ssl.SSLContext | bool = httpx.create_ssl_context() if secure else False
            self._transport = LaneTransport(verify, proxy_for(self.base_url))
        return self._transport

    async def aclose(self) -> None:
        """Close all connections."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    async def post(
        self,
        path: str,
        body: dict[str, Any],
        target: ModelTarget,
        retries: int = RETRIES,
        pieces: Callable[[], Pieces] | None = None,
    ) -> dict[str, Any]:
        """The reply's JSON object. Retries broken connections, 429 and 5xx with jittered backoff, nothing else: a model
        that loads for minutes is waited for, since asking again would abort the load. A reply that may come in pieces is
        heard by what ``pieces`` makes, anew for each try; the rest is the same for both.

        Raises:
            ModelError: with a sentence and a hint.
        """
        timeout = httpx.Timeout(target.first_byte_timeout, connect=CONNECT_SECONDS, pool=None)
        loading_until = asyncio.get_running_loop().time() + target.first_byte_timeout
        attempt = 0
        while True:
            retry_after = 0.0
            try:
                heard = pieces() if pieces is not None else None
                status, raw, headers = await self._send("POST", path, body, target.api_key_env, timeout, heard)
                whole = heard.reply() if heard is not None and status == 200 else None
            except _CutOff as error:
                failure = faults.cut_off(self.base_url, _why(error))
            except _BROKEN as error:
                failure = faults.unreachable(self.provider, self.base_url, _why(error))
            except httpx.TimeoutException:
                self.refused()
                raise faults.too_slow(self.base_url, target.first_byte_timeout) from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise faults.unreachable(self.provider, self.base_url, _why(error)) from None
            else:
                reply = parse_json(raw) if whole is None else whole
                status = status if whole is None else _status_within(whole)
                if status == 200 and isinstance(reply, dict) and not _holds_error(reply):
                    return reply
                if status == 200 and not isinstance(reply, dict):
                    raise faults.not_json(self.base_url + path, raw)
                said = faults.message_of(reply, raw)
                if status == 503 and faults.LOADING.search(said) and loading_until > asyncio.get_running_loop().time():
                    await asyncio.sleep(LOADING_SECONDS)
                    continue
                failure = faults.of_status(self.provider, self.base_url, target.model, target.api_key_env, status, said)
                if status not in _RETRY_STATUS or failure.kind in ("memory", "context", "not_pulled"):
                    raise failure
                if status in _BUSY_STATUS:
                    self.refused()
                retry_after = _seconds(headers.get("retry-after"))
            if attempt >= retries:
                raise failure
            await asyncio.sleep(max(retry_after, BACKOFF_SECONDS * 2**attempt * random.uniform(0.5, 1.5)))
            attempt += 1

    async def get(self, path: str, key_env: str = "", seconds: float = CONNECT_SECONDS) -> tuple[int, Any]:
        """Status and JSON (None when it is none) of one GET, asked once.

        Raises:
            ModelError: if nobody answers.
        """
        try:
            status, raw, _ = await self._send("GET", path, None, key_env, httpx.Timeout(seconds, pool=None))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise faults.unreachable(self.provider, self.base_url, _why(error)) from None
        return status, parse_json(raw)

    async def _send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        key_env: str,
        timeout: httpx.Timeout,
        heard: Pieces | None = None,
    ) -> tuple[int, bytes, httpx.Headers]:
        # Straight to the transport: what httpx.AsyncClient adds (redirects, cookies) a model server must not need, and it
        # costs a sixth of a call's time.
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = httpx.URL(self.base_url + path)
        content = None if body is None else msgspec.json.encode(body)
        headers = {**self._headers, "Content-Type": "application/json", **key_headers(key_env)}
        extensions = {"timeout": timeout.as_dict()}
        request = httpx.Request(method, url, headers=headers, content=content, extensions=extensions)
        response = await self._open().handle_async_request(request)
        patience = max(BODY_SECONDS, timeout.read or 0)
        try:
            async with asyncio.timeout(patience):
                raw = await self._read(response, path, heard if response.status_code == 200 else None)
        except (httpx.RemoteProtocolError, httpx.ReadError) as error:
            raise _CutOff(str(error)) from error
        except TimeoutError:
            raise faults.never_ends(self.base_url + path, patience) from None
        finally:
            await response.aclose()
        if response.has_redirect_location:
            place = url.join(response.headers["location"]).copy_with(username=None, password=None, query=None, fragment=None)
            raise faults.sent_on(self.base_url, response.status_code, str(place))
        return response.status_code, raw, response.headers

    async def _read(self, response: httpx.Response, path: str, heard: Pieces | None) -> bytes:
        chunks, size = [], 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > MAX_REPLY_BYTES:
                raise faults.too_large(self.base_url + path, MAX_REPLY_BYTES)
            chunks.append(chunk)
            if heard is not None:
                heard.feed(chunk)
                if heard.enough:
                    break
        return b"".join(chunks)


def _holds_error(reply: dict[str, Any]) -> bool:
    """Ollama reports an error in the middle of an answer with status 200."""
    return bool(reply.get("error")) and not reply.get("choices") and not reply.get("answers")


def _status_within(reply: dict[str, Any]) -> int:
    """The status that an error in the middle of a stream would have had at its start."""
    error = reply.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 and _holds_error(reply) else 200


def _seconds(value: str | None) -> float:
    try:
        return min(30.0, max(0.0, float(value or 0)))
    except ValueError:
        return 0.0


def _why(error: Exception) -> str:
    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {CONNECT_SECONDS:.0f} seconds"
    return str(error) or type(error).__name__
