"""An include is proven by recompiling: kept if the complaints about its names fell and none is new, else taken out."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from agent.c.headers import header_table
from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.classifying.choose import choose_headers
from agent.compiling.classifying.classification import NeededInclude
from agent.compiling.classifying.deterministic import Deterministic, deterministic_check
from agent.compiling.classifying.findings import SystemNames
from agent.compiling.compiler import CompileOutcome
from agent.compiling.curing.add_include import add_include_to_file, places_for
from agent.compiling.reading.diagnostics import plain_quotes
from agent.compiling.reading.symptoms import symptom_of
from agent.values import Diagnostic

MAX_RECOMPILES = 8
"""Recompiles spent on includes of one failure."""

MAX_PLACES = 3
"""Places in a file that are tried for one header."""

_NAMED = frozenset({"implicit", "undeclared", "unknown_type", "incomplete", "in_parameters", "syntax"})
_CLASH = frozenset({"conflict", "redefined", "linkage", "arity", "no_file"})
_HARMLESS = re.compile(
    r"^(?:format|sign-|unused|maybe-|uninit|discarded-|shadow|conversion|float-|nonnull|stringop|declaration-after|unknown-pragmas)"
)

Compile = Callable[[], Awaitable[CompileOutcome]]
OnTrial = Callable[[NeededInclude, int, bool], None]


class Proof(NamedTuple):
    """What trying includes came to: those ``kept`` (with the line each went in), the last ``outcome``, the recompiles
    spent, and the headers that did not help."""

    kept: tuple[NeededInclude, ...]
    outcome: CompileOutcome
    recompiles: int
    disproven: tuple[str, ...]
    check: Deterministic | None = None


async def fix_includes(
    project: ProjectFiles,
    target: str,
    compile_again: Compile,
    outcome: CompileOutcome,
    *,
    facts: BuildFacts | None = None,
    system: SystemNames | None = None,
    on_trial: OnTrial | None = None,
    limit: int = MAX_RECOMPILES,
    first: Sequence[NeededInclude] = (),
    made_from: Mapping[str, str] | None = None,
) -> Proof:
    """Add missing includes while complaints fall, at most ``limit`` recompiles; the files end with the proven ones only.

    ``outcome`` is the failed compile of ``target``; ``compile_again`` compiles the project as it then is. ``first`` are
    includes to try before those that the diagnostics ask for (a model's proposal). ``made_from`` names the file to change
    in place of a generated one.
    """
    trials = _Trials(project, target, compile_again, on_trial, limit)
    queue = list(first)
    dirs = facts.include_dirs if facts else ()
    check = None
    while not trials.spent:
        if not queue:
            check = await asyncio.to_thread(
                deterministic_check, outcome.stderr, project, target, diagnostics=outcome.diagnostics, facts=facts,
                system=system, disproven=tuple(trials.disproven), foresee=False,
            )  # fmt: skip
            queue = choose_headers([f for f in check.findings if f.outcome == "include"], project, dirs)
            queue = [replace(n, file=(made_from or {}).get(n.file, n.file)) for n in queue]
            queue = [n for n in queue if not trials.tried(n)]
        if not queue:
            break
        outcome, progressed = await trials.attempt(queue, outcome)
        queue = []
        if not progressed and not trials.new_alternatives:
            break
    return Proof(tuple(trials.kept), outcome, trials.count, tuple(sorted(trials.disproven)), check)


class _Trials:
    """Puts includes in, recompiles, judges, and takes out what did not help."""

    def __init__(
        self, project: ProjectFiles, target: str, compile_again: Compile, on_trial: OnTrial | None, limit: int
    ) -> None:
        self.project, self.target, self.compile, self.on_trial, self.limit = project, target, compile_again, on_trial, limit
        self.kept: list[NeededInclude] = []
        self.disproven: set[str] = set()
        self.seen: set[tuple[str, str]] = set()
        self.count = 0
        self.new_alternatives = False

    @property
    def spent(self) -> bool:
        return self.count >= self.limit

    def tried(self, needed: NeededInclude) -> bool:
        return (needed.file, needed.header) in self.seen

    async def attempt(self, queue: Sequence[NeededInclude], before: CompileOutcome) -> tuple[CompileOutcome, bool]:
        """Try all of ``queue`` in one recompile; when that is not clean for each, one by one, other places and headers."""
        self.new_alternatives = False
        if len(queue) > 1:
            undo, lines = self._insert(queue)
            after = await self._recompile()
            if all(self._judged(n, before, after) == "helped" for n in queue):
                for needed, line in zip(queue, lines, strict=True):
                    self._keep(needed, line)
                return after, True
            self._restore(undo)
        progressed = False
        for needed in queue:
            if self.spent:
                break
            before, better = await self._one(needed, before)
            progressed = progressed or better
        return before, progressed

    async def _one(self, needed: NeededInclude, before: CompileOutcome) -> tuple[CompileOutcome, bool]:
        """One include, at each of its places, then each other header that declares the same."""
        for header in (needed.header, *needed.alternatives):
            this = replace(needed, header=header, alternatives=())
            if header != needed.header and self.tried(this):
                continue
            line = 0
            for place in range(self._places(this)):
                if self.spent:
                    break
                undo, (line,) = self._insert([this], place)
                after = await self._recompile()
                verdict = self._judged(this, before, after)
                if verdict == "helped":
                    self._keep(this, line)
                    return after, True
                self._restore(undo)
                if verdict == "useless" and not self._undefined_below(this):
                    break  # no other place makes it declare the name
                if proven := await self._behind_what_it_asks_for(this, before, after):
                    return proven, True
            self._drop(this, line)
            if self.spent:
                break
        self.new_alternatives = True
        return before, False

    async def _behind_what_it_asks_for(
        self, needed: NeededInclude, before: CompileOutcome, refused: CompileOutcome
    ) -> CompileOutcome | None:
        """``needed`` behind the header of the project that an ``#error`` or ``#warning`` in it names; None where none is
        named, or both together do not help."""
        known = {d.message for d in before.diagnostics}
        said = [d.message for d in refused.diagnostics if _is_directive(d) and d.message not in known]
        named = (name for text in said for name in _HEADER_NAME.findall(text))
        found = (h for name in named for h in self.project.headers() if h == name or h.endswith(f"/{name}"))
        header = next((h for h in found if h not in (needed.header, needed.file)), "")
        if not header or self.spent:
            return None
        first = replace(needed, header=header, system=False, alternatives=())
        undo, lines = self._insert([first, needed])
        after = await self._recompile()
        if self._judged(needed, before, after) != "helped":
            self._restore(undo)
            return None
        for one, line in zip((first, needed), lines, strict=True):
            self._keep(one, line)
        return after

    def _judged(self, needed: NeededInclude, before: CompileOutcome, after: CompileOutcome) -> Verdict:
        return judged(needed, before, after, frozenset({needed.file, self.target}), self.project)

    def _undefined_below(self, needed: NeededInclude) -> bool:
        """Whether an ``#undef`` in the file takes away what the header declares, so that another place may do."""
        undefined = (d.argument for d in self.project.shape(needed.file).directives if d.keyword == "undef")
        return any(name in needed.symbols for argument in undefined for name in argument.split()[:1])

    def _places(self, needed: NeededInclude) -> int:
        lines = places_for(self.project, needed.file, system=needed.system, before_line=needed.before_line)
        return min(MAX_PLACES, len(lines))

    def _insert(self, queue: Sequence[NeededInclude], place: int = 0) -> tuple[dict[str, bytes], list[int]]:
        undo: dict[str, bytes] = {}
        lines: list[int] = []
        for needed in queue:
            undo.setdefault(needed.file, self.project.source(needed.file))
            shifted = needed.before_line + sum(n.file == needed.file for n in queue[: len(lines)])
            edit = add_include_to_file(
                needed.file, needed.header, self.project, system=needed.system, before_line=shifted, place=place,
                brackets=needed.brackets,
            )  # fmt: skip
            lines.append(edit.line)
        return undo, lines

    def _restore(self, undo: dict[str, bytes]) -> None:
        for path, source in undo.items():
            self.project.write(path, source)

    async def _recompile(self) -> CompileOutcome:
        self.count += 1
        return await self.compile()

    def _keep(self, needed: NeededInclude, line: int) -> None:
        self.seen.add((needed.file, needed.header))
        self.kept.append(needed)
        if self.on_trial:
            self.on_trial(needed, line, True)

    def _drop(self, needed: NeededInclude, line: int) -> None:
        self.seen.add((needed.file, needed.header))
        self.disproven.add(needed.header)
        if self.on_trial:
            self.on_trial(needed, line, False)


_HEADER_NAME = re.compile(r"[\w./+-]+\.h\b")

Verdict = Literal["helped", "useless", "refused"]
"""``useless``: the complaints about its names did not fall; ``refused``: they did, but it brought something new."""


def judged(
    needed: NeededInclude, before: CompileOutcome, after: CompileOutcome, own: frozenset[str], project: ProjectFiles
) -> Verdict:
    """Whether an include is proven: fewer complaints about its names, and nothing new that it brings.

    ``own`` are the files whose own faults may show up only now: the one compiled and the one that got the include.
    """
    if after.timed_out:
        return "refused"
    names = [re.compile(rf"\b{re.escape(s.removeprefix('struct '))}\b") for s in needed.symbols]
    about_before = [d for d in before.diagnostics if _about(d, names)]
    about_after = [d for d in after.diagnostics if _about(d, names)]
    gave_up = any(d.severity == "fatal" for d in after.diagnostics) and not any(
        d.severity == "fatal" for d in before.diagnostics
    )
    if not gave_up and about_before and len(about_after) >= len(about_before):
        return "useless"
    if gave_up:
        return "refused"
    if not about_before and len(after.diagnostics) >= len(before.diagnostics) and not _moved_on(before, after):
        return "useless"
    known = Counter(_key(d) for d in before.diagnostics)
    lines = {d.source_line.strip() for d in about_before if d.source_line}
    declared = header_table().names_of.get(needed.header, set())
    for d in after.diagnostics:
        if known[_key(d)] > 0:
            known[_key(d)] -= 1
        elif _brought(d, own, project) or _blocks(d, names, lines, declared):
            return "refused"
    return "helped"


def _brought(d: Diagnostic, own: frozenset[str], project: ProjectFiles) -> bool:
    """Whether a new complaint comes from what the include reads: another file's ``#error`` or fault, a macro it redefines.
    A name that another file of the project misses is no such complaint: its include is missing there."""
    kind, file = symptom_of(d).kind, project.resolve(d.file)
    if d.option == "cpp" or _is_directive(d) or d.message.endswith(" redefined"):
        return True
    if not d.file or file in own or d.severity == "note":
        return False
    error = d.severity in ("error", "fatal")
    return not (file is not None and error and kind in _NAMED) and (error or not _HARMLESS.match(d.option))


def _is_directive(d: Diagnostic) -> bool:
    """Whether a complaint is what an ``#error`` or ``#warning`` says. clang leaves the word out of its message."""
    return d.message.startswith(("#error", "#warning")) or bool(re.match(r"\s*#\s*(?:error|warning)\b", d.source_line))


def _moved_on(before: CompileOutcome, after: CompileOutcome) -> bool:
    """Whether a compiler that stops at its first error got further down the same file."""
    if len(before.diagnostics) != 1 or len(after.diagnostics) != 1:
        return False
    was, now = before.diagnostics[0], after.diagnostics[0]
    return was.file == now.file and now.line > was.line + 1  # one line is the include itself


def _blocks(d: Diagnostic, names: Sequence[re.Pattern[str]], lines: set[str], declared: set[str]) -> bool:
    """Whether a new complaint speaks against the include."""
    kind = symptom_of(d).kind
    message = plain_quotes(d.message)
    warned = _HARMLESS.match(d.option.removeprefix("error="))  # -Werror makes no other thing of it
    error = d.severity in ("error", "fatal") and not warned
    if error and kind in _CLASH and (any(n.search(message) for n in names) or _mentions(message, declared)):
        return True
    if d.file.startswith(("/usr/include", "/usr/lib")) and error:
        return True
    if d.source_line and d.source_line.strip() in lines:
        if error:
            return kind not in _NAMED and kind != "argument"
        harmless = bool(warned) and "(*)" not in message  # a function where a value was meant
        return not harmless and kind not in _NAMED and kind != "argument"
    return error and kind not in _NAMED and any(n.search(message) for n in names)


def _mentions(message: str, declared: set[str]) -> bool:
    return any(q in declared for q in re.findall(r"'(\w+)'", message))


def _about(d: Diagnostic, names: Sequence[re.Pattern[str]]) -> bool:
    symptom = symptom_of(d)
    if symptom.kind not in _NAMED and symptom.kind != "link_undefined" and "builtin" not in d.option:
        return False
    if symptom.kind == "syntax":
        return any(n.search(d.source_line) or n.search(d.message) for n in names)
    return any(n.search(d.message) or any(n.search(x) for x in symptom.names) for n in names)


def _key(d: Diagnostic) -> tuple[str, str, str]:
    return d.file.rsplit("/", 1)[-1], d.message, d.source_line.strip()
