"""The function implementer on the compiling room itself: includes come in by proof, and go with a candidate that fails."""

from __future__ import annotations

from pathlib import Path

from agent.coding.files import FolderFiles
from agent.coding.open_items import find_open_functions
from agent.coding.writing.functions import implement_function
from agent.compiling.build import Build
from agent.compiling.curing.recovery import Recovery
from agent.events import IncludeAdded
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer

HEADER = "#ifndef W_H\n#define W_H\n/** A copy of s, NULL when memory is out. */\nchar *copy(const char *s);\n#endif\n"
SOURCE = '#include "w.h"\n\nchar *copy(const char *s)\n{\n    /* TODO */\n    (void)s;\n    return 0;\n}\n'
BODY = """char *copy(const char *s)
{
    char *made = malloc(strlen(s) + 1);
    if (made != NULL) {
        strcpy(made, s);
    }
    return made;
}"""


async def test_missing_includes_are_put_in_without_another_call(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "w.h").write_text(HEADER)
    (root / "w.c").write_text(SOURCE)
    [wanted] = find_open_functions({"w.h": HEADER.encode(), "w.c": SOURCE.encode()})
    async with ScriptedServer(f"```c\n{BODY}\n```") as server, run_context(tmp_path, server) as ctx:
        build = Build(root, emit=ctx.emit)
        try:
            result = await implement_function(
                ctx, wanted, files=FolderFiles(root), compile=Recovery(build).compile, task="t"
            )
        finally:
            build.close()
        await ctx.log.durable()
        assert result.ok and result.attempts == 1 and len(server.calls) == 1
        assert {event.header for event in ctx.of(IncludeAdded) if event.kept} == {"stdlib.h", "string.h"}
        assert len(ctx.includes) == 2
    text = (root / "w.c").read_text()
    assert "#include <stdlib.h>" in text and "#include <string.h>" in text and BODY in text


async def test_includes_of_a_failed_candidate_are_gone_and_come_again_with_the_next(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "w.h").write_text(HEADER)
    (root / "w.c").write_text(SOURCE)
    [wanted] = find_open_functions({"w.h": HEADER.encode(), "w.c": SOURCE.encode()})
    bad = BODY.replace("return made", "return mode")
    script = [("earlier version", f"```c\n{BODY}\n```"), ("copy", f"```c\n{bad}\n```")]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        build = Build(root, emit=ctx.emit)
        try:
            result = await implement_function(ctx, wanted, files=FolderFiles(root), compile=Recovery(build).compile)
        finally:
            build.close()
        assert result.ok and result.attempts == 2 and len(ctx.includes) == 2
    assert "mode" in server.calls[1].prompt and (root / "w.c").read_text().count("#include <") == 2
