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
from agent.language.nodes import first_text, text_of, walk

MOST = 12
"""Examples of one function."""

LONGEST = 240
"""Characters of one example."""

LONGEST_VALUE = 160
"""Characters of what a variable holds, up to which it is written in the variable's place."""

FEW = 3
"""Short tests, of at most :data:`LINES` lines, that are told as they stand where no assertion holds by itself."""

ASSERTED = 3
"""Assertions about one result that are told with it."""

LINES = 12
LONGEST_BODY = 500

_EQUAL = re.compile(r"(?i)(?:equal|_eq\b|_eq_|^eq|same|within)")
IS_TRUE = re.compile(r"(?i)(?:assert|check|expect)?_?(?:true|that)$|^(?:assert|check|expect|require)$|^TEST_ASSERT$")
_CHECKS = re.compile(r"(?i)assert|check|expect|require|verify|match|compare|equal|same")
"""In the name of a helper of tests that looks at what it is handed."""

_SIZEOF = r"sizeof\s*\(?\s*"
_ELEMENTS = re.compile(_SIZEOF + r"(\w+)\s*\)?\s*/\s*" + _SIZEOF + r"(?:\*\s*\1|\1\s*\[\s*0\s*\])\s*\)?")
_MACRO = re.compile(r"[A-Z][A-Z0-9_]*\s*\(\s*(\w+)\s*\)")
_ONE_MEMBER = re.compile(r"\{ \.(\w+) = ((?:(?!\.\w+ = ).)+?),? \}\.\1")
_LITERALS = frozenset(
    {"string_literal", "concatenated_string", "number_literal", "char_literal", "true", "false", "null", "unary_expression"}
)


def examples_of(source: bytes, names: Collection[str], only: str = "") -> dict[str, tuple[str, ...]]:
    """Examples by function, in the order of the tests, literal ones first; those of one test function with ``only``."""
    found: dict[str, dict[str, bool]] = {name: {} for name in names}
    whole: dict[str, list[str]] = {name: [] for name in names}
    bodies = [node for node in parse_c(source).children if node.type == "function_definition"]
    helpers = {_name_of(body): body for body in bodies if _parameters(body)}
    asked = set[str]().union(*map(_called_in, bodies))
    for body in bodies if not only else [one for one in bodies if _name_of(one) == only]:
        _note_body(body, whole)
        if _name_of(body) in helpers.keys() & asked and not only:
            continue  # told with what the tests hand to it
        values = _literals(body)
        for call in (node for node in walk(body) if node.type == "call_expression"):
            _note_call(call, values, body, found, helpers)
            if (helper := helpers.get(_callee(call))) is not None and helper is not body:
                given = _handed_over(call, helper, values)
                for inner in (node for node in walk(helper) if node.type == "call_expression"):
                    _note_call(inner, {**_literals(helper), **given}, body, found, helpers)
    told = {name: tuple(_in_turn(said))[:MOST] for name, said in found.items() if said}
    for name, tests in whole.items():
        if tests and name not in told:  # beside an assertion a whole test misleads: a model writes what it checks
            told[name] = _through_helpers(name, bodies, helpers) or tuple(tests[:FEW])
    return told


def _through_helpers(name: str, bodies: list[tree_sitter.Node], helpers: dict[str, tree_sitter.Node]) -> tuple[str, ...]:
    """Tests that have a function in their name and only use it through helpers, whole, with the helper first; () where there
    are none, or where the function is called by tests themselves."""
    using = [body for body in bodies if name in _called_in(body)]
    if not using or any(_name_of(body) not in helpers for body in using):
        return ()
    names = {_name_of(body) for body in using}
    tests = [body for body in bodies if name in _name_of(body) and names & _called_in(body)]
    shown = [f"{_name_of(body)}:\n{text}" for body in tests if (text := _short_text(body))]
    return tuple([*filter(None, map(_short_text, using)), *shown][: FEW + 1]) if shown else ()


def _called_in(body: tree_sitter.Node) -> set[str]:
    return {_callee(node) for node in walk(body) if node.type == "call_expression"}


def _note_call(
    call: tree_sitter.Node,
    values: dict[str, str],
    body: tree_sitter.Node,
    found: dict[str, dict[str, bool]],
    helpers: Collection[str],
) -> None:
    """Note an example of a call, with ``values`` in place of the variables that hold them."""
    name = _callee(call)
    if name not in found:
        return
    said, literal = _example(call, values) or _checked_by(call, values, helpers), _is_literal(call, values)
    if "→" in said:
        outputs = _outputs(call, values)
        said += outputs + _error_code(call, values) + ("" if literal or outputs else _about(body))
    if said and len(said) <= LONGEST:
        found[name].setdefault(said, literal)


def _callee(call: tree_sitter.Node) -> str:
    callee = call.child_by_field_name("function")
    return text_of(callee) if callee is not None else ""


def _name_of(function: tree_sitter.Node) -> str:
    return first_text(function.child_by_field_name("declarator"), "identifier")


def _parameters(function: tree_sitter.Node) -> list[str]:
    """The names of a function's parameters, in order."""
    declarator = function.child_by_field_name("declarator")
    lists = [one for one in walk(declarator) if one.type == "parameter_list"] if declarator is not None else []
    declared = [one.child_by_field_name("declarator") for one in lists[0].named_children] if lists else []
    return [first_text(one, "identifier") for one in declared]


def _handed_over(call: tree_sitter.Node, helper: tree_sitter.Node, values: dict[str, str]) -> dict[str, str]:
    """What a test hands to the parameters of its helper, as far as it is literal."""
    given = call.child_by_field_name("arguments")
    handed = [_written(one, values) for one in given.named_children if one.type != "comment"] if given is not None else []
    pairs = zip(_parameters(helper), handed, strict=False)
    return {name: text for name, text in pairs if not re.fullmatch(r"[a-z_]\w*", text)}


def _outputs(call: tree_sitter.Node, values: dict[str, str]) -> str:
    """What the assertions right behind a call say of the variables that it got to write to."""
    given = call.child_by_field_name("arguments")
    words = [text_of(one) for one in given.named_children] if given is not None else []
    written = {one.lstrip("&") for one in words if re.fullmatch(r"&?[a-z_]\w*", one) and one not in values}
    told: list[str] = []
    later, again = _statement_of(call).next_named_sibling, re.compile(rf"\b{re.escape(_callee(call))}\b")
    while later is not None and later.type == "expression_statement" and not again.search(text_of(later)):
        outer = next((one for one in walk(later) if one.type == "call_expression"), None)
        sides = outer.child_by_field_name("arguments") if outer is not None and _EQUAL.search(_callee(outer)) else None
        named = [one for one in sides.named_children if text_of(one) in written] if sides is not None else []
        if named and sides is not None:
            other = next((one for one in sides.named_children if one not in named), None)
            told += [f", {text_of(named[0])} == {_written(other, values)}"] if other is not None else []
        later = later.next_named_sibling
    return "".join(told[:2])


def _statement_of(node: tree_sitter.Node) -> tree_sitter.Node:
    while node.parent is not None and node.parent.type != "compound_statement":
        node = node.parent
    return node


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
    name = _name_of(function)
    words = re.sub(r"^test_?|_", " ", name).split()
    return f" ({' '.join(words)})" if name.startswith("test") and len(words) > 1 else ""


def _error_code(call: tree_sitter.Node, values: dict[str, str]) -> str:
    """``errno`` as the assertions right behind the call expect it."""
    later = _statement_of(call).next_named_sibling
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
    text = _short_text(function)
    for name in whole:
        if re.search(rf"\b{re.escape(name)}\s*\(", text):
            whole[name].append(text)


def _short_text(function: tree_sitter.Node) -> str:
    """The body of a function in few lines; "" for a longer one."""
    body = function.child_by_field_name("body")
    text = "\n".join(line.strip() for line in text_of(body).strip("{} \n").splitlines() if line.strip()) if body else ""
    return text if text.count("\n") < LINES and len(text) <= LONGEST_BODY else ""


def _literals(body: tree_sitter.Node) -> dict[str, str]:
    """Local variables that are set once, to a literal, a list or an element of nothing else, as they were written; with
    ``sizeof NAME`` for the number of elements of an array."""
    values: dict[str, str] = {}
    changed: set[str] = set()
    for node in walk(body):
        if node.type == "init_declarator":
            value, declarator = node.child_by_field_name("value"), node.child_by_field_name("declarator")
            name = first_text(declarator, "identifier")
            if value is not None and name and (value.type in _LITERALS or value.type == "initializer_list"):
                changed |= {name} & values.keys()
                values[name] = _line(text_of(value))
                if value.type == "initializer_list" and declarator is not None and declarator.type == "array_declarator":
                    values[f"sizeof {name}"] = str(sum(one.type != "comment" for one in value.named_children))
            elif value is not None and name and (count := _counted(value, values)):
                values[name] = count
        elif node.type in ("assignment_expression", "update_expression"):
            left = node.child_by_field_name("left") or node.child_by_field_name("argument")
            if left is not None:
                changed |= {text_of(one) for one in walk(left) if one.type == "identifier"}
    return {name: value for name, value in values.items() if name not in changed and len(value) <= LONGEST_VALUE}


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
    name = _assigned(statement, call)
    return _through_a_variable(name, statement, shown, values) if name else ""


def _asserted(outer: tree_sitter.Node, call: tree_sitter.Node, shown: str, values: dict[str, str]) -> str:
    callee, given = outer.child_by_field_name("function"), outer.child_by_field_name("arguments")
    if callee is None or given is None:
        return ""
    name = text_of(callee)
    if re.fullmatch(r"(?:str|strn|mem)cmp", name):
        name = "equal" if re.fullmatch(r"\s*==\s*0", _behind(outer)) else ""
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


def _behind(node: tree_sitter.Node) -> str:
    """What follows a node in the expression that it is the left side of."""
    whole = node.parent
    if whole is None or whole.type != "binary_expression":
        return ""
    return (whole.text or b"")[node.end_byte - whole.start_byte :].decode("utf-8", "replace")


def _through_a_variable(name: str, statement: tree_sitter.Node, shown: str, values: dict[str, str]) -> str:
    """``int got = f(1); EXPECT_EQ(3, got);``: the first assertions in the same block about the variable and its members."""
    told: list[str] = []
    later = statement.next_named_sibling
    while later is not None and len(told) < ASSERTED and not _sets(later, name):
        for one in [node for node in walk(later) if node.type == "identifier" and text_of(node) == name][:1]:
            whole = _with_members(one)
            outer = whole.parent.parent if whole.parent is not None and whole.parent.type == "argument_list" else None
            part = (whole.text or b"")[one.end_byte - whole.start_byte :].decode("utf-8", "replace")
            if outer is not None and outer.type == "call_expression":
                told += filter(None, [_asserted(outer, whole, f"{'' if told else shown}{part}", values)])
        later = later.next_named_sibling
    return ", ".join(one for one in told if not one.startswith(" "))


def _checked_by(call: tree_sitter.Node, values: dict[str, str], helpers: Collection[str]) -> str:
    """``actual = f(2); check_pair(1, 3, actual)``: what a helper of the tests is asked about the result."""
    statement = _statement_of(call)
    name, told = _assigned(statement, call), list[str]()
    later = statement.next_named_sibling if name else None
    while later is not None and len(told) < ASSERTED and not _sets(later, name):
        outer = next((one for one in walk(later) if one.type == "call_expression"), None)
        checks = outer is not None and _callee(outer) in helpers and _CHECKS.search(_callee(outer))
        asks = checks and outer is not None and re.search(rf"\b{re.escape(name)}\b", text_of(outer))
        told += [_written(outer, values)] if asks and outer is not None else []
        later = later.next_named_sibling
    return "; ".join([f"{name} = {_written(call, values)}", *told]) if told else ""


def _with_members(node: tree_sitter.Node) -> tree_sitter.Node:
    """A variable with the members and elements that are taken of it."""
    while node.parent is not None and node.parent.type in ("field_expression", "subscript_expression"):
        node = node.parent
    return node


def _sets(statement: tree_sitter.Node, name: str) -> bool:
    """Whether a statement gives the variable another value."""
    targets = (one.child_by_field_name("left") for one in walk(statement) if one.type == "assignment_expression")
    return any(one is not None and text_of(one) == name for one in targets)


def _assigned(statement: tree_sitter.Node, call: tree_sitter.Node) -> str:
    """The variable that a statement sets to what the call returns, "" for none."""
    if statement.type == "declaration":
        declarator = statement.child_by_field_name("declarator")
        inner = declarator.child_by_field_name("declarator") if declarator is not None else None
        return first_text(inner, "identifier")
    outer = call.parent
    sets = outer is not None and outer.type == "assignment_expression" and outer.child_by_field_name("right") == call
    return first_text(outer.child_by_field_name("left"), "identifier") if outer is not None and sets else ""


def _written(node: tree_sitter.Node, values: dict[str, str]) -> str:
    """The text of ``node`` with literals in place of variables that hold them."""
    source, start = node.text or b"", node.start_byte
    callee = node.child_by_field_name("function") if node.type == "call_expression" else None
    counts = {one: count for one in walk(node) if one != node and (count := _counted(one, values))}
    for one in reversed([inner for inner in walk(node) if inner.type == "identifier" or inner in counts]):
        outer = one.parent
        if one == callee or (outer is not None and outer.type == "pointer_expression"):
            continue  # what is written through a pointer is not what the variable held
        if one not in counts and any(whole.start_byte <= one.start_byte < whole.end_byte for whole in counts):
            continue
        if (value := counts.get(one) or values.get(text_of(one))) is not None:
            source = source[: one.start_byte - start] + value.encode() + source[one.end_byte - start :]
    return _ONE_MEMBER.sub(r"\2", _line(source.decode("utf-8", "replace")))


def _counted(node: tree_sitter.Node, values: dict[str, str]) -> str:
    """The number of elements that ``sizeof(a) / sizeof(a[0])`` or a macro for it, ``LENGTH(a)``, comes to; "" for anything
    else."""
    if node.type == "binary_expression":
        found = _ELEMENTS.fullmatch(text_of(node))
    elif node.type == "call_expression":
        found = _MACRO.fullmatch(text_of(node))
    else:
        return ""
    return values.get(f"sizeof {found[1]}", "") if found else ""


def _is_literal(call: tree_sitter.Node, values: dict[str, str]) -> bool:
    given = call.child_by_field_name("arguments")
    names = [text_of(one) for one in walk(given) if one.type == "identifier"] if given is not None else []
    return all(name in values for name in names)


def _line(text: str) -> str:
    return on_one_line(text).rstrip(";")
