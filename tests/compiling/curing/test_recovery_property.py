"""Any assembled project: a recovery that says ok leaves its own build working and the layout of its structs as it was."""

import asyncio
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.compiling.build import Build
from agent.compiling.curing.recovery import Recovery

FLAGS = "-std=gnu17 -Werror=implicit-function-declaration"
RING = "#ifndef RING_H\n#define RING_H\nint ring_len(const int *r);\n#endif\n"
WIRE = "#ifndef WIRE_H\n#define WIRE_H\nstruct wire { char kind; int length; double at; };\n#endif\n"
REGIONS = {
    "plain": '#include "wire.h"\n',
    "pack": '#pragma pack(push, 1)\n#include "wire.h"\n#pragma pack(pop)\n',
    "pack-set": '#pragma pack(1)\n#include "wire.h"\n#pragma pack()\n',
    "pack-headers": '#include "open.h"\n#include "wire.h"\n#include "close.h"\n',
    "visibility": '#pragma GCC visibility push(hidden)\n#include "wire.h"\n#pragma GCC visibility pop\n',
    "diagnostic": '#pragma GCC diagnostic push\n#include "wire.h"\n#pragma GCC diagnostic pop\n',
    "extern-c": '#ifdef __cplusplus\nextern "C" {\n#endif\n#include "wire.h"\n#ifdef __cplusplus\n}\n#endif\n',
    "if": '#if defined(__GNUC__)\n#include "wire.h"\n#endif\n',
    "x-macro": '#define X(n) enum { n };\n#include "names.def"\n#undef X\n#include "wire.h"\n',
}
HEADS = {
    "none": "",
    "licence": "/* Copyright X */\n\n/* What it is for. */\n\n",
    "feature": "#define _GNU_SOURCE\n",
    "config": '#ifdef HAVE_CONFIG_H\n#include "config.h"\n#endif\n\n',
    "system": "#include <stdio.h>\n",
    "crlf": "// one\r\n#include <stdio.h>\r\n",
}
USES = {
    "function": "int use(const char *s) { return (int)strlen(s) + (int)sizeof(struct wire); }\n",
    "struct": "int use(struct stat *s) { return (int)sizeof *s + (int)sizeof(struct wire); }\n",
    "own": "int use(const int *s) { return ring_len(s) + (int)sizeof(struct wire); }\n",
    "both": "int use(const int *s) { return ring_len(s) + (int)getpid() + (int)sizeof(struct wire); }\n",
}
LAYOUTS = {"flat": ("", ""), "include": ("include/", "src/"), "nested": ("lib/api/", "lib/core/")}
BUILDS = ("make", "make-cd", "make-sub", "database", "cmake")


def assemble(root: Path, layout: str, build: str, head: str, region: str, use: str) -> str:
    """Write a project; the path of its main file."""
    headers, sources = LAYOUTS[layout]
    main = f"{sources}main.c"
    files = {
        f"{headers}ring.h": RING, f"{headers}wire.h": WIRE, f"{headers}open.h": "#pragma pack(push, 1)\n",
        f"{headers}close.h": "#pragma pack(pop)\n", f"{headers}names.def": "X(red)\nX(green)\n",
        f"{headers}config.h": "#define _GNU_SOURCE 1\n#define _FILE_OFFSET_BITS 64\n",
        main: HEADS[head] + REGIONS[region] + "\n" + USES[use],
    }  # fmt: skip
    flags = f"{FLAGS} -DHAVE_CONFIG_H -I{headers or '.'}"
    inside = f"{FLAGS} -DHAVE_CONFIG_H -I{'../' * sources.count('/')}{headers or '.'}"
    if build == "make":
        files["Makefile"] = f"all:\n\tcc {flags} -c {main} -o main.o\n"
    elif build == "make-cd":
        files["Makefile"] = f"all:\n\tcd ./{sources} && cc {inside} -c main.c -o main.o\n"
    elif build == "make-sub":
        files["Makefile"] = f"all:\n\t$(MAKE) -C ./{sources or '.'} -f part.mk\n"
        files[f"{sources}part.mk"] = f"CFLAGS = {inside}\nall: main.o\n"
    elif build == "database":
        files["build/compile_commands.json"] = (
            f'[{{"directory": "{root}", "file": "{main}", "command": "cc {flags} -c {main} -o main.o"}}]'
        )
    else:
        files["CMakeLists.txt"] = (
            f"cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_library(p OBJECT {main})\n"
            f"target_compile_options(p PRIVATE {FLAGS} -DHAVE_CONFIG_H)\ntarget_include_directories(p PRIVATE ./{headers})\n"
        )
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return main


def built(root: Path, build: str, main: str) -> bool:
    """Whether the project's own build command succeeds."""
    if build == "cmake":
        command = "cmake -S . -B b && cmake --build b"
    elif build == "database":
        text = (root / "build/compile_commands.json").read_text()
        command = re.search(r'"command": "([^"]*)"', text)[1]  # type: ignore[index]
    else:
        command = "make -B"
    done = subprocess.run(["sh", "-c", command], cwd=root, capture_output=True, check=False)
    return done.returncode == 0


PROBE = "\nchar probe_size[sizeof(struct wire)]; char probe_at[__builtin_offsetof(struct wire, at) + 1];\n"
SYSTEM = "#include <sys/stat.h>\n#include <string.h>\n#include <unistd.h>\n"
STAT = "char probe_stat[sizeof(struct stat)]; char probe_mtime[__builtin_offsetof(struct stat, st_mtime) + 1];\n"


def layout_of(root: Path, main: str, headers: str, text: str, tail: str) -> dict[str, int]:
    """Sizes and offsets of the structs that a version of the main file sees."""
    probe = root / main.replace("main.c", "probe.c")
    probe.write_text(text + tail)
    flags = [*FLAGS.split(), "-DHAVE_CONFIG_H", f"-I{headers or '.'}", "-w", "-S", "-o", "-"]
    command = ["cc", *flags, str(probe.relative_to(root))]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    probe.unlink()
    assert done.returncode == 0, done.stderr
    return {m[1]: int(m[2]) for m in re.finditer(r"\.comm\s+(probe_\w+),(\d+)", done.stdout)} or {
        m[1]: int(m[2]) for m in re.finditer(r"\.size\s+(probe_\w+), (\d+)", done.stdout)
    }


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    st.sampled_from(sorted(LAYOUTS)), st.sampled_from(BUILDS), st.sampled_from(sorted(HEADS)),
    st.sampled_from(sorted(REGIONS)), st.sampled_from(sorted(USES)),
)  # fmt: skip
def test_a_recovery_that_says_ok_is_one_for_the_project_too(
    tmp_path_factory: pytest.TempPathFactory, layout: str, build: str, head: str, region: str, use: str
) -> None:
    if build == "cmake" and shutil.which("cmake") is None:
        build = "make"
    root = tmp_path_factory.mktemp("project")
    main = assemble(root, layout, build, head, region, use)
    headers = LAYOUTS[layout][0]
    without_use = (root / main).read_text().replace(USES[use], "")
    before = layout_of(root, main, headers, without_use, PROBE)
    others = {p: p.read_bytes() for p in root.rglob("*") if p.is_file() and p != root / main}

    async def recover() -> bool:
        compiling = Build(root)
        try:
            return (await Recovery(compiling).compile(main, "use")).ok
        finally:
            compiling.close()

    ok = asyncio.run(recover())
    after = (root / main).read_bytes()
    assert {p: p.read_bytes() for p in others} == others
    assert ok, f"every one of these can be cured: {after.decode()}"
    assert built(root, build, main), after.decode()
    text = after.decode()
    assert layout_of(root, main, headers, text.replace(USES[use], ""), PROBE) == before
    configured = layout_of(root, main, headers, HEADS["config"] + SYSTEM, STAT) if head == "config" else {}
    if head == "config" and use == "struct":
        assert layout_of(root, main, headers, text, STAT) == configured
