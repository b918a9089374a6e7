"""Programs that the product starts while it stands in a repository that nobody trusts, and flags that start others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent.compiling.compiler import Compiler, compile_object
from agent.compiling.flags import BuildFlags, safe_flags
from agent.config.authority import refusal
from agent.index.workers import extracted
from agent.models.embedded_process import _spawn
from agent.models.embedded_share import Place, ServerOptions
from agent.models.package_parts import _pip_download
from agent.own_python import own_python
from tests.workspace.support import make_repo

SHADOWS = ("agent/__init__.py", "pip.py", "json.py", "re.py", "asyncio.py", "sitecustomize.py", "tui.py", "msgspec.py")
"""Modules of ours, of the library and of Python that a repository may ship."""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository whose Python files leave a mark when one is imported."""
    text = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n", **dict.fromkeys(SHADOWS, text)})
    monkeypatch.chdir(repo)
    return repo


def test_no_module_of_the_repository_is_imported(tmp_path: Path, hostile: Path) -> None:
    folder = tmp_path / "servers"
    folder.mkdir()
    with open(tmp_path / "log", "wb") as log:
        child = _spawn(Place(folder, "key"), tmp_path / "no.gguf", 512, ServerOptions(), log)
    assert child.stdin is not None
    child.communicate(b"\n", timeout=60)
    with extracted(hostile, [("a.c", "")], 10_000, workers=1) as read:
        assert [one.symbols is not None for one in read if one] == [True]
    assert not (tmp_path / "ran").exists(), (tmp_path / "log").read_text()


@pytest.mark.parametrize("entry", ["", ".", "bin", "./"])
def test_no_program_of_the_repository_is_found(tmp_path: Path, entry: str) -> None:
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n"})
    (repo / "bin").mkdir()
    for name in ("git", "bwrap", "unshare", "gcc", "ctags", "make", "prlimit", "python3"):
        for place in (repo / name, repo / "bin" / name):
            place.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
            place.chmod(0o755)
    env = os.environ | {"PATH": f"{entry}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(own_python("-m", "tui", "index"), cwd=repo, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
    subprocess.run("git", cwd=repo, env=env, shell=True, check=False)
    assert (tmp_path / "ran").exists(), "the attack is one"


async def test_pip_is_the_interpreters_own(tmp_path: Path, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    code, said = await _pip_download("no-such-package==1", tmp_path)
    assert code and "No matching distribution" in said
    assert not (tmp_path / "ran").exists()


RUNNING = (
    ["--prefix=./"], ["--prefix", "./"], ["-B./"], ["-fplugin=./x.so"], ["-fpass-plugin=./x.so"], ["-mllvm", "-load=./x.so"],
    ["-Xclang", "-load", "-Xclang", "./x.so"], ["-specs=x"], ["--specs=x"], ["--config=x"], ["--config", "x"], ["@x"],
    ["-wrapper", "./cc1"], ["-Xassembler", "--x"], ["-Wa,-x"], ["-Wp,-x"], ["-Wl,--plugin=./x.so"], ["-fuse-ld=./cc1"],
    ["--ld-path=./cc1"], ["-x", "cuda"], ["--cuda-path=."], ["-gcc-toolchain", "."], ["-fno-integrated-as"],
)  # fmt: skip
WRITING = (
    ["-fprofile-note=./note", "-ftest-coverage"], ["-fopt-info-all=note"], ["-fproc-stat-report=note"],
    ["-MMD", "-MF", "note"], ["-fsave-optimization-record"], ["-foptimization-record-file=note"], ["-fdump-tree-all"],
    ["-save-temps"], ["-gsplit-dwarf"], ["-fcrash-diagnostics-dir=note"], ["-fstack-usage"], ["-aux-info", "note"],
    ["-Wl,-Map=note"], ["-ftime-trace=note"], ["-fdiagnostics-format=sarif-file"],
)  # fmt: skip


@pytest.mark.parametrize("flags", [*RUNNING, *WRITING], ids=" ".join)
def test_flags_that_run_or_write_are_dropped_with_their_values(flags: list[str]) -> None:
    kept = safe_flags(["-O2", *flags, "-Wall"])
    assert kept[0] == "-O2" and kept[-1] == "-Wall" and not [one for one in kept[1:-1] if one.startswith(("-", "@"))]
    assert refusal("compile", "extra_flags", flags)


async def test_a_database_cannot_name_another_compiler_proper(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;\n")
    (tmp_path / "cc1").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    (tmp_path / "cc1").chmod(0o755)
    (tmp_path / "compile_commands.json").write_text(
        '[{"directory": ".", "file": "a.c", "command": "gcc --prefix=./ -B./ -fprofile-note=./note --coverage -c a.c"}]'
    )
    flags = BuildFlags(tmp_path).for_file("a.c")
    assert (await compile_object(Compiler.find("gcc"), Path("a.c"), cwd=tmp_path, flags=flags)).ok
    before = set(os.listdir(tmp_path))
    subprocess.run(["gcc", "--prefix=./", "-c", "a.c", "-o", os.devnull], cwd=tmp_path, check=False)
    assert set(os.listdir(tmp_path)) - before == {"ran"}, "the attack is one"


USUAL = """
-std=gnu11 -O2 -g3 -ggdb -Wall -Wextra -Wno-unused-parameter -Werror=return-type -Wformat=2 -fPIC -fno-common -pthread
-fvisibility=hidden -fsanitize=address,undefined -fstack-protector-strong -fcf-protection=full -march=native -m32
-mno-red-zone -DX=1 -DS="a" -D_FORTIFY_SOURCE=2 -UX -Iinc -isystem/x -include pre.h -iquote . -pipe -ansi -w -pg
-pedantic-errors --param=ssp-buffer-size=4 --std=c99 -fmax-errors=5 -ftrapv -nostdinc --target=arm-none-eabi -xc -x c
"""


def test_flags_of_usual_builds_are_kept() -> None:
    assert safe_flags(USUAL.split()) == USUAL.split()
