"""A string assigned to an array of characters (``student.name = name;``): an error in C, set right by a bounded copy.

A small model writes ``list[n++] = (student_t){ grade, name };`` again and again, whatever the compiler says of it. What is
meant is certain where the target is an array of characters: its contents are copied, cut where they do not fit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import tree_sitter

from agent.c.syntax.caret import distance
from agent.c.syntax.tree import parse_c
from agent.language.nodes import first_text, text_of, walk
from agent.replacements import Replacement, replaced
from agent.values import Diagnostic

_ARRAY = re.compile(r"assignment to expression with array type|array type '.*' is not assignable")
_INITIALIZER = re.compile(r"^invalid initializer|^array initializer must be an initializer list or string literal")
_POINTER = re.compile(r"initiali[sz](?:ation of|ing) ['‘](?:un)?(?:signed )?char['’]")
_NAMES = ("field_identifier", "identifier")
_EMPTY = '""'
_TARGETS = frozenset({"identifier", "field_expression", "subscript_expression"})


def with_strings_copied(
    source: bytes, diagnostics: Iterable[Diagnostic], lines: Collection[int], headers: Iterable[bytes] = ()
) -> tuple[bytes, tuple[str, ...]]:
    """``source`` with such errors on ``lines`` (from 1) set right, and a sentence for each; ``headers`` may define the
    structs. Errors of other kinds are left alone."""
    said = [one for one in diagnostics if one.severity in ("error", "fatal") and one.line in lines]
    if not any(kind.search(one.message) for one in said for kind in (_ARRAY, _INITIALIZER, _POINTER)):
        return source, ()
    root = parse_c(source)
    structs = dict(_structs([root, *map(parse_c, headers)]))
    arrays = {member for members in structs.values() for member, is_array in members if is_array}
    edits: dict[Replacement, str] = {}
    made: set[str] = set()
    for one in said:
        nodes = [node for node in walk(root) if node.start_point[0] == one.line - 1]
        nodes.sort(key=lambda node: distance(node, one.column))
        if _ARRAY.search(one.message):
            found = _assigned(nodes, arrays | set(_local_arrays(root)))
        elif _INITIALIZER.search(one.message):
            found = _declared(nodes)
        elif _POINTER.search(one.message):
            found = _listed(nodes, structs, made)
        else:
            continue
        if found is not None:
            edits.setdefault(*found)
    return replaced(source, edits), tuple(edits.values())


def _structs(roots: Iterable[tree_sitter.Node]) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """Name (tag and typedef) to the members in order, each with whether it is an array of characters."""
    for node in (node for root in roots for node in walk(root) if node.type == "struct_specifier"):
        body, tag, owner = node.child_by_field_name("body"), node.child_by_field_name("name"), node.parent
        if body is None:
            continue
        members = [
            (first_text(declarator, *_NAMES), _is_char_array(field, declarator))
            for field in body.named_children
            if field.type == "field_declaration"
            for declarator in field.children_by_field_name("declarator")
        ]
        if tag is not None:
            yield f"struct {text_of(tag)}", members
        if owner is not None and owner.type == "type_definition":
            for declarator in owner.children_by_field_name("declarator"):
                yield text_of(declarator), members


def _is_char_array(declaration: tree_sitter.Node, declarator: tree_sitter.Node) -> bool:
    kind, inner = declaration.child_by_field_name("type"), declarator.child_by_field_name("declarator")
    plain = declarator.type == "array_declarator" and inner is not None and inner.type in ("field_identifier", "identifier")
    return plain and kind is not None and text_of(kind) == "char"


def _local_arrays(root: tree_sitter.Node) -> Iterator[str]:
    for node in walk(root):
        for declarator in node.children_by_field_name("declarator") if node.type == "declaration" else ():
            inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
            if inner is not None and _is_char_array(node, inner):
                yield first_text(inner, *_NAMES)


def _copy(target: str, value: str) -> str:
    return f'snprintf({target}, sizeof({target}), "%s", {value});'


def _assigned(nodes: list[tree_sitter.Node], arrays: Collection[str]) -> tuple[Replacement, str] | None:
    """``array = text;`` as a copy; the array is named twice, so that nothing in it may have an effect of its own."""
    for node in (node for node in nodes if node.type == "assignment_expression"):
        left, right, statement = node.child_by_field_name("left"), node.child_by_field_name("right"), node.parent
        if left is None or right is None or statement is None or statement.type != "expression_statement":
            continue
        target = text_of(left)
        if left.type in _TARGETS and re.split(r"\W+", target)[-1] in arrays and not re.search(r"\+\+|--|\(", target):
            edit = Replacement(statement.start_byte, statement.end_byte, _copy(target, text_of(right)))
            return edit, f"{target} is an array of characters; {text_of(right)} is copied into it."
    return None


def _declared(nodes: list[tree_sitter.Node]) -> tuple[Replacement, str] | None:
    """``char array[8] = text;`` as a declaration and a copy."""
    for node in (node for node in nodes if node.type == "declaration"):
        declarators = node.children_by_field_name("declarator")
        inner = declarators[0].child_by_field_name("declarator") if len(declarators) == 1 else None
        value = declarators[0].child_by_field_name("value") if inner is not None else None
        if inner is not None and value is not None and _is_char_array(node, inner):
            name, given = first_text(inner, *_NAMES), text_of(value)
            text = f"char {text_of(inner)};{_break(node)}{_copy(name, given)}"
            told = f"{name} is an array of characters; {given} is copied into it."
            return Replacement(node.start_byte, node.end_byte, text), told
    return None


def _listed(
    nodes: list[tree_sitter.Node], structs: dict[str, list[tuple[str, bool]]], made: set[str]
) -> tuple[Replacement, str] | None:
    """``{ grade, name }`` with an empty string in place of ``name``, which is copied afterwards. ``made`` are the variables
    that were put in so far."""
    for value in nodes:
        part = value.parent if value.parent is not None and value.parent.type == "initializer_pair" else value
        values = part.parent
        owner = values.parent if values is not None and values.type == "initializer_list" else None
        statement = _statement(owner) if owner is not None else None
        if values is None or owner is None or statement is None:
            continue
        kind = _type_of(owner)
        if member := _member_for(part, values, structs.get(kind, [])):
            if owner.type == "init_declarator":
                text = _after(owner, statement, value, member)
            else:
                name = _free_name(statement, made)
                made.add(name)
                text = _before(owner, statement, value, member, f"{kind} {name}")
            told = f"{member} is an array of characters; {text_of(value)} is copied into it."
            return Replacement(statement.start_byte, statement.end_byte, text), told
    return None


def _after(owner: tree_sitter.Node, declaration: tree_sitter.Node, value: tree_sitter.Node, member: str) -> str:
    """``student_t one = { 2, name };`` with the copy behind it."""
    copy = _copy(f"{first_text(owner, *_NAMES)}.{member}", text_of(value))
    return f"{_with(declaration, value, _EMPTY)}{_break(declaration)}{copy}"


def _before(
    owner: tree_sitter.Node, statement: tree_sitter.Node, value: tree_sitter.Node, member: str, declared: str
) -> str:
    """``list[n++] = (student_t){ 2, name };`` with the literal in a variable of its own (``student_t item``), filled before:
    what is assigned to may have an effect of its own."""
    name, end = declared.rpartition(" ")[2], _break(statement)
    values = owner.child_by_field_name("value") or owner
    copy = _copy(f"{name}.{member}", text_of(value))
    text = f"{declared} = {_with(values, value, _EMPTY)};{end}{copy}{end}{_with(statement, owner, name)}"
    block = statement.parent is None or statement.parent.type == "compound_statement"
    return text if block else f"{{ {text} }}"


def _type_of(owner: tree_sitter.Node) -> str:
    """The type of what an initializer list is for: a variable or a literal."""
    holder = owner.parent if owner.type == "init_declarator" else owner
    kind = holder.child_by_field_name("type") if holder is not None else None
    return text_of(kind) if kind is not None else ""


def _member_for(part: tree_sitter.Node, values: tree_sitter.Node, members: list[tuple[str, bool]]) -> str:
    """The array of characters that ``part`` of the list is for, by its designator or its place; "" when it is for none."""
    if part.type == "initializer_pair":
        designator = part.child_by_field_name("designator")
        named = text_of(designator).lstrip(".") if designator is not None else ""
        return named if (named, True) in members else ""
    parts = [one for one in values.named_children if one.type != "comment"]
    place = parts.index(part) if part in parts else len(members)
    return members[place][0] if place < len(members) and members[place][1] else ""


def _statement(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The statement that a declaration or an assigned or returned literal is all of."""
    if node.type == "init_declarator":
        outer = node.parent
        return outer if outer is not None and len(outer.children_by_field_name("declarator")) == 1 else None
    outer = node.parent
    if outer is not None and outer.type == "assignment_expression":
        outer = outer.parent
    return outer if outer is not None and outer.type in ("expression_statement", "return_statement") else None


def _with(node: tree_sitter.Node, part: tree_sitter.Node, text: str) -> str:
    """The text of ``node`` with ``text`` in place of a part of it."""
    data, start = node.text or b"", node.start_byte
    return (data[: part.start_byte - start] + text.encode() + data[part.end_byte - start :]).decode("utf-8", "replace")


def _break(statement: tree_sitter.Node) -> str:
    """What stands between two statements: a line's end and the indentation of this one."""
    return "\n" + " " * statement.start_point[1]


def _free_name(node: tree_sitter.Node, made: Collection[str]) -> str:
    """A name that neither the function around ``node`` nor what was ``made`` for it uses."""
    function = node
    while function.parent is not None and function.type != "function_definition":
        function = function.parent
    used = {text_of(one) for one in walk(function) if one.type == "identifier"} | set(made)
    return next(name for name in ("item", *(f"item{n}" for n in range(2, 1000))) if name not in used)
