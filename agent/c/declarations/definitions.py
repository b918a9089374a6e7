"""A C file taken apart into its top-level definitions, each with the names it defines."""

from __future__ import annotations

import re
from typing import Literal

import msgspec
import tree_sitter

from agent.c.declarations.functions import functions
from agent.c.syntax.readable import readable
from agent.c.syntax.tree import top_level
from agent.language.nodes import text_of, walk

PieceKind = Literal["function", "prototype", "macro", "type", "global"]


class Piece(msgspec.Struct, frozen=True):
    """One top-level definition: its source text and byte range, and every name it introduces (enumerators included)."""

    kind: PieceKind
    names: tuple[str, ...]
    text: str
    start: int
    end: int


def pieces_of(source: bytes) -> list[Piece]:
    """The top-level definitions of ``source`` in order. What does not parse is left out."""
    by_start = {(function.start, function.end): function.name for function in functions(source)}
    found = []
    for node in top_level(readable(source)[1]):
        names: tuple[str, ...] = ()
        kind: PieceKind = "global"
        if node.type == "function_definition":
            kind, names = "function", tuple(filter(None, [by_start.get((node.start_byte, node.end_byte))]))
        elif node.type in ("preproc_def", "preproc_function_def"):
            name = node.child_by_field_name("name")
            kind, names = "macro", (text_of(name),) if name is not None else ()
        elif node.type in ("struct_specifier", "union_specifier", "enum_specifier", "type_definition"):
            kind, names = "type", _type_names(node)
        elif node.type == "declaration":
            kind, names = _declaration(node, by_start)
        if names:
            text = source[node.start_byte : node.end_byte].decode("utf-8", "replace").rstrip()
            if kind == "type" and node.type != "type_definition":
                text += ";"
            found.append(Piece(kind, names, text, node.start_byte, node.end_byte))
    return found


def defined_names(source: bytes) -> set[str]:
    """Every top-level name that ``source`` defines or declares, prototypes left out: a prototype is a promise, no body."""
    return {name for piece in pieces_of(source) if piece.kind != "prototype" for name in piece.names}


def _type_names(node: tree_sitter.Node) -> tuple[str, ...]:
    """Tag, typedef names and enumerators of a type that is defined here; of a plain forward declaration, none."""
    names: list[str] = []
    inner = node.child_by_field_name("type") if node.type == "type_definition" else node
    if inner is not None and inner.type.endswith("_specifier") and inner.child_by_field_name("body") is not None:
        tag = inner.child_by_field_name("name")
        if tag is not None:
            names.append(text_of(tag))
        names += [text_of(part.child_by_field_name("name") or part) for part in walk(inner) if part.type == "enumerator"]
    if node.type == "type_definition":
        for declarator in node.children_by_field_name("declarator"):
            names += [text_of(part) for part in walk(declarator) if part.type == "type_identifier"][:1]
    return tuple(dict.fromkeys(names))


def _declaration(node: tree_sitter.Node, functions_at: dict[tuple[int, int], str]) -> tuple[PieceKind, tuple[str, ...]]:
    prototype = functions_at.get((node.start_byte, node.end_byte))
    if prototype:
        return "prototype", (prototype,)
    names = []
    for declarator in node.children_by_field_name("declarator"):
        first = next((part for part in walk(declarator) if part.type == "identifier"), None)
        names += [text_of(first)] if first is not None else []
    inner = node.child_by_field_name("type")
    extra = _type_names(inner) if inner is not None and inner.type.endswith("_specifier") else ()
    is_extern = re.match(r"extern\b", text_of(node)) is not None
    return "global", () if is_extern else (*names, *extra)
