"""Whether an ``#if`` expression is true, as far as it can be told without a compiler."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|&&|\|\||[!=<>]=|<<|>>|[-+*/%!~<>()&|^?:,])[uUlL]*")
_BINARY: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip

FALLBACK_MACROS: dict[str, str] = {
    "__STDC__": "1", "__STDC_VERSION__": "201710", "__STDC_HOSTED__": "1", "__GNUC__": "12", "__GNUC_MINOR__": "2",
    "__linux__": "1", "__linux": "1", "linux": "1", "__unix__": "1", "__unix": "1", "unix": "1", "__gnu_linux__": "1",
    "__ELF__": "1", "__x86_64__": "1", "__x86_64": "1", "__amd64__": "1", "__LP64__": "1", "_LP64": "1",
    "__CHAR_BIT__": "8", "__SIZEOF_INT__": "4", "__SIZEOF_LONG__": "8", "__SIZEOF_POINTER__": "8", "__SIZEOF_INT128__": "16",
}  # fmt: skip
"""What a hosted 64-bit Linux compiler defines, for when none can be asked (``cc -dM -E``)."""


class _UnknownError(Exception):
    """The value depends on something that only a compiler knows."""


def evaluate(expression: str, macros: Mapping[str, str | None]) -> bool | None:
    """The truth of a preprocessor expression, None when it cannot be told.

    ``macros`` maps names to bodies; a body of None is a macro whose value is not known (function-like, or defined under
    an unknown condition). Names that are not in it are 0, as C says.
    """
    tokens = _tokens(expression)
    if tokens is None:
        return None
    try:
        parser = _Parser(tokens, macros)
        value = parser.ternary()
    except (_UnknownError, RecursionError):
        return None
    return bool(value) if value is not None and parser.at_end else None


def _tokens(expression: str) -> list[str] | None:
    tokens, position = [], 0
    expression = expression.strip()
    while position < len(expression):
        match = _TOKEN.match(expression, position)
        if not match:
            return None
        tokens.append(match.group(1))
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent over one expression. None is an unknown value; ``&&`` and ``||`` can still decide."""

    def __init__(self, tokens: list[str], macros: Mapping[str, str | None], depth: int = 0) -> None:
        self.tokens, self.macros, self.depth, self.at = tokens, macros, depth, 0

    @property
    def at_end(self) -> bool:
        return self.at >= len(self.tokens)

    def peek(self) -> str:
        return "" if self.at_end else self.tokens[self.at]

    def take(self) -> str:
        if self.at_end:
            raise _UnknownError
        self.at += 1
        return self.tokens[self.at - 1]

    def ternary(self) -> int | None:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.take()
        yes = self.ternary()
        if self.take() != ":":
            raise _UnknownError
        no = self.ternary()
        return None if condition is None else (yes if condition else no)

    def binary(self, level: int) -> int | None:
        if level == len(_BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in _BINARY[level]:
            operator = self.take()
            left = _apply(operator, left, self.binary(level + 1))
        return left

    def unary(self) -> int | None:
        token = self.take()
        if token in ("!", "-", "+", "~"):
            value = self.unary()
            if value is None:
                return None
            return {"!": int(not value), "-": -value, "+": value, "~": ~value}[token]
        if token == "(":
            value = self.ternary()
            if self.take() != ")":
                raise _UnknownError
            return value
        if token[0].isdigit():
            return int(token, 0) if not re.fullmatch(r"0\d+", token) else int(token, 8)
        if token == "defined":
            return self.defined()
        if token[0].isalpha() or token[0] == "_":
            return self.name(token)
        raise _UnknownError

    def defined(self) -> int | None:
        token = self.take()
        if token == "(":
            token = self.take()
            if self.take() != ")":
                raise _UnknownError
        return int(token in self.macros)

    def name(self, token: str) -> int | None:
        if self.peek() == "(":
            raise _UnknownError
        if token not in self.macros:
            return 0
        body = self.macros[token]
        if body is None or self.depth > 8:
            return None
        inner = _tokens(body)
        if not inner:
            return None
        parser = _Parser(inner, self.macros, self.depth + 1)
        value = parser.ternary()
        return value if parser.at_end else None


def _apply(operator: str, left: int | None, right: int | None) -> int | None:
    if operator == "&&":
        if left == 0 or right == 0:
            return 0
        return None if left is None or right is None else 1
    if operator == "||":
        if left or right:
            return 1
        return None if left is None or right is None else 0
    if left is None or right is None:
        return None
    if operator in ("/", "%"):
        if right == 0:
            raise _UnknownError
        return left // right if operator == "/" else left % right
    if operator in ("<<", ">>") and not 0 <= right < 64:
        raise _UnknownError
    results: dict[str, Callable[[], int]] = {
        "|": lambda: left | right, "^": lambda: left ^ right, "&": lambda: left & right,
        "==": lambda: left == right, "!=": lambda: left != right, "<": lambda: left < right,
        ">": lambda: left > right, "<=": lambda: left <= right, ">=": lambda: left >= right,
        "<<": lambda: left << right, ">>": lambda: left >> right, "+": lambda: left + right,
        "-": lambda: left - right, "*": lambda: left * right,
    }  # fmt: skip
    return int(results[operator]())
