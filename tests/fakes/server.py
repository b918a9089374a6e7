"""A scripted model server over loopback HTTP: real protocols, faults to order, every request recorded.

async with ScriptedServer([("relevant", "yes")]) as server:
    ...  # server.base_url, server.calls

with ScriptedServer("no").run_in_thread() as server:   # for synchronous tests and child processes
    ...
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec

from tests.fakes.script import Answer, RecordedCall, as_script
from tests.fakes.wire import ASKING, DECIDE, OLLAMA, count_tokens, error_body, faulty, parse_call, pieces_of, reply_to

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class ScriptedServer:
    """Answers model calls by a script.

    Args:
        script: a callable ``(RecordedCall) -> Answer | str | bool``, a list of ``(needle, reply)`` rules, or one reply
            for everything. See ``tests/fakes/script.py``.
        kind: what the server gives itself out to be: ``llama`` (llama-server), ``vllm``, ``sglang`` or ``plain``. The
            Ollama and decision endpoints are there in every kind.
        models: the names it has. When given, another name is answered with 404.
        context_window: prompts over it are refused as llama-server does (four characters a token).
        latency: seconds before every answer. api_key: required as a bearer token when given.
        adapters: paths of the LoRA adapters that a llama-server has loaded.
        streams: whether it sends pieces where a stream is asked for; else it answers whole all the same.
        shut: keep every answer back until ``open`` is called, so that a test acts before the first answer on any machine.
    """

    def __init__(
        self,
        script: Any = "yes",
        *,
        kind: str = "llama",
        models: tuple[str, ...] = (),
        context_window: int = 32768,
        latency: float = 0.0,
        api_key: str = "",
        record: bool = True,
        streams: bool = True,
        adapters: tuple[str, ...] = (),
        shut: bool = False,
    ) -> None:
        self.adapters = adapters
        self.script = as_script(script)
        self.kind = kind
        self.models = models
        self.context_window = context_window
        self.latency = latency
        self.api_key = api_key
        self.record = record
        self.streams = streams
        self.calls: list[RecordedCall] = []
        self.requests: list[tuple[str, str]] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self.held: list[tuple[int, Callable[[], None]]] = []
        self.shut = shut
        self.kept_back: list[Callable[[], None]] = []
        self.broken_off = 0
        self.connections: set[asyncio.Transport] = set()
        self._count = 0
        self._server: asyncio.Server | None = None
        self.base_url = ""

    async def start(self) -> None:
        """Listen on a free loopback port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0)
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._server is None:
            return
        self._server.close()
        for transport in list(self.connections):
            transport.abort()
        await asyncio.sleep(0)
        self._server = None

    def open(self) -> None:
        """Send what was kept back, and answer at once from now on. Called on the server's own event loop."""
        self.shut = False
        kept, self.kept_back = self.kept_back, []
        for go in kept:
            go()

    async def __aenter__(self) -> ScriptedServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @contextmanager
    def run_in_thread(self) -> Iterator[ScriptedServer]:
        """Serve from a thread of its own while the block runs."""
        loop = asyncio.new_event_loop()
        started = threading.Event()

        async def serve() -> None:
            await self.start()
            started.set()

        thread = threading.Thread(target=lambda: (loop.run_until_complete(serve()), loop.run_forever()), daemon=True)
        thread.start()
        if not started.wait(10):
            raise RuntimeError("the scripted server did not start")
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self.stop(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    def asked(self, needle: str) -> list[RecordedCall]:
        """The calls whose system prompt or prompt holds ``needle``."""
        return [call for call in self.calls if needle in call.text]

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[Answer, bytes | list[bytes]]:
        """What a model call gets: the answer (with its faults) and the body of the reply, in pieces if it is streamed."""
        system, prompt = parse_call(path, body)
        call = RecordedCall(
            self._count, path, body, system, prompt, str(body.get("model", "")), headers, in_flight=self.in_flight
        )
        self._count += 1
        if self.record:
            self.calls.append(call)
        refusal = self._refusal(call)
        if refusal is not None:
            return refusal
        answer = self.script(call)
        if answer.fault == "garbage":
            return answer, b"<html>proxy says hello</html>"
        if answer.fault == "huge":
            return answer, b'{"choices":[{"message":{"content":"' + b"x" * (80 << 20) + b'"}}]}'
        if answer.fault == "raw":
            return answer, answer.raw
        if answer.fault == "stream_error":
            return answer, _encode({"error": answer.error})
        if answer.status != 200:
            return answer, _encode(error_body(path, answer.status, answer.error))
        if body.get("stream") and self.streams and path != DECIDE:
            return answer, faulty(pieces_of(call, answer, self.kind), path, answer)
        return answer, _encode(reply_to(call, answer, self.kind))

    def _refusal(self, call: RecordedCall) -> tuple[Answer, bytes | list[bytes]] | None:
        if self.models and call.model not in self.models:
            text = f'model "{call.model}" not found, try pulling it first'
            return Answer(status=404), _encode(error_body(call.path, 404, text))
        needed = count_tokens(call.text)
        if call.path.startswith("/v1/") and needed > self.context_window:
            text = f"request ({needed} tokens) exceeds the available context size ({self.context_window} tokens)"
            error = {"code": 400, "message": text, "type": "exceed_context_size_error", "n_prompt_tokens": needed}
            return Answer(status=400), _encode({"error": error})
        return None

    def other(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and body of everything that is not a model call."""
        names = self.models or ("scripted",)
        if path == "/tokenize" and self.kind == "llama":
            return 200, {"tokens": list(range(count_tokens(body.get("content", ""))))}
        if path in ("/api/show", "/api/chat") and self.models and body.get("model") not in self.models:
            return 404, error_body(path, 404, f"model '{body.get('model')}' not found")
        if path == "/api/chat":
            return 200, {"model": body.get("model"), "done": True, "done_reason": "load"}
        table: dict[str, dict[str, Any]] = {
            "/health": {"status": "ok"},
            "/v1/models": {"object": "list", "data": [{"id": name, "object": "model"} for name in names]},
            "/api/tags": {"models": [{"name": name, "model": name} for name in names]},
            "/api/ps": {"models": [{"name": names[0], "context_length": self.context_window}]},
            "/api/show": {"capabilities": ["completion"], "model_info": {"general.context_length": 32768}},
            "/api/version": {"version": "0.35.0"},
        }
        if self.kind == "llama":
            rows = [{"id": number, "path": path, "scale": 0.0} for number, path in enumerate(self.adapters)]
            table["/lora-adapters"] = rows  # type: ignore[assignment]
            table["/props"] = {"default_generation_settings": {"n_ctx": self.context_window}, "total_slots": 1}
        if self.kind == "vllm":
            table["/version"] = {"version": "0.12.0"}
        if self.kind == "sglang":
            table["/get_model_info"] = {"model_path": names[0]}
        if path in table:
            return 200, table[path]
        return 404, error_body(path, 404, "File Not Found")


class _Connection(asyncio.Protocol):
    """One keep-alive connection. A request at a time; no pipelining, as HTTP clients of today do not."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self.buffer = bytearray()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport is not None:
            self.server.connections.discard(self.transport)
        self.transport = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        size = int(headers.get("content-length", 0))
        if len(self.buffer) < end + 4 + size:
            return
        method, path, _ = lines[0].split(" ", 2)
        raw = bytes(self.buffer[end + 4 : end + 4 + size])
        del self.buffer[: end + 4 + size]
        self.handle(method, path.partition("?")[0], headers, raw)

    def handle(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> None:
        server = self.server
        body = _decode(raw) if raw else {}
        if server.record:
            server.requests.append((method, path))
        if server.api_key and headers.get("authorization") != f"Bearer {server.api_key}":
            self.send(401, _encode(error_body(path, 401, "Invalid API Key")))
            return
        asks = any(body.get(key) for key in ("messages", "questions", "suffix", "input_prefix", "input_suffix"))
        if method != "POST" or path not in ASKING or not asks:
            status, reply = server.other(path, body)
            self.send(status, _encode(reply))
            return
        server.in_flight += 1
        server.max_in_flight = max(server.max_in_flight, server.in_flight)
        answer, out = server.answer(path, body, headers)
        server.held.append((answer.together, partial(self.answer_in_time, answer, out, path)))
        ready = [go for count, go in server.held if count <= server.max_in_flight]
        server.held = [(count, go) for count, go in server.held if count > server.max_in_flight]
        for go in ready:
            go()

    def answer_in_time(self, answer: Answer, out: bytes | list[bytes], path: str) -> None:
        delay = answer.latency or self.server.latency
        if self.server.shut:
            self.server.kept_back.append(partial(self.answer_in_time, answer, out, path))
        elif delay:
            asyncio.get_running_loop().call_later(delay, self.finish, answer, out, path)
        else:
            self.finish(answer, out, path)

    def finish(self, answer: Answer, out: bytes | list[bytes], path: str) -> None:
        if isinstance(out, list):
            self.begin_stream(answer, out, path)
            return
        self.server.in_flight -= 1
        if answer.fault == "reset":
            if self.transport is not None:
                self.transport.abort()
            return
        self.send(answer.status, out, answer.headers, endless=answer.fault == "drip")

    def begin_stream(self, answer: Answer, pieces: list[bytes], path: str) -> None:
        kind = "application/x-ndjson" if path == OLLAMA else "text/event-stream"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
        if self.transport is not None:
            self.transport.write(head.encode())
        self.next_piece(answer, pieces, 0)

    def next_piece(self, answer: Answer, pieces: list[bytes], place: int) -> None:
        """One chunk after the other; a connection that is gone takes no more of them."""
        while self.transport is not None and place < len(pieces):
            self.transport.write(b"%x\r\n%b\r\n" % (len(pieces[place]), pieces[place]))
            place += 1
            if answer.pace:
                asyncio.get_running_loop().call_later(answer.pace, self.next_piece, answer, pieces, place)
                return
        self.server.in_flight -= 1
        if self.transport is None:
            self.server.broken_off += 1
        elif answer.fault == "cut":
            self.transport.close()  # after what was written, and without the chunk that ends a body
        else:
            self.transport.write(b"0\r\n\r\n")

    def send(self, status: int, out: bytes, headers: dict[str, str] | None = None, endless: bool = False) -> None:
        if self.transport is None:
            return
        extra = "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in (headers or {}).items())
        head = (
            f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {1 << 30 if endless else len(out)}\r\n{extra}\r\n"
        )
        self.transport.write(head.encode("latin-1") + (b"" if endless else out))
        if endless:
            self.drip()

    def drip(self) -> None:
        if self.transport is not None:
            self.transport.write(b" ")
            asyncio.get_running_loop().call_later(0.02, self.drip)
