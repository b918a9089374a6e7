"""The compiler as a child: found, probed, asked, and ended when it hangs."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from agent.c.headers import header_table
from agent.compiling.build import Build
from agent.compiling.build_facts import BuildFacts
from agent.compiling.child import run_child
from agent.compiling.compiler import Compiler, CompilerMissing, compile_object, link
from agent.compiling.curing.signatures import head_for, parameter_name
from agent.compiling.flags import BuildFlags, safe_flags
from agent.compiling.system_headers import SystemHeaders
from tests.compiling.helpers import COMPILERS


@pytest.mark.parametrize("name", COMPILERS)
async def test_an_object_a_link_and_nothing_in_the_tree(name: str, tmp_path: Path) -> None:
    compiler = Compiler.find(name)
    source = tmp_path / "tree" / "a.c"
    source.parent.mkdir()
    source.write_text("int main(void) { return 0; }\n")
    outcome = await compile_object(compiler, source, cwd=source.parent, output=tmp_path / "a.o")
    assert outcome.ok and outcome.output == tmp_path / "a.o" and not outcome.diagnostics
    assert (await link(compiler, [tmp_path / "a.o"], cwd=source.parent)).ok
    assert [p.name for p in source.parent.iterdir()] == ["a.c"]


@pytest.mark.parametrize("name", COMPILERS)
async def test_what_older_compilers_only_warn_about_is_an_error(name: str, tmp_path: Path) -> None:
    compiler = Compiler.find(name)
    for line in ("strlen(0);", "char *p = 5; (void)p;", "int *p = (long *)0; (void)p;"):
        (tmp_path / "a.c").write_text(f"int f(void) {{ {line} return 0; }}\n")
        outcome = await compile_object(compiler, Path("a.c"), cwd=tmp_path, flags=["-w"])
        assert not outcome.ok, line
        outcome = await compile_object(compiler, Path("a.c"), cwd=tmp_path)
        assert not outcome.ok and outcome.diagnostics[0].severity == "error", line
        assert outcome.diagnostics[0].source_line.strip() and "a.c:1" in outcome.stderr


async def test_the_users_locale_and_colours_do_not_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("GCC_COLORS", "error=01;31")
    (tmp_path / "a.c").write_text("int f(void) { return x; }\n")
    outcome = await compile_object(Compiler.find(), Path("a.c"), cwd=tmp_path)
    assert "undeclared" in outcome.diagnostics[0].message and "\x1b" not in outcome.stderr


def test_no_compiler_says_what_to_do() -> None:
    with pytest.raises(CompilerMissing, match="Install gcc or clang"):
        Compiler.find("no-such-compiler")


async def test_a_hanging_child_is_ended_with_its_group(tmp_path: Path) -> None:
    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\nsleep 30 &\necho $! > child\nsleep 30\n")
    script.chmod(0o755)
    for seconds in (0.5, 3, 20):  # on a busy machine the shell may not have come to its second line after the first
        done = await run_child([str(script)], cwd=tmp_path, timeout=seconds)
        assert done.timed_out
        if (tmp_path / "child").is_file() and (tmp_path / "child").read_text():
            break
    child = int((tmp_path / "child").read_text())
    for _ in range(50):
        try:
            os.kill(child, 0)
            if Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
                break
        except (ProcessLookupError, FileNotFoundError):
            break
        await asyncio.sleep(0.05)
    else:
        pytest.fail("the grandchild still runs")


def test_flags_come_from_the_compilation_database_moved_to_the_worktree(tmp_path: Path) -> None:
    origin, root = tmp_path / "origin", tmp_path / "work"
    for folder in (origin / "build", root / "include"):
        folder.mkdir(parents=True)
    entry = {
        "directory": str(origin / "build"), "file": "../src/a.c",
        "command": f"cc -I../include -I{origin}/gen -std=c11 -DX=1 -fplugin=evil.so -MMD -MF a.d -o a.o -c ../src/a.c",
    }  # fmt: skip
    (origin / "build" / "compile_commands.json").write_text(json.dumps([entry, {"broken": 1}]))
    flags = BuildFlags(root, ["-Wextra"], origin).for_file("src/a.c")
    assert f"-I{root}/include" in flags and f"-I{root}/gen" in flags and "-std=c11" in flags and "-DX=1" in flags
    assert flags[-1] == "-Wextra" and not {"-o", "-c", "-MMD", "-MF", "a.d", "a.o"} & set(flags)
    assert not any("plugin" in f or f.endswith(".c") for f in flags)


def test_flags_that_run_or_write_things_are_dropped() -> None:
    assert safe_flags(
        ["-O2", "-wrapper", "sh,-c,x", "@file", "-B", "/x", "-fplugin=x", "-save-temps", "-MF", "x", "-Wall"]
    ) == ["-O2", "-Wall"]


def test_facts_of_a_command_line() -> None:
    facts = BuildFacts.of(["-std=c99", "-D_GNU_SOURCE", "-D", "_XOPEN_SOURCE=700"], "gcc-12")
    assert facts.strict and facts.defined == {"_GNU_SOURCE", "_XOPEN_SOURCE"} and not facts.c23
    assert BuildFacts.of([], "gcc-15").c23 and not BuildFacts.of(["-std=gnu17"], "gcc-15").c23
    assert BuildFacts.of([], "x86_64-w64-mingw32-gcc").windows


def test_canonical_homes_and_what_is_never_proposed() -> None:
    table = header_table()
    first = {
        name: table.homes(name)[0].header
        for name in ("printf", "size_t", "read", "struct stat", "pthread_t", "htons", "strcasecmp")
    }
    assert first == {
        "printf": "stdio.h", "size_t": "stddef.h", "read": "unistd.h", "struct stat": "sys/stat.h",
        "pthread_t": "pthread.h", "htons": "arpa/inet.h", "strcasecmp": "strings.h",
    }  # fmt: skip
    assert all(table.never(h) for h in ("malloc.h", "bits/types.h", "linux/limits.h", "sys/param.h", "tgmath.h"))
    assert not any(table.never(h) for h in table.headers if table.names_of[h])
    assert table.proper("sys/errno.h") == "errno.h" and table.homes("_SC_PAGESIZE")[0].header == "unistd.h"
    assert (
        table.library_flag("cbrt") == "-lm" and table.library_flag("shm_open") == "-lrt" and not table.library_flag("read")
    )


def test_hidden_names() -> None:
    table = header_table()
    strdup, asprintf, strptime = (table.homes(n)[0] for n in ("strdup", "asprintf", "strptime"))
    assert strdup.hidden(strict=True) and not strdup.hidden(strict=False)
    assert asprintf.hidden(strict=False) and not asprintf.hidden(strict=True, defined=["_GNU_SOURCE"])
    assert strptime.hidden(strict=False) and strptime.feature_macro == "_XOPEN_SOURCE=700"


def test_the_system_index_is_asked_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    system = SystemHeaders(Compiler.find(), cache_path=path)
    assert system.exists("stdio.h") and not system.exists("no/such.h") and system.macros["__STDC__"] == "1"
    assert system.homes("getline")[0].header == "stdio.h"
    again = SystemHeaders(Compiler.find(), cache_path=path)
    started = time.process_time()
    assert again.homes("struct timeval") and time.process_time() - started < 2
    path.write_text("{broken")
    assert SystemHeaders(Compiler.find(), cache_path=path).exists("stdio.h")


@pytest.mark.parametrize(
    ("parameter", "name"),
    [
        ("int n", "n"), ("const char *s", "s"), ("char", ""), ("unsigned long", ""), ("uint8_t", ""), ("uint8_t x", "x"),
        ("struct foo *", ""), ("struct foo bar", "bar"), ("int (*cmp)(const void *, const void *)", "cmp"),
        ("int (*)(int)", ""),
        ("int a[10]", "a"), ("void", ""), ("...", ""), ("const list_t *const head", "head"), ("size_t len", "len"),
    ],
)  # fmt: skip
def test_parameter_names(parameter: str, name: str) -> None:
    assert parameter_name(parameter) == name


def test_heads_from_prototypes() -> None:
    assert head_for("int f(const char *, int n)", "void f(char *s, int k)", "f") == "int f(const char *s, int k)"
    assert head_for("int f(int a, int b)", "int f(int x)", "f") == "int f(int a, int b)"
    assert head_for("extern int f(void)", "int f()", "f") == "int f(void)"
    assert head_for("int f(int (*cb)(int), ...)", "int f(void *p, ...)", "f") == "int f(int (*p)(int), ...)"


async def test_a_build_sees_files_that_come_later(tmp_path: Path) -> None:
    build = Build(tmp_path)
    try:
        (tmp_path / "late.c").write_text("int late(void) { return 1; }\n")
        assert (await build.compile("late.c")).ok
        build.refresh()
        assert build.project.paths() == ["late.c"]
    finally:
        build.close()


async def test_files_of_alike_paths_have_objects_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.c").write_text("int one(void);\nint main(void) { return one() - 1; }\n")
    (tmp_path / "a__b.c").write_text("int one(void);\nint one(void) { return 1; }\n")
    build = Build(tmp_path)
    for path in ("a/b.c", "a__b.c"):
        assert (await build.compile(path)).ok
    assert (await build.link(["a/b.c", "a__b.c"])).ok
    build.close()


def test_a_dry_run_that_only_checks_syntax_still_gives_the_flags_of_an_object(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\tgcc -fsyntax-only -DX=1 -isystem../inc -c a.c\n")
    assert BuildFlags(tmp_path, ["-fsyntax-only"]).for_file("a.c") == ["-DX=1", f"-isystem{tmp_path.parent}/inc"]


def test_a_response_file_of_the_project_is_read_and_no_other(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("-DSECRET=1\n")
    (project / "flags.rsp").write_text("-Iinc '-DNAME=\"a b\"' -wrapper sh,-c,x\n")
    (project / "Makefile").write_text("all:\n\tgcc @flags.rsp @../secret -c a.c\n")
    assert BuildFlags(project).for_file("a.c") == [f"-I{project}/inc", '-DNAME="a b"']


def test_the_flags_are_those_of_the_nearest_file(tmp_path: Path) -> None:
    commands = [
        {"directory": str(tmp_path), "file": file, "command": f"gcc -D{name} -c {file}"}
        for file, name in (("tools/a.c", "TOOLS"), ("src/b.c", "SRC"), ("src/lib/c.c", "LIB"))
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(commands))
    flags = BuildFlags(tmp_path)
    wanted = {"src/new.c": "-DSRC", "src/lib/new.c": "-DLIB", "src/lib/deep/new.c": "-DLIB", "tools/new.c": "-DTOOLS"}
    assert {path: flags.for_file(path)[0] for path in wanted} == wanted


async def test_headers_that_only_the_own_checkout_holds_are_found_there(tmp_path: Path) -> None:
    origin, root = tmp_path / "origin", tmp_path / "work"
    for folder in (origin / "build", origin / "include", root / "include"):
        folder.mkdir(parents=True)
    (origin / "build" / "config.h").write_text("#define _GNU_SOURCE\n#define SIZE 4\n")
    (root / "a.c").write_text('#include "config.h"\nint size = SIZE;\n')
    entry = {"directory": str(origin / "build"), "file": "../a.c", "command": "cc -I. -I../include -c ../a.c"}
    (origin / "build" / "compile_commands.json").write_text(json.dumps([entry]))
    build = Build(root, origin=origin)
    try:
        assert build.flags.for_file("a.c") == [f"-I{origin}/build", f"-I{root}/include"]
        assert (await build.compile("a.c")).ok
        assert build.facts("a.c").defined == {"_GNU_SOURCE"}
    finally:
        build.close()
