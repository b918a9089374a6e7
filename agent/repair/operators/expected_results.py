"""Operators on C that hand back what failing checks expect: where a function gives up, or where it should."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import tree_sitter

from agent.language.nodes import walk
from agent.repair.operators.registry import EditParts, Site, operator
from agent.repair.operators.told import numbers_told

_EXPECTED = re.compile(
    r"""\b[Ee]xpected:?\s+(?:"((?:[^"\\\n]|\\.){1,80})"|'((?:[^'\\\n]|\\.){1,80})'|(-?\d{1,10}|NULL|TRUE|FALSE|true|false))(?!\w)"""
)
_MOST_RESULTS = 3
_MOST_PARAMETERS = 4
_MOST_LOCALS = 4
_FIXED = {"null", "string_literal", "number_literal", "true", "false", "unary_expression"}
_LOOPS = ("for_statement", "while_statement", "do_statement")
_ALLOCATORS = {"malloc", "calloc", "realloc", "strdup"}
_UNFIT = ("{0} < '0' || {0} > '9'", "({0} | 32) < 'a' || ({0} | 32) > 'z'", "({0} | 32) >= 'a' && ({0} | 32) <= 'z'",
          "{0} >= '0' && {0} <= '9'")  # fmt: skip
"""A character that is no digit, no letter, a letter, a digit; in ASCII, without a header."""


@operator("expected-result", "what a failing check expects handed back in place of a fixed result", ("c",), weight=0.7)
def expected_result(site: Site) -> Iterator[EditParts]:
    """``return NULL;`` becomes ``return "none";`` where a check expects that."""
    results = _results(site)
    for node in site.of("return_statement") if results else ():
        if node.named_children and node.named_children[0].type in _FIXED:
            for result in results:
                yield site.replace(node, result)


@operator("expected-exit", "an early way out with the result that a failing check expects", ("c",), weight=0.6)
def expected_exit(site: Site) -> Iterator[EditParts]:
    """At the beginning for an argument, in a loop for a character that does not fit, before the end for a number that is not
    the one of the contract."""
    results = _results(site)
    texts = _texts(site) if results else frozenset()
    first = site.first_statement if results else None
    last = next((one for one in reversed(site.of("return_statement")) if one.parent == site.body), None) if results else None
    tests = list(_tests_of_arguments(site, texts)) if first is not None else []
    counted = [name for name in site.locals if name not in site.pointers][:_MOST_LOCALS]
    ends = [f"{name} {sign} {number}" for number in numbers_told(site) for name in counted for sign in ("!=", "<", ">")]
    for result in results:
        for place, test in enumerate(tests):
            yield site.before(first, f"if ({test})\n    {result}", 1 / (1 + place / len(tests)))  # type: ignore[arg-type]
        for place, test in enumerate(ends if last is not None else ()):
            yield site.before(last, f"if ({test})\n    {result}", 1 / (1 + place / len(ends)))  # type: ignore[arg-type]
        for statement, read in _characters_read(site, texts):
            for place, form in enumerate(_UNFIT):
                yield site.before(statement, f"if ({form.format(read)})\n    {result}", 1 / (1 + place / 4))


def _results(site: Site) -> list[str]:
    """Statements that hand back what failing checks expect, what most of them expect first."""
    pointer, kind = _result_type(site)
    expected: Counter[str] = Counter()
    for said in site.said:
        for double, single, plain in _EXPECTED.findall(said):
            text = double or single
            if text and pointer and kind == "char":
                expected[_text_result(site, text)] += 1
            elif plain == "NULL" and pointer:
                expected["return NULL;"] += 1
            elif plain and plain != "NULL" and not pointer and kind != "void":
                expected[f"return {plain.lower()};"] += 1
    return [result for result, _ in expected.most_common(_MOST_RESULTS)]


def _text_result(site: Site, text: str) -> str:
    literal = '"' + text.replace('"', '\\"') + '"'
    if not any(call.name in _ALLOCATORS for call in site.calls):
        return f"return {literal};"
    return f"{{\n    char *text = malloc(sizeof {literal});\n    return text ? strcpy(text, {literal}) : NULL;\n}}"


def _result_type(site: Site) -> tuple[bool, str]:
    """Whether the function returns a pointer, and the type as it is written in front of it."""
    kind = site.function.node.child_by_field_name("type")
    declarator = site.function.node.child_by_field_name("declarator")
    return declarator is not None and declarator.type == "pointer_declarator", site.text(kind) if kind is not None else ""


def _texts(site: Site) -> frozenset[str]:
    """Parameters and local names that point to characters."""
    found = set()
    for node in walk(site.function.node):
        kind = node.child_by_field_name("type") if node.type in ("declaration", "parameter_declaration") else None
        if kind is not None and site.text(kind) == "char":
            pointers = [one for one in walk(node) if one.type in ("pointer_declarator", "array_declarator")]
            names = (next((one for one in walk(pointer) if one.type == "identifier"), None) for pointer in pointers)
            found |= {site.text(name) for name in names if name is not None}
    return frozenset(found)


def _tests_of_arguments(site: Site, texts: frozenset[str]) -> Iterator[str]:
    names = site.parameters[:_MOST_PARAMETERS]
    for name in names:
        yield f"!{name}" if name in site.pointers else f"{name} < 0"
        yield f"!{name} || !*{name}" if name in texts else f"{name} == 0"
    numbers = [name for name in names if name not in site.pointers]
    for name in numbers:
        yield from (f"{name} {sign} {number}" for number in numbers_told(site) for sign in (">", "<"))
    yield from (f"{one} > {other}" for one in numbers for other in numbers if one != other)


def _characters_read(site: Site, texts: frozenset[str]) -> Iterator[tuple[tree_sitter.Node, str]]:
    """(statement of a block in a loop, the character that it reads), each character once, where it is read first."""
    seen: set[str] = set()
    for node in site.of("subscript_expression", "pointer_expression"):
        read, owner = site.text(node), node.named_children[0] if node.named_children else None
        statement, new = _in_a_loop(node), read not in seen and not read.startswith("&")
        if new and statement is not None and owner is not None and site.text(owner) in texts:
            seen.add(read)
            yield statement, read


def _in_a_loop(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The statement of the innermost block around a node, where that block is in a loop; None in the head of a loop."""
    statement = node
    while statement.parent is not None and statement.parent.type != "compound_statement":
        statement = statement.parent
    around = statement.parent
    while around is not None and around.type not in _LOOPS:
        around = around.parent
    return statement if around is not None and statement.type not in _LOOPS else None
