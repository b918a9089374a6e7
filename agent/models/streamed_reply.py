"""An answer that arrives in pieces: passed on while it is written, and joined to the reply that would have come in one
piece.

OpenAI-style servers send server-sent events, Ollama a JSON object a line. The first line shows whether a server
streams or answers in one piece; a reply in one piece is read as without streaming.
"""

from __future__ import annotations

import re
from typing import Any

import httpx

from agent.models import faults, reply_fields
from agent.models.repetition import goes_round
from agent.models.reply_fields import parse_json
from agent.models.types import ModelError, ProgressCallback
from agent.thinking import with_thinking

CIRCLES = "circles"
"""The finish reason of a reply that was cut off because it repeats itself."""

_FIELD = re.compile(rb"(?:data|event|id|retry|error)?:")
_BOM = b"\xef\xbb\xbf"


class Pieces:
    """Reads one reply. ``feed`` takes its bytes as they come, ``reply`` returns the whole object at the end. With
    ``no_circles`` a reply that repeats itself without end is complete then (``enough``)."""

    def __init__(self, url: str, progress: ProgressCallback | None, no_circles: bool = False) -> None:
        self.url = url
        self.enough = False
        self._no_circles = no_circles
        self.tokens = 0
        self.streams: bool | None = None
        self.ended = False
        self.error: dict[str, Any] | None = None
        self._progress = progress
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._logprobs: list[Any] = []
        self._buffer = bytearray()

    def so_far(self) -> str:
        """The raw text so far; thinking that has not ended yet has no closing tag."""
        text, thinking = "".join(self._texts), "".join(self._thoughts)
        return with_thinking(text, thinking) if text else f"<think>\n{thinking}" if thinking else ""

    def feed(self, data: bytes) -> None:
        """The next bytes.

        Raises:
            ModelError: what came is no such stream.
        """
        if self.streams is False:
            return
        begin = len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\n", begin)) >= 0:
            line = bytes(self._buffer[:end]).rstrip(b"\r")
            del self._buffer[: end + 1]
            begin = 0
            self._hear(line)

    def _hear(self, line: bytes) -> None:
        if self.streams is None:
            line = line.removeprefix(_BOM)
            if line.strip():
                self.streams = self.is_stream(line)
        if self.streams and self.error is None and not self.enough:
            self.line(line)

    def reply(self) -> dict[str, Any] | None:
        """The reply as one object, an error object where the server sent one; None when it did not come in pieces.

        Raises:
            httpx.RemoteProtocolError: it broke off in the middle.
            ModelError: what came is no such stream.
        """
        if self._buffer and not self.ended:
            rest, self._buffer = bytes(self._buffer), bytearray()
            if self.streams is None or self.whole_line(rest):
                self._hear(rest)
        if not self.streams:
            return None
        if self.error is not None:
            return self.error
        if not self.ended:
            raise httpx.RemoteProtocolError("the answer broke off in the middle")
        return self.whole("".join(self._texts), "".join(self._thoughts))

    def add(self, text: str, thinking: str, logprobs: Any) -> None:
        """The next piece; one is about a token."""
        if isinstance(logprobs, list):
            self._logprobs += logprobs
        if not text and not thinking:
            return
        if text:
            self._texts.append(text)
        if thinking:
            self._thoughts.append(thinking)
        self.tokens += 1
        if self._progress is not None:
            self._progress(self)
        if self._no_circles and "\n" in text and goes_round("".join(self._texts)):
            self.enough = self.ended = True

    def no_stream(self, line: bytes) -> ModelError:
        """The error for a line that does not belong there."""
        return faults.not_json(self.url, line)

    def is_stream(self, line: bytes) -> bool:
        """Whether the first line is one of a stream."""
        raise NotImplementedError

    def whole_line(self, line: bytes) -> bool:
        """Whether the last bytes, without a line break, are a complete line."""
        raise NotImplementedError

    def line(self, line: bytes) -> None:
        """One line of the stream."""
        raise NotImplementedError

    def whole(self, text: str, thinking: str) -> dict[str, Any]:
        """The reply that would have come in one piece."""
        raise NotImplementedError


class OpenAIPieces(Pieces):
    """``chat.completion.chunk`` objects as server-sent events."""

    def __init__(self, url: str, progress: ProgressCallback | None, no_circles: bool = False) -> None:
        super().__init__(url, progress, no_circles)
        self.figures: dict[str, Any] = {}
        self._finish: Any = None
        self._held = b""

    def is_stream(self, line: bytes) -> bool:
        return _FIELD.match(line) is not None

    def whole_line(self, line: bytes) -> bool:
        value = line.partition(b":")[2].strip()
        return value == b"[DONE]" or parse_json(value) is not None

    def line(self, line: bytes) -> None:
        if not line:
            if self._held:
                raise self.no_stream(self._held)
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data(value.removeprefix(b" "))
        elif name == b"error":  # llama-server, before it put its errors into data
            self.error = {"error": parse_json(value) or value.decode("utf-8", "replace").strip()}
        elif name not in (b"", b"event", b"id", b"retry"):
            raise self.no_stream(line)

    def _data(self, value: bytes) -> None:
        if value.strip() == b"[DONE]":
            self.ended = True
            return
        self._held += value
        chunk = parse_json(self._held)
        if chunk is None:
            return  # it may go on in the event's next line
        held, self._held = self._held, b""
        if not isinstance(chunk, dict):
            raise self.no_stream(held)
        if chunk.get("error") and not chunk.get("choices"):
            self.error = chunk
            return
        self.figures |= {name: chunk[name] for name in ("usage", "timings") if isinstance(chunk.get(name), dict)}
        for choice in reply_fields.tables(chunk.get("choices"))[:1]:
            self._choice(choice, held)

    def _choice(self, choice: dict[str, Any], held: bytes) -> None:
        delta = reply_fields.table(choice.get("delta")) or reply_fields.table(choice.get("message"))
        try:
            text = reply_fields.text(delta.get("content"))
            thinking = reply_fields.text(delta.get("reasoning_content") or delta.get("reasoning"))
        except TypeError:
            raise self.no_stream(held) from None
        self.add(text, thinking, reply_fields.table(choice.get("logprobs")).get("content"))
        if choice.get("finish_reason"):
            self._finish, self.ended = choice["finish_reason"], True

    def whole(self, text: str, thinking: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "reasoning_content": thinking}
        finish = CIRCLES if self.enough else self._finish
        choice = {"message": message, "finish_reason": finish, "logprobs": {"content": self._logprobs}}
        return {"choices": [choice], **self.figures}


class OllamaPieces(Pieces):
    """Replies of ``/api/chat``, one a line; the last one is ``done`` and has the figures."""

    def __init__(self, url: str, progress: ProgressCallback) -> None:
        super().__init__(url, progress)
        self._last: dict[str, Any] = {}

    def is_stream(self, line: bytes) -> bool:
        first = parse_json(line)
        return isinstance(first, dict) and first.get("done") is False

    def whole_line(self, line: bytes) -> bool:
        return parse_json(line) is not None

    def line(self, line: bytes) -> None:
        if not line.strip():
            return
        chunk = parse_json(line)
        if not isinstance(chunk, dict):
            raise self.no_stream(line)
        if chunk.get("error"):
            self.error = chunk
            return
        message = reply_fields.table(chunk.get("message"))
        try:
            text, thinking = reply_fields.text(message.get("content")), reply_fields.text(message.get("thinking"))
        except TypeError:
            raise self.no_stream(line) from None
        self.add(text, thinking, chunk.get("logprobs"))
        if chunk.get("done"):
            self._last, self.ended = chunk, True

    def whole(self, text: str, thinking: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "thinking": thinking}
        return {**self._last, "message": message, "logprobs": self._logprobs}
