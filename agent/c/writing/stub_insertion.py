"""The stub of one open function laid into its file, so that the program compiles and links before the body is written."""

from __future__ import annotations

from collections.abc import Mapping

from agent.c.declarations.functions import find_definition
from agent.c.declarations.signature import prototype_of
from agent.c.surroundings import include_spelling
from agent.c.writing.stub_text import stub_text
from agent.textfile import append_block


def with_stub(source: bytes, signature: str, path: str, header: str, files: Mapping[str, bytes]) -> bytes:
    """The ``source`` of ``path`` with a stub of the function that ``signature`` declares at its end, or as it is where it
    defines that function. An empty one, that of a new file, gets an include of ``header`` ("" for none)."""
    declared = prototype_of(signature)
    if declared is not None and find_definition(source, declared.name) is not None:
        return source
    stub = stub_text(declared, doc="").encode() if declared is not None else b""
    if not source.strip():
        spelled = include_spelling(header, path, files) if header else ""
        source = f'#include "{spelled}"\n'.encode() if spelled else b""
    return append_block(source, stub)
