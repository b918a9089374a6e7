"""A failed compile, cured where facts allow, on the real compiler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.compiling.build import Build
from agent.compiling.classifying.questions import RunQuestions
from agent.compiling.curing.recovery import Recovered, Recovery
from agent.events import CompileFinished, ErrorClassified, Event, IncludeAdded, Notice, RecoveryDone
from tests.compiling.helpers import COMPILERS
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        (root / name.replace("_h", ".h").replace("_c", ".c")).write_text(text)


def only(events: list[Event], kind: type) -> list[Any]:
    return [e for e in events if isinstance(e, kind)]


async def recovered(root: Path, path: str = "a.c", **options: Any) -> tuple[Recovered, list[Event]]:
    events: list[Event] = []
    build = Build(root, emit=events.append)
    try:
        return await Recovery(build, **options).compile(path, "f"), events
    finally:
        build.close()


async def test_includes_are_fixed_without_the_toggle_and_consume_no_attempt(tmp_path: Path) -> None:
    write(tmp_path, a_c="int f(char *s)\n{\n    return (int)strlen(s) + INT_MAX;\n}\n")
    result, events = await recovered(tmp_path)
    assert (result.ok, result.action, result.attempt_consumed) == (True, "include", False)
    assert result.includes == (("a.c", "string.h"), ("a.c", "limits.h"))
    assert (tmp_path / "a.c").read_text().startswith("#include <string.h>\n#include <limits.h>\nint f")
    added = only(events, IncludeAdded)
    assert [(e.header, e.kept, e.line) for e in added] == [("string.h", True, 1), ("limits.h", True, 2)]
    [classified] = only(events, ErrorClassified)
    assert classified.category == "missing_include" and classified.headers == ("string.h", "limits.h")
    [done] = only(events, RecoveryDone)
    assert done.ok and not done.attempt_consumed
    assert [e.ok for e in only(events, CompileFinished)] == [False, True]


async def test_a_header_is_kept_where_it_brings_to_light_a_warning_that_is_an_error(tmp_path: Path) -> None:
    loop = "    int n = 0;\n    for (int i = 0; i < strlen(s); i++)\n        n += s[i];\n    return n;\n"
    write(tmp_path, a_c=f"int f(const char *s);\nint f(const char *s)\n{{\n{loop}}}\n")
    (tmp_path / "Makefile").write_text("CFLAGS = -Wall -Wextra -Werror\na.o: a.c\n\t$(CC) $(CFLAGS) -c a.c\n")
    result, _ = await recovered(tmp_path)
    assert result.includes == (("a.c", "string.h"),) and not result.ok
    assert {one.option.removeprefix("error=") for one in result.diagnostics} == {"sign-compare"}


async def test_two_headers_and_a_logic_error_in_one_function(tmp_path: Path) -> None:
    write(tmp_path, a_c="int f(char *s)\n{\n    puts(s);\n    return strlen(s) + contents;\n}\n")
    result, events = await recovered(tmp_path, decomposed=True)
    assert not result.ok and result.action == "retry" and result.attempt_consumed
    assert {h for _, h in result.includes} == {"stdio.h", "string.h"}
    assert "'contents' undeclared" in result.context and "strlen" in result.context  # the line it points at
    assert "implicit declaration" not in result.context
    assert [e.category for e in only(events, ErrorClassified)] == ["missing_include", "logic_error"]
    assert [(e.category, e.attempt_consumed) for e in only(events, RecoveryDone)] == [
        ("missing_include", False), ("logic_error", True),
    ]  # fmt: skip


async def test_an_include_that_does_not_help_is_taken_out_again(tmp_path: Path) -> None:
    source = "struct box;\nint f(struct box *b)\n{\n    return rename(b, 1, 2);\n}\n"
    write(tmp_path, a_c=source)
    result, events = await recovered(tmp_path, decomposed=True)
    assert not result.ok and result.includes == () and (tmp_path / "a.c").read_text() == source
    assert [(e.header, e.kept) for e in only(events, IncludeAdded)] == [("stdio.h", False)]
    assert only(events, ErrorClassified)[-1].category != "missing_include"


async def test_the_fix_goes_into_the_header_that_needs_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_h="#ifndef A_H\n#define A_H\nint f(size_t n);\n#endif\n",
        a_c='#include "a.h"\nint f(size_t n)\n{\n    return (int)n;\n}\n',
    )
    result, _ = await recovered(tmp_path)
    assert result.ok and result.includes == (("a.h", "stddef.h"),)
    assert (tmp_path / "a.h").read_text() == "#ifndef A_H\n#define A_H\n#include <stddef.h>\nint f(size_t n);\n#endif\n"


async def test_a_head_is_rewritten_from_the_header_and_keeps_the_bodys_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_h="int f(const char *text, int);\n",
        a_c='#include "a.h"\n\nint f(char *s, long n)\n{\n    return s[0] + (int)n;\n}\n',
    )
    result, events = await recovered(tmp_path, decomposed=True)
    assert (result.ok, result.action, result.attempt_consumed) == (True, "signature", False)
    assert "int f(const char *s, int n)\n{" in (tmp_path / "a.c").read_text()
    assert "int f(const char *s, int n)" in only(events, RecoveryDone)[-1].action


async def test_a_prototype_is_rewritten_when_the_definition_is_right(tmp_path: Path) -> None:
    write(tmp_path, a_h="void f(int n);\n", a_c='#include "a.h"\nint f(int n)\n{\n    return n;\n}\n')
    result, _ = await recovered(tmp_path, decomposed=True, signature_source="definition")
    assert result.ok and (tmp_path / "a.h").read_text() == "int f(int n);\n"


async def test_a_head_that_does_not_fit_its_body_is_put_back_and_both_are_shown(tmp_path: Path) -> None:
    source = '#include "a.h"\nint f(int *p)\n{\n    return *p;\n}\n'
    write(tmp_path, a_h="int f(int p);\n", a_c=source)
    result, events = await recovered(tmp_path, decomposed=True)
    assert not result.ok and result.attempt_consumed and (tmp_path / "a.c").read_text() == source
    assert "Declared (a.h:1): int f(int p)" in result.context and "Defined (a.c:2): int f(int *p)" in result.context
    assert only(events, ErrorClassified)[-1].category == "signature_mismatch"


async def test_a_missing_struct_is_to_be_defined_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_h="struct tree;\nint f(struct tree *t);\n",
        a_c='#include "a.h"\nint f(struct tree *t)\n{\n    return t->n;\n}\n',
    )
    result, _ = await recovered(tmp_path, decomposed=True)
    assert (result.action, result.needs, result.attempt_consumed) == ("implement_first", "struct tree", False)


async def test_with_the_toggle_off_the_retry_is_the_plain_one(tmp_path: Path) -> None:
    write(tmp_path, a_h="int f(int p);\n", a_c='#include "a.h"\nlong f(int p)\n{\n    return p;\n}\n')
    async with ScriptedServer("yes") as server, run_context(tmp_path, server) as ctx:
        result, events = await recovered(tmp_path, llm=RunQuestions(ctx), decomposed=False)
        assert not server.calls
    assert result.action == "retry" and "conflicting types" in result.context
    assert not only(events, ErrorClassified)


async def test_linking_adds_a_library_and_names_what_is_missing(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_c="#include <math.h>\nint helper(double);\nint f(double x)\n{\n    return helper(pow(x, x));\n}\n",
        m_c="int f(double);\nint main(int c, char **v)\n{\n    (void)v;\n    return f(c);\n}\n",
    )
    events: list[Event] = []
    build = Build(tmp_path, emit=events.append)
    try:
        recovery = Recovery(build)
        assert (await recovery.compile("a.c")).ok and (await recovery.compile("m.c")).ok
        result = await recovery.link(["a.c", "m.c"])
        assert not result.ok and result.missing == ("helper",) and result.libraries == ("-lm",)
        (tmp_path / "a.c").write_text(
            (tmp_path / "a.c").read_text().replace("int helper(double);", "int helper(double d) { return (int)d; }")
        )
        assert (await recovery.compile("a.c")).ok
        result = await recovery.link(["a.c", "m.c"])
        assert result.ok and result.libraries == ("-lm",)
        assert any("-lm" in e.text for e in only(events, Notice))
        assert sorted(p.name for p in tmp_path.iterdir()) == ["a.c", "m.c"]
    finally:
        build.close()


@pytest.mark.parametrize("name", COMPILERS)
async def test_both_compilers(name: str, tmp_path: Path) -> None:
    from agent.compiling.compiler import Compiler

    write(tmp_path, a_c="int f(void)\n{\n    time_t t = time(NULL);\n    return t > 0 && isalpha('x');\n}\n")
    build = Build(tmp_path, compiler=Compiler.find(name))
    try:
        result = await Recovery(build).compile("a.c", "f")
    finally:
        build.close()
    assert result.ok and {h for _, h in result.includes} == {"time.h", "ctype.h"}


UNKNOWN = "int f(int n)\n{\n    return frobnicate_all(n);\n}\n"


@pytest.mark.parametrize(
    ("answers", "calls", "category"),
    [
        (
            [("missing include the cause?", "no"), ("call disagree?", "no"), ("something defined nowhere?", "no")],
            3,
            "logic_error",
        ),
        ([("missing include the cause?", "no"), ("call disagree?", "yes")], 2, "signature_mismatch"),
        (
            [("missing include the cause?", "no"), ("call disagree?", "no"), ("something defined nowhere?", "yes")],
            3,
            "missing_definition",
        ),
        ([("Missing header:", "nothing"), ("missing include the cause?", "yes")], 2, "logic_error"),
        ([("Missing header:", "no_such_thing.h"), ("missing include the cause?", "yes")], 2, "logic_error"),
        (
            [
                ("missing include the cause?", "perhaps"),
                ("call disagree?", "perhaps"),
                ("something defined nowhere?", "who knows"),
            ],
            3,
            "logic_error",
        ),
    ],
)
async def test_the_questions_short_circuit_at_the_first_yes(
    answers: list[tuple[str, str]], calls: int, category: str, tmp_path: Path
) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    write(root, a_c=UNKNOWN)
    async with ScriptedServer(answers) as server, run_context(tmp_path, server) as ctx:
        result, events = await recovered(root, llm=RunQuestions(ctx), decomposed=True)
        assert len(server.calls) == calls
        binary = [c for c in server.calls if "Missing header" not in c.prompt]
        assert all(c.body["max_tokens"] == 16 for c in binary)
        assert all("frobnicate_all" in c.prompt and c.prompt.startswith("Function: f\nFile: a.c") for c in binary)
    [classified] = only(events, ErrorClassified)
    assert classified.category == category and classified.how == "model"
    assert [r.call_id is not None for r in classified.path if r.how == "model"] == [True] * calls
    assert not result.ok and (root / "a.c").read_text() == UNKNOWN


async def test_a_header_that_the_model_names_is_proven_too(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    write(root, a_c=UNKNOWN, frob_h="#define DEFINE(n) int n(int)\nDEFINE(frobnicate_all);\n", other_h="int other;\n")
    for named, kept in (("other.h", False), ("`frob.h`", True)):
        write(root, a_c=UNKNOWN)
        script = [("Missing header:", named), ("missing include the cause?", "yes")]
        folder = tmp_path / f"log-{kept}"
        folder.mkdir()
        async with ScriptedServer(script) as server, run_context(folder, server) as ctx:
            result, events = await recovered(root, llm=RunQuestions(ctx), decomposed=True)
        assert result.ok is kept
        assert [(e.kept, e.how) for e in only(events, IncludeAdded)] == [(kept, "model")]
        assert ((root / "a.c").read_text() == UNKNOWN) is not kept
