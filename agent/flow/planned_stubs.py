"""Stubs for functions that a plan is still to write, so that the tests link and can tell of one function at a time."""

from __future__ import annotations

from collections.abc import Iterable

from agent.c.writing.stub_insertion import with_stub
from agent.coding.files import LazyFiles, content
from agent.coding.open_items import OpenFunction
from agent.events import EditApplied
from agent.flow.run_parts import RunParts
from agent.languages import is_compiled


async def lay_stubs(parts: RunParts, wanted: OpenFunction, known: Iterable[OpenFunction]) -> None:
    """Lay a stub of every other function that the plan names, of those ``known`` to be defined nowhere when the run looked;
    that of ``wanted`` comes with its first version. One that does not compile in its file, such as for a type that is still
    open, is left out.

    The stubs are part of the step under way: they are committed with it, or rolled back.
    """
    if not parts.checks.command:
        return
    names, files = parts.outcome.targets - {wanted.name}, parts.tree.files
    for other in known:
        wanting = other.why == "undefined" and other.name in names and is_compiled(other.path)
        if not wanting or not parts.tree.writable(other.path):
            continue
        source = content(files, other.path) or b""
        text = with_stub(source, other.signature, other.path, other.header, LazyFiles(files))
        if text == source:
            continue
        build = await parts.compiler.build()
        if (await build.compile_as(other.path, text)).ok:
            files.write_bytes(other.path, text)
            parts.ctx.emit(EditApplied(other.path, "scaffold", other.name, text.count(b"\n") - source.count(b"\n")))
