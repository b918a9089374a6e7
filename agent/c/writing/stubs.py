"""Which C functions are stubs. The rules are those of :mod:`agent.language.stubs`."""

from __future__ import annotations

import re

import tree_sitter

from agent.c.declarations.functions import CFunction, definitions
from agent.c.syntax.tree import parse_c
from agent.c.writing.stub_text import MARKER
from agent.language.nodes import text_of, walk
from agent.language.stubs import UNWRITTEN, Evidence

_QUIET_CALLS = frozenset(
    {"abort", "assert", "exit", "_Exit", "puts", "printf", "fprintf", "perror", "fputs", "__builtin_trap",
     "__builtin_unreachable", "unreachable", "errx", "memset"}
)  # fmt: skip
_DOES_SOMETHING = frozenset(
    {"if_statement", "for_statement", "while_statement", "do_statement", "switch_statement", "goto_statement",
     "conditional_expression", "subscript_expression", "field_expression", "update_expression", "gnu_asm_expression",
     "labeled_statement", "ERROR"}
)  # fmt: skip


def find_stubs(source: bytes) -> list[CFunction]:
    """The C functions of ``source`` that are stubs, in source order."""
    found = definitions(source)
    root = parse_c(source)
    graded = [(function, _evidence(root, function)) for function in found]
    company = any(evidence == "certain" for _, evidence in graded)
    return [function for function, evidence in graded if evidence == "certain" or (evidence == "weak" and company)]


def is_stub(source: bytes, name: str) -> bool:
    """Whether the function ``name`` of ``source`` is a stub (False when it is not defined there)."""
    return any(function.name == name for function in find_stubs(source))


def stub_evidence(source: bytes, function: CFunction) -> Evidence:
    """How sure it is, by the body and comment alone, that ``function`` (a definition in ``source``) is a stub."""
    return _evidence(parse_c(source), function)


def _evidence(root: tree_sitter.Node, function: CFunction) -> Evidence:
    body = root.descendant_for_byte_range(function.body_start, function.body_end - 1)
    if body is None or not function.defined:
        return "none"
    nodes = list(walk(body))
    comments = " ".join(text_of(node) for node in nodes if node.type == "comment")
    if MARKER in comments:
        return "certain"
    statements = [child for child in body.named_children if child.type != "comment"]
    if not _does_nothing(nodes, function):
        return "none"
    said = " ".join([comments, function.doc, *(text_of(node) for node in nodes if node.type == "string_literal")])
    if UNWRITTEN.search(said) or any(text_of(node) == "ENOSYS" for node in nodes if node.type == "identifier"):
        return "certain"
    real = [node for node in statements if not _void_cast(node)]
    if not real:
        return "weak" if function.returns_void or function.noreturn else "certain"
    if function.name != "main" and (_gives_up(real) or _ignores_all(statements, function)):
        return "weak"
    return "none"


def _does_nothing(nodes: list[tree_sitter.Node], function: CFunction) -> bool:
    """Whether the body neither branches nor uses a parameter (casts to void left out) nor calls anything that works."""
    parameters = {parameter.name for parameter in function.parameters if parameter.name}
    for node in nodes:
        if node.type in _DOES_SOMETHING:
            return False
        if node.type == "call_expression":
            called = node.child_by_field_name("function")
            if called is None or text_of(called) not in _QUIET_CALLS:
                return False
        elif node.type == "identifier" and text_of(node) in parameters and not _inside_void_cast(node):
            return False
        elif node.type == "assignment_expression":
            left = node.child_by_field_name("left")
            if left is None or text_of(left) != "errno":
                return False
    return True


def _void_cast(statement: tree_sitter.Node) -> bool:
    inner = statement.named_children[0] if statement.type == "expression_statement" and statement.named_children else None
    return inner is not None and inner.type == "cast_expression" and text_of(inner).replace(" ", "").startswith("(void)")


def _inside_void_cast(node: tree_sitter.Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "cast_expression"):
        parent = parent.parent
    return parent is not None and _void_cast(parent)


def _gives_up(statements: list[tree_sitter.Node]) -> bool:
    return bool(re.match(r"(?:abort|__builtin_trap|assert)\s*\(\s*(?:0|false|!\s*\"|\))", text_of(statements[0])))


def _ignores_all(statements: list[tree_sitter.Node], function: CFunction) -> bool:
    """Whether every parameter, and there is one, is cast to void and a constant is returned."""
    cast = {name for node in statements if _void_cast(node) for name in re.findall(r"\w+", text_of(node))}
    names = {parameter.name for parameter in function.parameters if parameter.name}
    return bool(names) and names <= cast
