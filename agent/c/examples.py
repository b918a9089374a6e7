"""What tests in C say of each function, as examples: ``is_paired("[]") → true``.

An assertion that holds a call is an example; local variables that were initialised with literals are written as these. What
has another form is told as the statement itself. Nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

import tree_sitter

from agent.c.preprocessor.comments import on_one_line
from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk

MOST = 12
"""Examples of one function."""

LONGEST = 160
"""Characters of one example."""

FEW = 3
"""Short tests, of at most :data:`LINES` lines, that are told as they stand where no assertion holds by itself."""

LINES = 12
LONGEST_BODY = 500

_EQUAL = re.compile(r"(?i)(?:equal|_eq\b|_eq_|^eq|same|within)")
IS_TRUE = re.compile(r"(?i)(?:assert|check|expect)?_?(?:true|that)$|^(?:assert|check|expect|require)$|^TEST_ASSERT$")
_LITERALS = frozenset(
    {"string_literal", "concatenated_string", "number_literal", "char_literal", "true", "false", "null", "unary_expression"}
)


def examples_of(source: bytes, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Examples by function, in the order of the tests, literal ones first."""
    found: dict[str, dict[str, bool]] = {name: {} for name in names}
    whole: dict[str, list[str]] = {name: [] for name in names}
    for body in (node for node in parse_c(source).children if node.type == "function_definition"):
        _note_body(body, whole)
        values = _literals(body)
        for call in (node for node in walk(body) if node.type == "call_expression"):
            callee = call.child_by_field_name("function")
            if callee is None or text_of(callee) not in found:
                continue
            said, literal = _example(call, values), _is_literal(call, values)
            if said and "→" in said:
                said += _error_code(call, values) + ("" if literal else _about(body))
            if said and len(said) <= LONGEST:
                found[text_of(callee)].setdefault(said, literal)
    told = {name: tuple(_in_turn(said))[:MOST] for name, said in found.items() if said}
    for name, bodies in whole.items():
        if bodies and name not in told:  # beside an assertion a whole test misleads: a model writes what it checks
            told[name] = tuple(bodies[:FEW])
    return told


def _in_turn(said: dict[str, bool]) -> list[str]:
    """Literal examples first; among equals each outcome in its turn, so that a short list shows all of them."""
    seen: Counter[str] = Counter()
    places: dict[str, tuple[bool, int]] = {}
    for one, literal in said.items():
        outcome = re.sub(r" \(.*\)$", "", one.rpartition("→")[2])
        places[one] = (not literal, seen[outcome])
        seen[outcome] += 1
    return sorted(said, key=places.__getitem__)


def _about(function: tree_sitter.Node) -> str:
    """What the name of a test says, for an example whose values do not tell what they stand for."""
    declarator = function.child_by_field_name("declarator")
    name = next((text_of(one) for one in walk(declarator) if one.type == "identifier"), "") if declarator is not None else ""
    words = re.sub(r"^test_?|_", " ", name).split()
    return f" ({' '.join(words)})" if name.startswith("test") and len(words) > 1 else ""


def _error_code(call: tree_sitter.Node, values: dict[str, str]) -> str:
    """``errno`` as the assertions right behind the call expect it."""
    statement = call
    while statement.parent is not None and statement.parent.type != "compound_statement":
        statement = statement.parent
    later = statement.next_named_sibling
    while later is not None and later.type == "expression_statement":
        outer = next((one for one in walk(later) if one.type == "call_expression"), None)
        given = outer.child_by_field_name("arguments") if outer is not None else None
        sides = given.named_children if given is not None else []
        if any(text_of(one) == "errno" for one in sides):
            other = next((one for one in sides if text_of(one) != "errno"), None)
            return f", errno == {_written(other, values)}" if other is not None else ""
        later = later.next_named_sibling
    return ""


def _note_body(function: tree_sitter.Node, whole: dict[str, list[str]]) -> None:
    """Note a short test as it stands under each function it calls: for those that no assertion holds by themselves."""
    body = function.child_by_field_name("body")
    text = "\n".join(line.strip() for line in text_of(body).strip("{} \n").splitlines() if line.strip()) if body else ""
    if not text or text.count("\n") >= LINES or len(text) > LONGEST_BODY:
        return
    for name in whole:
        if re.search(rf"\b{re.escape(name)}\s*\(", text):
            whole[name].append(text)


def _literals(body: tree_sitter.Node) -> dict[str, str]:
    """Local variables that are set once, to a literal, a list or an element of nothing else, as they were written."""
    values: dict[str, str] = {}
    changed: set[str] = set()
    for node in walk(body):
        if node.type == "init_declarator":
            value, declarator = node.child_by_field_name("value"), node.child_by_field_name("declarator")
            name = next((text_of(one) for one in walk(declarator) if one.type == "identifier"), "") if declarator else ""
            if value is not None and name and (value.type in _LITERALS or value.type == "initializer_list"):
                changed |= {name} & values.keys()
                values[name] = _line(text_of(value))
        elif node.type in ("assignment_expression", "update_expression"):
            left = node.child_by_field_name("left") or node.child_by_field_name("argument")
            if left is not None:
                changed |= {text_of(one) for one in walk(left) if one.type == "identifier"}
    return {name: value for name, value in values.items() if name not in changed and len(value) <= 80}


def _example(call: tree_sitter.Node, values: dict[str, str]) -> str:
    shown = _written(call, values)
    statement = call
    while statement.parent is not None and not statement.type.endswith(("_statement", "declaration")):
        statement = statement.parent
    outer = call.parent.parent if call.parent is not None and call.parent.type == "argument_list" else None
    if outer is not None and outer.type == "call_expression":
        return _asserted(outer, call, shown, values) or _line(_written(statement, values))
    if call.parent is not None and call.parent.type == "binary_expression":
        operator = call.parent.child_by_field_name("operator")
        sides = [call.parent.child_by_field_name("left"), call.parent.child_by_field_name("right")]
        other = next((one for one in sides if one is not None and one != call), None)
        if operator is not None and other is not None and text_of(operator) == "==":
            return f"{shown} → {_written(other, values)}"
        return _line(_written(statement, values))
    if statement.type == "declaration":
        return _through_a_variable(statement, call, shown, values)
    return ""


def _asserted(outer: tree_sitter.Node, call: tree_sitter.Node, shown: str, values: dict[str, str]) -> str:
    callee, given = outer.child_by_field_name("function"), outer.child_by_field_name("arguments")
    if callee is None or given is None:
        return ""
    name = text_of(callee)
    others = [one for one in given.named_children if one != call and one.type != "comment"]
    if _EQUAL.search(name) and others and "NOT" not in name.upper():
        expected = others[-1] if "WITHIN" in name.upper() and len(others) > 1 else others[0]
        return f"{shown} → {_written(expected, values)}"
    if re.search(r"(?i)false$", name):
        return f"{shown} → false"
    if re.search(r"(?i)null$", name):
        return f"{shown} → not NULL" if "NOT" in name.upper() else f"{shown} → NULL"
    if IS_TRUE.search(name) and not others:
        return f"{shown} → true"
    return ""


def _through_a_variable(statement: tree_sitter.Node, call: tree_sitter.Node, shown: str, values: dict[str, str]) -> str:
    """``int got = f(1); EXPECT_EQ(3, got);``: the first assertion about the variable in the same block."""
    declarator = statement.child_by_field_name("declarator")
    inner = declarator.child_by_field_name("declarator") if declarator is not None else None
    name = next((text_of(one) for one in walk(inner) if one.type == "identifier"), "") if inner is not None else ""
    block = statement.parent
    if not name or block is None:
        return ""
    for later in (one for one in block.named_children if one.start_byte > statement.start_byte):
        for one in (node for node in walk(later) if node.type == "identifier" and text_of(node) == name):
            outer = one.parent.parent if one.parent is not None and one.parent.type == "argument_list" else None
            held = outer is not None and outer.type == "call_expression"
            if held and outer is not None and (said := _asserted(outer, one, shown, values)):
                return said
            break
    return ""


def _written(node: tree_sitter.Node, values: dict[str, str]) -> str:
    """The text of ``node`` with literals in the place of variables that hold them."""
    source, start = node.text or b"", node.start_byte
    callee = node.child_by_field_name("function") if node.type == "call_expression" else None
    for one in reversed([inner for inner in walk(node) if inner.type == "identifier" and inner != callee]):
        if one.parent is not None and one.parent.type == "pointer_expression":
            continue  # what is written through a pointer is not what the variable held
        if (value := values.get(text_of(one))) is not None:
            source = source[: one.start_byte - start] + value.encode() + source[one.end_byte - start :]
    return _line(source.decode("utf-8", "replace"))


def _is_literal(call: tree_sitter.Node, values: dict[str, str]) -> bool:
    given = call.child_by_field_name("arguments")
    names = [text_of(one) for one in walk(given) if one.type == "identifier"] if given is not None else []
    return all(name in values for name in names)


def _line(text: str) -> str:
    return on_one_line(text).rstrip(";")
