"""A loop's own variable used behind the loop (``for (int i = 0; ...) {...} a[i] = x;``): an error in C, set right by a
declaration before the loop, so that nobody needs to be asked again."""

from __future__ import annotations

from collections.abc import Collection

import tree_sitter

from agent.c.declarations.functions import declared_names
from agent.c.syntax.tree import parse_c
from agent.language.nodes import text_of, walk

_PLAIN = frozenset({"primitive_type", "sized_type_specifier", "type_identifier"})


def with_loop_variables_outside(text: str, known: Collection[str] = ()) -> tuple[str, tuple[str, ...]]:
    """``text``, a function definition, with such variables declared right before their loop, and a sentence for each.

    Only where it is certain what is meant: one loop declares the name, nothing else in the function does, it is none of the
    ``known`` names of the file, and each use behind the loop lies in the block that holds the loop.
    """
    told: list[str] = []
    for _ in range(4):
        found = _first(text, known)
        if found is None:
            break
        loop, declaration, name = found
        source = text.encode()
        kind = declaration.child_by_field_name("type")
        assert kind is not None
        line = source[source.rfind(b"\n", 0, loop.start_byte) + 1 : loop.start_byte]
        indent = line if not line.strip() else b""
        begin = source[declaration.start_byte : declaration.end_byte][kind.end_byte - declaration.start_byte :].lstrip()
        source = (
            source[: loop.start_byte] + text_of(kind).encode() + b" " + name.encode() + b";\n" + indent
            + source[loop.start_byte : declaration.start_byte] + begin + source[declaration.end_byte :]
        )  # fmt: skip
        text = source.decode()
        told.append(f"The variable {name} of a loop was used after it; it is now declared before the loop.")
    return text, tuple(told)


def _first(text: str, known: Collection[str]) -> tuple[tree_sitter.Node, tree_sitter.Node, str] | None:
    """The first (loop, declaration in its head, name) whose variable is used behind it and declared nowhere else."""
    nodes = list(walk(parse_c(text.encode())))
    declared = [name for node in nodes for name in declared_names(node)]
    for loop in nodes:
        declaration = loop.child_by_field_name("initializer") if loop.type == "for_statement" else None
        if declaration is None or declaration.type != "declaration" or loop.parent is None:
            continue
        names = declared_names(declaration)
        kind = declaration.child_by_field_name("type")
        single = len(names) == 1 and names[0] not in known and _is_plain(declaration)
        if not single or kind is None or kind.type not in _PLAIN or declared.count(names[0]) != 1:
            continue
        if kind.start_byte != declaration.start_byte or loop.parent.type != "compound_statement":
            continue
        end, block = loop.end_byte, loop.parent.end_byte
        used = [n for n in nodes if n.type == "identifier" and text_of(n) == names[0] and not _within(n, loop)]
        if used and all(end <= one.start_byte < block for one in used):
            return loop, declaration, names[0]
    return None


def _is_plain(declaration: tree_sitter.Node) -> bool:
    """Whether it declares one variable, no pointer or array, and sets it."""
    declarators = declaration.children_by_field_name("declarator")
    inner = declarators[0].child_by_field_name("declarator") if len(declarators) == 1 else None
    return inner is not None and declarators[0].type == "init_declarator" and inner.type == "identifier"


def _within(node: tree_sitter.Node, outer: tree_sitter.Node) -> bool:
    return outer.start_byte <= node.start_byte < outer.end_byte
