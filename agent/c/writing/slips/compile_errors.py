"""Errors of a compiler that are set right where only one thing can be meant, all kinds."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agent.c.writing.slips.array_from_string import with_strings_copied
from agent.c.writing.slips.math_constants import with_values
from agent.c.writing.slips.promoted_warnings import without_promoted_warnings
from agent.c.writing.slips.variable_length_array import with_arrays_cleared
from agent.values import Diagnostic


def without_errors(
    source: bytes, diagnostics: Sequence[Diagnostic], lines: Collection[int], headers: Sequence[bytes] = ()
) -> tuple[bytes, tuple[str, ...]]:
    """``source`` with errors of one kind on ``lines`` (from 1) set right, and a sentence for each: strings assigned to
    arrays, arrays of variable length with an initialiser, constants that ISO C lacks, warnings that the project's flags
    turn into errors. ``headers`` may define the structs."""
    for mended, told in (
        with_strings_copied(source, diagnostics, lines, headers),
        with_arrays_cleared(source, diagnostics, lines),
        with_values(source, diagnostics, lines),
        without_promoted_warnings(source, diagnostics, lines),
    ):
        if told:
            return mended, told
    return source, ()
