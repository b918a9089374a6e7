"""The definition of a struct that a header only names: taken out of a reply, placed where every function sees it."""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec
import tree_sitter

from agent.c.declarations.definitions import pieces_of
from agent.c.preprocessor.comments import blanked
from agent.c.syntax.tree import parse_c
from agent.c.writing.insertion import insert_before_functions
from agent.language.code_blocks import code_blocks
from agent.language.nodes import text_of, walk
from agent.textfile import newline_of, to_newline


class ExtractedType(msgspec.Struct, frozen=True):
    """A struct definition out of a reply: ``text`` with the declared tag and no typedef, ``helpers`` the types and macros
    it needs that nobody has. ``problem`` is a sentence, "" when there is none."""

    text: str = ""
    helpers: tuple[str, ...] = ()
    problem: str = ""


def extract_type(
    reply: str, spelling: str, typedefs: Collection[str] = (), *, known: Collection[str] = (), finish: str = "stop"
) -> ExtractedType:
    """Take the definition of ``spelling`` (``struct map``) out of ``reply``. It may go by one of its ``typedefs`` there; a
    typedef around it is taken off, since the header has one."""
    names = (spelling.split()[-1], *typedefs)
    code = "\n\n".join(block.text for block in code_blocks(reply))
    source = code.encode()
    body = next((found for node in walk(parse_c(source)) if (found := _body(node, spelling, names))), None)
    if body is None:
        if finish != "stop":
            return ExtractedType(problem=f"The reply was cut off before {spelling} was complete. Write it shorter.")
        return ExtractedType(problem=f"The reply does not define `{spelling} {{ ... }};`.")
    if not any(child.type == "field_declaration" for child in body.named_children):
        return ExtractedType(problem=f"`{spelling}` needs members.")
    text = f"{spelling} {text_of(body)};"
    taken = {*known, *names}
    helpers: list[str] = []
    words_used = set(re.findall(r"\w+", blanked(text)))
    for piece in reversed(pieces_of(source)):
        fresh = piece.kind in ("type", "macro") and piece.end <= body.start_byte and not set(piece.names) & taken
        if fresh and set(piece.names) & words_used:
            helpers.insert(0, piece.text)
            words_used |= set(re.findall(r"\w+", blanked(piece.text)))
    return ExtractedType(text, tuple(helpers))


def _body(node: tree_sitter.Node, spelling: str, names: Collection[str]) -> tree_sitter.Node | None:
    """The braces of the wanted struct if ``node`` defines it: by its tag, or nameless under one of its typedefs."""
    body = node.child_by_field_name("body")
    if body is None or node.type != f"{spelling.split()[0]}_specifier":
        return None
    tag = node.child_by_field_name("name")
    if tag is not None:
        return body if text_of(tag) in names else None
    parent = node.parent
    alias = "" if parent is None else text_of(parent).rstrip("; \n").rsplit("}", 1)[-1].strip(" *")
    return body if alias in names else None


def place_type(source: bytes, extracted: ExtractedType) -> bytes:
    """``source`` with the definition and its helpers before the first function, after includes, macros and other types."""
    text = "\n\n".join([*extracted.helpers, extracted.text]) + "\n\n"
    return insert_before_functions(source, to_newline(text, newline_of(source)).encode())
