"""What one try at a function was like: its reply, its compile, what to tell the model next."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from agent.c.writing.extract import Extracted
from agent.models.types import ModelTarget
from agent.textfile import lines_of
from agent.values import Diagnostic, FailureCategory

TEMPERATURES = (0.0, 0.6, 0.8, 0.8, 0.9)
"""Added to the stage's own temperature, by attempt: the most likely answer first, then fresh samples. About 0.8 finds a
right one among many samples most often (Chen et al., Evaluating Large Language Models Trained on Code, 2021)."""

SHOWN_ERRORS = 4
"""Diagnostics in a retry prompt; a small model does not gain from more, and the first ones cause the rest."""


SHOWN_LINES = 4
SHOWN_WIDTH = 240
"""Of a failing check in the prompt for another version."""

SHOWN_CONTEXT = 600
"""Characters of what the classification knows in a retry prompt."""


_COMPILER_SAYS = "The compiler says:"


class CompileReport(Protocol):
    """What compiling one file came to, recoveries included. ``agent.compiling.curing.recovery.Recovered`` is one."""

    @property
    def ok(self) -> bool:
        """Whether it compiles."""
        ...

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the compiler said last, errors first."""
        ...

    @property
    def includes(self) -> tuple[tuple[str, str], ...]:
        """Include lines that were put in and kept, as (file, header)."""
        ...

    @property
    def needs(self) -> str:
        """What must be defined before this can compile, "" if nothing: the failure is then not a try of the function."""
        ...

    @property
    def context(self) -> str:
        """What else is known for the next prompt: both heads of a mismatch, a flag that is missing; "" if nothing."""
        ...


class Compiled(msgspec.Struct, frozen=True):
    """The plainest report."""

    ok: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    includes: tuple[tuple[str, str], ...] = ()
    context: str = ""
    needs: str = ""


class CompileFile(Protocol):
    """Compile the file ``path`` as it stands, after ``symbol`` was changed in it. May put include lines into files."""

    def __call__(self, path: str, symbol: str = "", signature: str = "") -> Awaitable[CompileReport]:
        """Never raises for broken code."""
        ...


class CheckScore(msgspec.Struct, frozen=True):
    """How a candidate did: ``points`` is the share of checks that pass, 1 when nothing more is asked of it, ``failure`` what
    the others say of it; ``faulty`` when sanitizers blame it."""

    points: float
    failure: str = ""
    faulty: bool = False


Score = Callable[[str], Awaitable[CheckScore | None]]
"""Called with a function's name while a compiled candidate stands in its file; None when nothing can run yet."""

BUG_WARNINGS = frozenset(
    {
        "use-after-free", "free-nonheap-object", "return-local-addr", "return-stack-address", "dangling-pointer",
        "uninitialized", "sometimes-uninitialized", "array-bounds", "stringop-overflow", "stringop-overread",
        "sizeof-pointer-memaccess", "infinite-recursion", "nonnull",
    }
)  # fmt: skip
"""Warnings of gcc and clang (their option names) that tell of a fault in new code and hardly ever of anything else."""


class Candidate(msgspec.Struct, frozen=True):
    """A candidate that compiled, and how well it did. ``bugs`` counts its warnings such as :data:`BUG_WARNINGS`, and one
    more when sanitizers blame it. ``reply`` is what it was taken from, where that is how it is put in place again."""

    text: str
    helpers: tuple[str, ...]
    score: float | None
    warnings: int
    order: int
    bugs: int = 0
    reply: str = ""

    @property
    def extracted(self) -> Extracted:
        """It as a reply gave it, to be put into its file."""
        return Extracted(self.text, self.helpers)

    @property
    def rank(self) -> tuple[float, int, int, int]:
        """Greater is better: checks passed, then fewer signs of a bug, fewer warnings, asked earlier."""
        return (self.score if self.score is not None else 0.0, -self.bugs, -self.warnings, -self.order)


class FunctionResult(msgspec.Struct, frozen=True):
    """How the implementing of one function ended. ``reason`` is a sentence and ``kind`` the category when it did not;
    ``candidates`` counts those that compiled, ``score`` is that of the chosen one; ``calls`` are the log ids of the model's
    calls."""

    ok: bool
    name: str
    path: str
    attempts: int
    reason: str = ""
    lines: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    candidates: int = 0
    score: float | None = None
    calls: tuple[int, ...] = ()
    kind: FailureCategory = "unknown"
    versions: tuple[Candidate, ...] = ()
    """Every candidate that compiled."""


def temperature_for(attempt: int, base: float) -> float:
    """The sampling temperature of the ``attempt``-th try (from 1)."""
    return min(base + TEMPERATURES[min(attempt, len(TEMPERATURES)) - 1], 1.0)


_UNDECLARED_CALL = re.compile(r"(?:implicit declaration of|call to undeclared) function\W+(\w+)")
_ADVICE = (
    "There is no function {name}. Do not call it: write what it should do in its place, "
    "or define it as a static function above."
)


def errors_of(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Those that keep a file from compiling."""
    return [one for one in diagnostics if one.severity in ("error", "fatal")]


def bugs_in(diagnostics: Sequence[Diagnostic], path: str, lines: range) -> list[Diagnostic]:
    """The warnings that mean a bug within ``lines`` of ``path``."""
    name = path.rsplit("/", 1)[-1]
    return [
        one
        for one in diagnostics
        if one.option.removeprefix("-W").partition("=")[0] in BUG_WARNINGS and one.file.endswith(name) and one.line in lines
    ]


def warning_trouble(bugs: Sequence[Diagnostic], source: bytes) -> str:
    """Warnings that mean a bug, with the lines they point at, as the next prompt shows them."""
    lines = lines_of(source.decode("utf-8", "replace"))
    shown = []
    for one in bugs[:SHOWN_ERRORS]:
        code = one.source_line.strip() or (lines[one.line - 1].strip() if 0 < one.line <= len(lines) else "")
        shown.append(f"warning: {one.message}" + (f"\n    in this line: {code}" if code else ""))
    return "\n".join([_COMPILER_SAYS, *shown])


def compile_trouble(report: CompileReport, path: str, source: bytes, *, quoting: bool = True) -> str:
    """The first errors with the lines they point at, as the next prompt shows them, then what else the report knows. Where a
    function is asked for afresh they are not quoted: a small model that is shown a wrong line writes it again."""
    lines = lines_of(source.decode("utf-8", "replace"))
    shown = []
    for one in errors_of(report.diagnostics)[:SHOWN_ERRORS] or report.diagnostics[:SHOWN_ERRORS]:
        mine = not one.file or one.file.endswith(path) or path.endswith(one.file)
        code = one.source_line.strip() or (lines[one.line - 1].strip() if mine and 0 < one.line <= len(lines) else "")
        shown.append(f"error: {one.message}" + (f"\n    in this line: {code}" if code and quoting else ""))
    known = "\n".join(line for line in report.context.splitlines() if not _is_diagnostic(line))[:SHOWN_CONTEXT].strip()
    shown += [_ADVICE.format(name=name) for name in undeclared_calls(report.diagnostics)]
    said = "\n".join([_COMPILER_SAYS, *dict.fromkeys(shown)]) if shown else "It does not compile."
    return f"{said}\n{known}" if known else said


def undeclared_calls(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """Functions that are called and that nobody declares: had a header declared them, it would be included by now."""
    names = (found[1] for one in errors_of(diagnostics) if (found := _UNDECLARED_CALL.search(one.message)))
    return list(dict.fromkeys(names))


def brief(failure: str) -> str:
    """The lines of a failing check that tell what was wrong: where a tool marks them, these alone, at most
    :data:`SHOWN_LINES`. A small model copies what it is shown, and a long report costs as much as the function."""
    lines = [line.rstrip() for line in failure.splitlines() if line.strip()]
    marked = [line for line in lines if re.match(r"\s*(?:>|E)\s{2,}|.*\b(?:FAIL|Assertion|Error)\b", line)] or lines
    return "\n".join(dict.fromkeys(line[:SHOWN_WIDTH] for line in marked[:SHOWN_LINES]))


def headline(trouble: str) -> str:
    """The line of a trouble that says most, for a reason shown to a person."""
    lines = [line.strip() for line in trouble.splitlines() if line.strip() and line != _COMPILER_SAYS]
    return lines[0].removeprefix("error: ") if lines else "no usable reply came"


def _is_diagnostic(line: str) -> bool:
    """Whether a line of context repeats the compiler's output: a located message, or the quoted source below one."""
    return bool(re.search(r":\d+(?::\d+)?: |: (?:fatal )?(?:error|warning|note): |^\s*\d*\s*\||^\s*\^", line))


def room_for(target: ModelTarget, reply_tokens: int) -> int:
    """Characters that a prompt may have beside a reply of ``reply_tokens``: three a token for code, which is on the safe
    side of what tokenizers need, less the instruction and the chat's own framing."""
    return max(1500, (target.context_window - reply_tokens - 400) * 3)
