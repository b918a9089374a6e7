"""What is a stub, told from what only looks like one.

A function is a stub when there is *evidence*, in this order:

1. its body holds our marker;
2. its body does nothing but return constants, abort or say so, and a comment in or directly above it, or a string in
   it, says that it is not written yet (TODO, FIXME, stub, not implemented, ...), or it sets ``errno = ENOSYS``;
3. its body is empty although it returns a value (C), or is ``...`` or ``raise NotImplementedError`` where no subclass is
   meant to fill it (Python).

Weak evidence (an empty ``void`` body, every parameter cast to void before a constant is returned, a bare ``abort()``, a
bare ``pass``, an ``__init__`` that takes values and sets attributes to None) counts only in company: when the same file
holds a function that is a stub by the rules above, when no function of a Python file is written, or when tests name a Python
function that takes values. ``return 0;`` alone is a function like any other.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

Evidence = Literal["certain", "weak", "none"]

UNWRITTEN = re.compile(
    r"(?-i:\b(?:TODO|FIXME|XXX)\b)|\btodo\s*[:(]|\b(?:stub(?:bed)?|placeholder|unimplemented|implement\s+(?:me|this|here)|your\s+code\s+here|"
    r"not\s+(?:yet\s+)?(?:been\s+)?implemented|not\s+written\s+yet|to\s+be\s+(?:implemented|written|done)|"
    r"needs?\s+(?:to\s+be\s+)?implement(?:ed|ation|ing))\b|cra:stub|\bNotImplemented",
    re.I,
)


class Stub(msgspec.Struct, frozen=True):
    """A function without a real body. ``name`` is qualified for methods; ``line`` and ``end_line`` are 1-based and
    inclusive, decorators included; ``doc`` is its contract as it stands in the source."""

    name: str
    line: int
    end_line: int
    signature: str
    doc: str
