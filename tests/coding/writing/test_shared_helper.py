"""The helper that a rule for several functions asks for, against a scripted server and the real compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.coding.files import FolderFiles
from agent.coding.writing.scaffold import ScaffoldResult, scaffold
from agent.events import EditApplied
from tests.coding.helpers import compile_in
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer

TASK = """Write src/bits.h and src/bits.c.
`unsigned char bits_get(const unsigned char *at, unsigned n)` returns bit n as 0 or 1.
`void bits_put(unsigned char *at, unsigned n)` sets bit n. A bit's mask is 1 shifted left by its number modulo 8."""
ASKS, GENERATES = "Rule: A bit's mask is 1", "which computes the value that the rule describes"
MASK = "unsigned char mask_of(unsigned n)\n{\n    return (unsigned char)(1u << (n % 8));\n}"


async def lay(
    tmp_path: Path, rules: list[tuple[str, Any]], task: str = TASK, **how: Any
) -> tuple[ScaffoldResult, ScriptedServer, FolderFiles]:
    files = FolderFiles(tmp_path / "repo")
    async with ScriptedServer(rules) as server, run_context(tmp_path, server) as ctx:
        result = await scaffold(ctx, files=files, compile=compile_in(files.root), task=task, **how)
        await ctx.log.durable()
        assert [e.symbol for e in ctx.of(EditApplied) if e.kind == "function"] == (["mask_of"] if _laid(files) else [])
    return result, server, files


def _laid(files: FolderFiles) -> bool:
    return b"mask_of" in files.read_bytes("src/bits.c")


async def test_a_rule_that_several_functions_follow_becomes_one_static_helper_above_them(tmp_path: Path) -> None:
    result, server, files = await lay(tmp_path, [(ASKS, "yes"), (GENERATES, f"```c\n{MASK}\n```")])
    assert result.ok and len(server.calls) == 2
    text = files.read_bytes("src/bits.c").decode()
    assert f"static {MASK}\n\n" in text and text.index("mask_of") < text.index("bits_get")
    assert [one.name for one in result.functions] == ["bits_get", "bits_put"]
    assert "- unsigned char bits_get(const unsigned char *at, unsigned n)" in server.calls[0].prompt


async def test_without_a_yes_there_is_none(tmp_path: Path) -> None:
    result, server, files = await lay(tmp_path, [(ASKS, "no"), (GENERATES, f"```c\n{MASK}\n```")])
    assert result.ok and len(server.calls) == 1 and not _laid(files)


async def test_one_that_does_not_compile_is_asked_again_with_the_error(tmp_path: Path) -> None:
    broken = MASK.replace("n % 8", "m % 8")
    replies = [f"```c\n{broken}\n```", "None is needed.", f"```c\n{MASK}\n```"]
    result, server, files = await lay(tmp_path, [(ASKS, "yes"), (GENERATES, replies)])
    assert result.ok and _laid(files) and "m % 8" not in files.read_bytes("src/bits.c").decode()
    assert "undeclared" in server.calls[2].prompt and "one new function" in server.calls[3].prompt


async def test_one_that_never_comes_leaves_the_stubs_as_they_are(tmp_path: Path) -> None:
    result, server, files = await lay(tmp_path, [(ASKS, "yes"), (GENERATES, "I would rather not.")])
    assert result.ok and len(server.calls) == 1 + 3 and not _laid(files)


async def test_a_single_function_shares_nothing(tmp_path: Path) -> None:
    alone = TASK.replace("`void bits_put(unsigned char *at, unsigned n)` sets bit n. ", "").replace("src/bits.c", "bits")
    header = "```c\nunsigned char bits_get(const unsigned char *at, unsigned n);\n```"
    interface = '{"headers": [{"path": "src/bits.h", "functions": [{"name": "bits_get"}]}]}'
    rules = [("FILE:", f"FILE: src/bits.h\n{header}"), ("", interface)]
    result, server, files = await lay(tmp_path, rules, task=alone, decomposed=False)
    assert result.ok and [one.name for one in result.functions] == ["bits_get"]
    assert not any(ASKS in call.prompt for call in server.calls) and not _laid(files)
