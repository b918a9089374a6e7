"""How Python's special methods are called: nobody writes `a.__matmul__(b)`, so a failure shows `a @ b` (the data model)."""

from __future__ import annotations

import re

_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_CALLED = frozenset(
    {"len", "str", "repr", "iter", "next", "bool", "int", "float", "hash", "abs", "bytes", "format", "reversed", "round"}
)
_OTHER = {
    "getitem": r"[\w)\]]\[", "setitem": r"[\w)\]]\[[^\]]*\] = ", "delitem": r"\bdel\b.*\[", "contains": r"\bin\b",
    "iter": r"\bfor\b.*\bin\b|\biter\(", "enter": r"\bwith\b", "exit": r"\bwith\b",
    "neg": r"(?:^|[(=,]\s*|\b(?:assert|return|not|and|or|in) )-[A-Za-z(]", "invert": "~",
}  # fmt: skip


def is_special(name: str) -> bool:
    """Whether a method is one that Python calls itself."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def use_pattern(name: str) -> re.Pattern[str] | None:
    """What a use of the special method ``name`` looks like in code; None when it cannot be told."""
    if not is_special(name):
        return None
    own = name[2:-2]
    plain = own[1:] if own[:1] in "ri" and own[1:] in _BINARY else own
    if plain in _BINARY:
        sign = re.escape(_BINARY[plain])
        return re.compile(rf"(?<=[\w)\]'\"]) {sign}=? (?!\w*(?:Error|Exception|assert))(?=[\w(\['\"-])")
    if own in _COMPARED:
        return re.compile(rf" {re.escape(_COMPARED[own])} ")
    if own in _OTHER:
        return re.compile(_OTHER[own], re.M)
    return re.compile(rf"\b{own}\(") if own in _CALLED else None
