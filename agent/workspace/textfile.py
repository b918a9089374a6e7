"""Text of a source file with what an editor must give back: encoding, newline style, mark at the start."""

from __future__ import annotations

import codecs
from typing import Literal, NamedTuple

from agent.textfile import encoding_of

Newline = Literal["\n", "\r\n", "\r"]


class TextFile(NamedTuple):
    """``text`` has ``\\n`` newlines only; ``encode`` puts the file's own form back."""

    text: str
    encoding: str = "utf-8"
    newline: Newline = "\n"
    bom: bool = False
    mixed: bool = False

    def encode(self, text: str | None = None) -> bytes:
        """The bytes of ``text`` (or of the file's own) in the file's newline style and encoding.

        A file whose newlines are mixed is kept as it is read, newline by newline. What the encoding cannot hold makes the
        file UTF-8, since losing a character would be worse.
        """
        new = self.text if text is None else text
        if not self.mixed:
            new = new.replace("\r\n", "\n")
            if self.newline != "\n":
                new = new.replace("\n", self.newline)
        try:
            data = new.encode(self.encoding, "surrogateescape")
        except UnicodeEncodeError:
            data = new.encode("utf-8", "surrogateescape")
        return codecs.BOM_UTF8 + data if self.bom else data


def decode(data: bytes) -> TextFile:
    """Read ``data`` as text: UTF-8, the encoding a Python file declares, else Latin-1, so that every byte survives.

    Raises:
        ValueError: the data is binary (holds a NUL byte).
    """
    if b"\0" in data:
        raise ValueError("binary data")
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    encoding = encoding_of(body)
    raw = body.decode(encoding)
    crlf = raw.count("\r\n")
    lf = raw.count("\n") - crlf
    cr = raw.count("\r") - crlf
    mixed = sum(1 for n in (crlf, lf, cr) if n) > 1
    newline: Newline = "\r\n" if crlf else "\r" if cr and not lf else "\n"
    text = raw if mixed else raw.replace("\r\n", "\n").replace("\r", "\n") if newline != "\n" else raw
    return TextFile(text, encoding, newline, bom, mixed)
