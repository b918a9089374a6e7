"""Checks that are one command (``make test``, a script): run whole for each candidate, with all mutants of a C function
in one build where that is possible."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from agent.exit_codes import signal_of
from agent.language.base import AFTER_ENDLESS, ALONE_SECONDS, ENDLESS, TEST_LIMIT
from agent.languages import is_unit, reader_of
from agent.regular_files import read_inside
from agent.repair import c_schema, c_trace
from agent.repair.commands import CheckCommand
from agent.repair.edits import Candidate, Edit
from agent.repair.functions import Function, functions_of
from agent.repair.inputs import LONGEST, near_texts
from agent.repair.localize import Place, Trace
from agent.repair.nearness import nearer
from agent.repair.synthesis import FORCING
from agent.repair.testbed import Baseline, NoBed, Probe, Trial, probes_of
from agent.repair.workers import Reply, WarmWorker, WorkerLost, Workers
from agent.values import CheckResult
from agent.walking import files_below
from agent.workspace.first_failure import further, stopped_at
from agent.workspace.isolated import isolated_tests
from agent.workspace.protected import is_test_file
from agent.workspace.testoutput import read_outcome

BUILD_SECONDS = 120.0
SHORTEST = 0.8
"""Seconds that a run of the checks gets at least."""

SHORTEST_TEST = 0.2
"""Seconds that a test by itself, or a process, gets at least."""

LONGEST_TEST = 0.9
"""Seconds that it gets at most, unless the checks show that it needs more."""

MOST_TOGETHER = 24
TOGETHER_SECONDS = 10.0
"""Seconds that one batch takes at most, since a search looks at its budget between them."""

PROGRAM_SECONDS = 1.0
MOST_STARTS = 40
_ALL = "the checks"
_OUT_OF_TIME = signal.strsignal(signal.SIGPROF) or "SIGPROF"
"""What make and shells say of a program that used up its processor time."""

_MOST_TRACED_BYTES = 4 << 20


class CommandBed:
    """Any command. ``batch`` candidates of one function are handed over at once. A trial ends when it is clear that a
    candidate does not mend all, unless it is to go on ``to_end``, to tell how much it mends."""

    def __init__(self, root: Path, check: CheckCommand, workers: Workers, budget: float, *, to_end: bool = False) -> None:
        self.root = root
        self.check = check
        self.workers = workers
        self.budget = budget
        self._to_end = to_end
        self.baseline = Baseline()
        self.batch = MOST_TOGETHER
        self._limit = BUILD_SECONDS
        self._base = CheckResult("", 0, False)
        self._single: set[tuple[str, str]] = set()
        self._functions: dict[str, list[Function]] = {}
        self._halt: dict[str, object] | None = None
        self._each: dict[str, str] = {}

    async def open(self) -> None:
        """Build in every copy and run the checks twice.

        Raises:
            NoBed: they pass, or cannot be run.
        """
        command = CheckCommand("command", sys.executable, self.check.arguments)
        try:
            await self.workers.open(command, sys.executable, self.budget)
            await self._first()
            replies = await asyncio.gather(*(worker.ask(limit=BUILD_SECONDS) for worker in self.workers.all))
        except WorkerLost as error:
            raise NoBed(f"The checks cannot be run in a copy of the repository: {str(error)[-200:]}") from None
        reply = replies[0]
        if not reply.code:
            raise NoBed("The checks pass in a copy of the repository, so there is nothing to search for.")
        outcome = read_outcome(reply.output)
        flaky: set[str] = set()
        if len(replies) > 1 and outcome.failing:
            other = set(read_outcome(replies[1].output).failing)
            flaky = set(outcome.failing) ^ other
        failing = tuple(name for name in outcome.failing if name not in flaky) or (_ALL,)
        messages = {name: _about(name, reply.output) for name in failing}
        seconds = max(one.seconds for one in replies)
        self._base = _as_result(reply)
        self.baseline = Baseline(failing, outcome.passing, messages, tuple(sorted(flaky)), seconds)
        self._set_limits(reply.output, min(one.seconds for one in replies))
        self._halt = None if self._to_end else halt_of(self.baseline, reply.output)

    async def _first(self) -> None:
        """Build in every copy and run the checks, with each compiled test isolated where that is possible: the others then
        report whatever one of them does."""
        tests = {path: text for path, text in (await asyncio.to_thread(isolated_tests, self.root)).items() if is_unit(path)}
        await self._put(tests)
        replies = await asyncio.gather(*(worker.ask(limit=BUILD_SECONDS) for worker in self.workers.all))
        if tests and not read_outcome(replies[0].output).failing:
            await self._put({path: (self.root / path).read_bytes() for path in tests})
            await asyncio.gather(*(worker.ask(limit=BUILD_SECONDS) for worker in self.workers.all))

    async def _put(self, files: Mapping[str, str | bytes]) -> None:
        """Write files into every copy."""
        for worker in self.workers.all:
            for path, content in files.items():
                data = content.encode() if isinstance(content, str) else content
                await asyncio.to_thread((worker.tree / path).write_bytes, data)

    def _set_limits(self, output: str, seconds: float) -> None:
        """What a run of the checks, and a test in it, may take from now on. ``seconds`` is what a run took: what was spent
        on waiting for tests by themselves that do not end tells nothing of the others. Where checks have no names, nobody
        would see that a test takes longer than it may."""
        endless = output.count(ENDLESS)
        own = max(0.0, seconds - (ALONE_SECONDS + (endless - 1) * AFTER_ENDLESS / 1e6 if endless else 0.0))
        each = min(LONGEST_TEST, max(SHORTEST_TEST, 2 * own))
        if self.baseline.failing != (_ALL,):
            self._each = {TEST_LIMIT: str(int(1e6 * each))}
        self._limit = max(SHORTEST, 4 * (own + endless * each) + 0.3)
        self._pace(own + endless * each)

    def _pace(self, seconds: float) -> None:
        """How many candidates are handed over at once, each of which takes so many ``seconds``."""
        self.batch = max(1, min(MOST_TOGETHER, int(TOGETHER_SECONDS / max(seconds, 0.01))))

    async def traces(self) -> tuple[list[Trace], set[Place], str]:
        """By an instrumented build; where that does not build, a sentence and no traces."""
        sources = self._c_files()
        if not sources or sum(map(len, sources.values())) > _MOST_TRACED_BYTES:
            return (
                [],
                set(),
                "The sources cannot be instrumented, so functions are ranked by names and by what the checks say.",
            )
        names = dict(enumerate(sources, 1))
        alone = ENDLESS in self._base.output
        checks = [*self.baseline.failing, *self.baseline.passing]
        tests = {path: text for path, text in sources.items() if c_trace.holds_tests(path, text, checks)}
        files = {path: _traced(path, sources[path], number, path in tests, alone) for number, path in names.items()}
        try:
            async with self.workers.one() as worker:
                folder = worker.folder / "trace"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                env = {c_trace.VARIABLE: str(folder)}
                reply = await worker.ask(files=files, limit=BUILD_SECONDS, env=env)
                await worker.ask(limit=BUILD_SECONDS)  # builds what is there again
        except WorkerLost:
            return (
                [],
                set(),
                "The instrumented build did not run, so functions are ranked by names and by what the checks say.",
            )
        processes = await asyncio.to_thread(c_trace.read_traces, folder)
        if not any(processes):
            note = "The instrumented build left no trace, so functions are ranked by names and by what the checks say."
            return [], self._blamed(sources), note
        output = self._base.output if alone else reply.output  # an isolated test tells its line: here one is put in above it
        found = c_trace.traces_of(processes, names, _ordered(output), output, tests)
        return _with_declarations(found, sources), self._blamed(sources), ""

    def _blamed(self, sources: Mapping[str, bytes]) -> set[Place]:
        found = set()
        for match in re.finditer(r"([\w./-]+\.[ch]):(\d+)", self._base.output):
            path = next((one for one in sources if one.endswith(match[1].lstrip("./")) and not is_test_file(one)), None)
            if path is not None:
                found.add((path, int(match[2])))
        return found

    def _c_files(self) -> dict[str, bytes]:
        found = {}
        for path in sorted(one for one in files_below(self.root) if is_unit(one.name)):
            name = path.relative_to(self.root).as_posix()
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                found[name] = path.read_bytes()
        return found

    async def attempt(self, files: Mapping[str, str]) -> Trial:
        """One candidate, built by the project's own command."""
        try:
            reply = await self.workers.ask(files=dict(files), limit=self._limit + 2.0, halt=self._halt, env=self._each)
        except WorkerLost:
            return Trial(False, built=False)
        return self._trial(reply)

    async def whole(self, files: Mapping[str, str]) -> Trial:
        """The project's own command, to its end."""
        try:
            return self._trial(await self.workers.ask(files=dict(files), limit=self._limit + 2.0, env=self._each))
        except WorkerLost:
            return Trial(False, built=False)

    async def attempts(self, candidates: Sequence[tuple[Candidate, Mapping[str, str]]]) -> list[Trial]:
        """Candidates of one function in one build; one by one where that does not work."""
        found: dict[int, Trial] = {}
        first = candidates[0][0]
        key = (first.path, first.function)
        inside = [place for place, (one, _) in enumerate(candidates) if self._is_inside(one)]
        if len(inside) > 1 and key not in self._single:
            told = await self._together([candidates[place] for place in inside])
            found = {inside[place]: trial for place, trial in told.items()}
            if not found:
                self._single.add(key)
        for place, (_, files) in enumerate(candidates):
            if place not in found:
                found[place] = await self.attempt(files)
        return [found[place] for place in range(len(candidates))]

    def _is_inside(self, candidate: Candidate) -> bool:
        """Whether a candidate changes one function alone."""
        function = self._function(candidate.path, candidate.function)
        if function is None or any(one.path != candidate.path for one in candidate.edits):
            return False
        return all(function.body.start_byte <= one.start and one.end <= function.body.end_byte for one in candidate.edits)

    def _function(self, path: str, name: str) -> Function | None:
        """A function of the project as it was when the search began."""
        if path not in self._functions:
            self._functions[path] = functions_of(path, (self.root / path).read_bytes())
        return next((one for one in self._functions[path] if one.name == name), None)

    async def _together(self, candidates: Sequence[tuple[Candidate, Mapping[str, str]]]) -> dict[int, Trial]:
        path, name = candidates[0][0].path, candidates[0][0].function
        left = list(range(len(candidates)))
        found: dict[int, Trial] = {}
        halt = None if any(one.operator in FORCING for one, _ in candidates) else self._halt  # all that they mend counts
        try:
            async with self.workers.one() as worker:
                for _ in range(6):
                    if not left:
                        break
                    text = await asyncio.to_thread(self._schema, path, name, [candidates[place][0].edits for place in left])
                    runs = [{c_schema.VARIABLE: str(number), **self._each} for number in range(len(left) + 1)]
                    files = {path: text.decode("utf-8", "surrogateescape")}
                    replies = await worker.ask_runs(
                        files=files, runs=runs, build=BUILD_SECONDS, limit=self._limit, halt=halt
                    )
                    bad = c_schema.refused(replies[0].output, path)
                    if bad:
                        if 0 in bad or not bad <= set(range(1, len(left) + 1)):
                            return {}
                        for number in bad:
                            found[left[number - 1]] = Trial(False, built=False)
                        left = [place for number, place in enumerate(left, 1) if number not in bad]
                        continue
                    outcome = read_outcome(replies[0].output)
                    new = set(outcome.failing or (_ALL,)) - {*self.baseline.failing, *self.baseline.flaky}
                    if self._each and not set(self.baseline.passing) <= set(outcome.passing):
                        self._each = {}  # one that passes takes longer than it may
                        continue
                    if new or len(replies) <= len(left):
                        return {}  # what stands beside the mutants does not behave as before, or does not build
                    for number, place in enumerate(left, 1):
                        found[place] = self._trial(replies[number])
                    self._pace(sum(one.seconds for one in replies[1:]) / len(left))
                    break
        except (c_schema.Unsuited, WorkerLost, ValueError):
            return {}
        return found

    async def probe(self, candidates: Sequence[tuple[Candidate, Mapping[str, str]]]) -> list[Probe]:
        """The program is given what it read from a file as its standard input in the checks, and neighbours of that."""
        path, name = candidates[0][0].path, candidates[0][0].function
        same = [place for place, (one, _) in enumerate(candidates) if (one.path, one.function) == (path, name)]
        try:
            async with self.workers.one() as worker:
                text = await asyncio.to_thread(
                    self._schema, path, name, [candidates[place][0].edits for place in same], True
                )
                files = {path: text.decode("utf-8", "surrogateescape")}
                begun = await self._starts(worker, files)
                if begun is None:
                    return []
                start, texts = begun
                inputs = near_texts(texts)
                then = [
                    {"words": [start.program, *start.arguments], "cwd": start.folder, "stdin": one.text,
                     "limit": PROGRAM_SECONDS, "env": {c_schema.VARIABLE: str(number), **self._each}}
                    for number in range(len(same) + 1) for one in inputs
                ]  # fmt: skip
                replies = await worker.ask_then(files=files, limit=BUILD_SECONDS, then=then)
        except (c_schema.Unsuited, WorkerLost, ValueError, OSError):
            return []
        said = [_printed(reply) for reply in replies[1:]]
        told = [said[number * len(inputs) : (number + 1) * len(inputs)] for number in range(len(same) + 1)]
        rows: list[list[str]] = [[] for _ in range(len(candidates) + 1)]
        rows[0] = told[0]
        for number, place in enumerate(same, 1):
            rows[place + 1] = told[number]
        return probes_of(inputs, [f"input {one.text.strip()!r}" for one in inputs], rows)

    async def _starts(self, worker: WarmWorker, files: Mapping[str, str]) -> tuple[c_schema.Start, list[str]] | None:
        """(how the program is started, what it reads) when the checks run; None when it reads no file as its input."""
        folder = worker.folder / "seen"
        await asyncio.to_thread(_emptied, folder)
        await worker.ask(files=dict(files), limit=BUILD_SECONDS, env={c_schema.SEEN_VARIABLE: str(folder)})
        found = await asyncio.to_thread(c_schema.starts, folder)
        texts = [text for one in found[:MOST_STARTS] if (text := _read(one.stdin, worker.tree))]
        return (found[0], list(dict.fromkeys(texts))) if texts and found[0].program else None

    def _schema(self, path: str, name: str, edits: Sequence[tuple[Edit, ...]], seen: bool = False) -> bytes:
        function = self._function(path, name)
        if function is None:
            raise c_schema.Unsuited("the function is not found again")
        return c_schema.schema(function, edits, seen=seen)

    def _trial(self, reply: Reply) -> Trial:
        base, cut = self.baseline, bool(reply.cut) or _OUT_OF_TIME in reply.output
        outcome = read_outcome(reply.output)
        ok = reply.code == 0 and not cut
        built = (
            ok
            or bool(outcome.passing or outcome.failing or cut)
            or not re.search(r"\berror:|undefined reference", reply.output)
        )
        passing = set(outcome.passing)
        fixed = frozenset(passing if base.failing == (_ALL,) else passing & set(base.failing))  # one that runs to its end
        broken = sum(name in outcome.failing for name in base.passing)
        if not cut:
            broken += sum(name not in passing and name not in outcome.failing for name in base.passing)
        if not fixed and not cut and further(self._base, _as_result(reply)) > 0:
            fixed = frozenset({f"past line {stop.line}" if (stop := stopped_at(self._base.output)) else _ALL})
        said = {name: _about(name, reply.output) for name in base.failing if name in outcome.failing}
        near = nearer(base.messages, said) if not (ok or cut or broken) else 0.0
        return Trial(ok, frozenset(base.failing) if ok else fixed, 0 if ok else broken, built, cut, reply.seconds, near)

    async def close(self) -> None:
        """End the workers."""
        await self.workers.close()


def _traced(path: str, source: bytes, number: int, of_tests: bool, alone: bool) -> str:
    """The instrumented text of a file; one of tests ``alone`` in processes of their own, where one does not end."""
    text = c_trace.instrumented(path, source, number, of_tests=of_tests).decode("utf-8", "surrogateescape")
    reader = reader_of(path) if alone and of_tests else None
    return (reader.tests.isolated(text, path) if reader is not None else "") or text


def _emptied(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def _read(name: str, tree: Path) -> str:
    """A file of the project; "" for anything else, and for one that is too long."""
    path = Path(name)
    try:
        return read_inside(tree, path, LONGEST).decode("utf-8", "surrogateescape") if path.is_absolute() else ""
    except OSError:
        return ""


def _printed(reply: Reply) -> str:
    if reply.cut or signal_of(reply.code) == signal.SIGPROF:
        return "does not end"
    text = " ".join(reply.output.split())[-LONGEST:]
    return f"prints {text!r}" + (f" and exits with {reply.code}" if reply.code else "")


def halt_of(base: Baseline, output: str) -> dict[str, object] | None:
    """By which lines a run of the checks can be given up (see ``warm_worker``): once a check that passed fails, or all
    that failed fail again. None where the checks have no names, or where the baseline's ``output`` would be given up."""
    if base.failing == (_ALL,):
        return None
    names = sorted({*base.failing, *base.passing, *base.flaky}, key=len, reverse=True)
    told = r"(?=.*\b(?:FAIL|FAILED|FAILURE|ERROR|not ok)\b)"
    pattern = rf"{told}.*?(?<![\w.])({'|'.join(map(re.escape, names))})(?!\w)"
    said = [match[1] for line in output.splitlines() if (match := re.match(pattern, line))]
    if set(said) & set(base.passing):
        return None
    return {"pattern": pattern, "good": list(base.passing), "bad": list(base.failing)}


def _as_result(reply: Reply) -> CheckResult:
    outcome = read_outcome(reply.output)
    return CheckResult("", reply.code, reply.code == 0, outcome.passed, outcome.failed, outcome.failing, outcome.passing,
                       output=reply.output)  # fmt: skip


def _about(name: str, output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if name == _ALL:
        telling = [line for line in lines if re.search(r"(?i)fail|error|assert|expected|fault", line)]
        return "\n".join((telling or lines)[-6:])[-600:]
    found = [n for n, line in enumerate(lines) if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", line)]
    return "\n".join(lines[max(0, n - 1)] + "\n" + lines[n] if n and ":" in lines[n - 1] else lines[n] for n in found[:2])[
        :600
    ]


def _ordered(output: str) -> list[tuple[str, bool]]:
    outcome = read_outcome(output)
    named = [(name, True) for name in outcome.passing] + [(name, False) for name in outcome.failing]
    lines = output.splitlines()

    def place(name: str) -> int:
        pattern = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
        return next((number for number, line in enumerate(lines) if pattern.search(line)), len(lines))

    return sorted(named, key=lambda one: place(one[0])) if outcome.failing else [*named, (_ALL, False)]


def _with_declarations(traces: Sequence[Trace], sources: Mapping[str, bytes]) -> list[Trace]:
    """Declarations are not recorded: they count as executed where anything of their function is."""
    declared: list[tuple[str, int, int, list[Place]]] = []
    for path, source in sources.items():
        for function in functions_of(path, source):
            own = [node.start_point[0] + 1 for node in function.body.named_children if node.type == "declaration"]
            declared.append((path, function.first, function.last, [(path, line) for line in own]))
    found = []
    for trace in traces:
        more = {place for path, first, last, places in declared for place in places
                if any(one[0] == path and first <= one[1] <= last for one in trace.lines)}  # fmt: skip
        found.append(msgspec.structs.replace(trace, lines=trace.lines | more))
    return found
