"""Plain values that events and phases share. No behaviour beyond what a value knows about itself."""

from __future__ import annotations

from typing import Literal

import msgspec

RunStatus = Literal["complete", "partial", "failed", "stopped"]
"""complete: everything asked for was done and measured; partial: some of it; failed: none; stopped: by the person."""

DetailLevel = Literal["primary", "supporting", "type_context", "excluded"]
"""How much of a symbol the coding model gets to see."""

VerdictSource = Literal["overrule", "threshold", "parsed", "default"]
"""What decided a yes/no, strongest first."""

TaskKind = Literal["bug", "feature", "refactor", "implement", "test", "docs"]
"""What a task asks for."""

ErrorCategory = Literal["missing_include", "signature_mismatch", "missing_definition", "logic_error"]
FailureCategory = Literal["compile_error", "test_failure", "patch_failure", "runtime_error", "unknown"]


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of the immutable values."""


class Diagnostic(Value, frozen=True):
    """One message of a compiler or linker.

    ``line`` and ``column`` are 1-based, 0 when unknown. ``includes`` holds the headers (without brackets) that the
    compiler itself proposes. ``option`` is the warning flag without ``-W`` (``implicit-function-declaration``).
    """

    severity: Literal["error", "warning", "note", "fatal"]
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    option: str = ""
    source_line: str = ""
    notes: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


class PlanStep(Value, frozen=True):
    """One step of a plan. ``kind`` says which implementer takes it; ``interface`` are the files that a test step tests."""

    id: str
    description: str
    target_files: tuple[str, ...] = ()
    target_symbols: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    part: str = ""
    kind: Literal["implement", "function_implement", "type_definition", "scaffold", "test_implement", "documentation"] = (
        "implement"
    )
    interface: tuple[str, ...] = ()


class FailureSignal(Value, frozen=True):
    """One categorised failure. ``message`` holds at most 500 characters."""

    category: FailureCategory
    message: str
    source: str


class CheckResult(Value, frozen=True):
    """What one run of the checks measured. Counts are None when the runner's output does not tell them. ``endless``: a test
    that ran by itself did not end."""

    command: str
    exit_code: int
    ok: bool
    passed: int | None = None
    failed: int | None = None
    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    seconds: float = 0.0
    timed_out: bool = False
    output: str = ""
    endless: bool = False


class Rung(Value, frozen=True):
    """One rung of the error-classification ladder: what was asked of whom, and the answer."""

    question: str
    answer: str
    how: Literal["deterministic", "model", "recompile", "default"]
    call_id: int | None = None
