"""Small projects and real compiles for the tests of the compiling room."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.child import child_environment
from agent.compiling.classifying.deterministic import Deterministic, deterministic_check
from agent.compiling.compiler import Compiler

COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]


def project(**files: str) -> ProjectFiles:
    """A project of files; ``a_h`` is the file ``a.h``."""
    return ProjectFiles({name.replace("_h", ".h").replace("_c", ".c"): text.encode() for name, text in files.items()})


def check(stderr: str, flags: str = "", target: str = "main.c", compiler: str = "", **files: str) -> Deterministic:
    """The deterministic verdict on ``stderr`` for a project whose main file is ``main.c``."""
    return deterministic_check(stderr, project(**files), target, facts=BuildFacts.of(flags.split(), compiler))


def compiled(name: str, folder: Path, flags: str = "-c -Wall", **files: str) -> str:
    """What a real compiler says about ``main.c``."""
    for file, text in files.items():
        (folder / file.replace("_h", ".h").replace("_c", ".c")).write_text(text)
    compiler = Compiler.find(name)
    command = [compiler.path, *flags.split(), *(f for f in compiler.promoted if f != "-Wall"), "main.c", "-o", "out.o"]
    done = subprocess.run(command, cwd=folder, env=child_environment(), capture_output=True, text=True, check=False)
    return done.stderr
