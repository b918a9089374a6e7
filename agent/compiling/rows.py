"""Classifying recorded failures, one JSON row after another (``cra classify``)."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from agent.c.headers import header_table
from agent.c.preprocessor.conditions import FALLBACK_MACROS
from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.child import run_child
from agent.compiling.classifying.classification import CompilerErrorClassification
from agent.compiling.classifying.deterministic import deterministic_check
from agent.compiling.classifying.evidence import LINK
from agent.compiling.classifying.findings import SystemNames
from agent.compiling.classifying.questions import ClassifyLlm, ask_questions, undecided, without_facts
from agent.compiling.compiler import CompileOutcome, Compiler, CompilerMissing, with_source_lines
from agent.compiling.curing.include_trials import fix_includes
from agent.compiling.flags import safe_flags
from agent.compiling.generated import generated_file
from agent.compiling.reading.diagnostics import ordered, parse_text
from agent.compiling.reading.symptoms import symptom_of
from agent.compiling.system_headers import system_headers
from agent.scratch import scratch_folder
from agent.values import Rung
from agent.workspace.compiler_walls import shutting_in

MAX_ROW_BYTES = 20_000_000
_COMPILER_NAME = re.compile(r"^(?:[\w.-]*-)?(?:gcc|clang|cc|c99|c11|tcc|musl-gcc|gnu)(?:-[\d.]+)?(?:\.exe)?$")


class CompileRow:
    """One recorded failure; only the fields that a real failure has are read.

    Raises:
        ValueError: the row is not a usable record; the message says why.
    """

    def __init__(self, data: Any) -> None:
        if not isinstance(data, dict):
            raise ValueError("a row must be a JSON object")
        self.id = data.get("id")
        self.stderr = _text(data, "stderr")
        files = data.get("files") or {}
        encoded = data.get("files_b64") or {}
        if not isinstance(files, dict) or not isinstance(encoded, dict):
            raise ValueError("`files` and `files_b64` must map paths to contents")
        self.files: dict[str, bytes] = {str(k): str(v).encode("utf-8", "surrogatepass") for k, v in files.items()}
        try:
            self.files.update({str(k): base64.b64decode(v, validate=True) for k, v in encoded.items()})
        except (ValueError, TypeError) as error:
            raise ValueError(f"`files_b64` is not base64: {error}") from None
        self.target = str(data.get("main") or data.get("target") or next(iter(self.files), ""))
        self.step = str(data.get("step") or "compile")
        commands = data.get("commands") or []
        self.commands = [str(c) for c in ([commands] if isinstance(commands, str) else commands)]
        self.compiler = str(data.get("compiler") or "")

    @property
    def flags(self) -> list[str]:
        """The arguments of the last command, for what they say about the standard and macros."""
        command = self.commands[-1] if self.commands else ""
        if "'" not in command and '"' not in command and "\\" not in command:
            return command.split()[1:]
        with contextlib.suppress(ValueError):
            return shlex.split(command)[1:]
        return []


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if value is None:
        raise ValueError(f"`{key}` is missing")
    return str(value)


async def classify_rows(
    lines: Iterable[str | bytes],
    *,
    verify: bool = False,
    llm: ClassifyLlm | None = None,
    system: SystemNames | None = None,
    ask_compiler: bool = True,
    use_facts: bool = True,
) -> AsyncIterator[dict[str, Any]]:
    """One result a line: ``{"id", "category", "headers", "how", "calls", "us"}``, as soon as it is known.

    A line that is not a usable row gives ``{"id", "line", "error"}`` and the next one is read. ``verify`` recompiles in a
    scratch directory; ``llm`` asks the three questions about what facts leave open (without it: a logic error).
    ``ask_compiler``: what the headers installed here declare is learnt first (once a compiler), unless ``system`` is given.
    ``us`` is the time from parsed row to category in microseconds, recompiles and model calls included.
    """
    await asyncio.to_thread(header_table)
    if system is None and ask_compiler:
        system = await asyncio.to_thread(_installed_headers)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if len(line) > MAX_ROW_BYTES:
            yield {"id": None, "line": number, "error": f"Line {number} is longer than {MAX_ROW_BYTES:,} bytes."}
            continue
        identity: Any = None
        try:
            data = json.loads(line)
            identity = data.get("id") if isinstance(data, dict) else None
            row = CompileRow(data)
            started = time.perf_counter()
            result = await classify_row(row, verify=verify, llm=llm, system=system, use_facts=use_facts)
            us = (time.perf_counter() - started) * 1e6
        except (ValueError, KeyError, TypeError, RecursionError, OSError) as error:
            yield {"id": identity, "line": number, "error": f"Line {number} is not a usable row: {error}"}
            continue
        yield {
            "id": row.id,
            "category": result.category,
            "headers": list(result.headers),
            "how": result.how,
            "calls": model_calls(result),
            "us": round(us, 1),
        }


def model_calls(result: CompilerErrorClassification) -> int:
    """How many questions a model was asked for a classification."""
    return sum(rung.how == "model" for rung in result.path)


def _installed_headers() -> SystemNames | None:
    """The header knowledge of this machine's compiler, ready to answer; None where there is no compiler."""
    try:
        headers = system_headers(Compiler.find())
    except CompilerMissing:
        return None
    headers.homes("no_such_name")  # builds the index now, not within the first row
    return headers


async def classify_row(
    row: CompileRow,
    *,
    verify: bool = False,
    llm: ClassifyLlm | None = None,
    system: SystemNames | None = None,
    use_facts: bool = True,
) -> CompilerErrorClassification:
    """The classification of one recorded failure. ``use_facts`` off: by ``llm``'s questions alone."""
    facts = BuildFacts.of(row.flags, row.compiler or (row.commands[-1].split(" ")[0] if row.commands else ""))
    project = ProjectFiles(row.files, facts.with_macros(FALLBACK_MACROS) if facts.macros or facts.undefined else None)
    target = project.resolve(row.target) or row.target
    check = deterministic_check(row.stderr, project, target, facts=facts, system=system, foresee=not verify)
    if not use_facts:
        check = without_facts(check)
    elif verify:
        result = await _verified(row, check.classification, facts, system)
        if result is not check.classification:
            return result or undecided(row.stderr, check)
        check = deterministic_check(row.stderr, project, target, facts=facts, system=system)
    result = check.classification
    if result is not None:
        return result
    if llm is not None:
        return await ask_questions(row.stderr, project, target, check, llm, system=system)
    return undecided(row.stderr, check)


async def _verified(
    row: CompileRow, textual: CompilerErrorClassification | None, facts: BuildFacts, system: SystemNames | None
) -> CompilerErrorClassification | None:
    """``textual`` checked by compiling the row again; unchanged where it cannot be compiled or does not fail here."""
    with tempfile.TemporaryDirectory(prefix="classify-", dir=scratch_folder()) as scratch:
        root = Path(scratch)
        if not _write_files(root, row.files):
            return textual
        project = ProjectFiles(row.files, facts.with_macros(FALLBACK_MACROS), root)
        target = project.resolve(row.target) or row.target
        commands = _local_commands(row, root)
        if not commands or (facts.windows and not shutil.which(row.compiler)):
            return textual

        generated = generated_file(project, target, ask_make=False)  # a row's makefile is nobody's to run
        if generated and not generated.command:
            return textual

        async def again() -> CompileOutcome:
            if generated:
                shut_in = shutting_in(root)
                await run_child(shut_in(list(generated.command), root), cwd=root / generated.folder, timeout=20)
            return await _run_commands(commands, root)

        before = await _run_commands(commands, root)
        if not before.diagnostics or _only_about_the_call(before):
            return textual
        proof = await fix_includes(
            project, target, again, before, facts=facts, system=system,
            made_from={generated.output: generated.source} if generated else None,
            first=textual.includes if textual and textual.category == "missing_include" else (),
        )  # fmt: skip
        return _settle(row, textual, before, proof, project, target, facts, system)


def _only_about_the_call(outcome: CompileOutcome) -> bool:
    """Whether the compiler here refused how it was called, such as with the other one's ``-mcpu``, and read no code."""
    errors = [d for d in outcome.diagnostics if d.severity in ("error", "fatal")]
    return bool(errors) and not any(d.file or symptom_of(d).kind in LINK for d in errors)


def _settle(
    row: CompileRow, textual: CompilerErrorClassification | None, before: CompileOutcome, proof: Any, project: ProjectFiles,
    target: str, facts: BuildFacts, system: SystemNames | None,
) -> CompilerErrorClassification | None:  # fmt: skip
    trials = tuple(Rung(f"Does {n.text} help?", "yes: the complaints fell", "recompile") for n in proof.kept)
    if proof.kept:
        left = [d for d in proof.outcome.diagnostics if d.severity in ("error", "fatal")]
        was = [d for d in before.diagnostics if d.severity in ("error", "fatal")]
        further = len(left) < len(was) or (facts.stops_at_first and left[:1] != was[:1])
        if not left or (further and (textual is None or textual.category == "missing_include")):
            return CompilerErrorClassification(
                "missing_include", row.stderr, proof.kept[0].header, how="recompile", path=trials, includes=proof.kept,
                diagnostics=before.diagnostics,
                diagnostic_context="; ".join(f"{n.text} is missing in {n.file}" for n in proof.kept) + ".",
            )  # fmt: skip
    if textual is not None and textual.category == "missing_include":
        rest = deterministic_check(
            proof.outcome.stderr, project, target, diagnostics=proof.outcome.diagnostics, facts=facts, system=system,
            disproven=proof.disproven,
        )  # fmt: skip
        refuted = all(n.header in proof.disproven for n in textual.includes)
        if not refuted:
            return textual
        return rest.classification
    return textual


def _write_files(root: Path, files: dict[str, bytes]) -> bool:
    """Write a row's files below ``root``; False when a path would leave it."""
    for name, data in files.items():
        relative = PurePosixPath(name.replace("\\", "/"))
        if relative.is_absolute() or ".." in relative.parts or not relative.parts:
            return False
        path = root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return bool(files)


def _local_commands(row: CompileRow, root: Path) -> list[list[str]]:
    """The row's commands with compilers that are installed here; empty when they cannot be run."""
    commands = []
    for text in row.commands or [f"gcc -c {shlex.quote(row.target)} -o out.o"]:
        try:
            parts = shlex.split(text)
        except ValueError:
            return []
        if not parts or not _COMPILER_NAME.match(os.path.basename(parts[0])):
            return []
        compiler = _local_compiler(parts[0])
        if compiler is None:
            return []
        flags = [f for f in safe_flags(parts[1:]) if not f.startswith(_SHOWN_OTHERWISE)]
        flags = [f for f in flags if not (f.startswith("-fuse-ld=") and not shutil.which(f"ld.{f[9:]}"))]
        if BuildFacts.of(flags, row.compiler).c23 and not any(f.startswith("-std=") for f in flags):
            flags.insert(0, "-std=gnu2x")
        if "-c" in flags or "-fsyntax-only" in flags or row.step == "compile":
            flags += [f for f in compiler.promoted if f != "-Wall"]
        commands.append([compiler.path, *flags, *([] if compiler.family == "tcc" else _PLAIN[compiler.family])])
    return commands


_SHOWN_OTHERWISE = (
    "-fdiagnostics-", "-fcolor-diagnostics", "-fmax-errors=", "-ferror-limit=", "-Wfatal-errors", "-fmessage-length",
)  # fmt: skip
"""Beginnings of flags that only say how, and how many, errors are shown: here all are wanted, as plain text."""
_PLAIN = {"gcc": ["-fdiagnostics-color=never"], "clang": ["-fno-color-diagnostics"], "other": []}


def _local_compiler(name: str) -> Compiler | None:
    for candidate in (name, "clang" if "clang" in name else "gcc", None):
        with contextlib.suppress(CompilerMissing):
            if candidate is None or os.path.basename(candidate) == candidate:
                return Compiler.find(candidate)
    return None


async def _run_commands(commands: list[list[str]], root: Path) -> CompileOutcome:
    """Run a row's commands in order until one fails; the diagnostics of all that ran."""
    text, code, ms, timed_out = "", 0, 0.0, False
    shut_in = await asyncio.to_thread(shutting_in, root)
    for command in commands:
        done = await run_child(shut_in(command, root), cwd=root, timeout=20)
        text += done.stderr.decode("utf-8", "replace") + done.stdout.decode("utf-8", "replace")
        code, ms, timed_out = done.exit_code, ms + done.ms, timed_out or done.timed_out
        if code:
            break
    found = await asyncio.to_thread(with_source_lines, ordered(parse_text(text)), root)
    return CompileOutcome(code == 0, found, text, shlex.join(commands[-1]), ms, timed_out=timed_out, exit_code=code)
