"""An array of variable length that is static or has an initialiser (``int best[n + 1] = {0};``): an error in C (C99
6.7.5.2p2 and 6.7.8p3), set right by clearing it and setting its first elements afterwards."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import tree_sitter

from agent.c.syntax.tree import parse_c
from agent.language.nodes import first_text, text_of, walk
from agent.replacements import Replacement, replaced
from agent.values import Diagnostic

_MESSAGE = re.compile(
    r"variable-sized object may not be initialized|storage size of .* isn.t constant|cannot have 'static' storage duration"
)
_MOST = 8
"""Elements set by themselves."""


def with_arrays_cleared(
    source: bytes, diagnostics: Iterable[Diagnostic], lines: Collection[int]
) -> tuple[bytes, tuple[str, ...]]:
    """``source`` with such arrays on ``lines`` (from 1) set right, and a sentence for each. Errors of other kinds are left
    alone."""
    wrong = {one.line for one in diagnostics if _MESSAGE.search(one.message) and one.line in lines}
    if not wrong:
        return source, ()
    edits: dict[Replacement, str] = {}
    for node in walk(parse_c(source)):
        if node.type == "declaration" and node.start_point[0] + 1 in wrong and (found := _cleared(node)) is not None:
            edits.setdefault(*found)
    return replaced(source, edits), tuple(edits.values())


def _cleared(declaration: tree_sitter.Node) -> tuple[Replacement, str] | None:
    declarators = declaration.children_by_field_name("declarator")
    declarator = declarators[0] if len(declarators) == 1 else None
    initialised = declarator is not None and declarator.type == "init_declarator"
    array = declarator.child_by_field_name("declarator") if declarator is not None and initialised else declarator
    value = declarator.child_by_field_name("value") if declarator is not None and initialised else None
    if declarator is None or array is None or array.type != "array_declarator":
        return None
    if initialised and (value is None or value.type != "initializer_list"):
        return None
    name = first_text(array, "identifier")
    parts = [one for one in value.named_children if one.type != "comment"] if value is not None else []
    zeros = all(text_of(one).strip("{ }") in ("", "0", "NULL", "0.0", "false", r"'\0'") for one in parts)
    if not name or (not zeros and (len(parts) > _MOST or any(one.type.startswith("init") for one in parts))):
        return None
    end = "\n" + " " * declaration.start_point[1]
    cut = declarator.end_byte - declaration.start_byte
    begin = (declaration.text or b"")[: array.end_byte - declaration.start_byte].decode("utf-8", "replace")
    begin = re.sub(r"^static\s+", "", begin)
    behind = (declaration.text or b"")[cut:].decode("utf-8", "replace")
    elements = () if zeros else (f"{name}[{place}] = {text_of(one)};" for place, one in enumerate(parts))
    made = end.join([begin + behind, f"memset({name}, 0, sizeof({name}));", *elements])
    told = f"{name} has a variable length, so it can be neither static nor initialised; it is cleared instead."
    return Replacement(declaration.start_byte, declaration.end_byte, made), told
