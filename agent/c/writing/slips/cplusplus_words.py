"""Words of C++ in C (``std::max(a, b)``, ``nullptr``, ``return {a, b};``): a small model knows both languages and mixes
them."""

from __future__ import annotations

import re
from collections.abc import Collection

import tree_sitter

from agent.c.declarations.functions import definitions, functions
from agent.c.preprocessor.comments import blanked
from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk
from agent.replacements import Replacement, replaced

_NAMESPACE = re.compile(r"\bstd\s*::\s*(?=[A-Za-z_])")
_NULL = re.compile(r"\bnullptr\b")
_CAST = re.compile(r"\b(?:static|const|reinterpret)_cast\s*<([^<>]+)>\s*(?=\()")
_LIST = re.compile(r"\breturn\s*(?=\{)")
_OPERATORS = {"max": ">", "min": "<"}
_PLAIN = frozenset(
    {"identifier", "number_literal", "subscript_expression", "field_expression", "parenthesized_expression"}
)


def without_cplusplus(text: str, known: Collection[str] = ()) -> tuple[str, tuple[str, ...]]:
    """``text``, function definitions, with such words spelled in C, and a sentence for each kind; ``known`` are names that
    the project defines. ``max(a, b)`` becomes a conditional expression where computing an operand twice changes
    nothing: no operand may assign, count or call."""
    told: list[str] = []
    known = {*known, *(one.name for one in functions(text.encode()))}
    if _CAST.search(blanked(text)):
        text = _exchanged(text, _CAST, r"(\1)")
        told.append("A cast of C++ is spelled as one of C.")
    if _LIST.search(blanked(text)) and (listed := _with_literals(text)) != text:
        text = listed
        told.append("A list that is returned got its type.")
    if _NAMESPACE.search(blanked(text)):
        text = _exchanged(text, _NAMESPACE, "")
        told.append("The namespace std of C++ was taken out.")
    if "nullptr" not in known and _NULL.search(blanked(text)):
        text = _exchanged(text, _NULL, "NULL")
        told.append("nullptr of C++ is NULL in C.")
    for _ in range(8):  # one may stand in another
        edit = _first_choice(text, known)
        if edit is None:
            break
        text = replaced(text.encode(), [edit]).decode()
        told.append("C has no max or min; the choice is written out.")
    return text, tuple(dict.fromkeys(told))


def _exchanged(text: str, word: re.Pattern[str], by: str) -> str:
    """``text`` with the word exchanged, but not in comments and literals."""
    for found in reversed(list(word.finditer(blanked(text)))):
        text = text[: found.start()] + found.expand(by) + text[found.end() :]
    return text


def _with_literals(text: str) -> str:
    """``return {a, b};`` as a literal of the type that its function returns."""
    source = text.encode()
    for function in reversed(definitions(source)):
        kind = " ".join(word for word in function.before.split() if word not in ("static", "inline", "extern"))
        body = source[function.body_start : function.body_end].decode("utf-8", "replace")
        if not function.returns_void and not kind.endswith("*"):
            body = _exchanged(body, _LIST, f"return ({kind})")
        source = source[: function.body_start] + body.encode() + source[function.body_end :]
    return source.decode("utf-8", "replace")


def _first_choice(text: str, known: Collection[str]) -> Replacement | None:
    """The innermost call of ``max`` or ``min``, written out."""
    calls = [node for node in walk(parse_c(text.encode())) if node.type == "call_expression"]
    for call in reversed(calls):
        callee, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        name = text_of(callee) if callee is not None else ""
        parts = [one for one in given.named_children if one.type != "comment"] if given is not None else []
        if name in _OPERATORS and name not in known and len(parts) == 2 and all(map(_is_pure, parts)):
            left, right = map(_operand, parts)
            return Replacement(call.start_byte, call.end_byte, f"({left} {_OPERATORS[name]} {right} ? {left} : {right})")
    return None


def _is_pure(node: tree_sitter.Node) -> bool:
    return all(one.type not in ("call_expression", "assignment_expression", "update_expression") for one in walk(node))


def _operand(node: tree_sitter.Node) -> str:
    return text_of(node) if node.type in _PLAIN else f"({text_of(node)})"
