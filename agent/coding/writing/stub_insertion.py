"""The stub of one open function laid into its file, so that the program compiles and links before the body is written."""

from __future__ import annotations

from collections.abc import Mapping

from agent.c.declarations.signature import prototype_of
from agent.c.writing.stub_text import stub_text
from agent.coding.c_context import include_spelling
from agent.coding.open_items import OpenFunction
from agent.textfile import append_block


def with_stub(source: bytes, wanted: OpenFunction, files: Mapping[str, bytes]) -> bytes:
    """``source`` (empty for a new file) with a stub of ``wanted`` at its end and an include of its header."""
    declared = prototype_of(wanted.signature)
    stub = stub_text(declared, doc="").encode() if declared is not None else b""
    if not source.strip():
        spelled = include_spelling(wanted.header, wanted.path, files) if wanted.header else ""
        source = f'#include "{spelled}"\n'.encode() if spelled else b""
    return append_block(source, stub)
