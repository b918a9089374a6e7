"""What the classifier says about a failed compile."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.c.preprocessor.includes import spelled
from agent.values import Diagnostic, ErrorCategory, Rung

ERROR_CAT_MISSING_INCLUDE: ErrorCategory = "missing_include"
ERROR_CAT_SIGNATURE_MISMATCH: ErrorCategory = "signature_mismatch"
ERROR_CAT_MISSING_DEFINITION: ErrorCategory = "missing_definition"
ERROR_CAT_LOGIC_ERROR: ErrorCategory = "logic_error"

VALID_ERROR_CATEGORIES: frozenset[ErrorCategory] = frozenset(
    {
        ERROR_CAT_MISSING_INCLUDE,
        ERROR_CAT_SIGNATURE_MISMATCH,
        ERROR_CAT_MISSING_DEFINITION,
        ERROR_CAT_LOGIC_ERROR,
    }
)


@dataclass(frozen=True, slots=True)
class NeededInclude:
    """An include that would bring ``symbols``: ``file`` is the project file it belongs in, above ``before_line``.

    ``alternatives`` are further headers that declare the same, in the order to try them when ``header`` does not help.
    ``brackets`` says that the file names the project's headers in brackets.
    """

    header: str
    system: bool
    file: str
    before_line: int
    symbols: tuple[str, ...]
    alternatives: tuple[str, ...] = ()
    hinted: bool = False
    brackets: bool = False

    @property
    def text(self) -> str:
        """The include line."""
        return spelled(self.header, self.system or self.brackets)


@dataclass(frozen=True, slots=True)
class CompilerErrorClassification:
    """Result of compiler error classification on the retry path.

    ``raw_error`` is the compiler's text unchanged. ``suggested_include`` is the first of ``includes``; ``headers`` names
    all that are needed. ``how`` is deterministic, recompile, model or default. ``path`` is the ladder of rungs.
    ``symbol`` is the function or type that is missing or disagrees, ``flag`` the compiler or linker flag (or feature-test
    macro) that a build setting lacks, ``rename`` the name to give to a function whose own name the C library has taken.

    Raises:
        ValueError: the category is unknown, or ``raw_error`` is empty: there is then nothing to classify.
    """

    category: ErrorCategory
    raw_error: str
    suggested_include: str | None = None
    diagnostic_context: str | None = None
    how: str = "deterministic"
    path: tuple[Rung, ...] = ()
    includes: tuple[NeededInclude, ...] = ()
    symbol: str = ""
    flag: str = ""
    rename: str = ""
    diagnostics: tuple[Diagnostic, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not self.raw_error.strip():
            raise ValueError("A classification needs the compiler's text; it is empty.")
        if self.category not in VALID_ERROR_CATEGORIES:
            raise ValueError(
                f"{self.category!r} is not an error category; use one of {', '.join(sorted(VALID_ERROR_CATEGORIES))}."
            )

    @property
    def headers(self) -> tuple[str, ...]:
        """Every header needed, first the suggested one."""
        return tuple(dict.fromkeys(i.header for i in self.includes)) or (
            (self.suggested_include,) if self.suggested_include else ()
        )
