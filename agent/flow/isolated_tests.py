"""Where a new file of tests is run, alone: C linked with the project's sources, Python by the project's own runner.

Programs and objects live in a temporary place; nothing of them comes into the worktree.
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from agent.c.writing.tests_in_file import chooser
from agent.coding.writing.generated_tests import TestRun
from agent.compiling.curing.recovery import LinkRecovered
from agent.exit_codes import signal_of
from agent.flow.linked_sources import is_part, sources_behind
from agent.flow.run_parts import RunParts
from agent.language.test_names import test_function
from agent.languages import is_module, is_unit, language_of, named
from agent.scratch import scratch_folder
from agent.shortening import shortened
from agent.values import CheckResult
from agent.workspace.first_failure import stopped_at
from agent.workspace.protected import is_test_file

_ASSERTS_ON = ("-UNDEBUG", "-w", "-Wno-error")
"""A project that builds without assertions still tests with them; warnings were told when the file was compiled."""

_UNITTEST = re.compile(rb"^\s*(?:import unittest|from unittest )", re.M)
_PYTEST = re.compile(rb"^\s*(?:import pytest|from pytest )|^(?:async )?def test_", re.M)
_LONGEST = 200


class IsolatedTests:
    """Runs the tests of ``interface`` for one run."""

    def __init__(self, parts: RunParts, interface: tuple[str, ...]) -> None:
        self.parts = parts
        self.interface = interface
        self.by_hand = ""
        self._flavour = ""

    async def run(self, path: str) -> TestRun:
        """Run the file of tests at ``path``. ``by_hand`` is then the line that runs it."""
        return await (self._c(path) if is_unit(path) else self._python(path))

    async def flavour(self) -> str:
        """What runs the Python tests of the project: pytest or unittest."""
        if not self._flavour:
            self._flavour = await asyncio.to_thread(self._find_flavour)
        return self._flavour

    # C

    async def _c(self, path: str) -> TestRun:
        compiler, text = self.parts.compiler, self.parts.tree.files.read_bytes(path)
        build = await compiler.build()
        await build.compile_as(path, text, _ASSERTS_ON)
        sources = sources_behind(self.parts.found.index, self.parts.tree, self.interface)
        linked, sources = await self._linked(path, sources)
        if not linked.ok:
            said = linked.context.strip() or "\n".join(one.message for one in linked.diagnostics[:3])
            return TestRun(False, trouble=f"It cannot be linked with {', '.join(sources) or 'the project'}: {said}"[:600])
        place = Path(tempfile.mkdtemp(prefix="tests-", dir=scratch_folder()))
        try:
            program = place / "tests"
            everything = [path, *sources]
            await build.link(everything, linked.libraries, output=program)
            self.by_hand = self._line(build.flags.for_file(path), everything, linked.libraries, path)
            whole = await self.parts.checks.alone(shlex.quote(str(program)), readable=(str(place),))
            if whole.ok:
                return TestRun(True)
            await build.compile_as(path, chooser(text.decode("utf-8", "replace"), path).encode(), _ASSERTS_ON)
            await build.link(everything, linked.libraries, output=program)
            failures = await self._one_by_one(program, named(language_of(path)).tests.names(text.decode("utf-8", "replace")))
            return TestRun(False, failures, "" if failures else _how(whole))
        finally:
            await asyncio.to_thread(shutil.rmtree, place, True)

    async def _linked(self, path: str, sources: list[str]) -> tuple[LinkRecovered, list[str]]:
        """Linked with the sources behind the interface, else with all that are not programs of their own."""
        build = await self.parts.compiler.build()
        for source in sources:
            await build.compile(source)
        linked = await self.parts.compiler.program([path, *sources])
        if linked.ok:
            return linked, sources
        more = [entry.path for entry in self.parts.found.index.files() if is_part(self.parts.tree, entry.path)]
        compiled = [source for source in more if source in sources or (await build.compile(source)).ok]
        if set(compiled) <= set(sources):
            return linked, sources
        wider = await self.parts.compiler.program([path, *compiled])
        return (wider, compiled) if wider.ok else (linked, sources)

    async def _one_by_one(self, program: Path, names: list[str]) -> dict[str, str]:
        """The test functions that fail when each is run by itself, with how. All together may take as long as the checks."""
        limit = max(1.0, self.parts.ctx.config.testing.timeout_seconds / max(1, len(names)))
        failures: dict[str, str] = {}
        for number, name in enumerate(names):
            done = await self.parts.checks.alone(f"{shlex.quote(str(program))} {number}", limit, (str(program.parent),))
            if not done.ok:
                failures[name] = _how(done)
        return failures

    def _line(self, flags: list[str], paths: list[str], libraries: tuple[str, ...], path: str) -> str:
        root = str(self.parts.workspace.root)
        own = [flag.replace(f"{root}/", "").replace(root, ".") for flag in flags if flag[:2] in ("-I", "-D", "-s")]
        name = Path(path).stem
        words = ["cc", *own, *paths, *libraries, "-o", name]
        return f"{shlex.join(words)} && ./{shlex.quote(name)}"

    # Python

    async def _python(self, path: str) -> TestRun:
        quoted = shlex.quote(path)
        if await self.flavour() == "unittest":
            self.by_hand = f"python3 -m unittest {quoted}"
            now = await self.parts.checks.alone(f"python3 -m unittest -v {quoted}")
        else:
            self.by_hand = f"pytest {quoted}"
            now = await self.parts.checks.alone(f"pytest -rfEp {quoted}")
        text = self.parts.tree.files.read_bytes(path).decode("utf-8", "replace")
        short_of_something_else = now.exit_code == 1 and not now.failed and not now.failing  # coverage of all, say
        if now.passed and (now.ok or short_of_something_else):
            return TestRun(True)
        names = named(language_of(path)).tests.names(text)
        failing = dict.fromkeys(name for one in now.failing if (name := test_function(one)) in names)
        failures = {name: _said_of(name, now.output) for name in failing}
        return TestRun(False, failures, "" if failures else _how(now))

    def _find_flavour(self) -> str:
        command, root = self.parts.checks.command, self.parts.workspace.root
        if "unittest" in command:
            return "unittest"
        if "pytest" in command or "py.test" in command:
            return "pytest"
        if not (shutil.which("pytest") or importlib.util.find_spec("pytest")):
            return "unittest"
        recipes = "".join(_read(root / name) for name in ("GNUmakefile", "makefile", "Makefile"))
        if "pytest" not in recipes and "unittest" in recipes:
            return "unittest"
        files = self.parts.tree.files
        tests = [files.read_bytes(p) for p in files.list() if is_module(p) and is_test_file(p) and files.exists(p)]
        return "unittest" if _votes(tests) > 0 else "pytest"


def _votes(tests: list[bytes]) -> int:
    """How many more files of tests are written for unittest than for pytest."""
    return sum(bool(_UNITTEST.search(text)) - bool(_PYTEST.search(text)) for text in tests)


def _how(now: CheckResult) -> str:
    """How a program of tests failed, in a line: the assertion that ended it, else what became of it."""
    if now.timed_out:
        return "it did not finish in time"
    stop = stopped_at(now.output)
    lines = [line.strip() for line in now.output.splitlines() if line.strip()]
    if stop is not None:
        told = next((line for line in reversed(lines) if f"{stop.line}" in line and "ssertion" in line), "")
        return shortened(re.sub(r"^(?:\S*/)?tests: ", "", told).removesuffix("."), _LONGEST)
    if (number := signal_of(now.exit_code)) is not None:
        return f"it crashed with signal {number}" + (f": {shortened(lines[-1], _LONGEST)}" if lines else "")
    errors = [line for line in lines if re.match(r"E   |\w*(?:Error|Exception)\b", line)]
    return shortened((errors or lines or [f"it ended with exit code {now.exit_code}"])[-1], _LONGEST)


def _said_of(name: str, output: str) -> str:
    """What a runner of Python tests says of one that fails."""
    summary = re.search(rf"^(?:FAILED|ERROR) \S+::{re.escape(name)}(?:\[.*\])? - (.+)$", output, re.M)
    if summary:
        return shortened(summary[1], _LONGEST)
    block = re.search(rf"^(?:FAIL|ERROR): {re.escape(name)}\b.*?(?=^={{10,}}|^-{{10,}}\nRan |\Z)", output, re.M | re.S)
    lines = [line.strip() for line in (block[0] if block else "").splitlines() if line.strip()]
    said = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception)\b", line)]
    return shortened((said or lines or ["it fails"])[-1], _LONGEST)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
