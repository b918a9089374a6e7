"""The function implementer against a scripted server and the real compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.coding.files import FolderFiles
from agent.coding.open_items import OpenFunction, find_open_functions
from agent.coding.writing.candidates import CheckScore, Compiled
from agent.coding.writing.functions import Waiting, implement_function
from agent.compiling.compiler import Compiler, compile_object
from agent.events import EditApplied, EditRejected, FunctionFailed, FunctionImplemented, FunctionStarted, IncludeAdded
from agent.prompts.function_implement import SAY_WHY, STEPS_FIRST
from tests.coding.helpers import HEADER, SOURCE, compile_in, project
from tests.fakes.context import run_context
from tests.fakes.script import cut
from tests.fakes.server import ScriptedServer

GOOD = """int ring_push(ring_t *r, int value)
{
    if (r->count == 8) {
        return 0;
    }
    r->items[r->count++] = value;
    return 1;
}"""
BROKEN = "```c\nint ring_push(ring_t *r, int value)\n{\n    r->size = value;\n    return 1;\n}\n```"


def wanted(root: Path) -> OpenFunction:
    files = {f"src/{name}": (root / "src" / name).read_bytes() for name in ("ring.h", "ring.c")}
    [found] = find_open_functions(files)
    return found


async def test_warnings_that_the_flags_forbid_are_set_right_without_asking_again(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    reply = GOOD.replace("r->count == 8", "int spare = is_full(r->count), last = 8;\n    if (spare || r->count >= last")
    reply = "int is_full(size_t n)\n{\n    int most = 8;\n    return n >= most;\n}\n\n" + reply.replace("if (int", "int")

    async def strict(path: str, symbol: str = "", signature: str = "") -> Compiled:
        flags = ("-Wall", "-Wextra", "-Werror", "-Wmissing-declarations")
        done = await compile_object(Compiler.find(), files.root / path, cwd=files.root, flags=flags)
        return Compiled(done.ok, done.diagnostics)

    async with ScriptedServer(f"```c\n{reply}\n```") as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=strict)
    assert result.ok and len(server.calls) == 1, result.reason
    text = files.read_bytes("src/ring.c").decode()
    assert "static int is_full" in text and "(int)r->count >= last" in text and "(int)n >= most" in text
    [version] = result.versions
    assert version.text in text and version.helpers[0] in text


async def test_a_good_reply_replaces_the_stub_and_nothing_else(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    async with ScriptedServer(f"Here it is:\n```c\n{GOOD}\n```\nBye") as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, wanted(files.root), files=files, compile=compile_in(files.root), task="Implement ring.h"
        )
        assert result.ok and result.attempts == 1 and len(result.calls) == 1
        await ctx.log.durable()
        assert [event.symbol for event in ctx.of(FunctionImplemented)] == ["ring_push"]
        assert len(ctx.of(EditApplied)) == 1
    prompt = server.calls[0].prompt
    assert "Task: Implement ring.h" in prompt and "typedef struct ring" in prompt
    assert prompt.rstrip().endswith("int ring_push(ring_t *r, int value);\n```")
    assert "void ring_reset(ring_t *r)\n{" in prompt and "TODO" not in prompt
    text = files.read_bytes("src/ring.c").decode()
    assert text == SOURCE[: SOURCE.index("int ring_push")] + GOOD + "\n"


async def test_a_compile_error_is_shown_on_retry_without_its_line_and_the_stub_is_back_meanwhile(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    seen: list[str] = []

    async def compile(path: str, symbol: str = "", signature: str = "") -> Compiled:
        seen.append((files.root / path).read_text())
        return await compile_in(files.root)(path, symbol)

    script = [("earlier version", f"```c\n{GOOD}\n```"), ("ring_push", BROKEN)]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=compile)
        assert result.ok and result.attempts == 2
        await ctx.log.durable()
        assert [event.attempt for event in ctx.of(FunctionStarted)] == [1, 2]
    first, second = server.calls
    assert "'size'" in second.prompt and "r->size" not in second.prompt
    assert first.body["temperature"] == 0 and second.body["temperature"] > 0
    shared = first.prompt.index("Already written")
    assert first.prompt[:shared] == second.prompt[:shared]
    assert "r->size" not in seen[1]


async def test_failure_restores_the_file_byte_for_byte_and_says_why(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    before = files.read_bytes("src/ring.c")
    replies = [BROKEN, BROKEN.replace("size", "length"), "no idea"]
    async with ScriptedServer([("ring_push", replies)]) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=compile_in(files.root))
        assert not result.ok and "length" in result.reason and result.attempts == 3
        await ctx.log.durable()
        assert len(ctx.of(FunctionFailed)) == 1
    assert files.read_bytes("src/ring.c") == before


async def test_the_same_reply_again_is_not_compiled_again(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files, compiled = FolderFiles(tmp_path / "repo"), []

    async def compile(path: str, symbol: str = "", signature: str = "") -> Compiled:
        compiled.append(symbol)
        return await compile_in(files.root)(path, symbol)

    async with ScriptedServer(BROKEN) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=compile)
        assert not result.ok
        await ctx.log.durable()
        assert len([event for event in ctx.of(EditRejected) if "same" in event.reason]) == 2
    assert len(server.calls) == 3 and len(compiled) == 1
    temperatures = [call.body["temperature"] for call in server.calls]
    assert temperatures == sorted(temperatures) and len(set(temperatures)) == 3


async def test_a_cut_reply_is_asked_again_with_more_room(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    script = [("ring_push", [cut("```c\n" + GOOD[:60]), f"```c\n{GOOD}\n```"])]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        assert (await implement_function(ctx, wanted(files.root), files=files, compile=compile_in(files.root))).ok
    assert [call.body["max_tokens"] for call in server.calls] == [640, 1024]
    assert "cut off" in server.calls[1].prompt


async def test_a_stub_in_reply_is_no_success(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    reply = "```c\nint ring_push(ring_t *r, int value)\n{\n    // TODO: implement\n    return 0;\n}\n```"
    async with ScriptedServer(reply) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=compile_in(files.root))
    assert not result.ok and "stub" in result.reason


async def test_an_undefined_function_in_a_file_that_is_not_there(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    (tmp_path / "repo/src/ring.c").unlink()
    files = FolderFiles(tmp_path / "repo")
    found = find_open_functions({"src/ring.h": HEADER.encode()})[1]
    async with ScriptedServer(f"```c\n{GOOD}\n```") as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, found, files=files, compile=compile_in(files.root))
    assert result.ok
    assert files.read_bytes("src/ring.c").decode() == f'#include "ring.h"\n\n{GOOD}\n'


async def test_of_several_candidates_the_checks_choose(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    wrong = GOOD.replace("r->count == 8", "r->count == 7")
    better = GOOD.replace("r->count == 8", "r->count >= 8")
    replies = [f"```c\n{text}\n```" for text in (wrong, better, wrong.replace("== 7", "== 6"))]

    async def score(name: str) -> CheckScore:
        return CheckScore(1.0 if ">= 8" in files.read_bytes("src/ring.c").decode() else 0.5)

    async with ScriptedServer([("ring_push", replies)]) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, wanted(files.root), files=files, compile=compile_in(files.root), score=score, samples=3
        )
    assert result.ok and result.score == 1.0 and result.candidates == 2 and len(server.calls) == 2
    assert ">= 8" in files.read_bytes("src/ring.c").decode()


async def test_a_version_that_is_nearly_right_is_left_to_the_search_where_that_is_enough(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")

    async def score(name: str) -> CheckScore:
        return CheckScore(0.7)

    async with ScriptedServer(f"```c\n{GOOD}\n```") as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, wanted(files.root), files=files, compile=compile_in(files.root), score=score, samples=3, enough=0.6
        )
    assert result.ok and result.score == 0.7 and len(server.calls) == 1


async def test_the_best_of_imperfect_candidates_is_put_back(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    replies = [f"```c\n{GOOD.replace('== 8', f'== {limit}')}\n```" for limit in (7, 6)]

    async def score(name: str) -> CheckScore:
        return CheckScore(0.9 if "== 7" in files.read_bytes("src/ring.c").decode() else 0.2)

    async with ScriptedServer([("ring_push", replies)]) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, wanted(files.root), files=files, compile=compile_in(files.root), score=score, samples=2
        )
    assert result.ok and result.score == 0.9
    assert "== 7" in files.read_bytes("src/ring.c").decode()


async def test_a_failing_check_is_shown_without_the_version_that_failed(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    bad = GOOD.replace("== 8", "== 7")
    files.write_bytes("src/ring.c", SOURCE[: SOURCE.index("int ring_push")].encode() + bad.encode() + b"\n")
    again = OpenFunction(
        "ring_push", "src/ring.c", "src/ring.h", "int ring_push(ring_t *r, int value)", "/** Push. */", "stub", "c"
    )
    async with ScriptedServer(f"```c\n{GOOD}\n```") as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, again, files=files, compile=compile_in(files.root), failure="The test fails: push of the 8th value"
        )
    assert result.ok
    assert "An earlier version was wrong" in server.calls[0].prompt
    assert "== 7" not in server.calls[0].prompt, "what failed is not shown whole: a small model copies it"
    assert f"8th value\n{SAY_WHY}\n" in server.calls[0].prompt
    assert "== 8" in files.read_bytes("src/ring.c").decode()


async def test_an_error_that_was_there_before_is_not_blamed_on_the_function(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    files.write_bytes("src/ring.c", SOURCE.encode() + b"\nint later(void) { return missing; }\n")
    async with ScriptedServer(f"```c\n{GOOD}\n```") as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=compile_in(files.root))
    assert result.ok and result.attempts == 1


async def test_includes_put_in_for_a_candidate_that_fails_go_with_it(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")

    async def compile(path: str, symbol: str = "", signature: str = "") -> Compiled:
        files.write_bytes(path, b"#include <stdlib.h>\n" + files.read_bytes(path))
        ctx.emit(IncludeAdded(path, "stdlib.h", 1))
        outcome = await compile_in(files.root)(path, symbol)
        return Compiled(outcome.ok, outcome.diagnostics, ((path, "stdlib.h"),))

    async with ScriptedServer(BROKEN) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=compile, max_attempts=1)
        assert not result.ok and len(ctx.includes) == 0
    assert files.read_bytes("src/ring.c").decode() == SOURCE


@pytest.mark.parametrize("reply", ["", "```", "\0", "}" * 50, "```c\nint ring_push(\n```"])
async def test_garbage_ends_in_a_failure_with_a_reason(tmp_path: Path, reply: str) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    async with ScriptedServer(reply) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=compile_in(files.root))
    assert not result.ok and "ring_push" in result.reason
    assert files.read_bytes("src/ring.c").decode() == SOURCE


CALLS_NOBODY = """int ring_push(ring_t *r, int value)
{
    if (ring_is_full(r)) {
        return 0;
    }
    r->items[r->count++] = value;
    return 1;
}"""
ASKS_HELPER = "calls ring_is_full, which does not exist"
HELPER = "int ring_is_full(const ring_t *r)\n{\n    return r->count == 8;\n}"


async def test_a_helper_that_nobody_has_is_asked_for_by_itself(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    server = ScriptedServer([(ASKS_HELPER, f"```c\n{HELPER}\n```"), ("ring_push", f"```c\n{CALLS_NOBODY}\n```")])
    async with server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=compile_in(files.root))
    assert result.ok and result.attempts == 1 and len(result.calls) == len(server.calls) == 2
    assert CALLS_NOBODY in server.calls[1].prompt and "TODO" not in server.calls[1].prompt
    text = files.read_bytes("src/ring.c").decode()
    assert text == SOURCE[: SOURCE.index("int ring_push")] + f"static {HELPER}\n\n{CALLS_NOBODY}\n"


async def test_nobody_is_asked_for_what_other_libraries_have(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    reply = GOOD.replace("{\n    if", '{\n    char *name = strdup("ring");\n    free(name);\n    if', 1)

    async def strict(path: str, symbol: str = "", signature: str = "") -> Compiled:
        flags = ("-std=c99", "-Wall", "-Werror", "-include", "stdlib.h", "-include", "string.h")
        done = await compile_object(Compiler.find(), files.root / path, cwd=files.root, flags=flags)
        return Compiled(done.ok, done.diagnostics)

    async with ScriptedServer(f"```c\n{reply}\n```") as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, wanted(files.root), files=files, compile=strict)
    assert result.ok and len(server.calls) == 1, result.reason
    assert 'copy_text_part("ring", (size_t)-1)' in files.read_bytes("src/ring.c").decode()


@pytest.mark.parametrize("reply", ["no", "```c\nint other(void) { return 1; }\n```", "```c\nint ring_is_full(ring_t *r)\n{"])
async def test_a_helper_that_does_not_come_leaves_the_file_as_it_was(tmp_path: Path, reply: str) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    server = ScriptedServer([(ASKS_HELPER, reply), ("ring_push", f"```c\n{CALLS_NOBODY}\n```")])
    async with server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, wanted(files.root), files=files, compile=compile_in(files.root), max_attempts=2
        )
    assert not result.ok and "ring_is_full" in result.reason
    assert files.read_bytes("src/ring.c").decode() == SOURCE


async def test_the_next_candidate_sees_what_the_checks_say_of_the_one_before(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    replies = [f"```c\n{GOOD.replace('== 8', f'== {limit}')}\n```" for limit in (6, 7, 8)]

    async def score(name: str) -> CheckScore:
        limit = files.read_bytes("src/ring.c").decode().partition("== ")[2][0]
        return CheckScore(1.0) if limit == "8" else CheckScore(0.5, f"only {limit} values fit")

    async with ScriptedServer([("ring_push", replies)]) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, wanted(files.root), files=files, compile=compile_in(files.root), score=score, samples=4
        )
    assert result.ok and result.score == 1.0 and len(server.calls) == 3
    assert "values fit" not in server.calls[1].prompt, "every second version is drawn afresh"
    assert not any(f"== {limit}" in call.prompt for call in server.calls for limit in (6, 7))
    assert "only 7 values fit" in server.calls[2].prompt and "only 6" not in server.calls[2].prompt


FREED = """int ring_push(ring_t *r, int value)
{
    free(r);
    r->items[r->count++] = value;
    return 1;
}"""


@pytest.mark.parametrize("later", [f"```c\n{GOOD}\n```", "no idea"])
async def test_code_that_the_compiler_warns_has_a_bug_is_asked_again_and_taken_only_if_nothing_better_comes(
    tmp_path: Path, later: str
) -> None:
    if not await warns_of_use_after_free(tmp_path):
        pytest.skip("this compiler has no -Wuse-after-free")
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    files.write_bytes("src/ring.c", b"#include <stdlib.h>\n" + SOURCE.encode())
    kept: list[str] = []

    async def keep() -> None:
        kept.append(files.read_bytes("src/ring.c").decode())

    server = ScriptedServer([("ring_push", [f"```c\n{FREED}\n```", later])])
    async with server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, wanted(files.root), files=files, compile=compile_in(files.root), kept=keep, max_attempts=2
        )
        await ctx.log.durable()
        assert "used after" in ctx.of(EditRejected)[0].reason
    assert result.ok and len(server.calls) == 2
    assert "used after" in server.calls[1].prompt and FREED not in server.calls[1].prompt
    assert len(kept) == 1 and ("free(r)" in kept[0]) == (later == "no idea")
    assert files.read_bytes("src/ring.c").decode() == kept[0]


async def warns_of_use_after_free(folder: Path) -> bool:
    (folder / "probe.c").write_text("#include <stdlib.h>\nint f(int *p) { free(p); return *p; }\n")
    done = await compile_object(Compiler.find(), folder / "probe.c", cwd=folder)
    return any(one.option == "use-after-free" for one in done.diagnostics)


async def test_what_the_tests_say_is_shown_and_samples_differ_in_their_last_words(tmp_path: Path) -> None:
    project(tmp_path / "repo")
    files = FolderFiles(tmp_path / "repo")
    replies = ["no idea", "none", f"```c\n{GOOD}\n```"]
    async with ScriptedServer([("ring_push", replies)]) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(
            ctx, wanted(files.root), files=files, compile=compile_in(files.root), examples=["ring_push(r, 1) → 1"]
        )
    assert result.ok
    first, second, third = (call.prompt for call in server.calls)
    told, asked = "What the tests expect:\nring_push(r, 1) → 1", "Write the function ring_push"
    shared = first[: first.index(told) + len(told)]
    assert first.index(asked) < first.index(told) and second.startswith(shared) and third.startswith(shared)
    assert third.index(told) < third.index(STEPS_FIRST)


async def test_what_a_reply_defines_besides_costs_no_call_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "pair.h").write_text("int low(int a, int b);\nint high(int a, int b);\n")
    (tmp_path / "repo" / "pair.c").write_text('#include "pair.h"\n')
    files = FolderFiles(tmp_path / "repo")
    sources = {name: files.read_bytes(name) for name in ("pair.h", "pair.c")}
    both = "int low(int a, int b)\n{\n    return a < b ? a : b;\n}\n\n"
    both += "int high(int a, int b)\n{\n    return a < b ? b : a;\n}"
    waiting = Waiting(lambda name: name == "high")
    async with ScriptedServer(f"```c\n{both}\n```") as server, run_context(tmp_path, server) as ctx:
        for one in find_open_functions(sources):
            done = await implement_function(ctx, one, files=files, compile=compile_in(files.root), waiting=waiting)
            assert done.ok, done.reason
    assert len(server.calls) == 1
    assert files.read_bytes("pair.c").decode().count("return a < b") == 2


async def test_what_frees_and_never_compiles_frees_its_argument(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "rows.h").write_text("#ifndef ROWS_H\n#define ROWS_H\nvoid free_rows(char **rows);\n#endif\n")
    (root / "rows.c").write_text('#include "rows.h"\n#include <stdlib.h>\n')
    files = FolderFiles(root)
    [open_one] = find_open_functions({path: files.read_bytes(path) for path in ("rows.h", "rows.c")})
    replies = [f"```c\nvoid free_rows(char **rows)\n{{\n    rows[{name}] = 0;\n}}\n```" for name in ("height", "count", "n")]
    async with ScriptedServer([("free_rows", replies)]) as server, run_context(tmp_path, server) as ctx:
        result = await implement_function(ctx, open_one, files=files, compile=compile_in(root))
    assert result.ok and "    free(rows);" in files.read_bytes("rows.c").decode(), result.reason
