"""Warnings that the project's flags turn into errors (``-Werror``), set right where only one thing can be meant.

A small model writes ``i < strlen(s)`` and leaves a parameter unused all the time; under ``-Wall -Wextra -Werror`` such a
function does not compile, whatever it does. Each mend keeps the meaning that the code would have without the option, or
makes what was undefined zero. The options are those of gcc and clang.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import tree_sitter

from agent.c.declarations.functions import declared_names
from agent.c.syntax.caret import caret_node, distance
from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk
from agent.replacements import Replacement, replaced
from agent.values import Diagnostic

_QUOTED = re.compile(r"['‘]([^'’]*)['’](?:\s*[({]aka\s*['‘]([^'’]*)['’][)}])?")
_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_POSTFIX = frozenset(
    {"identifier", "call_expression", "subscript_expression", "parenthesized_expression", "field_expression"}
)
"""Expressions that a cast takes as a whole."""

_ONE = re.compile(r"(\([\w ]+\)\s*)?1([uUlL]*)")

_SCALAR = frozenset({"primitive_type", "sized_type_specifier"})


class _Place(NamedTuple):
    """Where a warning is: the nodes that begin on its line, its column (0: unknown), what it quotes, the function, and what
    it says."""

    nodes: list[tree_sitter.Node]
    column: int
    quoted: list[tuple[str, str]]
    function: tree_sitter.Node
    message: str = ""

    @property
    def name(self) -> str:
        """The first name that it quotes."""
        return self.quoted[0][0] if self.quoted else ""

    def nearest(self, kind: str) -> list[tree_sitter.Node]:
        """Its nodes of a kind, the nearest to its column first."""
        found = [node for node in self.nodes if node.type == kind]
        return sorted(found, key=lambda node: distance(node, self.column))


def without_promoted_warnings(
    source: bytes, diagnostics: Iterable[Diagnostic], lines: Collection[int]
) -> tuple[bytes, tuple[str, ...]]:
    """``source`` with such warnings on ``lines`` (from 1) set right, and a sentence for each; unchanged where an error is
    none of them, since a compile would fail all the same."""
    errors = [one for one in diagnostics if one.severity in ("error", "fatal")]
    if not errors or not all(option_of(one) in _MENDS and one.line in lines for one in errors):
        return source, ()
    root = parse_c(source)
    edits: dict[Replacement, str] = {}
    for one in errors:
        function = next((node for node in root.children if _holds(node, one.line)), None)
        if function is None:
            return source, ()
        nodes = [node for node in walk(function) if node.start_point[0] == one.line - 1]
        quoted = [(found[1], found[2] or "") for found in _QUOTED.finditer(one.message)]
        edit = _MENDS[option_of(one)](_Place(nodes, one.column, quoted, function, one.message))
        if edit is None:
            return source, ()
        how = f"mended with `{edit.text.strip()}`" if edit.text else "taken out"
        edits.setdefault(edit, f"{one.message} (-W{option_of(one)}): {how}.")
    return replaced(source, edits), tuple(edits.values())  # of two that overlap one waits for the next compile


def option_of(diagnostic: Diagnostic) -> str:
    """The warning's option without ``-W`` and ``error=``, "" for an error that is no warning."""
    return diagnostic.option.removeprefix("-W").removeprefix("error=").partition("=")[0]


def _holds(node: tree_sitter.Node, line: int) -> bool:
    return node.type == "function_definition" and node.start_point[0] < line <= node.end_point[0] + 1


def _body(place: _Place) -> tree_sitter.Node | None:
    return place.function.child_by_field_name("body")


def _wrapped(node: tree_sitter.Node, before: str) -> Replacement:
    text = text_of(node)
    return Replacement(node.start_byte, node.end_byte, f"{before}{text}" if node.type in _POSTFIX else f"{before}({text})")


def _sign_compare(place: _Place) -> Replacement | None:
    """The unsigned side is taken as the signed type that the other one has."""
    if len(place.quoted) < 2:
        return None
    left_unsigned, right_unsigned = (_is_unsigned(one) for one in place.quoted[:2])
    for node in place.nearest("binary_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or text_of(caret_node(node)) not in _COMPARISONS or left_unsigned == right_unsigned:
            continue
        signed = place.quoted[1 if left_unsigned else 0][0].replace("const ", "")
        return _wrapped(left if left_unsigned else right, f"({signed})")
    return None


def _is_unsigned(quoted: tuple[str, str]) -> bool:
    return any(re.search(r"\bunsigned\b|\bsize_t\b|\buint\w*_t\b", one) for one in quoted)


def _char_subscripts(place: _Place) -> Replacement | None:
    for node in place.nearest("subscript_expression"):
        index = node.child_by_field_name("index")
        if index is not None and index.type not in ("number_literal", "char_literal", "cast_expression"):
            return _wrapped(index, "(unsigned char)")
    return None


def _unused_parameter(place: _Place) -> Replacement | None:
    body = _body(place)
    if body is None or not place.name:
        return None
    return Replacement(body.start_byte + 1, body.start_byte + 1, f"\n    (void){place.name};")


def _unused_variable(place: _Place) -> Replacement | None:
    declaration = _declaration_of(place)
    if declaration is None or (declaration.parent is not None and declaration.parent.type == "for_statement"):
        return None
    return Replacement(declaration.end_byte, declaration.end_byte, f" (void){place.name};")


def _declaration_of(place: _Place) -> tree_sitter.Node | None:
    name = re.split(r"\.|->|\[", place.name)[0].lstrip("*&(")
    declarations = [node for node in walk(place.function) if node.type == "declaration" and name in declared_names(node)]
    return declarations[0] if len(declarations) == 1 else None


def _uninitialized(place: _Place) -> Replacement | None:
    """It begins as zero."""
    declaration = _declaration_of(place)
    if declaration is None:
        return None
    name = re.split(r"\.|->|\[", place.name)[0].lstrip("*&(")
    kind = declaration.child_by_field_name("type")
    for declarator in declaration.children_by_field_name("declarator"):
        if declarator.type == "init_declarator" or name not in {text_of(one) for one in walk(declarator)}:
            continue
        sizes = [one.child_by_field_name("size") for one in walk(declarator) if one.type == "array_declarator"]
        if any(size is None or not re.fullmatch(r"\d+|[A-Z][A-Z0-9_]*", text_of(size)) for size in sizes):
            return None  # an array of variable length cannot be initialised
        scalar = not sizes and (declarator.type == "pointer_declarator" or (kind is not None and kind.type in _SCALAR))
        return Replacement(declarator.end_byte, declarator.end_byte, " = 0" if scalar else " = {0}")
    return None


def _discarded_const(place: _Place) -> Replacement | None:
    """A local pointer to what may not be changed is declared as one; what is freed is no longer read, so ``free`` takes it
    as it is."""
    freed = next((one for one in place.nearest("call_expression") if text_of(one).startswith("free(")), None)
    if freed is not None and (arguments := freed.child_by_field_name("arguments")) is not None:
        return Replacement(arguments.start_byte + 1, arguments.start_byte + 1, "(void *)")
    found: tree_sitter.Node | None = next((node for node in place.nodes if node.type == "declaration"), None)
    if found is None:
        assignment = next((node for node in place.nodes if node.type == "assignment_expression"), None)
        left = assignment.child_by_field_name("left") if assignment is not None else None
        if left is not None and left.type == "identifier":
            found = _declaration_of(place._replace(quoted=[(text_of(left), "")]))
    if found is None or len(found.children_by_field_name("declarator")) != 1 or "const" in text_of(found).split():
        return _cast_away(place)
    return Replacement(found.start_byte, found.start_byte, "const ")


def _cast_away(place: _Place) -> Replacement | None:
    """The value as it is, by way of a pointer to void: what the code does without the option."""
    for node in place.nodes:
        value: tree_sitter.Node | None = None
        if place.message.startswith("passing"):
            given = node.parent is not None and node.parent.type == "argument_list"
            value = node if given and node.start_point[1] + 1 == place.column else None
        elif node.type == "return_statement":
            value = next(iter(node.named_children), None)
        elif node.type in ("assignment_expression", "init_declarator"):
            value = node.child_by_field_name("right") or node.child_by_field_name("value")
        if value is not None and value.type != "initializer_list":
            return _wrapped(value, "(void *)")
    return None


def _not_static(place: _Place) -> Replacement | None:
    start = place.function.start_byte
    return None if text_of(place.function).startswith("static") else Replacement(start, start, "static ")


def _unused_function(place: _Place) -> Replacement:
    return Replacement(place.function.start_byte, place.function.end_byte, "")


def _falls_through(place: _Place) -> Replacement | None:
    """It is said to be meant, in the words that gcc knows."""
    line = place.nodes[0].start_point[0] if place.nodes else -1
    labels = [one for one in walk(place.function) if one.type == "case_statement" and one.start_point[0] > line >= 0]
    return Replacement(labels[0].start_byte, labels[0].start_byte, "/* fall through */\n        ") if labels else None


def _parentheses(place: _Place) -> Replacement | None:
    for node in place.nearest("binary_expression"):
        outer = node.parent
        if text_of(caret_node(node)) == "&&" and outer is not None and text_of(caret_node(outer)) == "||":
            return Replacement(node.start_byte, node.end_byte, f"({text_of(node)})")
    return None


def _no_return(place: _Place) -> Replacement | None:
    """The end of a function that is not to be reached gives zero."""
    body, kind = _body(place), place.function.child_by_field_name("type")
    declarator = place.function.child_by_field_name("declarator")
    points = declarator is not None and declarator.type == "pointer_declarator"
    scalar = points or (kind is not None and kind.type in _SCALAR)
    return Replacement(body.end_byte - 1, body.end_byte - 1, "    return 0;\n") if body is not None and scalar else None


def _all_bits(place: _Place) -> Replacement | None:
    """``(1ULL << 64) - 1``, which is undefined (C17 6.5.7), is meant as all bits of the type: ``~0ULL``."""
    for shift in place.nearest("binary_expression"):
        left, outer = shift.child_by_field_name("left"), shift.parent
        whole = outer.parent if outer is not None and outer.type == "parenthesized_expression" else None
        one = _ONE.fullmatch(text_of(left)) if left is not None and text_of(caret_node(shift)) == "<<" else None
        less = whole.child_by_field_name("right") if whole is not None and text_of(caret_node(whole)) == "-" else None
        if one is not None and whole is not None and less is not None and _ONE.fullmatch(text_of(less)):
            return Replacement(whole.start_byte, whole.end_byte, f"~{one[1] or ''}0{one[2]}")
    return None


def _always(place: _Place) -> Replacement | None:
    """A comparison that its operands' types decide. A local variable that is compared with more than it can hold, or with
    less than zero, was meant to hold that: its type becomes a wider one, signed in the second case. Any other comparison is
    what the compiler says of it."""
    for node in place.nearest("binary_expression"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or text_of(caret_node(node)) not in _COMPARISONS:
            continue
        variable, other = (left, right) if left.type == "identifier" else (right, left)
        declaration = _declaration_of(place._replace(quoted=[(text_of(variable), "")]))
        kind = declaration.child_by_field_name("type") if declaration is not None else None
        signed = text_of(other) == "0" or (kind is not None and not _is_unsigned((text_of(kind), "")))
        if variable.type == "identifier" and kind is not None and kind.type in (*_SCALAR, "type_identifier"):
            return Replacement(kind.start_byte, kind.end_byte, "long long" if signed else "unsigned long long")
        if found := re.search(r"always (true|false)", place.message):
            return Replacement(node.start_byte, node.end_byte, "1" if found[1] == "true" else "0")
    return None


def _static_first(place: _Place) -> Replacement | None:
    """``const static int a`` becomes ``static const int a``."""
    for node in (one for one in place.nodes if one.type in ("declaration", "function_definition")):
        stored = next((one for one in node.children if one.type == "storage_class_specifier"), None)
        if stored is not None and stored.start_byte > node.start_byte:
            before = (node.text or b"")[: stored.start_byte - node.start_byte].decode("utf-8", "replace").strip()
            return Replacement(node.start_byte, stored.end_byte, f"{text_of(stored)} {before}")
    return None


_MENDS: dict[str, Callable[[_Place], Replacement | None]] = {
    "sign-compare": _sign_compare,
    "char-subscripts": _char_subscripts,
    "unused-parameter": _unused_parameter,
    "unused-but-set-parameter": _unused_parameter,
    "unused-variable": _unused_variable,
    "unused-but-set-variable": _unused_variable,
    "unused-function": _unused_function,
    "missing-declarations": _not_static,
    "missing-prototypes": _not_static,
    "uninitialized": _uninitialized,
    "maybe-uninitialized": _uninitialized,
    "sometimes-uninitialized": _uninitialized,
    "discarded-qualifiers": _discarded_const,
    "incompatible-pointer-types-discards-qualifiers": _discarded_const,
    "implicit-fallthrough": _falls_through,
    "parentheses": _parentheses,
    "logical-op-parentheses": _parentheses,
    "return-type": _no_return,
    "shift-count-overflow": _all_bits,
    "type-limits": _always,
    "tautological-constant-out-of-range-compare": _always,
    "tautological-unsigned-zero-compare": _always,
    "tautological-type-limit-compare": _always,
    "old-style-declaration": _static_first,
}
