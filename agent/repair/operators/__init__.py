"""Edit operators: each proposes small changes of one kind to a function. Add one with :func:`registry.operator`."""

from agent.repair.operators import (
    branches,
    c_only,
    conditions,
    conversions,
    expressions,
    grouping,
    names,
    python_only,
    raising,
    statements,
    texts,
    told,
    values,
)
from agent.repair.operators.registry import OPERATORS, EditParts, Operator, Site, Told, changes, operator

__all__ = [
    "OPERATORS", "EditParts", "Operator", "Site", "Told", "branches", "c_only", "changes", "conditions", "conversions",
    "expressions", "grouping", "names", "operator", "python_only", "raising", "statements", "texts", "told", "values",
]  # fmt: skip
