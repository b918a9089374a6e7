"""An implementer that is broken off (a server that dies, a person who stops) leaves the files as they were before it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.coding.files import FolderFiles
from agent.coding.open_items import find_open_functions, find_open_types
from agent.coding.writing.candidates import Compiled
from agent.coding.writing.edit_step import implement_step
from agent.coding.writing.functions import implement_function
from agent.coding.writing.type_definition import implement_type
from agent.models.types import ModelError
from agent.values import PlanStep
from tests.coding.helpers import HEADER, SOURCE, compile_in, project
from tests.fakes.context import run_context
from tests.fakes.script import Answer
from tests.fakes.server import ScriptedServer

PY = b"def one():\n    return 0\n\n\ndef two():\n    return 0\n"
MAP = b"typedef struct map map_t;\nmap_t *map_new(void);\n"


async def test_a_step_whose_server_dies_at_its_second_symbol(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/a.py").write_bytes(PY)
    files = FolderFiles(tmp_path / "repo")
    script = [("def one", "```python\ndef one():\n    return 1\n```"), ("def two", Answer(status=401, error="no"))]
    step = PlanStep("s1", "Make them return their number", ("a.py",), ("one", "two"))
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        with pytest.raises(ModelError):
            await implement_step(ctx, step, files=files, compile=compile_in(files.root), task="t")
    assert len(server.calls) >= 2 and files.read_bytes("a.py") == PY


async def stopped(path: str, symbol: str = "", signature: str = "") -> Compiled:
    raise asyncio.CancelledError


async def test_a_function_that_is_stopped_while_it_is_compiled(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    everything = {"src/ring.h": HEADER.encode(), "src/ring.c": SOURCE.encode()}
    [push] = find_open_functions(everything)
    reply = "```c\nint ring_push(ring_t *r, int value)\n{\n    return value > 0;\n}\n```"
    async with ScriptedServer(reply) as server, run_context(tmp_path, server) as ctx:
        with pytest.raises(asyncio.CancelledError):
            await implement_function(ctx, push, files=files, compile=stopped)
    assert files.read_bytes("src/ring.c") == SOURCE.encode()


@pytest.mark.parametrize("there", [True, False])
async def test_a_type_that_is_stopped_or_fails_leaves_no_file_behind(tmp_path: Path, there: bool) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "map.h").write_bytes(MAP)
    source = b'#include "map.h"\n'
    if there:
        (root / "map.c").write_bytes(source)
    [wanted] = find_open_types({"map.h": MAP})
    files = FolderFiles(root)
    async with ScriptedServer("```c\nstruct map {\n    nothing_known x;\n};\n```") as server:
        async with run_context(tmp_path / "one", server) as ctx:
            with pytest.raises(asyncio.CancelledError):
                await implement_type(ctx, wanted, files=files, compile=stopped)
        async with run_context(tmp_path / "two", server) as ctx:
            result = await implement_type(ctx, wanted, files=files, compile=compile_in(root))
    assert not result.ok
    assert (root / "map.c").read_bytes() == source if there else not (root / "map.c").exists()
