"""Which files can be read as text, and in which encoding. Never raises on what it finds."""

from __future__ import annotations

import codecs
from pathlib import Path

from agent.languages import reader_of

MAX_FILE_BYTES = 1 << 20
"""Larger files are data or generated."""

_MARKS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
          (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip


def read_source(path: Path, max_bytes: int = MAX_FILE_BYTES) -> tuple[bytes, str]:
    """(content as UTF-8, "") or (b"", reason for leaving it out)."""
    data, reason, _ = read_encoded(path, max_bytes)
    return data, reason


def read_encoded(path: Path, max_bytes: int = MAX_FILE_BYTES) -> tuple[bytes, str, str]:
    """(content as UTF-8, reason for leaving it out or "", the encoding it was in where that is not UTF-8).

    A byte order mark decides, then a Python source's declaration (PEP 263), then whether it is UTF-8; what is left is read
    as Latin-1, in which every byte is a character.
    """
    try:
        if path.stat().st_size > max_bytes:
            return b"", "too large", ""
        data = path.read_bytes()
    except (OSError, ValueError):
        return b"", "unreadable", ""
    if len(data) > max_bytes:
        return b"", "too large", ""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    if not marked and b"\0" in data:
        return b"", "binary", ""
    if data.isascii():
        return data, "", ""
    reader = reader_of(path.name)
    for encoding in (marked, reader.declared_encoding(data) if reader else "", "utf-8", "latin-1"):
        try:
            if encoding == "utf-8":
                data.decode("utf-8")
                return data, "", ""
            if encoding:
                return data.decode(encoding).encode("utf-8"), "", encoding
        except (UnicodeError, LookupError):
            if encoding == marked:
                return b"", "binary", ""
    return b"", "unreadable", ""
