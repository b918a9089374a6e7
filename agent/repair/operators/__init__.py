"""Edit operators: each proposes small changes of one kind to a function. Add one with :func:`registry.operator`."""

from agent.repair.operators import (
    branches,
    c_only,
    conditions,
    conversions,
    expected_results,
    expressions,
    grouping,
    names,
    python_only,
    raising,
    siblings,
    statements,
    texts,
    told,
    values,
)
from agent.repair.operators.registry import OPERATORS, EditParts, Operator, Site, Told, changes, operator

BY_WHAT_CHECKS_SAY = frozenset(
    {
        "argument-converted", "converted", "expected-check", "expected-raise", "expected-text", "filtered", "made-check",
        "missing-text", "near-text", "result-shape", "spelling", "told-text",
    }
)  # fmt: skip
"""Operators on Python that read what they put in from failing checks, or that only change a result's form."""

__all__ = [
    "BY_WHAT_CHECKS_SAY", "OPERATORS", "EditParts", "Operator", "Site", "Told", "branches", "c_only", "changes",
    "conditions", "conversions", "expected_results", "expressions", "grouping", "names", "operator", "python_only",
    "raising", "siblings", "statements", "texts", "told", "values",
]  # fmt: skip
