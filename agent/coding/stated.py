"""Examples that a contract or a document states of a function: ``gcd(12, 18) → 6``, ``f("a") returns 1``, ``>>> f(2)``.

Facts only: an example counts when its arguments and its result are literals. What is said in other words is not read.
"""

from __future__ import annotations

import ast
import re

from agent.brackets import to_closing_bracket
from agent.values import Value

MOST = 8
"""Examples of one function."""

_TEXT = r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_LITERAL = rf"(?:-?\d+(?:\.\d+)?[uUlLfF]*(?![\w.]*\w)|{_TEXT}|[Tt]rue|[Ff]alse|NULL|None|\[[^\]\n]*\]|\([^)\n]*\))"
_COMES_TO = r"(?:→|->|=>|==+|⇒|(?:would\s+|should\s+|must\s+)?(?:returns?|gives?|yields?|is|evaluates\s+to|equals?))"
_RESULT = re.compile(rf"\s*`?\s*{_COMES_TO}\s*`?({_LITERAL})")
_PROMPT = re.compile(rf"\s*\n\s*({_LITERAL})\s*(?:\n|$)")


class Stated(Value, frozen=True):
    """``call`` as the text spells it, and the literal that it comes to."""

    call: str
    result: str

    @property
    def shown(self) -> str:
        """As a person reads it."""
        return f"{self.call} → {self.result}"


def stated_of(name: str, text: str) -> tuple[Stated, ...]:
    """What ``text`` states of the function ``name``, each call once, in order. A call that is stated with two results is
    left out: one of them is about something else."""
    own = name.rpartition(".")[2]
    found: dict[str, set[str]] = {}
    for start in re.finditer(rf"(?<![\w.>]){re.escape(own)}\(", text):
        call = _call_at(text, start.start())
        if not call or not _all_literal(call[len(own) + 1 : -1]):
            continue
        rest = text[start.start() + len(call) :]
        prompted = text[: start.start()].rstrip(" ").endswith(">>>")
        result = _PROMPT.match(rest) if prompted else _RESULT.match(rest)
        if result is not None:
            found.setdefault(" ".join(call.split()), set()).add(result[1])
    return tuple(Stated(call, next(iter(results))) for call, results in found.items() if len(results) == 1)[:MOST]


def _call_at(text: str, start: int) -> str:
    """The call that begins there, to its closing bracket; "" when it does not end on its line."""
    line = text[start:].partition("\n")[0]
    opening = line.index("(")
    arguments = to_closing_bracket(line, opening)
    return line[:opening] + arguments if arguments else ""


def _all_literal(arguments: str) -> bool:
    words = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", re.sub(r"\bNULL\b", "None", arguments)))
    words = re.sub(r"(?<=\d)[uUlLfF]+\b", "", words)
    try:
        ast.literal_eval(f"({words},)" if words.strip() else "()")
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False
    return True
