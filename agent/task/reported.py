"""What a task reports about single calls: ``slug('A 1') gives 'a' instead of 'a1'``. Words only; nothing is run.

Such a report has a wrong and a right result, as Python literals. The examples in a contract have another form, with literals
of C too, and a reader of their own (``agent/coding/stated.py``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from agent.brackets import to_closing_bracket
from agent.values import Value

_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")
_SHOULD = re.compile(
    r"[`'\"]?\s*(?:should|must|ought\s+to|has\s+to|needs\s+to|is\s+expected\s+to|is\s+supposed\s+to)\s+"
    r"(?:return|give|be|yield|equal|produce|evaluate\s+to)\s+", re.I
)  # fmt: skip
_RAISE = re.compile(r"[`'\"]?\s*(?:should|must|ought\s+to|has\s+to|needs\s+to)\s+raise\s+(?:an?\s+)?`?([A-Z]\w*)", re.I)
_DOES = re.compile(r"[`'\"]?\s*(?:returns|gives|yields|is|produces|evaluates\s+to|==|->|→|=>)\s+", re.I)
_INSTEAD = re.compile(
    r"[`'\"]?\s*[,;(]?\s*(?:instead\s+of|rather\s+than|not|(?:(?:but|and|where|which)\s+)?(?:it\s+)?should\s+"
    r"(?:be|return|give|have\s+been)|(?:but\s+)?(?:I\s+|we\s+)?expect(?:ed)?(?:\s+is)?:?)\s+", re.I
)  # fmt: skip
_LONGEST = 200


class ReportedCall(Value, frozen=True):
    """One call and what it should come to. ``arguments`` and ``wanted`` are Python literals as the task writes them;
    ``raises`` names an exception in place of a result."""

    name: str
    arguments: str
    wanted: str = ""
    raises: str = ""

    @property
    def shown(self) -> str:
        """As a person reads it."""
        return f"{self.name}{self.arguments} should {f'raise {self.raises}' if self.raises else f'return {self.wanted}'}"


def reported_calls(task: str) -> list[ReportedCall]:
    """The calls with literal arguments whose right result the task tells, in its order, each once."""
    found: dict[tuple[str, str], ReportedCall] = {}
    for match in _CALL.finditer(task):
        arguments = to_closing_bracket(task, match.end() - 1, _LONGEST)
        if not arguments or not _is_literal(f"({arguments[1:-1]},)" if arguments != "()" else "()"):
            continue
        rest = task[match.end() - 1 + len(arguments) :][:_LONGEST]
        for one in _expected(match[1], arguments, rest):
            found.setdefault((one.name, one.arguments), one)
    return list(found.values())


def _expected(name: str, arguments: str, rest: str) -> Iterator[ReportedCall]:
    raising = _RAISE.match(rest)
    if raising:
        yield ReportedCall(name, arguments, raises=raising[1])
        return
    told = _SHOULD.match(rest)
    if told is None:
        does = _DOES.match(rest)
        wrong = _literal_at(rest[does.end() :]) if does else ""
        instead = _INSTEAD.match(rest[does.end() + len(wrong) :]) if does and wrong else None
        if does is None or instead is None:
            return
        wanted = _literal_at(rest[does.end() + len(wrong) + instead.end() :])
    else:
        wanted = _literal_at(rest[told.end() :])
    if wanted:
        yield ReportedCall(name, arguments, wanted.strip("` "))


def _literal_at(text: str) -> str:
    """The longest literal that a text begins with, with a backtick before it; "" for none."""
    lead = "`" if text.startswith("`") else ""
    body = text[len(lead) :]
    if body[:1] in ("'", '"'):
        end = body.find(body[0], 1)
        found = body[: end + 1] if end > 0 else ""
    elif body[:1] in ("[", "(", "{"):
        found = to_closing_bracket(body, 0, _LONGEST)
    else:
        match = re.match(r"-?\d+(?:\.\d+)?(?:e-?\d+)?|True\b|False\b|None\b|set\(\)", body)
        found = match[0] if match else ""
    return lead + found if found and _is_literal(found) else ""


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True
