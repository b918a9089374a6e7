"""What the rules on slips read: a definition, its file, the tests that use it, and places in them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from agent.python.names import unbound_uses
from agent.replacements import Replacement

Function = ast.FunctionDef | ast.AsyncFunctionDef

Mend = tuple[Replacement, str]
"""What is exchanged, and the sentence that says why."""


class Reading:
    """One version of a file with the definition ``node`` in it; ``users`` are the tests."""

    def __init__(self, source: bytes, tree: ast.Module, node: ast.ClassDef | Function, users: Sequence[ast.Module]) -> None:
        self.source = source
        self.tree = tree
        self.node = node
        self.users = users
        self._starts = [0]
        for line in source.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    @cached_property
    def unbound(self) -> dict[tuple[int, int], str]:
        """Line and column of each use of a name that nothing binds there, and the name."""
        return {(line, column): name for name, line, column in unbound_uses(self.source)}

    def uses_unbound(self, node: ast.AST) -> list[ast.Name]:
        """The names within ``node`` that nothing binds where they stand."""
        found = (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
        return [one for one in found if self.unbound.get((one.lineno, one.col_offset)) == one.id]

    def offset(self, line: int, column: int) -> int:
        """The place of a line (from 1) and a column in bytes, as the parser gives them."""
        return self._starts[line - 1] + column

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression begins and ends."""
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def lines(self, node: ast.stmt) -> tuple[int, int]:
        """Where the lines of a statement begin and end, decorators included."""
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        return self.offset(first, 0), min(len(self.source), self._starts[node.end_lineno or node.lineno])

    def indent(self, node: ast.stmt) -> str | None:
        """The blanks in front of a statement, None where something else stands on its line before it."""
        start = self.lines(node)[0]
        line = self.source[start : self.source.find(b"\n", start)]
        blanks = line[: len(line) - len(line.lstrip(b" \t"))]
        decorated = bool(getattr(node, "decorator_list", []))
        return blanks.decode() if decorated or len(blanks) == node.col_offset else None


Rule = Callable[[Reading], Iterator[Mend]]


def parameters(node: Function) -> list[str]:
    """The names of all parameters, of whatever kind."""
    args = node.args
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    return [one.arg for one in found]


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a string or another constant by itself, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def stored_names(node: ast.AST) -> set[str]:
    """Names that get a value anywhere within ``node``."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
