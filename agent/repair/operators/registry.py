"""The table of edit operators, and what a generator is given to read.

An operator is a generator over one function: it yields the changes of its kind. Register it with :func:`operator`; its
``weight`` says how often faults of this kind are met (1.0 for the most frequent), after the counts that the literature on
mutation and on one-line fixes gives for such changes (Just et al., FSE 2014; Karampatsis and Sutton, MSR 2020).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import msgspec
import tree_sitter

from agent.language.nodes import walk
from agent.languages import LANGUAGES
from agent.repair.functions import Function

BOTH = tuple(language.name for language in LANGUAGES)


class EditParts(msgspec.Struct, frozen=True):
    """Pieces of text to be replaced: (start, end, new text) in bytes of the file. ``line`` is the line that the change is
    about, from 1; ``weight`` multiplies the operator's own."""

    parts: tuple[tuple[int, int, str], ...]
    line: int
    weight: float = 1.0


Generator = Callable[["Site"], Iterable[EditParts]]


class Operator(msgspec.Struct, frozen=True):
    """One kind of edit: ``name`` as in the configuration, ``what`` in one line."""

    name: str
    what: str
    languages: tuple[str, ...]
    weight: float
    generate: Generator


OPERATORS: dict[str, Operator] = {}
"""All operators by name."""


def operator(
    name: str, what: str, languages: tuple[str, ...] = BOTH, weight: float = 0.5
) -> Callable[[Generator], Generator]:
    """Put a generator into the table."""

    def register(generate: Generator) -> Generator:
        OPERATORS[name] = Operator(name, what, languages, weight, generate)
        return generate

    return register


def changes(site: Site, off: Iterable[str] = ()) -> Iterator[tuple[Operator, EditParts]]:
    """Everything that the operators of the site's language propose, those named in ``off`` left out."""
    left_out = set(off)
    for one in OPERATORS.values():
        if site.language in one.languages and one.name not in left_out:
            for change in one.generate(site):
                if any(site.source[a:b].decode("utf-8", "replace") != text for a, b, text in change.parts):
                    yield one, change


def inserted(old: bytes, new: bytes) -> tuple[tuple[int, int, str], ...]:
    """The one insertion that makes ``new`` of ``old``, as a piece of text to be replaced; none where they are the same."""
    at = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), len(old))
    longer = len(new) - len(old)
    return ((at, at, new[at : at + longer].decode("utf-8", "surrogateescape")),) if longer else ()


_BINARY = {"binary_operator", "boolean_operator", "comparison_operator", "binary_expression"}
_STATEMENTS = re.compile(r"_statement$|^declaration$|^statement$")
_CONTAINERS = {"block", "compound_statement", "case_statement", "module"}


class Binary(msgspec.Struct, frozen=True):
    """``left operator right``."""

    node: tree_sitter.Node
    left: tree_sitter.Node
    sign: tree_sitter.Node
    right: tree_sitter.Node
    text: str


class CallNode(msgspec.Struct, frozen=True):
    """A call: ``name`` is the last part of what is called, ``receiver`` what stands before the dot ("" for none)."""

    node: tree_sitter.Node
    function: tree_sitter.Node
    arguments: tuple[tree_sitter.Node, ...]
    name: str
    receiver: str


class Told(msgspec.Struct, frozen=True):
    """What is known beside the code: ``said`` by the failing checks, a message each; ``wanted``, the words of the task and
    of the contract; ``raised``, the exceptions that failing checks expect, as they are written to be raised; ``texts``, the
    strings in the sources of failing checks."""

    said: tuple[str, ...] = ()
    wanted: str = ""
    raised: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


class Site:
    """A function with what operators ask of it, read once."""

    def __init__(self, function: Function, others: Iterable[str] = (), told: Told | None = None) -> None:
        self.function = function
        self.language = function.language
        self.source = function.source
        self.body = function.body
        self.others = tuple(others)
        """Names of the file's other functions."""

        self.said = told.said if told is not None else ()
        self.raised = told.raised if told is not None else ()
        self.texts = told.texts if told is not None else ()
        self.wanted = f"{told.wanted}\n{function.contract}" if told is not None else ""

    @property
    def python(self) -> bool:
        """Whether it is Python."""
        return self.language == "python"

    def text(self, node: tree_sitter.Node) -> str:
        """What a node is written as."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    @staticmethod
    def line(node: tree_sitter.Node) -> int:
        """The node's first line, from 1."""
        return int(node.start_point[0]) + 1

    def replace(self, node: tree_sitter.Node, text: str, weight: float = 1.0) -> EditParts:
        """One node becomes ``text``."""
        return EditParts(((node.start_byte, node.end_byte, text),), self.line(node), weight)

    def swap(self, one: tree_sitter.Node, other: tree_sitter.Node, weight: float = 1.0) -> EditParts:
        """Two nodes change places."""
        parts = (
            (one.start_byte, one.end_byte, self.text(other)),
            (other.start_byte, other.end_byte, self.text(one)),
        )
        return EditParts(parts, self.line(one), weight)

    @cached_property
    def nodes(self) -> list[tree_sitter.Node]:
        """All nodes of the body."""
        return list(walk(self.body))

    def of(self, *types: str) -> list[tree_sitter.Node]:
        """The nodes of these types."""
        wanted = set(types)
        return [node for node in self.nodes if node.type in wanted]

    @cached_property
    def binaries(self) -> list[Binary]:
        """Operations with two operands; ``not in`` and ``is not`` are one operator."""
        found = []
        for node in self.nodes:
            if node.type not in _BINARY or len(node.named_children) != 2 or node.child_count < 3:
                continue
            left, right = node.named_children
            sign = next((one for one in node.children if left.end_byte <= one.start_byte < right.start_byte), None)
            if sign is not None:
                text = self.source[left.end_byte : right.start_byte].decode("utf-8", "replace").strip()
                found.append(Binary(node, left, sign, right, text))
        return found

    def sign(self, binary: Binary, text: str, weight: float = 1.0) -> EditParts:
        """Another operator in place of this one, with the blanks that are there."""
        between = self.source[binary.left.end_byte : binary.right.start_byte].decode("utf-8", "replace")
        lead = between[: len(between) - len(between.lstrip())]
        tail = between[len(between.rstrip()) :]
        if text.isalpha() or not text[0].isascii() or " " in text or text[0].isalpha():
            lead, tail = lead or " ", tail or " "
        span = (binary.left.end_byte, binary.right.start_byte, f"{lead}{text}{tail}")
        return EditParts((span,), self.line(binary.sign), weight)

    @cached_property
    def calls(self) -> list[CallNode]:
        """All calls."""
        found = []
        for node in self.of("call", "call_expression"):
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if function is None or arguments is None or arguments.type != "argument_list":
                continue
            text = self.text(function)
            receiver, _, name = text.rpartition(".") if self.python else ("", "", text)
            args = tuple(one for one in arguments.named_children if one.type != "comment")
            found.append(CallNode(node, function, args, name, receiver))
        return found

    @cached_property
    def conditions(self) -> list[tree_sitter.Node]:
        """What is tested by if, while, for (C), conditional expressions and comprehensions; without C's parentheses."""
        found = []
        for node in self.nodes:
            if node.type in ("if_statement", "elif_clause", "while_statement", "do_statement", "for_statement",
                             "conditional_expression"):  # fmt: skip
                test = node.child_by_field_name("condition")
                if test is None and node.type == "conditional_expression" and len(node.named_children) == 3:
                    test = node.named_children[1]
                if test is not None and test.type == "parenthesized_expression" and not self.python and test.named_children:
                    test = test.named_children[0]
                if test is not None:
                    found.append(test)
            elif node.type == "if_clause" and node.named_children:
                found.append(node.named_children[0])
        return found

    @cached_property
    def statements(self) -> list[tuple[tree_sitter.Node, tuple[tree_sitter.Node, ...], int]]:
        """(statement, all statements of its block, its place among them), compound ones too."""
        found = []
        for node in [self.body, *self.nodes]:
            if node.type in _CONTAINERS:
                inner = tuple(one for one in node.named_children if self.is_statement(one))
                found += [(one, inner, place) for place, one in enumerate(inner)]
        unique = {(one.start_byte, one.end_byte, one.type): (one, inner, place) for one, inner, place in found}
        return list(unique.values())

    @cached_property
    def first_statement(self) -> tree_sitter.Node | None:
        """The first statement of the body behind the docstring."""
        inside = sorted((one for one, _, _ in self.statements if one.parent == self.body), key=lambda one: one.start_byte)
        first = inside[0].named_children[:1] if inside and inside[0].type == "expression_statement" else []
        return next(iter(inside[1:] if first and first[0].type == "string" else inside), None)

    @staticmethod
    def is_statement(node: tree_sitter.Node) -> bool:
        """Whether a node is a statement (a declaration counts)."""
        return _STATEMENTS.search(node.type) is not None and node.type != "comment"

    def is_simple(self, node: tree_sitter.Node) -> bool:
        """Whether a statement holds no other statement."""
        return not any(child.type in _CONTAINERS or self.is_statement(child) for child in walk(node) if child != node)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters, ``self`` and ``cls`` left out."""
        declarator = self.function.node.child_by_field_name("parameters")
        found: list[str] = []
        if declarator is None:
            inner = self.function.node.child_by_field_name("declarator")
            declarator = next((one for one in walk(inner) if one.type == "parameter_list"), None) if inner else None
        for child in declarator.named_children if declarator is not None else ():
            ids = [one for one in walk(child) if one.type == "identifier"]
            if ids:
                found.append(self.text(ids[0] if self.python else ids[-1]))
        return tuple(name for name in dict.fromkeys(found) if name not in ("self", "cls"))

    @cached_property
    def locals(self) -> tuple[str, ...]:
        """Names that the function gives values to, loop variables included."""
        found: list[str] = []
        for node in self.nodes:
            target = None
            if node.type in (
                "assignment",
                "augmented_assignment",
                "for_statement",
                "for_in_clause",
                "assignment_expression",
            ):
                target = node.child_by_field_name("left")
            elif node.type in ("init_declarator", "declaration"):
                for part in node.children_by_field_name("declarator"):
                    name = part
                    while name is not None and name.type not in ("identifier", "init_declarator"):
                        inner = name.child_by_field_name("declarator")
                        name = inner if inner is not None else None  # type: ignore[assignment]
                    if name is not None and name.type == "identifier":
                        found.append(self.text(name))
            if target is None:
                continue
            if target.type == "identifier":
                found.append(self.text(target))
            elif target.type in ("pattern_list", "tuple_pattern", "tuple"):
                found += [self.text(one) for one in walk(target) if one.type == "identifier"]
        return tuple(dict.fromkeys(found))

    @cached_property
    def pointers(self) -> frozenset[str]:
        """C: parameters and local names that are declared as pointers or arrays."""
        declared = [one for one in walk(self.function.node) if one.type in ("pointer_declarator", "array_declarator")]
        names = (next((one for one in walk(node) if one.type == "identifier"), None) for node in declared)
        return frozenset(self.text(name) for name in names if name is not None)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Parameters, then other names with values, each once."""
        return tuple(dict.fromkeys((*self.parameters, *self.locals)))

    @cached_property
    def flags(self) -> frozenset[str]:
        """Variables that are set to 0 and 1, or to True and False, and to nothing else: they say yes or no."""
        values: dict[str, set[str]] = {}
        for node in self.of("assignment", "assignment_expression", "augmented_assignment", "init_declarator",
                            "update_expression", "for_statement"):  # fmt: skip
            fields = ("left", "declarator", "argument")
            target = next((one for field in fields if (one := node.child_by_field_name(field)) is not None), None)
            value = node.child_by_field_name("right") or node.child_by_field_name("value")
            plain = node.type in ("assignment", "assignment_expression", "init_declarator") and value is not None
            if target is not None:
                values.setdefault(self.text(target), set()).add(self.text(value) if plain and value is not None else "")
        pairs = ({"0", "1"}, {"False", "True"}, {"false", "true"})
        return frozenset(name for name, found in values.items() if found in pairs)

    @cached_property
    def uses(self) -> list[tree_sitter.Node]:
        """Identifiers that stand for a variable's value: no targets, no called names, no attributes, no keywords."""
        known = set(self.variables)
        return [node for node in self.of("identifier") if self.text(node) in known and self._is_use(node)]

    @staticmethod
    def _is_use(node: tree_sitter.Node) -> bool:
        parent = node.parent
        if parent is None:
            return False
        named = {parent.child_by_field_name(name) for name in ("attribute", "function", "name", "declarator")}
        if node in named:
            return False
        if parent.type in ("assignment", "for_statement", "for_in_clause") and node == parent.child_by_field_name("left"):
            return False
        if parent.type == "assignment_expression" and node == parent.child_by_field_name("left"):
            sign = parent.child_by_field_name("operator")
            return sign is not None and sign.text != b"="
        return parent.type not in ("pattern_list", "parameters", "parameter_list", "lambda_parameters", "tuple_pattern",
                                   "pointer_declarator", "array_declarator", "init_declarator") or (
            parent.type == "init_declarator" and node == parent.child_by_field_name("value")
        )  # fmt: skip

    @cached_property
    def collections(self) -> tuple[str, ...]:
        """Python: names that are used as collections: a method is called on them, they are searched or indexed."""
        found = [call.receiver for call in self.calls if call.receiver.isidentifier()]
        found += [self.text(one.right) for one in self.binaries if one.text in ("in", "not in")]
        for node in self.of("subscript"):
            value = node.child_by_field_name("value")
            found += [self.text(value)] if value is not None else []
        known = set(self.variables)
        return tuple(name for name in dict.fromkeys(found) if name in known)

    def indent(self, node: tree_sitter.Node) -> str:
        """The blanks before the line that a node begins on."""
        start = self.source.rfind(b"\n", 0, node.start_byte) + 1
        line = self.source[start : node.start_byte]
        return line[: len(line) - len(line.lstrip())].decode("utf-8", "replace")

    def begins_line(self, node: tree_sitter.Node) -> bool:
        """Whether nothing but blanks stands before a node on its line."""
        start = self.source.rfind(b"\n", 0, node.start_byte) + 1
        return not self.source[start : node.start_byte].strip()

    def before(self, node: tree_sitter.Node, statement: str, weight: float = 1.0) -> EditParts:
        """A statement of its own in front of a node."""
        if self.begins_line(node):
            text = statement.replace("\n", "\n" + self.indent(node)) + "\n" + self.indent(node)
        else:
            text = statement + (" " if not self.python else "; ")
        return EditParts(((node.start_byte, node.start_byte, text),), self.line(node), weight)

    def after(self, node: tree_sitter.Node, statement: str, weight: float = 1.0) -> EditParts:
        """A statement of its own behind a node."""
        indent = self.indent(node)
        text = f"\n{indent}" + statement.replace("\n", "\n" + indent)
        return EditParts(((node.end_byte, node.end_byte, text),), int(node.end_point[0]) + 1, weight)

    def remove(self, node: tree_sitter.Node, weight: float = 1.0) -> EditParts:
        """A statement with its line, where it has one to itself."""
        start, end = node.start_byte, node.end_byte
        line_end = self.source.find(b"\n", end)
        line_end = len(self.source) if line_end < 0 else line_end + 1
        if self.begins_line(node) and not self.source[end:line_end].strip():
            start, end = self.source.rfind(b"\n", 0, start) + 1, line_end
        return EditParts(((start, end, ""),), self.line(node), weight)

    def grouped(self, node: tree_sitter.Node) -> str:
        """An expression that can stand beside an operator."""
        text = self.text(node)
        plain = ("identifier", "attribute", "subscript", "call", "integer", "float", "number_literal", "call_expression",
                 "field_expression", "subscript_expression", "parenthesized_expression", "string", "list")  # fmt: skip
        return text if node.type in plain else f"({text})"
