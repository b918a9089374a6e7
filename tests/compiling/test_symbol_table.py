"""Every symbol of the table that a compiler on this machine knows: it fails, is classified, is fixed, and is gone.

Symbols are compiled many to a file, one function each, so that the whole table takes seconds.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

from agent.c.headers import header_table
from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.child import child_environment
from agent.compiling.classifying.choose import choose_headers
from agent.compiling.classifying.deterministic import deterministic_check
from agent.compiling.compiler import Compiler
from agent.compiling.reading.diagnostics import parse_text
from agent.compiling.reading.symptoms import symptom_of
from agent.compiling.system_headers import system_headers
from agent.values import Diagnostic
from tests.compiling.helpers import COMPILERS

CHUNK = 12
FACTS = BuildFacts(defined=frozenset({"_GNU_SOURCE"}))
NAMING = ("implicit", "undeclared", "unknown_type", "incomplete", "syntax")


def chunks() -> list[tuple[str, ...]]:
    """The headers of the table in groups, each group one file."""
    headers = [h for h, group in header_table().headers.items() if group != "windows" and header_table().names_of[h]]
    return [tuple(headers[i : i + CHUNK]) for i in range(0, len(headers), CHUNK)]


def use(name: str, kind: str, number: int) -> str:
    """One line that needs ``name``."""
    if kind == "tag":
        plain = name.removeprefix("struct ")
        return f"int use{number}(void) {{ struct {plain} x; return (int)sizeof x; }}"
    if kind == "type":
        return f"int use{number}(void) {{ return (int)sizeof({name} *); }}"
    return f"int use{number}(void) {{ return sink(0, {name}); }}"


def said(compiler: Compiler, source: bytes, folder: Path) -> list[Diagnostic]:
    (folder / "main.c").write_bytes(source)
    bare = ["-fno-caret-diagnostics", "-ferror-limit=0"] if compiler.family == "clang" else ["-fno-diagnostics-show-caret"]
    command = [compiler.path, "-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE", "-w", *bare, "main.c"]
    done = subprocess.run(command, cwd=folder, env=child_environment(), capture_output=True, check=False)
    return list(parse_text(done.stderr.decode("utf-8", "replace")))


@cache
def compiler_of(name: str) -> Compiler:
    return Compiler.find(name)


LACKING: dict[str, set[str]] = {}


@pytest.mark.parametrize("name", COMPILERS)
@pytest.mark.parametrize("headers", chunks(), ids=lambda h: h[0])
def test_every_symbol_fails_is_classified_is_fixed(name: str, headers: tuple[str, ...], tmp_path: Path) -> None:
    compiler, table = compiler_of(name), header_table()
    system = system_headers(compiler)
    present = [h for h in headers if system.exists(h)]
    symbols = [
        (s, next(h for h in table.homes(s) if h.header == header))
        for header in present
        for s in sorted(table.names_of[header])
    ]
    lines = ["int sink(int, ...);"]
    lines += [use(symbol, home.kind, number) for number, (symbol, home) in enumerate(symbols)]
    at = {number + 2: pair for number, pair in enumerate(symbols)}
    source = ("\n".join(lines) + "\n").encode()
    before = said(compiler, source, tmp_path)
    complained: dict[int, Diagnostic] = {}
    for d in sorted(before, key=lambda one: symptom_of(one).kind == "syntax"):
        if d.line in at and symptom_of(d).kind in NAMING:
            complained.setdefault(d.line, d)
    project = ProjectFiles({"main.c": source})
    findings, unclassified = [], []
    for line, (symbol, home) in at.items():
        if line not in complained:
            continue  # the compiler knows it without a header
        verdict = deterministic_check(
            "", project, "main.c", diagnostics=[complained[line]], facts=FACTS, system=system, foresee=False
        )
        homes = {h.header for h in table.homes(symbol)}
        found = verdict.classification
        if found is None or found.category != "missing_include" or not homes & set(found.headers):
            unclassified.append((symbol, home.header, found and (found.category, found.diagnostic_context)))
            continue
        findings += [f for f in verdict.findings if f.outcome == "include"]
    assert not unclassified, unclassified[:10]
    assert findings, "nothing of this group fails without its header"
    includes = b"".join(f"{n.text}\n".encode() for n in choose_headers(findings, project))
    shift = includes.count(b"\n")
    after = said(compiler, includes + source, tmp_path)
    still = {d.line - shift for d in after if symptom_of(d).kind in NAMING}
    lacking = {f"{symbol} <{home.header}>" for line, (symbol, home) in at.items() if line in still and line in complained}
    macros = _macros(compiler, includes, tmp_path)
    real = {s for s in lacking if s.split(" <")[0] not in macros}
    LACKING.setdefault(name, set()).update(real)
    assert len(real) <= max(2, len(symbols) // 50), f"{name} lacks: {sorted(real)}"


def _macros(compiler: Compiler, includes: bytes, folder: Path) -> set[str]:
    """The macros that the includes define. Some are not expressions by themselves (``static_assert``, ``and``, those with
    arguments); being defined is what counts."""
    (folder / "macros.c").write_bytes(includes)
    command = [compiler.path, "-E", "-dM", "-std=gnu11", "-D_GNU_SOURCE", "macros.c"]
    done = subprocess.run(command, cwd=folder, env=child_environment(), capture_output=True, text=True, check=False)
    return {line.split(" ", 2)[1].split("(")[0] for line in done.stdout.splitlines()}


def test_the_platforms_gaps_are_few_and_listed() -> None:
    """Runs last: what the table names and this platform lacks is printed (pytest -s) and stays below one in a hundred."""
    for name, lacking in LACKING.items():
        print(f"{name} lacks {len(lacking)}: {', '.join(sorted(lacking))}")
        assert len(lacking) < 60
