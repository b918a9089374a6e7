"""A file's bytes as editable text, and back, so that everything outside an edit stays byte for byte what it was."""

from __future__ import annotations

import codecs
import io
import re

import msgspec

_BOM = codecs.BOM_UTF8
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


class TextFile(msgspec.Struct, frozen=True):
    """Decoded text with what is needed to write it back: ``text`` has the file's own line endings in it."""

    text: str
    encoding: str
    bom: bytes
    newline: str

    def encode(self, text: str) -> bytes:
        """The bytes of ``text`` in this file's encoding, byte-order mark included.

        Raises:
            UnicodeEncodeError: a character that the file's encoding does not have.
        """
        return self.bom + text.encode(self.encoding)

    def with_newlines(self, text: str) -> str:
        """``text`` with its line endings turned into this file's own."""
        return to_newline(text, self.newline)


def to_newline(text: str, newline: str) -> str:
    """``text`` with every ``\\r\\n`` or ``\\n`` written as ``newline``."""
    unix = text.replace("\r\n", "\n")
    return unix if newline == "\n" else unix.replace("\n", newline)


def newline_of(data: bytes) -> str:
    """The line ending most lines of ``data`` have; ``\\n`` when it has none."""
    crlf = data.count(b"\r\n")
    return "\r\n" if crlf > data.count(b"\n") - crlf else "\n"


def lines_of(text: str) -> list[str]:
    """The lines of ``text`` with their endings, as compilers and Python count them: a form feed or a Unicode line separator
    ends none."""
    return list(io.StringIO(text, newline=""))


def is_binary(data: bytes) -> bool:
    """Whether the bytes are not text: a NUL byte, as git decides it."""
    return b"\0" in data[:8000]


def read_text(data: bytes) -> TextFile:
    """Text of ``data`` in the encoding that :func:`encoding_of` finds, its line endings kept."""
    bom = _BOM if data.startswith(_BOM) else b""
    body = data[len(bom) :]
    encoding = encoding_of(body)
    return TextFile(text=body.decode(encoding), encoding=encoding, bom=bom, newline=newline_of(body))


def encoding_of(body: bytes) -> str:
    """The encoding that ``body``, without a byte-order mark, is read and written in: what a Python file declares, UTF-8, or
    Latin-1; the first of them that gives every byte back."""
    for encoding in (_declared(body), "utf-8"):
        try:
            if body.decode(encoding).encode(encoding) == body:
                return encoding
        except (UnicodeError, LookupError):  # LookupError: a codec that is not for text, such as "hex"
            continue
    return "latin-1"


def _declared(body: bytes) -> str:
    for line in body.split(b"\n", 2)[:2]:
        if match := _CODING.match(line):
            try:
                return codecs.lookup(match[1].decode("ascii")).name
            except (LookupError, UnicodeDecodeError):
                return "utf-8"
    return "utf-8"


def styled(source: bytes, text: str) -> bytes:
    """``text`` in the newline style and encoding of ``source``; in UTF-8 when that encoding lacks a character of it."""
    file = read_text(source)
    try:
        return file.with_newlines(text).encode(file.encoding)
    except UnicodeEncodeError:
        return file.with_newlines(text).encode()


def append_block(source: bytes, text: bytes, blank_lines: int = 1) -> bytes:
    """``source`` with ``text`` after its last line and ``blank_lines``."""
    newline = newline_of(source).encode()
    body = source.rstrip(b" \t\r\n")
    if not body:
        return text.strip() + newline
    return source[: len(body)] + (blank_lines + 1) * newline + text.strip() + newline
